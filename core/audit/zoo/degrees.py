"""Graph releases: degree lists, adjacency under randomized response, edge counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from core.audit.canaries import star, without_edge
from core.audit.claims import Claim, Relation
from core.audit.sampling import Witness
from core.audit.witnesses import Coordinate, LabelCount, Least, Norm, Sum, vector_witnesses
from core.audit.zoo.specimen import Specimen, Vectorised

if TYPE_CHECKING:
    import networkx as nx

RING = 4  # nodes of the cycle that loses an edge
LEAVES = 4  # of the star whose centre is rewired


@dataclass(frozen=True)
class DegreeList(Vectorised):
    """Degrees in the order of the nodes, plus `Lap(scale)` each; where `zeroed`, 0 for nodes that have no edge."""

    scale: float
    zeroed: bool = False

    def release_many(self, data: nx.Graph, n: int, rng: np.random.Generator) -> np.ndarray:
        degrees = np.array([data.degree[node] for node in sorted(data)])
        noisy = degrees + rng.laplace(scale=self.scale, size=(n, len(degrees)))
        return np.where(degrees == 0, 0.0, noisy) if self.zeroed else noisy


@dataclass(frozen=True)
class EdgeResponse(Vectorised):
    """Every pair's status under randomized response at ε, row by row; where `directed`, both (u, v) and (v, u)."""

    epsilon: float
    directed: bool = False

    def release_many(self, data: nx.Graph, n: int, rng: np.random.Generator) -> np.ndarray:
        places = pairs(len(data), self.directed)
        status = np.array([data.has_edge(u, v) for u, v in places])
        return (status ^ (rng.random((n, len(places))) >= expit(self.epsilon))).astype(np.int64)


@dataclass(frozen=True)
class EdgeCount(Vectorised):
    """`M + Lap(scale)`."""

    scale: float

    def release_many(self, data: nx.Graph, n: int, rng: np.random.Generator) -> np.ndarray:
        return data.number_of_edges() + rng.laplace(scale=self.scale, size=(n, 1))


def pairs(n: int, directed: bool) -> list[tuple[int, int]]:
    """Pairs of different nodes in the order of `EdgeResponse`."""
    return [(u, v) for u in range(n) for v in range(n) if u < v or (directed and u != v)]


def degrees(epsilon: float = 1.0) -> list[Specimen]:
    """The graph releases of the zoo at a claim of `epsilon`.

    An edge is two degrees that change by 1: Laplace noise of scale b on the list shows 2/b, reached where
    both noisy degrees lie above the larger values; ε at b = 2/ε, and 2ε at the b = 1/ε of a sensitivity of 1. An
    isolated node that is told to be one can't be seen on the input where it has an edge: infinite. A pair under
    randomized response shows ε, told twice 2ε. An edge count at node level moves by the degree d of the
    rewired node and shows d/b, so that b = (N - 1)/ε keeps the claim and b = 1/ε shows dε.
    """
    import networkx as nx

    edge, node = Claim(epsilon, Relation.EDGE), Claim(epsilon, Relation.NODE_BOUNDED)
    ring = without_edge(nx.cycle_graph(RING), (0, 1), "a cycle, cut")
    lone = without_edge(nx.path_graph(2), (0, 1), "one edge, none")
    hub = star(LEAVES)
    ends = Witness("least degree of the canary's ends", Least((0, 1)))
    listed = (ends, *vector_witnesses(RING))
    both = tuple(pairs(RING, directed=True).index(place) for place in ((0, 1), (1, 0)))
    once = pairs(RING, directed=False).index((0, 1))
    return [
        Specimen("degree list", True, "L1 sensitivity 2", DegreeList(2 / epsilon), ring, edge, listed, epsilon),
        Specimen(
            "halved sensitivity", False, "L1 sensitivity 2 taken for 1", DegreeList(1 / epsilon), ring, edge, listed,
            2 * epsilon,
        ),
        Specimen(
            "raw-degree post-processing", False, "isolated nodes are told from the raw degrees",
            DegreeList(2 / epsilon, zeroed=True), lone, edge,
            (Witness("zeros", LabelCount(0.0)), *vector_witnesses(2)), math.inf,
        ),
        Specimen(
            "edge response", True, "Warner 1965, per pair", EdgeResponse(epsilon), ring, edge,
            (Witness("the canary's pair", Coordinate(once)), Witness("edges", Sum())), epsilon,
        ),
        Specimen(
            "edge response, both directions", False, "the adjacency is noised entry by entry",
            EdgeResponse(epsilon, directed=True), ring, edge,
            (Witness("the canary's entries", Least(both)), Witness("entries", Norm(1))), 2 * epsilon,
        ),
        Specimen(
            "edge count at node level", True, "sensitivity N - 1", EdgeCount(LEAVES / epsilon), hub, node,
            vector_witnesses(1), epsilon,
        ),
        Specimen(
            "edge noise, node claim", False, "sensitivity 1 taken for that of a node", EdgeCount(1 / epsilon), hub,
            node, vector_witnesses(1), LEAVES * epsilon,
        ),
    ]  # fmt: skip
