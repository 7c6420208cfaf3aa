"""Which graphs a guarantee is about: a public number of nodes and, if one is known in public, a bound on every degree.

A graph over the bound is refused, or projected by a rule whose effect on neighbours is paid for; never released as it
stands. The rule: list the edges at each node by a public pseudo-random order of the node pairs, and keep an edge if it
is among the first D at both its ends. One edge more or less then changes at most 3 edges of what is kept: the edge
itself, and at each end at most the one edge that moves over place D. Removing the lost edges before adding the new
one keeps all graphs on the way within the bound, so a quantity that moves by at most s for one edge on graphs within
the bound moves by at most 3 s after projection. (Dropping edges until every degree fits, in one global order, has
no such bound: an edge that is kept can push a chain of others out and in.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core import checks
from core.errors import BadInput
from core.graph import Graph, PrivateGraph, pair_keys

PROJECTED_STEPS = 3


class OverBound(StrEnum):
    """What happens to a graph with a degree over the bound."""

    REFUSE = "refuse"
    PROJECT = "project"


@dataclass(frozen=True)
class Domain:
    """Simple graphs on `nodes` nodes; with `degree_bound`, those whose degrees are at most that. All of it public.

    Neighbours are two graphs of the domain that differ in one edge. Raises `BadInput` for a bound out of range, or
    a projection without a bound.
    """

    nodes: int
    degree_bound: int | None = None
    over: OverBound = OverBound.REFUSE

    def __post_init__(self) -> None:
        checks.count(self.nodes, "nodes of the domain", 2, 10**7)
        if self.degree_bound is not None:
            checks.count(self.degree_bound, "degree bound", 1, self.nodes - 1)
        elif self.over is OverBound.PROJECT:
            raise BadInput("domain: found a projection without a bound, expected a degree bound to project to")

    @property
    def steps(self) -> int:
        """How many edges of what is counted one edge of the private graph changes at most."""
        return PROJECTED_STEPS if self.over is OverBound.PROJECT else 1

    @property
    def text(self) -> str:
        """The domain in words."""
        if self.degree_bound is None:
            return f"simple graphs on {self.nodes} nodes"
        then = ", others projected" if self.over is OverBound.PROJECT else ""
        return f"simple graphs on {self.nodes} nodes of degree at most {self.degree_bound}{then}"

    def admit(self, graph: Graph) -> Graph:
        """The graph that is counted: itself, or its projection. Raises `BadInput` for one outside the domain.

        Whether a graph is refused depends on its edges, so that is for its owner's eyes.
        """
        if graph.n != self.nodes:
            raise BadInput(f"graph: found {graph.n} nodes, expected the {self.nodes} of the domain")
        if self.degree_bound is None or int(graph.degree.max()) <= self.degree_bound:
            return graph
        if self.over is OverBound.REFUSE:
            raise BadInput(
                f"graph: found a degree over the public bound of {self.degree_bound}, expected {self.text}; raise the "
                "bound for a reason that doesn't come from this graph, or project"
            )
        return PrivateGraph(graph.nodes, projected(graph.edges, graph.n, self.degree_bound))


def projected(edges: np.ndarray, n: int, bound: int) -> np.ndarray:
    """The edges (M x 2, canonical) that are among the first `bound` at both ends in the public order of pairs."""
    order = np.argsort(_public_order(pair_keys(edges, n)), kind="stable")
    listed = edges[order]
    ends = listed.ravel()
    by_end = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[by_end], np.arange(n))
    place = np.empty(len(ends), dtype=np.int64)
    place[by_end] = np.arange(len(ends)) - starts[ends[by_end]]
    kept = (place.reshape(-1, 2) < bound).all(axis=1)
    return np.asarray(edges)[np.sort(order[kept])]


def _public_order(keys: np.ndarray) -> np.ndarray:
    """A fixed mixing of pair keys (SplitMix64, one to one), so that no node is favoured for its row; uint64."""
    mixed = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
