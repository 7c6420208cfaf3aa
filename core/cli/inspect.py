"""`privcfs inspect`: one target's exact release distribution, as the owner sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.prior.prior import PriorKind
from core.study.dump import dump
from core.study.inspection import Inspection
from core.study.settings import Settings
from core.universe import Arm
from core.wording import disclosed, edges_add, odds

BESIDE = ("valid", "targeted", "size", "collision", "empty")
ALONE = ("ceiling", "valid_given_nonempty", "regret", "retention")
LEVELS = 20


@click.command("inspect")
@data_source()
@click.option("--target", required=True, help="Node id; #12 is row 12.")
@options.rho()
@options.epsilon()
@options.seed
@options.arm
@options.prior
@options.settings
@options.as_json
@click.option("--dump", "dump_file", type=click.Path(dir_okay=False, path_type=Path), help="Write all arrays (.npz).")
def inspect_command(
    source: Source,
    target: str,
    rho: float,
    epsilon: float,
    seed: int,
    arm: str,
    prior: str,
    settings: Settings,
    as_json: bool,
    dump_file: Path | None,
) -> None:
    """Show what a release for TARGET could say, and how likely (owner-only: reads private edges)."""
    checks.epsilon(epsilon)
    checks.rho(rho)
    settings = replace(settings, arm=Arm.parse(arm), prior=replace(settings.prior, kind=PriorKind.parse(prior)))
    dataset = source.dataset()
    row, note = dataset.resolve(target)
    if note:
        click.echo(f"privcfs: note: {note}", err=True)
    study = source.study(dataset, seed)
    inspection = study.inspect(row, rho, epsilon, settings)
    if dump_file is not None:
        dump(study, inspection, dump_file)
    if as_json:
        options.print_json(inspection.to_json())
    else:
        click.echo(report(inspection))


def report(inspection: Inspection) -> str:
    """The inspection as text for a person (owner-only)."""
    values, release, public = inspection.to_json(), inspection.metrics, inspection.public_only
    penalty = f", size penalty {values['size_penalty']:g}" if values["size_penalty"] else ""
    lines = [
        f"{values['dataset']}, node {values['target']}: predicted {values['prediction_name']}, "
        f"runner-up {values['runner_up_name']}, margin {values['margin']:.2g}, degree {values['degree']}",
        f"At epsilon {values['epsilon']:g} with rho {values['rho']:g} public, the prediction is flipped by "
        f"{odds(release.valid, 'release')}, and of guesses from the public snapshot alone by {odds(public.valid)}.",
        edges_add(release.valid, public.valid, values["epsilon"]),
        f"{values['candidates']:,} candidates: {values['edge_candidates']} node pairs, {values['feature_candidates']} "
        f"features ({values['arm']}, {values['mechanism']}, {values['prior']} prior{penalty}, "
        f"{values['snapshot']} snapshot)",
        disclosed(inspection.disclosed, inspection.disclosed_ties),
        "",
        *_columns(inspection),
        "",
    ]
    for key in ALONE:
        lines.append(f"  {key:<22}{_shown(values[key])}")
    lines += ["", "  utility  candidates  probability"]
    for level in inspection.levels[:LEVELS]:
        kind = "no intervention" if level.empty else "flips" if level.flips else "does not flip"
        lines.append(f"  {level.utility:7.4f}  {level.count:10,}  {level.probability:11.4g}  {kind}")
    if rest := inspection.levels[LEVELS:]:
        count, probability = (sum(getattr(level, name) for level in rest) for name in ("count", "probability"))
        lines.append(f"  {'below':>7}  {count:10,}  {probability:11.4g}  {len(rest):,} further levels, see --json")
    lines += ["", "  most likely releases"]
    for candidate in inspection.candidates(5):
        named = [f"{u} - {w}" for u, w in candidate.edges] + list(candidate.features)
        what = "; ".join(named) if named else "no intervention sampled"
        lines.append(f"  {candidate.probability:.4g}  {'flips' if candidate.flips else '     '}  {what}")
    lines += ["", "Owner-only: this reads private edges. Nothing was released and no budget was spent."]
    return "\n".join(lines)


def _columns(inspection: Inspection) -> list[str]:
    """Figures of the public guess, of this release's own base measure, and of the release, side by side."""
    kinds = (inspection.public_only, inspection.prior_alone, inspection.metrics)
    epsilon = f"epsilon {inspection.distribution.epsilon:g}"
    heads = [("public only", "prior alone", "release"), ("epsilon 0", inspection.distribution.prior.name, epsilon)]
    lines = [f"  {'':<16}" + "".join(f"{head:>16}" for head in row) for row in heads]
    for key in BESIDE:
        lines.append(f"  {key:<16}" + "".join(f"{_shown(getattr(kind, key)):>16}" for kind in kinds))
    return lines


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"
