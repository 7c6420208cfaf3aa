"""`privcfs reach`: which epsilon, or which rho, a wanted valid rate takes."""

from __future__ import annotations

from dataclasses import replace

import click
from tqdm import tqdm

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import Asked, targets
from core.errors import BadInput
from core.prior.prior import PriorKind
from core.study.inverse import Answer, epsilon_for, rho_for
from core.study.settings import Settings
from core.universe import Arm

SEEDS = 3  # of a population, as in the other tables; a single target has the snapshot that `inspect` shows


@click.command("reach")
@data_source()
@targets(single=True)
@click.option("--valid", type=float, required=True, help="Valid rate to reach, between 0 and 1.")
@click.option("--rho", type=float, help="Share of the snapshot that is public: asks for the epsilon.")
@click.option("--epsilon", type=float, help="Privacy budget of one release: asks for the rho.")
@options.arm
@options.prior
@options.settings
@click.option(
    "--seeds", type=click.IntRange(1, 100), help=f"Simulated snapshots: 1 for a target, {SEEDS} for more of them."
)
@options.as_json
def reach_command(
    source: Source,
    asked: Asked,
    valid: float,
    rho: float | None,
    epsilon: float | None,
    arm: str,
    prior: str,
    settings: Settings,
    seeds: int | None,
    as_json: bool,
) -> None:
    """Say which epsilon (given --rho) or rho (given --epsilon) reaches a valid rate (owner-only)."""
    if (rho is None) == (epsilon is None):
        found = "neither --rho nor --epsilon" if rho is None else "both --rho and --epsilon"
        raise BadInput(f"reach: found {found}, expected the one that is given; the other one is the answer")
    given = checks.rho(rho) if epsilon is None else checks.epsilon(epsilon)
    ask = epsilon_for if epsilon is None else rho_for
    settings = replace(settings, arm=Arm.parse(arm), prior=replace(settings.prior, kind=PriorKind.parse(prior)))
    study = source.study(source.dataset())
    rows, name = asked.rows(study)
    drawn = range(seeds or (1 if asked.single else SEEDS))
    with tqdm(unit="release", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        answer = ask(study, rows, valid, given, settings, drawn, progress)
    if as_json:
        told = options.told(settings)
        options.print_json({"dataset": study.dataset.name, "asked_of": name, **told, **answer.to_json()})
        return
    who = name if asked.single else f"the {name} population ({answer.targets} targets, snapshots: {answer.seeds})"
    click.echo(sentence(answer, who))
    if answer.tried:
        click.echo(
            f"The rate may rise and fall with {answer.asked} under these settings: looked for at {len(answer.tried)} "
            f"values from {answer.tried[0]:g} to {answer.tried[-1]:g}, a narrower reach between two of them is missed."
        )
    click.echo("Owner-only: this reads private edges. Nothing was released and no budget was spent.")


def sentence(answer: Answer, who: str) -> str:
    """The answer as one sentence: what reaches the rate, or that nothing does and how far one gets."""
    held = f"with rho {answer.given:g} public" if answer.asked == "epsilon" else f"at epsilon {answer.given:g}"
    if answer.value is None:
        most = f", at best {answer.reached:.3g}" if answer.reached < answer.ceiling else ""
        return f"{who}: a valid rate of {answer.valid:g} is not reachable {held}: ceiling {answer.ceiling:.3g}{most}"
    if answer.asked == "rho":
        what = f"with rho {answer.shown:.15g} public"
    else:
        what = f"at epsilon {answer.shown:.15g}" if answer.value else "at any epsilon"
    return f"{who} reaches a valid rate of {answer.valid:g} {what} {held}"
