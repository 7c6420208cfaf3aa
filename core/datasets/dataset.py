"""A data set as every part of the project takes it: graph, labels, split and what lies beside them."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.edges import distinct
from core.datasets.report import LoadReport
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph
from core.snapshot import Snapshot

# How the names of features begin that are computed from private edges (`core.datasets.structure`).
STRUCTURE = "structure: "


@dataclass(frozen=True, eq=False)
class Split:
    """Rows used to train, tune and test a backbone: three disjoint int64 arrays, each ascending.

    Raises `BadInput` for a row that is repeated, shared by two parts, or negative.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            object.__setattr__(self, name, _frozen(np.sort(np.asarray(getattr(self, name), dtype=np.int64))))
        rows = self.rows
        repeated = len(rows) - len(distinct(rows))
        if repeated:
            raise BadInput(f"split: found {repeated} repeated rows, expected each row once")
        if len(rows) and rows.min() < 0:
            raise BadInput(f"split: found row {rows.min()}, expected rows from 0")

    @property
    def rows(self) -> np.ndarray:
        """The rows of the three parts, one after the other."""
        return np.concatenate([self.train, self.validation, self.test])


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A private graph with public labels and split, and what the owner supplied beside them.

    `labels`: N int64, -1 where unlabelled. `snapshot`: the owner's real public snapshot, None when
    there is none. `positions`: N x 2 float64 in the unit square or None; laid out from private
    edges, so owner-only. `source`: origin and licence, one line. `report`: what a reader of owner's
    files set right. `targets`: rows that the owner asks about, in order. It may lack features,
    labels or classes: such a data set can be checked but not trained on. Raises `BadInput` when the
    parts don't fit each other.
    """

    name: str
    title: str
    graph: PrivateGraph
    labels: np.ndarray
    split: Split
    source: str
    snapshot: Snapshot | None = None
    positions: np.ndarray | None = None
    report: LoadReport | None = None
    targets: np.ndarray | None = None

    def __post_init__(self) -> None:
        n, classes = self.nodes.n, len(self.nodes.classes)
        labels = np.asarray(self.labels)
        if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
            raise BadInput(f"labels: found shape {labels.shape} of {labels.dtype}, expected {n} whole numbers")
        if labels.min() < -1 or labels.max() >= classes:
            raise BadInput(f"labels: found {labels.min()}..{labels.max()}, expected -1..{classes - 1}")
        object.__setattr__(self, "labels", _frozen(labels.astype(np.int64)))
        rows = self.split.rows
        if len(rows) and rows.max() >= n:
            raise BadInput(f"split: found row {rows.max()}, expected rows up to {n - 1}")
        if (self.labels[rows] < 0).any():
            raise BadInput(f"split: found {(self.labels[rows] < 0).sum()} unlabelled rows, expected labelled ones")
        if self.snapshot is not None and self.snapshot.n != n:
            raise BadInput(f"snapshot: found one for {self.snapshot.n} nodes, the graph has {n}")
        if self.positions is not None:
            object.__setattr__(self, "positions", _frozen(_checked_positions(self.positions, n)))
        if self.targets is not None:
            targets = np.array(self.targets, dtype=np.int64)
            if len(targets) and (targets.min() < 0 or targets.max() >= n):
                raise BadInput(f"targets: found {targets.min()}..{targets.max()}, expected rows 0..{n - 1}")
            object.__setattr__(self, "targets", _frozen(targets))

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph!r})"

    @property
    def nodes(self) -> Nodes:
        """The public node table."""
        return self.graph.nodes

    @property
    def structural(self) -> bool:
        """Whether a feature is computed from the private edges, so that no guarantee holds for a release."""
        return any(name.startswith(STRUCTURE) for name in self.nodes.feature_names)

    def check_trainable(self) -> None:
        """Raise `BadInput` unless there are features, two classes and a labelled node to train on."""
        lacks = (
            (self.nodes.n_features == 0, "no feature", "at least one", "add some, or ask for structural ones"),
            (len(self.nodes.classes) < 2, f"{len(self.nodes.classes)} classes", "two or more", "label the nodes"),
            (len(self.split.train) == 0, "no labelled training node", "at least one", "label more nodes"),
        )
        for missing, found, expected, remedy in lacks:
            if missing:
                raise BadInput(f"data set {self.name}: found {found}, expected {expected} to train on; {remedy}")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that a study shows: names, graph, labels, split, targets, snapshot; owner-side cache keys."""
        given = self.snapshot.digest if self.snapshot is not None else None
        hasher = hashlib.sha256(repr((self.name, self.title, self.graph.digest, given)).encode())
        for part in (self.labels, self.split.train, self.split.validation, self.split.test, self.targets):
            hasher.update(b"none" if part is None else repr(part.shape).encode() + part.tobytes())
        return hasher.hexdigest()

    def resolve(self, text: str) -> tuple[int, str | None]:
        """Return the row that `text` names, with a note when it had to be read as a row number.

        An exact node id wins; `#12` is row 12; a plain number that no node bears as its id is a row
        too, and the note says so. Raises `BadInput` for anything else.
        """
        ids = self.nodes.ids
        with contextlib.suppress(BadInput):
            return self.nodes.row(text), None
        digits = text.removeprefix("#")
        # 18 digits hold any row; int() refuses thousands of them with an error of its own.
        if digits.isascii() and digits.isdigit() and len(digits) <= 18 and int(digits) < len(ids):
            row = int(digits)
            note = f"no node bears the id {text!r}: read as row {row}, node {ids[row]!r}"
            return row, None if text.startswith("#") else note
        raise BadInput(
            f"target: found {text!r}, expected one of {len(ids)} node ids such as {ids[0]!r}, "
            f"or a row number from #0 to #{len(ids) - 1}"
        )


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _checked_positions(positions: np.ndarray, n: int) -> np.ndarray:
    positions = np.array(positions, dtype=np.float64)
    if positions.shape != (n, 2):
        raise BadInput(f"positions: found shape {positions.shape}, expected ({n}, 2)")
    if not ((positions >= 0) & (positions <= 1)).all():
        raise BadInput("positions: found a point outside the unit square, expected coordinates from 0 to 1")
    return positions
