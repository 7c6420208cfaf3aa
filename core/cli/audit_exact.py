"""`privcfs audit exact` and `audit small-graphs`: what releases of neighbouring graphs give away, exactly."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from tqdm import tqdm

from core import checks
from core.audit.exact import posterior_bound
from core.audit.pairs import AuditPair, PairKind, population_pairs, target_pairs
from core.audit.population import PairRecord, PopulationAudit, Summary, audit_population, layers_of
from core.audit.small_graphs import SMALL, SmallGraphReport, check_small_graphs, release_on
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import Asked, targets
from core.files import whole_file
from core.graph import Nodes
from core.prior.prior import PriorKind
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm

PAIRS = 80
COLUMNS = ("target", "u", "v", "kind", "status", "distance", "delta_u", "ratio", "identical", "auc", "advantage")


@click.command("exact")
@data_source()
@targets(single=True)
@options.rho(default=0.5)
@options.epsilon()
@click.option(
    "--pairs", "count", type=click.IntRange(1, 1_000_000), metavar="N",
    help=f"Pairs near the targets, and as many anywhere: {PAIRS}, or with --target every private edge within reach.",
)  # fmt: skip
@options.prior
@options.arm
@options.seed
@click.option("--draw", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the drawn pairs.")
@click.option(
    "--pairs-file", type=click.Path(dir_okay=False, path_type=Path), metavar="CSV",
    help="Write one row a pair into this file (owner-only).",
)  # fmt: skip
@click.option("--small-graphs", is_flag=True, help="Check all neighbours of 40 small random graphs as well.")
@options.settings
@options.as_json
def audit_exact_command(
    source: Source,
    asked: Asked,
    rho: float,
    epsilon: float,
    count: int | None,
    prior: str,
    arm: str,
    seed: int,
    draw: int,
    pairs_file: Path | None,
    small_graphs: bool,
    settings: Settings,
    as_json: bool,
) -> None:
    """Compare exact release distributions of neighbouring graphs (owner-only: reads private edges)."""
    checks.epsilon(epsilon)
    checks.rho(rho)
    settings = _asked(settings, prior, arm)
    study = source.study(source.dataset(), seed)
    rows, population = asked.rows(study)
    pairs = _pairs(study, rows, None if count is None and asked.single else count or PAIRS, draw)
    with tqdm(total=len(pairs), unit="pair", disable=None, leave=False) as bar:  # silent without a terminal
        audit = audit_population(
            study, pairs, rho, epsilon, settings, progress=lambda done, total: bar.update(done - bar.n)
        )
    checked = _small(settings, epsilon) if small_graphs else None
    if pairs_file is not None:
        write_pairs(pairs_file, audit.records, study.dataset.nodes)
    if as_json:
        head = {"owner_only": True, "dataset": study.dataset.name, "population": population, "targets": len(rows)}
        options.print_json({**head, **told(audit, study.dataset.nodes, checked)})
        return
    click.echo(f"{study.dataset.name}, {population}: {report(audit, study.dataset.nodes)}")
    if checked is not None:
        click.echo(f"\n{small_report(checked, epsilon)}")


@click.command("small-graphs")
@options.epsilon(default=4.0)
@click.option("--graphs", type=click.IntRange(1, 10_000), default=40, show_default=True, help="Random graphs.")
@click.option("--nodes", type=click.IntRange(3, 12), default=8, show_default=True, help="Nodes of each.")
@click.option("--draw", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the graphs.")
@options.prior
@options.arm
@options.settings
@options.as_json
def audit_small_graphs_command(
    epsilon: float,
    graphs: int,
    nodes: int,
    draw: int,
    prior: str,
    arm: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Compare random small graphs with all their neighbours, at three targets each."""
    checks.epsilon(epsilon)
    checked = _small(_asked(settings, prior, arm), epsilon, graphs, nodes, draw)
    if as_json:
        options.print_json({"epsilon": epsilon, "graphs": graphs, "nodes": nodes, **_small_json(checked)})
    else:
        click.echo(small_report(checked, epsilon))


def told(audit: PopulationAudit, nodes: Nodes, checked: SmallGraphReport | None = None) -> dict[str, Any]:
    """The audit as a JSON object: near pairs at the top, since they leak most; then both kinds apart."""
    worst = audit.worst
    values = {
        "rho": audit.rho,
        "snapshot": "simulated" if audit.simulated else "given",
        **options.told(audit.settings),
        "kind": PairKind.NEAR.value,
        "epsilon": audit.epsilon,
        **_summary_json(audit.summary(PairKind.NEAR)),
        "ratio_bound": _finite(audit.ratio_bound),
        "posterior_bound": posterior_bound(audit.epsilon),
        "sensitivity_value": audit.sensitivity,
        "passed": audit.passed,
        "violations": len(audit.violations),
    }
    for kind in PairKind:
        values[kind.value] = {
            **_summary_json(audit.summary(kind)),
            "edges": _summary_json(audit.summary(kind, edge=True)),
            "absent": _summary_json(audit.summary(kind, edge=False)),
        }
    values["worst"] = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in zip(COLUMNS, _row(worst, nodes), strict=True)
    } | {"ratio": _finite(worst.found.ratio)}
    if checked is not None:
        values["small_graphs"] = _small_json(checked)
    return values


