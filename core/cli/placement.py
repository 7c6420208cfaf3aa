"""`privcfs placement`: noise on the graph against noise on the explanation, at the same ε."""

from __future__ import annotations

import click
from tqdm import tqdm

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.errors import BadInput
from core.placement.calibration import Calibration
from core.placement.diagnosis import MOST_DRAWS, diagnose
from core.placement.mechanisms import Gaussian, GraphMechanism, GraphRelease, graph_release
from core.placement.result import Operations, Placement
from core.study import populations
from core.wording import odds


@click.command("placement")
@data_source()
@options.population
@options.epsilon()
@click.option(
    "--mechanism", type=click.Choice([kind.value for kind in GraphMechanism]), default=GraphMechanism.GAUSSIAN.value,
    show_default=True, help="How the graph is noised: Gaussian or Laplace top pairs, or edge randomized response.",
)  # fmt: skip
@click.option(
    "--calibration", type=click.Choice([rule.value for rule in Calibration]), default=None,
    help="Of the Gaussian: analytic unless given; classical certifies nothing above epsilon 1.",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(1, MOST_DRAWS), default=5, show_default=True, help="Noised graphs.")
@options.seed
@click.option(
    "--universe", type=click.Choice([kind.value for kind in Operations]), default=Operations.NOISED.value,
    show_default=True, help="Pairs to delete: the noised graph's own edges, or the public snapshot's.",
)  # fmt: skip
@options.rho(default=0.5)
@options.as_json
def placement_command(
    source: Source,
    population: str,
    epsilon: float,
    mechanism: str,
    calibration: str | None,
    draws: int,
    seed: int,
    universe: str,
    rho: float,
    as_json: bool,
) -> None:
    """Show what noising the graph first does to predictions and explanations (owner-only: reads private edges)."""
    checks.epsilon(epsilon)
    checks.rho(rho)
    release = _release(GraphMechanism.parse(mechanism), calibration)
    study = source.study(source.dataset(), seed)
    targets = populations.population(study, populations.Population.parse(population), seed=seed)
    with tqdm(total=draws * len(targets), unit="target", disable=None, leave=False) as bar:  # silent without a terminal
        placement = diagnose(
            study, targets, epsilon, release, draws=draws, seed=seed, operations=Operations.parse(universe), rho=rho,
            progress=lambda done, total: bar.update(done - bar.n),
        )  # fmt: skip
    values = {"dataset": study.dataset.name, "population": population, **placement.to_json()}
    if as_json:
        options.print_json(values)
    else:
        click.echo(f"{values['dataset']}, {population}: {report(placement)}")


def report(placement: Placement) -> str:
    """The diagnosis as text for a person (owner-only)."""
    values, rates = placement.to_json(), placement.rates
    noise = {name: values[name] for name in placement.release.parameters(placement.epsilon)}
    lines = [
        f"{len(placement.targets)} targets, {len(placement.draws)} draws of {values['mechanism']} "
        f"at epsilon {placement.epsilon:g}",
        "  " + ", ".join(f"{name} {value if isinstance(value, str | bool) else f'{value:.4g}'}"
                         for name, value in noise.items()),
        f"Noising the graph first changes {odds(rates.polluted, 'prediction')} before anything is explained. "
        f"Spurious, a flip of the noised graph only: {odds(rates.spurious, 'explanation')}.",
        "",
        f"  {'share of (target, draw) pairs':<34}{'graph-level':>12}{'explanation-level':>20}",
    ]  # fmt: skip
    rows = [
        ("polluted", rates.polluted, 0.0),
        ("intervention found", rates.found, None),
        ("flips the private graph", rates.valid, placement.explanation_valid),
        ("spurious", rates.spurious, 0.0),
        ("spurious cells that are polluted", rates.spurious_polluted, None),
        ("test accuracy", placement.accuracy, placement.clean_accuracy),
        ("private edges kept", placement.kept, None),
    ]
    lines += [f"  {name:<34}{_shown(graph):>12}{_shown(explanation):>20}" for name, graph, explanation in rows]
    lines += [
        f"  {'false edges, mean':<34}{placement.false_edges:>12,.0f}{'-':>20}",
        "",
        f"Explanation-level: exponential mechanism on the private graph, rho {placement.rho:g}; expected valid-CF.",
        "Owner-only: this reads private edges. Nothing was released and no budget was spent.",
    ]
    return "\n".join(lines)


def _release(kind: GraphMechanism, calibration: str | None) -> GraphRelease:
    if calibration is None:
        return graph_release(kind)
    if kind is not GraphMechanism.GAUSSIAN:
        raise BadInput(f"calibration: found {calibration!r} with mechanism {kind.value}, expected mechanism gaussian")
    return Gaussian(calibration=Calibration.parse(calibration))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
