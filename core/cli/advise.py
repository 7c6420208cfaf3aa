"""`privcfs advise`: how smaller or larger universes change what a release is worth."""

from __future__ import annotations

from dataclasses import replace

import click
import pandas as pd
from tqdm import tqdm

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import Asked, targets
from core.prior.prior import PriorKind
from core.study.advice import WARNING, advise
from core.study.settings import Settings
from core.universe import Arm


@click.command("advise")
@data_source()
@targets()
@options.rho()
@options.epsilon()
@options.arm
@options.prior
@options.settings
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Simulated snapshots.")
@options.as_json
def advise_command(
    source: Source,
    asked: Asked,
    rho: float,
    epsilon: float,
    arm: str,
    prior: str,
    settings: Settings,
    seeds: int,
    as_json: bool,
) -> None:
    """Say how the limits of the universe change the valid rate (owner-only: reads private edges)."""
    checks.rho(rho)
    checks.epsilon(epsilon)
    settings = replace(settings, arm=Arm.parse(arm), prior=replace(settings.prior, kind=PriorKind.parse(prior)))
    study = source.study(source.dataset())
    rows, name = asked.rows(study)
    with tqdm(unit="release", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        table = advise(study, rows, rho, epsilon, settings, range(seeds), progress=progress)
    if as_json:
        asked_for = {"population": name, "targets": len(rows), "rho": rho, "epsilon": epsilon}
        head = {"owner_only": True, "warning": WARNING, "dataset": study.dataset.name, **asked_for}
        options.print_json({**head, **options.told(settings), "rows": table.to_dict("records")})
        return
    click.echo(f"{study.dataset.name}, {name}: {len(rows)} targets at epsilon {epsilon:g} with rho {rho:g} public")
    click.echo("\n".join(["", *report(table), "", f"Owner-only. {WARNING}"]))


def report(table: pd.DataFrame) -> list[str]:
    """The present limits, then the others from the largest gain down, a line each."""
    first = table[table["present"]]
    others = table[~table["present"]].sort_values("change", ascending=False, kind="stable")
    lines = [f"  {'k_E,k_F,max_E,max_F':<22}{'candidates':>11}{'ceiling':>9}{'valid':>8}{'change':>9}"]
    for row in pd.concat([first, others]).to_dict("records"):
        limits = ",".join(str(row[name]) for name in ("k_edges", "k_features", "max_edges", "max_features"))
        change = "present" if row["present"] else f"{row['change']:+.3f}"
        lines.append(f"  {limits:<22}{row['candidates']:>11,.0f}{row['ceiling']:>9.3f}{row['valid']:>8.3f}{change:>9}")
    return lines
