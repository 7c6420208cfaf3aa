"""`privcfs losschain`: what each restriction on the way to a private release costs a population."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from core.cli import options
from core.cli.source import Source, data_source
from core.prior.prior import PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.study import populations
from core.study.losschain import LossChain, loss_chain
from core.study.settings import Settings
from core.universe import Arm
from core.utility import UtilityConfig

BAR = 40  # characters of a full bar
LEFT, LOST = "█", "░"


@click.command("losschain")
@data_source()
@options.population
@click.option("--size", type=click.IntRange(min=1), help="Targets in the population, if not its usual number.")
@options.rho()
@options.epsilon()
@options.arm
@options.prior
@options.size_penalty
@options.mechanism
@options.sensitivity
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Simulated snapshots.")
@click.option(
    "--figure", type=click.Path(dir_okay=False, path_type=Path), help="Draw the waterfall into this SVG or PNG file."
)
@options.as_json
def losschain_command(
    source: Source,
    population: str,
    size: int | None,
    rho: float,
    epsilon: float,
    arm: str,
    prior: str,
    size_penalty: float,
    mechanism: str,
    sensitivity: str,
    seeds: int,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Say what support, partial knowledge and noise cost a population (owner-only: reads private edges)."""
    settings = Settings(
        arm=Arm.parse(arm),
        utility=UtilityConfig(sensitivity=sensitivity),
        prior=PriorRule(PriorKind.parse(prior), size_penalty),
        mechanism=Mechanism.parse(mechanism),
    )
    if figure is not None:
        from explorer.figures.static import check_ending, losschain_file

        check_ending(figure)
    study = source.study(source.dataset())
    kind = populations.Population.parse(population)
    targets = populations.population(study, kind, size)
    chain = loss_chain(study, targets, rho, epsilon, range(seeds), settings)
    if figure is not None:
        losschain_file(chain, figure, kind.value, study.dataset.name)
    if as_json:
        options.print_json(
            {
                "owner_only": True,
                "dataset": study.dataset.name,
                "population": kind.value,
                "arm": arm,
                "mechanism": mechanism,
                "prior": prior,
                "size_penalty": settings.prior.size_penalty,
                "sensitivity": sensitivity,
                "stages": {name: getattr(chain, name) for name in STAGES},
                "steps": chain.steps,
                **{name: value for name, value in dataclasses.asdict(chain).items() if name not in STAGES},
                "figure": None if figure is None else str(figure),
            }
        )
        return
    said = f"{study.dataset.name}, {kind.value}: share of {chain.targets} targets that flip, {prior} prior, {arm} arm"
    click.echo("\n".join([said, "", *waterfall(chain), "", *notes(chain), OWNER_ONLY]))
    if figure is not None:
        click.echo(f"Waterfall drawn into {figure}.")


def waterfall(chain: LossChain) -> list[str]:
    """The chain as bars of text: what is left at each stage, shaded what the stage took (owner-only)."""
    rates = [getattr(chain, name) for name in STAGES]
    named = [
        "any private edge, no privacy",
        "public support, rho 1",
        f"public support, rho {chain.rho:g}",
        f"sampled at ε {chain.epsilon:g}",
    ]
    lines = []
    for name, rate, before in zip(named, rates, [rates[0], *rates[:-1]], strict=True):
        left, lost = round(BAR * rate), round(BAR * max(before, rate)) - round(BAR * rate)
        change = "" if name == named[0] else f"{rate - before:+.4f}"
        lines.append(f"  {name:<30}{rate:>7.4f}  {change:>7}  {LEFT * left}{LOST * lost}".rstrip())
    return lines


def notes(chain: LossChain) -> list[str]:
    """What must be known to read the chain."""
    lines = [f"Means over targets and {chain.seeds} {'snapshot' if chain.seeds == 1 else 'snapshots'}."]
    if chain.not_exhaustive:
        lines.append(f"The first figure is a lower bound: {chain.not_exhaustive} searches were cut short.")
    return lines


STAGES = ("unrestricted", "support", "prior", "sampled")
OWNER_ONLY = "Owner-only: this reads private edges. Nothing was released and no budget was spent."
