"""Nodes, which are public, and graphs over them: private ones, whose edges are the secret, and public ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from core.errors import BadInput


def canonical_pairs(pairs: np.ndarray, n: int) -> np.ndarray:
    """Return `pairs` (k x 2) as int64 with the smaller end first, order kept.

    Raises `BadInput` for a wrong shape, an end outside 0..n-1, or a pair of a node with itself.
    """
    pairs = np.asarray(pairs)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise BadInput(f"node pairs: found shape {pairs.shape} of {pairs.dtype}, expected whole numbers, k x 2")
    pairs = pairs.astype(np.int64)
    if pairs.min() < 0 or pairs.max() >= n:
        raise BadInput(f"node pairs: found an end outside 0..{n - 1}, expected row numbers of the node table")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise BadInput("node pairs: found a node paired with itself; drop self-loops first")
    return np.sort(pairs, axis=1)


def pair_keys(pairs: np.ndarray, n: int) -> np.ndarray:
    """Return one int64 key `u * n + v` for each canonical pair (k x 2 -> k)."""
    return pairs[:, 0] * np.int64(n) + pairs[:, 1]


@dataclass(frozen=True, eq=False)
class Nodes:
    """What everyone may know of the nodes: ids, features and class names.

    `ids`: N unique strings. `x`: sparse N x F, float64. `feature_names`: F strings.
    `classes`: C strings.
    """

    ids: tuple[str, ...]
    x: sparse.csr_array
    feature_names: tuple[str, ...]
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        x = sparse.csr_array(self.x, dtype=np.float64)
        x.sum_duplicates()
        x.eliminate_zeros()
        x.sort_indices()
        object.__setattr__(self, "x", x)
        n, f = x.shape
        if n == 0:
            raise BadInput("nodes: found none, expected at least one")
        if len(self.ids) != n or len(set(self.ids)) != n:
            raise BadInput(f"nodes: found {len(set(self.ids))} distinct ids for {n} feature rows, expected one a row")
        if len(self.feature_names) != f:
            raise BadInput(f"nodes: found {len(self.feature_names)} feature names for {f} feature columns")
        if not np.isfinite(x.data).all():
            raise BadInput("nodes: found a feature that is not finite; replace NaN and inf first")

    @property
    def n(self) -> int:
        """Number of nodes, N."""
        return self.x.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, F."""
        return self.x.shape[1]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.ids)}

    def row(self, node_id: object) -> int:
        """Return the row of a node id; raises `BadInput` when no node bears it."""
        row = self._rows.get(str(node_id))
        if row is None:
            raise BadInput(
                f"node: found {node_id!r}, which is no node id here; "
                f"expected one of {self.n} ids such as {self.ids[0]!r}"
            )
        return row

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ids, features and names."""
        hasher = hashlib.sha256()
        for names in (self.ids, self.feature_names, self.classes):
            hasher.update(repr(names).encode())
        for part in (self.x.indptr.astype(np.int64), self.x.indices.astype(np.int64), self.x.data):
            hasher.update(part.tobytes())
        return hasher.hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes and a set of undirected edges; whether anyone may see them is told by the subclass.

    `edges`: M x 2 int64, smaller end first, sorted, no duplicates, no self-loops.
    """

    nodes: Nodes
    edges: np.ndarray

    def __post_init__(self) -> None:
        edges = canonical_pairs(self.edges, self.nodes.n)
        keys = np.sort(pair_keys(edges, self.nodes.n))
        if repeated := int((np.diff(keys) == 0).sum()):
            raise BadInput(f"edges: found {repeated} repeated pairs; drop duplicates first")
        edges = np.stack([keys // self.nodes.n, keys % self.nodes.n], axis=1)
        edges.setflags(write=False)
        object.__setattr__(self, "edges", edges)

    @property
    def n(self) -> int:
        """Number of nodes, N."""
        return self.nodes.n

    @property
    def m(self) -> int:
        """Number of undirected edges, M."""
        return len(self.edges)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """Symmetric N x N adjacency without self-loops, float64, sorted indices."""
        u, v = self.edges.T
        data = np.ones(2 * self.m)
        matrix = sparse.coo_array((data, (np.r_[u, v], np.r_[v, u])), shape=(self.n, self.n)).tocsr()
        matrix.sort_indices()
        return matrix

    @cached_property
    def degree(self) -> np.ndarray:
        """Degree of each node, N int64, self-loop not counted."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    def neighbours(self, v: int) -> np.ndarray:
        """Rows of the neighbours of `v`, ascending."""
        start, stop = self.adjacency.indptr[v : v + 2]
        return self.adjacency.indices[start:stop].astype(np.int64)

    def contains(self, pairs: np.ndarray) -> np.ndarray:
        """Say for each canonical pair (k x 2) whether it is an edge (k bool)."""
        keys = pair_keys(self.edges, self.n)
        wanted = pair_keys(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), self.n)
        if not len(keys):
            return np.zeros(len(wanted), dtype=bool)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return keys[place] == wanted


class PublicGraph(Graph):
    """A graph that anyone could draw: the snapshot's pairs, or a guess at what completes them."""


class PrivateGraph(Graph):
    """The owner's graph: public nodes and a private set of undirected edges.

    Two graphs are neighbours when the status of exactly one node pair differs (edge-level adjacency).
    """

    def __repr__(self) -> str:
        return f"PrivateGraph({self.n} nodes, private edges)"  # a log or a traceback must not print them

    def toggled(self, u: int, v: int) -> PrivateGraph:
        """Return the neighbouring graph in which the status of pair `(u, v)` differs."""
        pair = canonical_pairs(np.array([[u, v]]), self.n)
        keys = pair_keys(self.edges, self.n)
        kept = self.edges[keys != pair_keys(pair, self.n)[0]]
        edges = kept if len(kept) < self.m else np.concatenate([self.edges, pair])
        return PrivateGraph(self.nodes, edges)

    def with_edges(self, edges: np.ndarray) -> PrivateGraph:
        """Return a graph on the same nodes with another edge set (M' x 2)."""
        return PrivateGraph(self.nodes, edges)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of nodes and edges: owner-side only, for cache keys and the ledger."""
        return hashlib.sha256(self.nodes.digest.encode() + self.edges.tobytes()).hexdigest()
