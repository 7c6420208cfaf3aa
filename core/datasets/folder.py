"""An owner's own graph: a folder of CSV files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.edges import simple_edges
from core.datasets.ordering import disclosure_order
from core.datasets.report import LoadReport
from core.datasets.splits import share_split
from core.datasets.table import Table, read_table
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph, pair_keys
from core.snapshot import Snapshot


def load_folder(folder: Path, name: str) -> Dataset:
    """Return the graph in `folder`, its string ids kept; nothing is half-loaded.

    `nodes.csv`: `id`, `label` (empty: unlabelled), and one numeric column a feature. `edges.csv`:
    `source`, `target`. Optional `snapshot.csv`: `source`, `target` and perhaps `order` (numbers or
    ISO dates; file order without it); its pairs need not be edges. Optional `targets.csv`: `id`.
    Repeats, both directions and self-loops are put right and counted in `report`; other columns of
    the last three files are left out. Raises `BadInput`, one line with file, line, found, expected
    and remedy, for everything else.
    """
    table = read_table(folder / "nodes.csv")
    nodes, labels = _read_nodes(table)
    edge_table = read_table(folder / "edges.csv")
    rows = _read_pairs(edge_table, nodes)
    edges = simple_edges(rows, nodes.n)
    if not len(edges):
        raise edge_table.wrong(1, "found no edge between two nodes", "at least one", "add the edges below the header")
    graph = PrivateGraph(nodes, edges)
    snapshot, snapshot_rows = _read_snapshot(folder / "snapshot.csv", nodes)
    targets = _read_targets(folder / "targets.csv", nodes)
    split = share_split(labels)
    if not len(split.train):
        raise table.wrong(1, "found no class with two nodes", "two or more labelled nodes a class", "label more nodes")
    return Dataset(
        name,
        folder.resolve().name,
        graph,
        labels,
        split,
        f"owner's files in {folder.resolve().name}; split seeded here",
        snapshot=snapshot,
        report=_report(rows, graph, labels, snapshot, snapshot_rows),
        targets=targets,
    )


def _read_nodes(table: Table) -> tuple[Nodes, np.ndarray]:
    id_place, label_place = table.column("id"), table.column("label")
    features = [place for place in range(len(table.columns)) if place not in (id_place, label_place)]
    if not features:
        raise table.wrong(1, "found no feature column", "at least one beside id and label", "add one, if only of ones")
    if not table.rows:
        raise table.wrong(1, "found no node", "at least one row below the header", "add the nodes")
    line_of: dict[str, int] = {}
    values: list[float] = []
    columns: list[int] = []
    starts = [0]
    for line, cells in table.rows:
        name = cells[id_place]
        if not name:
            raise table.wrong(line, "found an empty id", "a text that names the node", "fill it in or drop the row")
        if name in line_of:
            found = f"found id {name!r} again, first on line {line_of[name]}"
            raise table.wrong(line, found, "each id once", "merge the rows or rename one")
        line_of[name] = line
        for column, place in enumerate(features):
            value = _feature(table, line, place, cells[place])
            if value:
                values.append(value)
                columns.append(column)
        starts.append(len(values))
    labels = [cells[label_place] for _, cells in table.rows]
    classes = tuple(sorted(set(labels) - {""}))
    if len(classes) < 2:
        found = f"found {len(classes)} distinct labels"
        raise table.wrong(1, found, "at least 2 in column 'label'", "label nodes of two or more classes")
    place_of = {"": -1} | {label: place for place, label in enumerate(classes)}
    x = sparse.csr_array(
        (np.array(values), np.array(columns, dtype=np.int64), np.array(starts)), shape=(len(labels), len(features))
    )
    names = tuple(table.columns[place] for place in features)
    return Nodes(tuple(line_of), x, names, classes), np.array([place_of[label] for label in labels], dtype=np.int64)


def _feature(table: Table, line: int, place: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        found = f"found {text!r} in feature column {table.columns[place]!r}"
        raise table.wrong(line, found, "a finite number", "write a number, 0 where the feature is absent")
    return value


def _read_pairs(table: Table, nodes: Nodes) -> np.ndarray:
    """Return both ends of each row as node rows, k x 2 int64, file order."""
    places = table.column("source"), table.column("target")
    return np.array(
        [[_known(table, line, cells[place], nodes) for place in places] for line, cells in table.rows], dtype=np.int64
    ).reshape(-1, 2)


def _known(table: Table, line: int, text: str, nodes: Nodes) -> int:
    try:
        return nodes.row(text)
    except BadInput:
        expected = f"one of the {nodes.n} ids of nodes.csv such as {nodes.ids[0]!r}"
        raise table.wrong(line, f"found node {text!r}", expected, "add it to nodes.csv or drop the row") from None


def _read_snapshot(path: Path, nodes: Nodes) -> tuple[Snapshot | None, np.ndarray]:
    """Return the snapshot, None without a file, and its rows as they stood, in disclosure order."""
    if not path.exists():
        return None, np.empty((0, 2), dtype=np.int64)
    table = read_table(path)
    rows = _read_pairs(table, nodes)[disclosure_order(table)]
    pairs = np.sort(rows[rows[:, 0] != rows[:, 1]], axis=1)
    _, first = np.unique(pair_keys(pairs, nodes.n), return_index=True)
    return Snapshot(pairs[np.sort(first)], nodes.n, simulated=False), rows


def _read_targets(path: Path, nodes: Nodes) -> np.ndarray | None:
    if not path.exists():
        return None
    table = read_table(path)
    place = table.column("id", "target")
    if not table.rows:
        raise table.wrong(1, "found no target", "at least one row below the header", "add ids or remove the file")
    return np.array(list(dict.fromkeys(_known(table, line, cells[place], nodes) for line, cells in table.rows)))


def _report(
    rows: np.ndarray, graph: PrivateGraph, labels: np.ndarray, snapshot: Snapshot | None, snapshot_rows: np.ndarray
) -> LoadReport:
    ties = rows[rows[:, 0] != rows[:, 1]]
    directed = len(np.unique(pair_keys(ties, graph.n)))
    loops = int((snapshot_rows[:, 0] == snapshot_rows[:, 1]).sum())
    pairs = len(snapshot) if snapshot else 0
    return LoadReport(
        duplicates=len(ties) - directed,
        reversed=directed - graph.m,
        self_loops=len(rows) - len(ties),
        isolated=int((graph.degree == 0).sum()),
        unlabelled=int((labels < 0).sum()),
        snapshot_repeats=len(snapshot_rows) - loops - pairs,
        snapshot_self_loops=loops,
        snapshot_absent=int((~graph.contains(snapshot.pairs)).sum()) if snapshot else 0,
    )
