"""`privcfs frontier`: what every rho, ε, prior and arm buys for a population, into a file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pandas as pd
from tqdm import tqdm

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import Asked, targets
from core.errors import BadInput
from core.prior.prior import PriorKind
from core.scale.cluster import local_workers, on_workers, workers_at
from core.study.frontier import frontier
from core.study.plan import EPSILONS, RHOS, Figures, Owned, Plan, Run, Task, price_elsewhere
from core.study.pricestore import PriceStore
from core.study.settings import Settings
from core.study.tables import check_ending, described_run, write_table
from core.universe import Arm

KEPT = ".kept"  # figures of single targets, beside the output


@click.command("frontier")
@data_source()
@targets()
@click.option("--rho", "rhos", type=float, multiple=True, default=RHOS, show_default=True, help="Repeat it.")
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, default=EPSILONS, show_default=True, help="Repeat it."
)
@click.option(
    "--prior", "priors", type=click.Choice([kind.value for kind in PriorKind]), multiple=True,
    default=[kind.value for kind in PriorKind], show_default=True, help="Repeat it.",
)  # fmt: skip
@click.option(
    "--arm", "arms", type=click.Choice([arm.value for arm in Arm]), multiple=True, default=[Arm.FULL.value],
    show_default=True, help="Repeat it.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Simulated snapshots.")
@options.settings
@click.option(
    "--public-only/--no-public-only", default=True, help="Whether to say what the public can do alone (slow)."
)
@click.option("--workers", type=int, metavar="N", help="Processes on this machine (extra: scale).")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of Dask workers of your own (extra: scale).")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True,
    help=f"CSV or Parquet file to write. FILE{KEPT} beside it keeps what was found; the same call goes on from there.",
)  # fmt: skip
@options.as_json
def frontier_command(
    source: Source,
    asked: Asked,
    rhos: Sequence[float],
    epsilons: Sequence[float],
    priors: Sequence[str],
    arms: Sequence[str],
    seeds: int,
    settings: Settings,
    public_only: bool,
    workers: int | None,
    dask: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Price every rho, epsilon, prior and arm for a population (owner-only: reads private edges)."""
    check_ending(out)
    if workers is not None and dask is not None:
        raise BadInput("workers: found both --workers and --dask, expected one of them")
    plan = Plan(
        rhos=tuple(rhos),
        epsilons=tuple(epsilons),
        priors=tuple(PriorKind.parse(prior) for prior in priors),
        arms=tuple(Arm.parse(arm) for arm in arms),
        seeds=tuple(range(seeds)),
        settings=settings,
        public_only=public_only,
    )
    study = source.study(source.dataset())
    rows, population = asked.rows(study)
    with (
        PriceStore(out.with_name(out.name + KEPT)) as store,
        _elsewhere(workers, dask) as run,
        tqdm(unit="target", disable=None, leave=False) as bar,  # silent without a terminal
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        table = frontier(study, plan, rows, population, store, run, progress)
    write_table(table, described_run(study, plan, rows), out)
    if as_json:
        cells = table.astype(object).where(table.notna(), None).to_dict("records")
        options.print_json({"owner_only": True, "out": str(out), "rows": cells})
    else:
        click.echo("\n".join([*report(table), "", f"{len(table)} rows written to {out}.", OWNER_ONLY]))


@contextlib.contextmanager
def _elsewhere(workers: int | None, dask: str | None) -> Iterator[Run | None]:
    """Where the tasks are worked out: on workers, or None for this process."""
    if workers is None and dask is None:
        yield None
        return
    with local_workers(checks.count(workers, "workers", 1, 256)) if dask is None else workers_at(dask) as client:

        def run(owned: Owned, tasks: Sequence[Task]) -> Iterator[tuple[int, Figures]]:
            return on_workers(client, price_elsewhere, owned, tasks)

        yield run


def report(table: pd.DataFrame) -> list[str]:
    """Valid-CF by arm, prior and rho against ε, as lines for a person (owner-only)."""
    first = table.iloc[0]
    lines = [
        f"{first['dataset']}, {first['population']}: valid-CF over {first['targets']} targets and {first['seeds']} "
        f"{'snapshot' if first['seeds'] == 1 else 'snapshots'}",
        "",
    ]
    epsilons = list(dict.fromkeys(table["epsilon"]))
    lines.append(
        f"  {'arm':<12}{'prior':<9}{'rho':>5}{'ceiling':>9}{'public':>8}"
        + "".join(f"{f'ε {e:g}':>8}" for e in epsilons)
    )
    for (arm, prior, rho), rows in table.groupby(["arm", "prior", "rho"], sort=False):
        one = rows.iloc[0]
        public = "-" if pd.isna(one["public_only"]) else f"{one['public_only']:.3f}"
        valid = "".join(f"{value:>8.3f}" for value in rows.set_index("epsilon")["valid"].loc[epsilons])
        lines.append(f"  {arm:<12}{prior:<9}{rho:>5g}{one['ceiling']:>9.3f}{public:>8}{valid}")
    return lines


OWNER_ONLY = "Owner-only: this reads private edges. Nothing was released and no budget was spent."
