"""Frozen public classifiers that label many subgraphs of one graph in a pass."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from core import checks
from core.backbone.gcn import GCNWeights
from core.datasets.dataset import Dataset
from core.errors import BadInput
from core.graph import Nodes
from core.labels.csbm import FAMILY


class Classifier(Protocol):
    """Labels of all nodes under any set of edges: public, and fixed before anything is drawn."""

    @property
    def n(self) -> int:
        """Number of nodes, N."""

    @property
    def classes(self) -> int:
        """Number of labels, C."""

    @property
    def kind(self) -> str:
        """What it is, in a word."""

    @property
    def width(self) -> int:
        """Float64 numbers a node that one subgraph takes in a pass."""

    @property
    def digest(self) -> str:
        """SHA-256 of what it computes with."""

    def labels(self, edges: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Labels, k x N int64, of the k subgraphs that keep the marked ones (k x M bool) of `edges` (M x 2)."""


@dataclass(frozen=True, eq=False)
class FilterClassifier:
    """One-layer graph filter `H = (h0 I + h1 L) x`, `L = D - A`, and a threshold on it.

    `signal`: x. With one column, label 1 where `H > tau` and 0 else (a monotone σ changes nothing); with C columns
    the filter works on each and the largest wins (the lower column on a tie). A negative `h1` smooths.
    Source: Misclassification Rate and Privacy-Utility Trade-offs in GCNs via Subsampling Stability, section 3.
    Raises `BadInput` for values that aren't finite.
    """

    h0: float
    h1: float
    signal: np.ndarray
    tau: float = 0.0

    def __post_init__(self) -> None:
        signal = np.ascontiguousarray(self.signal, dtype=np.float64)
        if signal.ndim != 2 or 0 in signal.shape:
            raise BadInput(f"filter: found a signal of shape {signal.shape}, expected N x 1 or N x C")
        if not (np.isfinite(signal).all() and np.isfinite([self.h0, self.h1, self.tau]).all()):
            raise BadInput("filter: found a number that is not finite; give finite h0, h1, tau and features")
        signal.setflags(write=False)
        object.__setattr__(self, "signal", signal)

    kind = "filter"

    @property
    def n(self) -> int:
        """Number of nodes, N."""
        return self.signal.shape[0]

    @property
    def classes(self) -> int:
        """Number of labels, C."""
        return max(2, self.signal.shape[1])

    @property
    def width(self) -> int:
        """Float64 numbers a node that one subgraph takes in a pass."""
        return 2 * self.signal.shape[1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of filter, threshold and signal."""
        parts = np.array([self.h0, self.h1, self.tau]).tobytes() + repr(self.signal.shape).encode()
        return hashlib.sha256(b"filter" + parts + self.signal.tobytes()).hexdigest()

    def values(self, edges: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """H of each subgraph, k x N x columns: edge (u, w) adds `x_u - x_w` to `Lx` at u, and its negative at w."""
        m, (n, columns) = len(edges), self.signal.shape
        jumps = (self.signal[edges[:, 0]] - self.signal[edges[:, 1]]).ravel()
        row = np.repeat(np.arange(m), columns)
        place = np.arange(columns)
        first, second = ((edges[:, [end]] * columns + place).ravel() for end in (0, 1))
        spread = sparse.csr_array(
            (np.concatenate([jumps, -jumps]), (np.concatenate([row, row]), np.concatenate([first, second]))),
            shape=(m, n * columns),
        )
        laplacian = (sparse.csr_array(kept.astype(np.float64)) @ spread).toarray().reshape(-1, n, columns)
        return self.h0 * self.signal + self.h1 * laplacian

    def labels(self, edges: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Labels of each subgraph, k x N int64."""
        values = self.values(edges, kept)
        found = values[..., 0] > self.tau if self.signal.shape[1] == 1 else values.argmax(axis=2)
        return found.astype(np.int64)


@dataclass(frozen=True, eq=False)
class GCNClassifier:
    """The frozen two-layer GCN of `core.backbone.gcn`, all subgraphs of a pass as blocks of one sparse matrix.

    Training weights on the private edges discloses something of them that no guarantee here covers.
    """

    weights: GCNWeights
    nodes: Nodes

    kind = "gcn"

    def __post_init__(self) -> None:
        self.weights.check(self.nodes)

    @property
    def n(self) -> int:
        """Number of nodes, N."""
        return self.nodes.n

    @property
    def classes(self) -> int:
        """Number of labels, C."""
        return len(self.nodes.classes)

    @property
    def width(self) -> int:
        """Float64 numbers a node that one subgraph takes in a pass."""
        return 3 * self.weights.w1.shape[1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of weights and nodes."""
        return hashlib.sha256(f"gcn{self.weights.digest}{self.nodes.digest}".encode()).hexdigest()

    def labels(self, edges: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Labels of each subgraph, k x N int64."""
        k, n = len(kept), self.n
        block, edge = np.nonzero(kept)
        u, w = (edges[edge, end] + block * n for end in (0, 1))
        ones = np.ones(2 * len(u))
        ends = (np.concatenate([u, w]), np.concatenate([w, u]))
        adjacency = sparse.coo_array((ones, ends), shape=(k * n, k * n)).tocsr()
        scale = 1 / np.sqrt(np.bincount(ends[0], minlength=k * n) + 1.0)[:, None]

        def spread(states: np.ndarray) -> np.ndarray:
            scaled = scale * states
            return scale * (adjacency @ scaled + scaled)

        z = np.tile(self.weights.hidden_features(self.nodes), (k, 1))
        hidden = np.maximum(spread(z) + self.weights.b1, 0.0)
        logits = spread(hidden @ self.weights.w2) + self.weights.b2
        return logits.argmax(axis=1).reshape(k, n).astype(np.int64)


def filter_for(dataset: Dataset, h0: float = 1.0, h1: float = -0.05) -> FilterClassifier:
    """The one-layer classifier of a data set: public, no edge is read.

    On a contextual SBM the features are the signal, as in the paper. Else it is one column a class,
    `x·mean_c - |mean_c|²/2` with the mean of the training nodes of class c: the nearest class mean wins, and the
    filter smooths these scores. Raises `BadInput` for a data set without features, classes or training nodes.
    """
    for value, name in ((h0, "h0"), (h1, "h1")):
        if not np.isfinite(value):
            raise BadInput.number(name, value, "a finite number, for example 1 and -0.05")
    if dataset.name.startswith(FAMILY):
        return FilterClassifier(h0, h1, dataset.nodes.x.toarray())
    dataset.check_trainable()
    rows, classes = dataset.split.train, len(dataset.nodes.classes)
    checks.count(classes, "classes", 2, 1000)
    member = sparse.csr_array((np.ones(len(rows)), (dataset.labels[rows], rows)), shape=(classes, dataset.nodes.n))
    sizes = np.maximum(np.asarray(member.sum(axis=1)).ravel(), 1)[:, None]
    means = (member @ dataset.nodes.x).toarray() / sizes
    return FilterClassifier(h0, h1, dataset.nodes.x @ means.T - (means**2).sum(axis=1) / 2)
