"""`privcfs labels`: labels that enough subsampled graphs agree on, simulated, swept, or released from a budget."""

from __future__ import annotations

import uuid
from fractions import Fraction
from pathlib import Path

import click
import numpy as np

from core.cli import labels_run, options
from core.cli.source import Source, data_source
from core.cli.targets import listed_rows
from core.datasets.dataset import Dataset
from core.desk.amount import amount
from core.errors import BadInput, UnsupportedBackbone
from core.labels.classifier import Classifier, GCNClassifier, filter_for
from core.labels.csbm import FAMILY, Recipe, load_csbm, parse
from core.labels.plan import MOST_SUBGRAPHS, Cap, Plan

P_S, M, EPSILON, DELTA = "0.07", 400, "8", "1e-5"
SWEPT = ("0.005", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06", "0.07", "0.08", "0.09", "0.1", "0.12", "0.15", "0.2")


@click.command("labels")
@data_source(required=False)
@click.option(
    "--nodes", "named", metavar="ID", multiple=True,
    help="Label these nodes only; repeat it. All must agree in a subgraph, so fewer come out more often.",
)  # fmt: skip
@click.option(
    "--targets", "targets_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Label the nodes of this file only, ids one a line.",
)  # fmt: skip
@click.option(
    "--classifier", "kind", type=click.Choice(["filter", "gcn"]),
    help="One-layer graph filter, or the two-layer GCN; the filter on a contextual SBM unless given, else the GCN.",
)  # fmt: skip
@click.option("--h0", type=float, default=1.0, show_default=True, help="Filter: weight of a node's own signal.")
@click.option("--h1", type=float, default=-0.05, show_default=True, help="Filter: weight of the Laplacian.")
@click.option(
    "--p-s", "p_s", metavar="P", multiple=True,
    help=f"Chance to keep an edge in a subgraph; {P_S} unless given, repeat it in a sweep.",
)  # fmt: skip
@click.option(
    "--m", type=click.IntRange(1, MOST_SUBGRAPHS), multiple=True, help=f"Subgraphs; {M} unless given, or repeated."
)
@click.option("--epsilon", metavar="E", multiple=True, help=f"Budget ε, exact; {EPSILON} unless given, or repeated.")
@click.option("--delta", metavar="D", multiple=True, help=f"Budget δ, exact; {DELTA} unless given, or repeated.")
@click.option(
    "--cap", type=click.Choice([rule.value for rule in Cap]), default=Cap.PAPER.value, show_default=True,
    help="Subgraphs an edge may sit in: 2 m p_s, or as few as half of delta allows.",
)  # fmt: skip
@click.option(
    "--most-wrong", type=float, default=0.05, show_default=True,
    help="Share of wrong labels to accept: the accuracy wall of the filter.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of a simulation.")
@click.option(
    "--sweep", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write accuracy and ⊥-rate over all given p_s, m, ε and δ to a CSV file (owner-only).",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(1, 1000), default=5, show_default=True, help="Draws of each sweep row.")
@click.option("--ledger", "url", metavar="URL", help="Release for real, debited from this ledger.")
@click.option("--account", metavar="NAME", help="Which of its accounts, if not that of the data set.")
@click.option("--key", metavar="KEY", help="Names the release: a retry under its key pays nothing.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The released card's file.")
@options.as_json
def labels_command(
    source: Source,
    named: tuple[str, ...],
    targets_file: Path | None,
    kind: str | None,
    h0: float,
    h1: float,
    p_s: tuple[str, ...],
    m: tuple[int, ...],
    epsilon: tuple[str, ...],
    delta: tuple[str, ...],
    cap: str,
    most_wrong: float,
    seed: int,
    sweep: Path | None,
    draws: int,
    url: str | None,
    account: str | None,
    key: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Label nodes so that one private edge hardly matters: labels if enough subgraphs agree, else nothing (⊥).

    Without --ledger this is a simulation. Without --dataset it runs on a small contextual SBM;
    csbm:nodes=100,degree=17.6,homophily=0.9,gap=4,margin=0.5,classes=2,seed=0 names another one.
    """
    rule = Cap.parse(cap)
    grid = (
        _exact(p_s or (SWEPT if sweep else (P_S,)), "p_s"), list(m or (M,)),
        _exact(epsilon or (EPSILON,), "epsilon"), _exact(delta or (DELTA,), "delta"),
    )  # fmt: skip
    if not 0 < most_wrong <= 1:
        raise BadInput.number("most wrong", most_wrong, "a share above 0 and at most 1, for example 0.05")
    if sweep is None and max(len(values) for values in grid) > 1:
        raise BadInput("labels: found a value given twice, expected one each of p_s, m, epsilon and delta; or --sweep")
    if (url is None) != (out is None) or (url is None and (account or key)) or (url is not None and sweep):
        raise BadInput("labels: expected --ledger and --out together for a release, neither for a simulation or sweep")
    plan = Plan(grid[0][0], grid[1][0], grid[2][0], grid[3][0], rule)
    dataset = _dataset(source)
    rows = _rows(dataset, named, targets_file)
    classifier = _classifier(source, dataset, kind, h0, h1)
    if url is not None and out is not None:
        labels_run.release_labels(dataset, classifier, plan, rows, url, account, key or str(uuid.uuid4()), out, as_json)
    elif sweep is not None:
        labels_run.sweep_labels(dataset, classifier, grid, rule, rows, draws, seed, sweep, as_json)
    else:
        labels_run.simulate_labels(dataset, classifier, plan, rows, most_wrong, seed, as_json)


def _exact(values: tuple[str, ...], what: str) -> list[Fraction]:
    return [amount(value, what) for value in values]


def _dataset(source: Source) -> Dataset:
    if not source.name:
        return load_csbm(Recipe())
    return load_csbm(parse(source.name)) if source.name.startswith(FAMILY) else source.dataset()


def _rows(dataset: Dataset, named: tuple[str, ...], file: Path | None) -> np.ndarray | None:
    if named and file:
        raise BadInput("nodes: found --nodes and --targets, expected one of them")
    if file is not None:
        return listed_rows(dataset, file)
    if not named:
        return None
    found = [dataset.resolve(node) for node in named]
    for _, note in found:
        if note:
            click.echo(f"privcfs: note: {note}", err=True)
    return np.array([row for row, _ in found], dtype=np.int64)


def _classifier(source: Source, dataset: Dataset, kind: str | None, h0: float, h1: float) -> Classifier:
    if (kind or ("filter" if dataset.name.startswith(FAMILY) else "gcn")) == "filter":
        if source.backbone is not None:
            raise BadInput("classifier: found a backbone beside the filter, expected --classifier gcn with it")
        return filter_for(dataset, h0, h1)
    from core.backbone.gcn import GCNWeights

    weights = source.study(dataset).backbone.weights
    if not isinstance(weights, GCNWeights):
        raise UnsupportedBackbone(
            "labels: found a foreign module as the backbone, expected a two-layer GCN; leave --backbone out or take "
            "--classifier filter"
        )
    return GCNClassifier(weights, dataset.nodes)
