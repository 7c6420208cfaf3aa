"""From files as they stood to a checked data set: what is wrong is put right and counted, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset, Split
from core.datasets.edges import distinct, simple_edges
from core.datasets.owner import limits
from core.datasets.owner.features import Block, encoded, from_matrix, from_triplets, is_missing
from core.datasets.owner.ids import NodeIndex, check_id, natural, plain_name, without_points
from core.datasets.owner.raw import Pairs, RawGraph
from core.datasets.owner.refusal import check_count, first_repeat, listed, quoted, wrong
from core.datasets.report import LoadReport
from core.datasets.splits import share_split
from core.graph import Nodes, PrivateGraph, pair_keys
from core.snapshot import Snapshot

PARTS = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2, "testing": 2}
NODES_FROM_EDGES = (
    "the list of nodes comes from the private edges, and whoever sees it knows that each node has one; "
    "a node table would be public by itself"
)


@dataclass(frozen=True)
class _Read:
    """Pairs as rows of the node table, k x 2 int64, and how many of their names had to be respelt."""

    rows: np.ndarray
    respelt: int


def normalise(raw: RawGraph, name: str, path: Path) -> Dataset:
    """Return the data set that `raw` from the file or folder `path` describes, with the report of what was put right.

    Ids, features, labels and the snapshot's order stay as they are; repeated edges, both directions
    and self-loops become simple undirected edges. Classes are the distinct labels, by value or by
    name, unless `raw` lists them. Without a split of its own the data set gets a seeded one. Raises
    `BadInput` for ids that are empty, repeated or unknown, for features that aren't finite, for a
    graph without an edge, and beyond the limits of `limits`.
    """
    index = _index(raw)
    check_count(raw.file, "nodes", len(index), limits.MOST_NODES)
    classes, labels, label_notes = _labels(raw, len(index))
    blocks = _blocks(raw, index)
    nodes = _nodes(raw, index, blocks, classes)
    edges = rows_of(raw.edges, index)
    pairs = simple_edges(edges.rows, len(index))
    if not len(pairs):
        line = 1 if raw.edges.lines is not None else None
        remedy = "add the edges below the header" if line else "save the graph with its edges"
        raise wrong(raw.edges.file, line, "found no edge between two nodes", "at least one", remedy)
    graph = PrivateGraph(nodes, pairs)
    snapshot_rows = rows_of(raw.snapshot, index) if raw.snapshot else _Read(np.empty((0, 2), dtype=np.int64), 0)
    snapshot = snapshot_of(snapshot_rows.rows, len(index)) if raw.snapshot else None
    split, split_notes = _split(raw, labels)
    notes = [*raw.notes, *label_notes, *(note for block in blocks for note in block.notes), *split_notes]
    if raw.ids is None:
        notes.append(NODES_FROM_EDGES)
    counts = _counted(edges.rows, graph, snapshot_rows.rows, snapshot)
    report = LoadReport(
        **counts,
        unlabelled=int((labels < 0).sum()),
        missing_features=sum(block.missing for block in blocks),
        respelt_ids=index.respelt + (0 if raw.edges.names is raw.ids else edges.respelt) + snapshot_rows.respelt,
        roles=tuple(raw.roles),
        notes=tuple(notes),
    )
    targets = _targets(raw, index)
    place = path.resolve().name
    source = f"owner's files in {place}; split {'seeded here' if raw.split is None else 'as given'}"
    title = place if path.is_dir() else place.strip(".").partition(".")[0]
    return Dataset(name, title, graph, labels, split, source, snapshot=snapshot, report=report, targets=targets)


def _index(raw: RawGraph) -> NodeIndex:
    if raw.ids is not None:
        return NodeIndex(raw.ids, raw.lines, raw.file)
    lines = raw.edges.lines
    for place, text in enumerate(raw.edges.names):
        check_id(text, raw.edges.file, int(lines[place]) if lines is not None else None)
    return NodeIndex(natural(without_points(raw.edges.names)), None, raw.file)


def rows_of(pairs: Pairs, index: NodeIndex) -> _Read:
    """The rows that ends name; raises `BadInput` with the line of one that is no node."""
    places = [index.find(text) for text in pairs.names]
    for place, row in enumerate(places):
        if row is None:
            line = int(pairs.lines[place]) if pairs.lines is not None else None
            expected = f"one of {len(index)} node ids such as {quoted(index.ids[0])}"
            remedy = "add it to the nodes or drop the row"
            raise wrong(pairs.file, line, f"found node {quoted(pairs.names[place])}", expected, remedy)
    respelt = sum(index.ids[row] != text for row, text in zip(places, pairs.names, strict=True) if row is not None)
    return _Read(np.array(places, dtype=np.int64)[pairs.ends].reshape(-1, 2), respelt)


def _labels(raw: RawGraph, n: int) -> tuple[tuple[str, ...], np.ndarray, list[str]]:
    """Return class names, N int64 labels (-1 unlabelled) and notes."""
    if raw.labels is None:
        return tuple(raw.classes or ()), np.full(n, -1, dtype=np.int64), ["no labels: nothing to train on"]
    cells = ["" if is_missing(text) else plain_name(text) for text in raw.labels]
    present = without_points([text for text in cells if text])
    found = natural(present)
    classes = tuple(found if raw.classes is None else map(plain_name, raw.classes))
    place = {text: at for at, text in enumerate(classes)}
    texts = iter(present)
    labels = np.full(n, -1, dtype=np.int64)
    for row, text in enumerate(cells):
        if text:
            label = place.get(next(texts))
            if label is None:
                line = int(raw.lines[row]) if raw.lines is not None else None
                expected = f"one of the listed classes, {listed(classes)}"
                raise wrong(raw.file, line, f"found label {quoted(text)}", expected, "add it to the classes")
            labels[row] = label
    notes = []
    marks = sorted({text for text in raw.labels if text and is_missing(text)})
    if marks:
        notes.append(f"{raw.file}: labels {listed(marks)} read as missing")
    if len(classes) < 2:
        notes.append(f"{len(classes)} classes: nothing to tell apart, so nothing to train")
    return classes, labels, notes


def _blocks(raw: RawGraph, index: NodeIndex) -> list[Block]:
    blocks = [encoded(column, raw.file, raw.lines) for column in raw.columns]
    if raw.matrix is not None:
        blocks.append(from_matrix(raw.matrix, raw.file))
    if raw.triplets is not None:
        blocks.append(from_triplets(raw.triplets, index))
    return blocks


def _nodes(raw: RawGraph, index: NodeIndex, blocks: Sequence[Block], classes: tuple[str, ...]) -> Nodes:
    names = tuple(name for block in blocks for name in block.names)
    check_count(raw.file, "features", len(names), limits.MOST_FEATURES)
    again = first_repeat(names)
    if again is not None:
        found = f"found two features {quoted(names[again])}"
        raise wrong(raw.file, None, found, "each name once", "rename one of the columns")
    x = sparse.hstack([sparse.csc_array((len(index), 0)), *(block.x for block in blocks)], format="csc")
    return Nodes(index.ids, x.tocsr(), names, classes)


def snapshot_of(rows: np.ndarray, n: int) -> Snapshot:
    """The given snapshot of k x 2 rows, in their order, without self-loops and repeats."""
    pairs = np.sort(rows[rows[:, 0] != rows[:, 1]], axis=1)
    _, first = np.unique(pair_keys(pairs, n), return_index=True)
    return Snapshot(pairs[np.sort(first)], n, simulated=False)


def _split(raw: RawGraph, labels: np.ndarray) -> tuple[Split, list[str]]:
    if raw.split is None:
        split = share_split(labels)
        empty = (labels >= 0).any() and not len(split.train)
        return split, ["no class with two labelled nodes: nothing to train on"] if empty else []
    parts: tuple[list[int], ...] = ([], [], [])
    bare = 0
    for row, text in enumerate(raw.split):
        if is_missing(text):
            continue
        part = PARTS.get(text.casefold())
        if part is None:
            line = int(raw.lines[row]) if raw.lines is not None else None
            expected = "train, validation, test or nothing"
            raise wrong(raw.file, line, f"found split {quoted(text)}", expected, "correct the cell")
        if labels[row] < 0:
            bare += 1
        else:
            parts[part].append(row)
    notes = [f"{bare:,} nodes of the split have no label: left out of it"] if bare else []
    return Split(*(np.array(part, dtype=np.int64) for part in parts)), notes


def _targets(raw: RawGraph, index: NodeIndex) -> np.ndarray | None:
    if raw.targets is None:
        return None
    ends = np.arange(len(raw.targets.names)).repeat(2)
    rows = rows_of(Pairs(raw.targets.file, raw.targets.names, raw.targets.lines, ends), index).rows[:, 0]
    return np.array(list(dict.fromkeys(rows.tolist())), dtype=np.int64)


def _counted(
    rows: np.ndarray, graph: PrivateGraph, snapshot_rows: np.ndarray, snapshot: Snapshot | None
) -> dict[str, int]:
    ties = rows[rows[:, 0] != rows[:, 1]]
    directed = len(distinct(pair_keys(ties, graph.n)))
    loops = int((snapshot_rows[:, 0] == snapshot_rows[:, 1]).sum())
    return {
        "duplicates": len(ties) - directed,
        "reversed": directed - graph.m,
        "self_loops": len(rows) - len(ties),
        "isolated": int((graph.degree == 0).sum()),
        "snapshot_repeats": len(snapshot_rows) - loops - (len(snapshot) if snapshot else 0),
        "snapshot_self_loops": loops,
        "snapshot_absent": int((~graph.contains(snapshot.pairs)).sum()) if snapshot else 0,
    }
