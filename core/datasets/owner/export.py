"""A data set as a folder of CSV files that `load_folder` reads back."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from core.datasets.dataset import Dataset
from core.errors import BadInput


def export_folder(dataset: Dataset, folder: Path) -> None:
    """Write `dataset` into the new folder `folder`, whole or not at all; owner-only, for it holds the private edges.

    `nodes.csv` (id, label, split), `features.csv` (id, feature, value; a feature that no node has
    stands with value 0), `classes.csv`, `edges.csv`, and, where there are any, `snapshot.csv` with
    its order and `targets.csv`. Loading it gives the same ids, features, labels, classes, split,
    edges, snapshot and targets in the same order. The folder and its files are for the owner's eyes
    only. Raises `BadInput` when `folder` exists and isn't empty, or can't be written.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"output {folder}: found something there, expected a new or empty folder; choose another")
    try:
        with tempfile.TemporaryDirectory(dir=folder.resolve().parent, prefix=".export-") as scratch:
            written = Path(scratch) / "folder"
            written.mkdir(mode=0o700)
            for name, header, rows in _files(dataset):
                _write(written / f"{name}.csv", header, rows)
            os.replace(written, folder)
    except OSError as error:
        raise BadInput(f"output {folder}: can't be written ({error.strerror}); choose another folder") from error


def _files(dataset: Dataset) -> Iterable[tuple[str, Sequence[str], Iterable[Sequence[object]]]]:
    nodes, ids = dataset.nodes, dataset.nodes.ids
    named = (*nodes.classes, "")  # the last is for -1, no label
    parts = np.full(nodes.n, "", dtype="<U10")
    for part in ("train", "validation", "test"):
        parts[getattr(dataset.split, part)] = part
    labels = (named[label] for label in dataset.labels)
    yield "nodes", ("id", "label", "split"), zip(ids, labels, parts, strict=True)
    if nodes.classes:
        yield "classes", ("class",), ([name] for name in nodes.classes)
    if nodes.n_features:
        yield "features", ("id", "feature", "value"), _entries(dataset)
    yield "edges", ("source", "target"), ((ids[u], ids[v]) for u, v in dataset.graph.edges)
    if dataset.snapshot is not None:
        pairs = ((ids[u], ids[v], place) for place, (u, v) in enumerate(dataset.snapshot.pairs))
        yield "snapshot", ("source", "target", "order"), pairs
    if dataset.targets is not None and len(dataset.targets):
        yield "targets", ("id",), ([ids[row]] for row in dataset.targets)


def _entries(dataset: Dataset) -> Iterable[Sequence[object]]:
    """Entries by feature, so that their first appearance keeps the features' order."""
    nodes = dataset.nodes
    columns = nodes.x.tocsc()
    for place, name in enumerate(nodes.feature_names):
        rows = slice(columns.indptr[place], columns.indptr[place + 1])
        entries = zip(columns.indices[rows], columns.data[rows], strict=True)
        yield from ((nodes.ids[row], name, repr(float(value))) for row, value in entries)
        if rows.start == rows.stop:
            yield nodes.ids[0], name, 0


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    with open(path, "w", encoding="utf-8", newline="", opener=private) as stream:
        # All cells in quotes: one that begins with # would be a comment.
        csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([header])
        csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
