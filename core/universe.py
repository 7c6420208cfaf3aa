"""The candidate universe: every intervention a release may name, from public objects only."""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from core import checks
from core.errors import BadInput
from core.graph import Nodes
from core.snapshot import Snapshot

MOST_CANDIDATES = 1_000_000


class Influence(Protocol):
    """A frozen backbone as far as the universe needs it: how much it listens to each feature, public."""

    def feature_influence(self, nodes: Nodes) -> np.ndarray:
        """One weight a feature, F float64, at least 0; raises when the backbone doesn't fit `nodes`."""


class Arm(StrEnum):
    """Which interventions the universe holds, and whether masks act (PrivCFS, appendix D).

    The two-hop arms hold public pairs at the target's public neighbours too; the paper's ablation of
    the universe sets the one with inert masks beside the arm with inert masks.
    """

    FULL = "full"
    EDGE_ONLY = "edge-only"
    FEATURE_ONLY = "feature-only"
    INERT_MASKS = "inert-masks"
    TWO_HOP = "two-hop"
    TWO_HOP_INERT_MASKS = "two-hop-inert-masks"

    @property
    def inert(self) -> bool:
        """Whether masks are listed but change nothing."""
        return self in (Arm.INERT_MASKS, Arm.TWO_HOP_INERT_MASKS)

    @property
    def two_hop(self) -> bool:
        """Whether pairs away from the target are candidates too."""
        return self in (Arm.TWO_HOP, Arm.TWO_HOP_INERT_MASKS)

    @classmethod
    def parse(cls, value: str) -> Arm:
        """Return the arm of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "arm")


@dataclass(frozen=True)
class Limits:
    """Public limits of the universe: candidate pairs and dimensions, and how many to combine."""

    k_edges: int = 12
    k_features: int = 12
    max_edges: int = 2
    max_features: int = 3

    def __post_init__(self) -> None:
        checks.count(self.k_edges, "edge candidates", 0, 64)
        checks.count(self.k_features, "feature candidates", 0, 64)
        checks.count(self.max_edges, "edges per intervention", 0, 3)
        checks.count(self.max_features, "masks per intervention", 0, 4)
        if self.k_max < 1:
            raise BadInput("universe limits: found 0 edges and 0 masks per intervention, expected at least 1 in all")
        if self.most_candidates > MOST_CANDIDATES:
            raise BadInput(
                f"universe limits: found up to {self.most_candidates:,} candidates, expected at most "
                f"{MOST_CANDIDATES:,}; combine fewer or list fewer of them"
            )

    @property
    def most_candidates(self) -> int:
        """Largest possible number of candidates, 23,621 at the defaults."""
        edges = sum(math.comb(self.k_edges, size) for size in range(self.max_edges + 1))
        return edges * sum(math.comb(self.k_features, size) for size in range(self.max_features + 1))

    @property
    def k_max(self) -> int:
        """Largest size of an intervention, `max_edges + max_features`."""
        return self.max_edges + self.max_features


@dataclass(frozen=True, eq=False)
class Universe:
    """All pairs (S_E, S_F) of at most `max_edges` public pairs and `max_features` masks at `target`.

    `edge_pairs`: kE x 2 rows, those at the target first, each part in snapshot order. `feature_dims`: kF,
    most influential first.
    `edge_subsets`: nE x max_edges, `feature_subsets`: nF x max_features; both index the former,
    padded with -1, the empty subset first. Subsets are in colexicographic order, so a universe
    over fewer pairs is a prefix of this one. Candidate (i, j) is edge subset i with feature subset j.
    """

    target: int
    edge_pairs: np.ndarray
    feature_dims: np.ndarray
    edge_subsets: np.ndarray
    feature_subsets: np.ndarray
    limits: Limits
    arm: Arm

    @property
    def shape(self) -> tuple[int, int]:
        """(nE, nF)."""
        return len(self.edge_subsets), len(self.feature_subsets)

    @property
    def size(self) -> int:
        """Number of candidates, nE * nF."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def edge_sizes(self) -> np.ndarray:
        """|S_E| of each edge subset, nE int64."""
        return (self.edge_subsets >= 0).sum(axis=1)

    @cached_property
    def feature_sizes(self) -> np.ndarray:
        """|S_F| of each feature subset, nF int64."""
        return (self.feature_subsets >= 0).sum(axis=1)

    @property
    def sizes(self) -> np.ndarray:
        """|S| of each candidate, nE x nF int64."""
        return self.edge_sizes[:, None] + self.feature_sizes[None, :]

    @cached_property
    def incident(self) -> bool:
        """Whether every pair touches the target."""
        return bool((self.edge_pairs == self.target).any(axis=1).all())

    def with_pairs(self, k: int) -> Universe:
        """The universe over the first `k` edge pairs: its edge subsets are a prefix of these.

        That of a shorter snapshot where all pairs touch the target; a shorter snapshot may list two-hop
        pairs that the longer one has no room for.
        """
        k = min(k, len(self.edge_pairs))
        kept = int((self.edge_subsets.max(axis=1, initial=-1) < k).sum())
        return Universe(
            self.target,
            self.edge_pairs[:k],
            self.feature_dims,
            self.edge_subsets[:kept],
            self.feature_subsets,
            self.limits,
            self.arm,
        )

    def members(self, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Candidate (i, j) as its node pairs (r x 2) and its feature dimensions (s)."""
        edges, features = self.edge_subsets[i], self.feature_subsets[j]
        return self.edge_pairs[edges[edges >= 0]], self.feature_dims[features[features >= 0]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that defines the candidates and their order."""
        hasher = hashlib.sha256(repr((self.target, self.limits, self.arm.value)).encode())
        for part in (self.edge_pairs, self.feature_dims, self.edge_subsets, self.feature_subsets):
            hasher.update(repr(part.shape).encode() + np.ascontiguousarray(part, dtype=np.int64).tobytes())
        return hasher.hexdigest()


@functools.lru_cache(maxsize=256)
def subsets(k: int, most: int) -> np.ndarray:
    """All subsets of 0..k-1 with at most `most` members, n x most int64, padded with -1.

    Colexicographic: ordered by largest member, then the next, so those of a smaller `k` come first.
    """
    rows = [c for size in range(most + 1) for c in itertools.combinations(range(k), size)]
    rows.sort(key=lambda c: c[::-1])
    table = np.full((len(rows), most), -1, dtype=np.int64)
    for row, members in enumerate(rows):
        table[row, : len(members)] = members
    table.setflags(write=False)
    return table


def edge_candidates(snapshot: Snapshot, target: int, k: int, two_hop: bool = False) -> np.ndarray:
    """`U_E(v)`: the first `k` snapshot pairs incident to `target`, in snapshot order (k' x 2).

    With `two_hop`, what is left of `k` goes to the pairs `(u, w)`, `w != v`, of the target's neighbours
    `u` in this very snapshot, in snapshot order.
    """
    own = snapshot.incident(target)
    if not two_hop or len(own) >= k:
        return snapshot.pairs[own[:k]]
    ends = snapshot.pairs[own].sum(axis=1) - target
    further = np.unique(np.concatenate([own, *(snapshot.incident(int(u)) for u in ends)]))
    return snapshot.pairs[np.concatenate([own, np.setdiff1d(further, own)])[:k]]


def feature_candidates(nodes: Nodes, influence: Influence | np.ndarray, target: int, k: int) -> np.ndarray:
    """`U_F(v)`: first `k` nonzero dimensions by `|x_vd| * influence_d`, descending, ties by index.

    `influence`: the backbone (for the GCN `||W1[d,:]||_2`), or F weights.
    """
    weight = _feature_weights(nodes, influence)
    start, stop = nodes.x.indptr[target : target + 2]
    dims = nodes.x.indices[start:stop].astype(np.int64)
    strength = np.abs(nodes.x.data[start:stop]) * weight[dims]
    return dims[np.lexsort((dims, -strength))[:k]]


def _feature_weights(nodes: Nodes, influence: Influence | np.ndarray) -> np.ndarray:
    if not isinstance(influence, np.ndarray):
        return influence.feature_influence(nodes)
    if influence.shape != (nodes.n_features,) or not (np.isfinite(influence) & (influence >= 0)).all():
        raise BadInput(
            f"influence of features: found shape {influence.shape}, expected {nodes.n_features} finite numbers from 0"
        )
    return influence


def build_universe(
    nodes: Nodes,
    snapshot: Snapshot,
    influence: Influence | np.ndarray,
    target: int,
    limits: Limits | None = None,
    arm: Arm = Arm.FULL,
) -> Universe:
    """Build `C_v` (PrivCFS, section 3.3) from public objects; no argument can hold a private edge.

    `influence`: as in `feature_candidates`. Raises `BadInput` for a target outside 0..N-1 or a
    snapshot of another node set.
    """
    limits = limits or Limits()
    checks.count(target, "target row", 0, nodes.n - 1)
    snapshot.check(nodes)
    max_edges = 0 if arm is Arm.FEATURE_ONLY else limits.max_edges
    max_features = 0 if arm is Arm.EDGE_ONLY else limits.max_features
    pairs = edge_candidates(snapshot, target, limits.k_edges if max_edges else 0, arm.two_hop)
    dims = feature_candidates(nodes, influence, target, limits.k_features if max_features else 0)
    return Universe(target, pairs, dims, subsets(len(pairs), max_edges), subsets(len(dims), max_features), limits, arm)
