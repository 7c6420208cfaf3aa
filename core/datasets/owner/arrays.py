"""From a graph that comes as arrays to a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.owner import limits
from core.datasets.owner.normalise import normalise
from core.datasets.owner.raw import Matrix, Pairs, RawGraph
from core.datasets.owner.refusal import check_count, wrong


@dataclass(frozen=True)
class Arrays:
    """`n` nodes; `ends`: k x 2 rows; `x`: n x F; `labels`: n numbers (negative or NaN: none) or texts.

    `ids`, `features`, `classes`, `split`: n, F, C and n texts. None: not given.
    """

    n: int
    ends: np.ndarray
    x: sparse.csr_array | None = None
    labels: np.ndarray | None = None
    ids: Sequence[str] | None = None
    features: Sequence[str] | None = None
    classes: Sequence[str] | None = None
    split: Sequence[str] | None = None


def array_graph(path: Path, name: str, given: Arrays, notes: Sequence[str]) -> Dataset:
    """Return the data set of a graph given as arrays, ids and names by number where none are given.

    Whole-number labels count the classes, so that class `c` stays the output `c` of a model.
    Raises `BadInput` for parts of unequal size, rows outside the table and what `normalise` refuses.
    """
    file, n = path.name, given.n
    check_count(file, "nodes", n, limits.MOST_NODES)
    check_count(file, "edges", len(given.ends), limits.MOST_EDGES)
    width = 0 if given.x is None else given.x.shape[1]
    check_count(file, "features", width, limits.MOST_FEATURES)
    sizes = {
        "feature rows": (None if given.x is None else given.x.shape[0], n),
        "node names": (None if given.ids is None else len(given.ids), n),
        "feature names": (None if given.features is None else len(given.features), width),
        "split marks": (None if given.split is None else len(given.split), n),
    }
    for what, (found, expected) in sizes.items():
        if found is not None and found != expected:
            remedy = "save arrays that belong together"
            raise wrong(file, None, f"found {found} {what}", f"{expected}", remedy)
    ends = np.asarray(given.ends, dtype=np.int64).reshape(-1, 2)
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        odd = ends.min() if ends.min() < 0 else ends.max()
        raise wrong(file, None, f"found an edge of node {odd}", f"nodes 0 to {n - 1}", "save all nodes")
    ids = [str(row) for row in range(n)] if given.ids is None else [text.strip() for text in given.ids]
    classes, labels = _classes(given, file)
    names = given.features or [f"feature {place}" for place in range(width)]
    raw = RawGraph(
        file=file,
        edges=Pairs(file, ids, None, ends),
        ids=ids,
        matrix=None if given.x is None else Matrix(given.x, names),
        labels=labels,
        classes=classes,
        split=given.split,
        notes=notes,
    )
    return normalise(raw, name, path)


def _classes(given: Arrays, file: str) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """Return class names in order, None for those of the labels, and one label a node as text, empty where missing."""
    if given.labels is None:
        return given.classes, None
    values = np.asarray(given.labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (given.n,):
        found, expected = f"found labels of shape {values.shape}", f"one class for each of {given.n} nodes"
        raise wrong(file, None, found, expected, "choose one label a node")
    if values.dtype.kind not in "biuf":
        return given.classes, [str(value).strip() for value in values.tolist()]
    gaps = np.isnan(values) if values.dtype.kind == "f" else np.zeros(given.n, dtype=bool)
    rest = values[~gaps]
    if not (np.isfinite(rest) & (rest == np.floor(rest)) & (rest < 2**31)).all():
        raise wrong(file, None, "found labels that are not whole", "class numbers from 0", "round or bin them")
    numbers = np.where(gaps, -1, values).astype(np.int64)
    most = int(numbers.max(initial=-1))
    names = given.classes or [str(place) for place in range(min(most, given.n) + 1)]
    if most >= len(names):
        expected = f"numbers below {len(names)}, the number of classes" if given.classes else "fewer classes than nodes"
        raise wrong(file, None, f"found label {most}", expected, "number the classes from 0")
    return names, [names[number] if number >= 0 else "" for number in numbers.tolist()]