def report(audit: PopulationAudit, nodes: Nodes) -> str:
    """The audit as text for a person (owner-only)."""
    head = f"  {'pairs':<18}{'number':>8}{'max change of u':>17}{'max ratio':>11}{'identical':>11}"
    head += f"{'AUC mean':>10}{'worst':>8}"
    lines = [
        f"exact audit at epsilon {audit.epsilon:g}, rho {audit.rho:g}, {audit.settings.prior.kind.value} prior, "
        f"arm {audit.settings.arm.value}",
        "",
        head,
    ]
    for kind in PairKind:
        for edge, name in ((None, kind.value), (True, "  edges"), (False, "  absent pairs")):
            found = audit.summary(kind, edge)
            if found.pairs:
                lines.append(
                    f"  {name:<18}{found.pairs:>8}{found.max_delta_u:>17.3f}{found.max_ratio:>11.4g}"
                    f"{found.identical:>11.1%}{found.auc_mean:>10.3f}{found.auc_worst:>8.3f}"
                )
    worst = audit.worst
    status = "edge" if worst.asked.edge else "absent pair"
    u, v = (nodes.ids[row] for row in worst.asked.pair)
    lines += [
        f"  {'allowed':<26}{audit.sensitivity:>17.3f}{audit.ratio_bound:>11.4g}{'':>21}"
        f"{posterior_bound(audit.epsilon):>8.3f}",
        "",
        f"Worst pair: {status} {u} - {v} at target {nodes.ids[worst.asked.target]}, ratio {worst.found.ratio:.4g}, "
        f"AUC {worst.found.auc:.3f}.",
        f"From an even prior nobody gets surer of an edge than {posterior_bound(audit.epsilon):.4g} by one release.",
        "No violation found; that proves nothing about pairs that were not asked about."
        if audit.passed
        else f"CLAIM REJECTED: {len(audit.violations)} of {len(audit.records)} pairs break the bound.",
    ]
    if audit.simulated:
        lines.append("The snapshot is simulated from the private edges; both graphs of a pair were given the same one.")
    lines.append("Owner-only: this reads private edges. Nothing was released and no budget was spent.")
    return "\n".join(lines)


def small_report(checked: SmallGraphReport, epsilon: float) -> str:
    """The check on small graphs as text."""
    return (
        f"Small graphs at epsilon {epsilon:g}: {checked.pairs:,} pairs, utilities move by at most "
        f"{checked.max_delta_u:.4f} of {checked.sensitivity:.4f}, ratios reach {checked.max_ratio:.4g} of "
        f"{checked.bound:.4g}, supports {'agree' if checked.same_supports else 'DIFFER'}: "
        f"{'no violation found' if checked.passed else 'CLAIM REJECTED'}."
    )


def write_pairs(path: Path, records: Sequence[PairRecord], nodes: Nodes) -> None:
    """One row a pair, with node ids, into a CSV file that is put in place whole."""
    text = io.StringIO()
    text.write(
        "# owner-only: computed from private edges; releasing any of it spends no budget and gives no guarantee\n"
    )
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_row(record, nodes) for record in records)
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode())


def _row(record: PairRecord, nodes: Nodes) -> tuple[Any, ...]:
    asked, found = record.asked, record.found
    ends = tuple(nodes.ids[row] for row in (asked.target, *asked.pair))
    return (
        *ends, asked.kind.value, "edge" if asked.edge else "absent", asked.distance,
        found.delta_u, found.ratio, found.identical, found.auc, found.advantage,
    )  # fmt: skip


def _pairs(study: Study, rows: np.ndarray, count: int | None, draw: int) -> list[AuditPair]:
    rng, graph = np.random.default_rng(draw), study.dataset.graph
    if count is None:
        return target_pairs(graph, int(rows[0]), rng, layers_of(study))
    return population_pairs(graph, rows, count, rng, layers_of(study))


def _asked(settings: Settings, prior: str, arm: str) -> Settings:
    rule = replace(settings.prior, kind=PriorKind.parse(prior))
    return replace(settings, prior=rule, arm=Arm.parse(arm))


def _small(settings: Settings, epsilon: float, graphs: int = 40, nodes: int = 8, draw: int = 0) -> SmallGraphReport:
    """The check under these settings, with limits for graphs that have few pairs and features."""
    return check_small_graphs(release_on(replace(settings, limits=SMALL.limits)), epsilon, graphs, nodes, seed=draw)


def _small_json(checked: SmallGraphReport) -> dict[str, Any]:
    return {
        **asdict(checked),
        "max_ratio": _finite(checked.max_ratio),
        "bound": _finite(checked.bound),
        "passed": checked.passed,
    }


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {name: _finite(value) for name, value in asdict(summary).items()}


def _finite(value: Any) -> Any:
    """JSON has no infinity and no NaN: null stands for them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
