"""`privcfs inspect`: one target's exact release distribution, as the owner sees it."""

from __future__ import annotations

from pathlib import Path

import click

from core import checks
from core.cli import options
from core.datasets import load
from core.release.mechanism import Mechanism
from core.study.dump import dump
from core.study.inspection import Inspection
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm
from core.utility import UtilityConfig
from core.wording import odds


@click.command("inspect")
@options.dataset()
@click.option("--target", required=True, help="Node id; #12 is row 12.")
@options.rho()
@options.epsilon()
@options.seed
@options.arm
@options.prior
@options.mechanism
@options.sensitivity
@click.option("--soft", is_flag=True, help="Give partial credit for a smaller margin.")
@options.as_json
@click.option("--dump", "dump_file", type=click.Path(dir_okay=False, path_type=Path), help="Write all arrays (.npz).")
def inspect_command(
    dataset_name: str,
    target: str,
    rho: float,
    epsilon: float,
    seed: int,
    arm: str,
    prior: str,
    mechanism: str,
    sensitivity: str,
    soft: bool,
    as_json: bool,
    dump_file: Path | None,
) -> None:
    """Show what a release for TARGET could say, and how likely (owner-only: reads private edges)."""
    checks.epsilon(epsilon)
    checks.rho(rho)
    dataset = load(dataset_name)
    row, note = dataset.resolve(target)
    if note:
        click.echo(f"privcfs: note: {note}", err=True)
    settings = Settings(
        arm=Arm.parse(arm),
        utility=UtilityConfig(sensitivity=sensitivity, soft=soft),
        mechanism=Mechanism.parse(mechanism),
    )
    study = Study(dataset, seed=seed)
    inspection = study.inspect(row, rho, epsilon, settings)
    if dump_file is not None:
        dump(study, inspection, dump_file)
    if as_json:
        options.print_json(inspection.to_json())
    else:
        click.echo(report(inspection))


def report(inspection: Inspection) -> str:
    """The inspection as text for a person (owner-only)."""
    values, metrics = inspection.to_json(), inspection.metrics
    flips = odds(metrics.valid, "release")
    lines = [
        f"{values['dataset']}, node {values['target']}: predicted {values['prediction_name']}, "
        f"runner-up {values['runner_up_name']}, margin {values['margin']:.2g}, degree {values['degree']}",
        f"At epsilon {values['epsilon']:g} with rho {values['rho']:g} public, {flips} flips the prediction; "
        f"of draws that read no private edge, {odds(inspection.public_only.valid)}.",
        f"{values['candidates']:,} candidates: {values['edge_candidates']} node pairs, {values['feature_candidates']} "
        f"features ({values['arm']}, {values['mechanism']}, {values['snapshot']} snapshot)",
        "",
    ]
    for key in ("ceiling", "valid", "targeted", "empty", "valid_given_nonempty", "size", "regret", "collision",
                "retention", "public_only_valid"):  # fmt: skip
        shown = "undefined" if values[key] is None else f"{values[key]:.4g}"
        lines.append(f"  {key:<22}{shown}")
    lines += ["", "  utility  candidates  probability"]
    for level in inspection.levels:
        kind = "no intervention" if level.empty else "flips" if level.flips else "does not flip"
        lines.append(f"  {level.utility:7.4f}  {level.count:10,}  {level.probability:11.4g}  {kind}")
    lines += ["", "  most likely releases"]
    for candidate in inspection.candidates(5):
        named = [f"{u} - {w}" for u, w in candidate.edges] + list(candidate.features)
        what = "; ".join(named) if named else "no intervention sampled"
        lines.append(f"  {candidate.probability:.4g}  {'flips' if candidate.flips else '     '}  {what}")
    lines += ["", "Owner-only: this reads private edges. Nothing was released and no budget was spent."]
    return "\n".join(lines)
