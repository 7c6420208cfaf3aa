"""What every reader of owner's files hands on: the contents as they stood, with nothing put right yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import sparse

from core.datasets.report import Role


class Kind(StrEnum):
    """How the cells of a column become features."""

    NUMERIC = "numeric"
    TEXT = "text"
    CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Column:
    """An attribute of the nodes: N cells of text, empty where missing; `kind` None: told from the cells."""

    name: str
    cells: Sequence[str]
    kind: Kind | None = None


@dataclass(frozen=True)
class Pairs:
    """Ties or snapshot pairs, each end by its place in `names`.

    `names`: distinct ends as spelt, by first appearance. `lines`: the line of that appearance, or
    None. `ends`: k x 2 int64, in file order, a snapshot's in disclosure order.
    """

    file: str
    names: Sequence[str]
    lines: Sequence[int] | None
    ends: np.ndarray


@dataclass(frozen=True)
class Targets:
    """The nodes an owner asks about, as spelt, with the line of each."""

    file: str
    names: Sequence[str]
    lines: Sequence[int]


@dataclass(frozen=True)
class Matrix:
    """Features that come as numbers: sparse N x F, NaN where missing, and F names."""

    x: sparse.csr_array
    names: Sequence[str]


@dataclass(frozen=True)
class Triplets:
    """Features listed one entry a line: k entries, by place in `nodes` (as spelt) and in `features`.

    `lines`: line on which each of `nodes` first stood. `where`: line of each entry. `values`: k
    float64, or None for a list of what is present.
    """

    file: str
    nodes: Sequence[str]
    lines: Sequence[int]
    features: Sequence[str]
    rows: np.ndarray
    columns: np.ndarray
    where: np.ndarray
    values: np.ndarray | None


@dataclass(frozen=True)
class RawGraph:
    """A graph as its files have it.

    `file`: what messages about nodes quote. `ids`: N, None when only the edges name the nodes.
    `lines`: line of each node or None. `labels`, `split`: N cells of text or None. `classes`: class
    names in the owner's order, None for sorted ones. `roles`, `notes`: for the report.
    """

    file: str
    edges: Pairs
    ids: Sequence[str] | None = None
    lines: Sequence[int] | None = None
    columns: Sequence[Column] = ()
    matrix: Matrix | None = None
    triplets: Triplets | None = None
    labels: Sequence[str] | None = None
    classes: Sequence[str] | None = None
    split: Sequence[str] | None = None
    snapshot: Pairs | None = None
    targets: Targets | None = None
    roles: Sequence[Role] = ()
    notes: Sequence[str] = ()
