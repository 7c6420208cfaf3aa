"""The public snapshot: an ordered list of node pairs that everyone already knows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from core import checks
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph, canonical_pairs, pair_keys


@dataclass(frozen=True, eq=False)
class Snapshot:
    """An ordered list of public node pairs; a pair need not be a private edge.

    `pairs`: m x 2 int64, smaller end first, distinct, in disclosure order. `n`: number of nodes.
    `simulated`: drawn from the private edges themselves, so an information-condition experiment
    and never a certified disclosure (PrivCFS, section 3.3).
    """

    pairs: np.ndarray
    n: int
    simulated: bool

    def __post_init__(self) -> None:
        pairs = canonical_pairs(self.pairs, self.n)
        if repeated := int((np.diff(np.sort(pair_keys(pairs, self.n))) == 0).sum()):
            raise BadInput(f"snapshot: found {repeated} repeated pairs; drop duplicates first")
        pairs.setflags(write=False)
        object.__setattr__(self, "pairs", pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def check(self, nodes: Nodes) -> None:
        """Raise `BadInput` when the snapshot speaks of another number of nodes."""
        if self.n != nodes.n:
            raise BadInput(f"snapshot: found one for {self.n} nodes, the graph has {nodes.n}")

    def stop(self, rho: float) -> int:
        """Number of pairs disclosed at strength `rho`: `round(rho * m)`."""
        return round(checks.rho(rho) * len(self.pairs))

    def prefix(self, rho: float) -> Snapshot:
        """The first `round(rho * m)` pairs, so that snapshots are nested in `rho`."""
        return Snapshot(self.pairs[: self.stop(rho)], self.n, self.simulated)

    @cached_property
    def _incidence(self) -> tuple[np.ndarray, np.ndarray]:
        places = np.repeat(np.arange(len(self.pairs)), 2)
        table = sparse.coo_array((places, (self.pairs.ravel(), places)), shape=(self.n, len(self.pairs))).tocsr()
        return table.indptr, table.indices

    def incident(self, v: int) -> np.ndarray:
        """Positions in `pairs` of the pairs that touch `v`, in disclosure order."""
        starts, places = self._incidence
        return places[starts[v] : starts[v + 1]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the ordered pairs."""
        return hashlib.sha256(f"{self.n}".encode() + self.pairs.tobytes()).hexdigest()


def simulate(graph: PrivateGraph, seed: int) -> Snapshot:
    """Draw a simulated snapshot: a seeded permutation of the private edges (design: reads E)."""
    order = np.random.default_rng(seed).permutation(graph.m)
    return Snapshot(graph.edges[order], graph.n, simulated=True)
