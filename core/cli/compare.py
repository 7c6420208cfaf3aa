"""`privcfs compare`: the baseline table, every method at one ε with the guarantee it really carries."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from tqdm import tqdm

from core import checks
from core.baselines.compare import MOST_DRAWS, Comparison, Row, compare
from core.baselines.graph_level import GraphLevel
from core.baselines.suite import method, suite
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import Asked, targets
from core.files import check_folder, whole_file
from core.graph import Nodes
from core.placement.result import Operations
from core.study.settings import Settings
from core.study.tables import NOTICE
from core.universe import Arm

SIMULATED = (
    "  All of it given that the snapshot is public; this one is simulated, so a release would be a demonstration."
)
MEASURED = ("valid", "targeted", "spurious", "polluted", "found", "size")
FIGURES = ("valid", "targeted", "size", "spurious", "polluted")


@click.command("compare")
@data_source()
@targets()
@options.epsilon()
@options.rho(default=0.5)
@click.option(
    "--method",
    "names",
    type=click.Choice([method.name for method in suite()]),
    multiple=True,
    help="Only this row; repeat for more.",
)
@click.option("--draws", type=click.IntRange(1, MOST_DRAWS), default=3, show_default=True, help="Noise draws a seed.")
@click.option(
    "--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Seeds of simulated snapshot and noise."
)
@click.option("--cells", type=click.Path(dir_okay=False, path_type=Path), help="Write every cell into this CSV file.")
@click.option(
    "--universe", type=click.Choice([kind.value for kind in Operations]), default=Operations.NOISED.value,
    show_default=True, help="Pairs that graph-level rows may delete: the noised graph's own, or the public snapshot's.",
)  # fmt: skip
@options.arm
@options.settings
@options.as_json
def compare_command(
    source: Source,
    asked: Asked,
    epsilon: float,
    rho: float,
    names: tuple[str, ...],
    draws: int,
    seeds: int,
    cells: Path | None,
    universe: str,
    arm: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Put every baseline beside PrivCFS at one epsilon (owner-only: reads private edges; nothing is released)."""
    checks.epsilon(epsilon)
    checks.rho(rho)
    operations, settings = Operations.parse(universe), replace(settings, arm=Arm.parse(arm))
    methods = [
        replace(some, operations=operations) if isinstance(some, GraphLevel) else some
        for some in [method(name) for name in dict.fromkeys(names)] or suite()
    ]
    if cells is not None:
        check_folder(cells)
    study = source.study(source.dataset())
    rows, population = asked.rows(study)
    with tqdm(unit="explanation", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        comparison = compare(
            study, rows, epsilon, methods, rho=rho, draws=draws, seeds=range(seeds), settings=settings,
            progress=progress,
        )  # fmt: skip
    if cells is not None:
        _write_cells(cells, comparison, study.dataset.nodes)
    if as_json:
        options.print_json(
            {
                "owner_only": True,
                "dataset": study.dataset.name,
                "population": population,
                "epsilon": epsilon,
                "rho": rho,
                "seeds": seeds,
                "targets": len(rows),
                "universe": universe,
                "snapshot_simulated": study.snapshot.simulated,
                **options.told(settings),
                "left_out": comparison.left_out,
                "rows": [row.to_json() for row in comparison.rows],
            }
        )
        return
    click.echo(f"{study.dataset.name}, {population}: {report(comparison, study.snapshot.simulated)}")


def report(comparison: Comparison, simulated: bool) -> str:
    """The table for a person (owner-only)."""
    head = ("method", "noise on", "certified", *FIGURES, "size in", "ms")
    rows = [
        (
            row.method.title,
            row.method.where.value,
            _certificate(row),
            *(_with_spread(row, name, len(comparison.seeds)) for name in FIGURES),
            row.method.size_currency,
            f"{row.milliseconds:.1f}",
        )
        for row in comparison.rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        f"{len(comparison.targets)} targets at epsilon {comparison.epsilon:g}, rho {comparison.rho:g}; "
        + ("one seed" if len(comparison.seeds) == 1 else f"mean ± std over {len(comparison.seeds)} seeds"),
        "",
        *(_line(row, widths) for row in (head, *rows)),
        "",
        "Certified means: for the complete release of one explanation, at the quoted budget, edge level.",
        *([SIMULATED] if simulated else []),
        *(f"  {row.method.title}: {row.guarantee.reason}" for row in comparison.rows if not row.guarantee.certified),
        *(f"  {method(name).title}: left out; {reason}" for name, reason in comparison.left_out.items()),
        "Spurious: found on what the explainer saw, and no flip of the private graph. Polluted: the noise changed the "
        "prediction.",
        "Owner-only: this reads private edges. Nothing was released and no budget was spent.",
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  " + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _certificate(row: Row) -> str:
    found = row.guarantee
    if not found.certified:
        return "no"
    return f"({found.epsilon:g}, {found.delta:g})" if found.delta else f"{found.epsilon:g}"


def _with_spread(row: Row, name: str, seeds: int) -> str:
    value = getattr(row, name)
    if value is None:
        return "-"
    return f"{value:.3f}±{row.std[name]:.3f}" if seeds > 1 else f"{value:.3f}"


def _write_cells(path: Path, comparison: Comparison, nodes: Nodes) -> None:
    """One line a cell; node ids and feature names in the place of rows, several with a semicolon between them."""
    text = io.StringIO()
    text.write(f"# {NOTICE}\n")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("method", "seed", "draw", "target", "seen", *MEASURED, "pairs", "masks"))
    for cell in comparison.cells:
        found = cell.finding
        pairs = "; ".join(f"{nodes.ids[u]} - {nodes.ids[v]}" for u, v in found.pairs)
        masks = "; ".join(nodes.feature_names[d] for d in found.features)
        figures = (getattr(found, name) for name in MEASURED)
        names = (cell.method, cell.seed, cell.draw, nodes.ids[found.target], nodes.classes[found.seen])
        table.writerow((*names, *figures, pairs, masks))
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode())
