"""Node pairs whose status an audit toggles: near a target, where they can be felt, and anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from core import checks
from core.errors import BadInput
from core.graph import PrivateGraph, canonical_pairs, pair_keys

TRIES = 64  # draws for each absent pair that is wanted, before dense graphs are given up


class PairKind(StrEnum):
    """Where a pair was drawn: among those that can reach the target, or among all pairs of the graph."""

    NEAR = "near"
    ANYWHERE = "anywhere"


@dataclass(frozen=True)
class AuditPair:
    """One neighbour of the private graph, asked about at one target (edge level; private).

    `pair`: two rows, smaller first. `edge`: whether it is an edge, which the neighbour lacks, or absent.
    `distance`: steps from the target to the nearer end on the private graph; None where that is too far for
    the target's logits to depend on the pair.
    """

    target: int
    pair: tuple[int, int]
    kind: PairKind
    edge: bool
    distance: int | None


@dataclass(frozen=True, eq=False)
class Vicinity:
    """The private pairs around one target (row) of a backbone with `layers` layers.

    A pair reaches the target if one of its ends lies within `layers` steps: at exactly so many, it still
    changes a degree that the target sees. An added pair brings nothing else within reach, since its nearer
    end must be there already.
    """

    graph: PrivateGraph
    target: int
    layers: int = 2

    @cached_property
    def steps(self) -> np.ndarray:
        """Steps from the target to each row, N int64; `layers + 1` for all that is further or not connected."""
        steps = np.full(self.graph.n, self.layers + 1, dtype=np.int64)
        steps[self.target] = 0
        front = np.array([self.target])
        for step in range(1, self.layers + 1):
            reached = np.concatenate([front[:0], *(self.graph.neighbours(int(v)) for v in front)])
            front = np.unique(reached[steps[reached] > step])
            steps[front] = step
        return steps

    def edges(self) -> list[AuditPair]:
        """Every private edge that reaches the target, in the order of the graph."""
        nearer = self.steps[self.graph.edges].min(axis=1)
        return [self._made(pair, PairKind.NEAR, True) for pair in self.graph.edges[nearer <= self.layers]]

    def absent(self, count: int, rng: np.random.Generator) -> list[AuditPair]:
        """A sample of `count` absent pairs that reach the target, fewer where there are hardly so many.

        The distance of the nearer end is drawn first, evenly from 0 to `layers`, so that pairs at the target
        are not lost among the many further away; then this end; then the other among all that is no nearer.
        """
        rings = [ring for step in range(self.layers + 1) if len(ring := np.flatnonzero(self.steps == step))]
        found: dict[tuple[int, int], AuditPair] = {}
        for _ in range(TRIES * count):
            if len(found) == count:
                break
            end, other = int(rng.choice(rings[rng.integers(len(rings))])), int(rng.integers(self.graph.n))
            if other == end or self.steps[other] < self.steps[end] or other in self.graph.neighbours(end):
                continue
            made = self._made(np.array([end, other]), PairKind.NEAR, False)
            found.setdefault(made.pair, made)
        return list(found.values())

    def anywhere(self, edges: int, absent: int, rng: np.random.Generator) -> list[AuditPair]:
        """So many edges and absent pairs of the whole graph, each drawn evenly, without regard to the target."""
        graph = self.graph
        ties = graph.edges[rng.choice(graph.m, size=min(edges, graph.m), replace=False)]
        drawn = rng.integers(graph.n, size=(TRIES * absent, 2))
        drawn = canonical_pairs(drawn[drawn[:, 0] != drawn[:, 1]], graph.n)
        drawn = drawn[~graph.contains(drawn)]
        _, first = np.unique(pair_keys(drawn, graph.n), return_index=True)
        return [self._made(pair, PairKind.ANYWHERE, True) for pair in ties] + [
            self._made(pair, PairKind.ANYWHERE, False) for pair in drawn[np.sort(first)][:absent]
        ]

    def _made(self, pair: np.ndarray, kind: PairKind, edge: bool) -> AuditPair:
        low, high = sorted(pair.tolist())
        distance = int(min(self.steps[low], self.steps[high]))
        return AuditPair(self.target, (low, high), kind, edge, distance if distance <= self.layers else None)


def population_pairs(
    graph: PrivateGraph, targets: np.ndarray, count: int, rng: np.random.Generator, layers: int = 2
) -> list[AuditPair]:
    """`count` near pairs and `count` anywhere, spread evenly over the targets (rows), target by target.

    Half edges and half absent pairs, drawn as `Vicinity` says; where a target has too few edges, absent
    pairs stand in. Raises `BadInput` for nothing to audit.
    """
    checks.count(count, "audit pairs", 1, 1_000_000)
    _check(graph, targets)
    bounds = np.linspace(0, count, len(targets) + 1).round().astype(np.int64)
    result: list[AuditPair] = []
    for target, start, stop in zip(np.asarray(targets).tolist(), bounds, bounds[1:], strict=False):
        around = Vicinity(graph, target, layers)
        ties, share = int((stop + 1) // 2 - (start + 1) // 2), int(stop - start)
        near = around.edges() if share else []
        chosen = [near[i] for i in np.sort(rng.choice(len(near), size=min(ties, len(near)), replace=False))]
        result += chosen + around.absent(share - len(chosen), rng) + around.anywhere(ties, share - ties, rng)
    return result


def target_pairs(graph: PrivateGraph, target: int, rng: np.random.Generator, layers: int = 2) -> list[AuditPair]:
    """Every private edge that reaches one target, as many absent pairs that do, and as many pairs anywhere.

    Raises `BadInput` for a graph of one node.
    """
    _check(graph, np.array([target]))
    around = Vicinity(graph, target, layers)
    edges = around.edges()
    count = max(len(edges), 1)
    return edges + around.absent(count, rng) + around.anywhere((count + 1) // 2, count // 2, rng)


def _check(graph: PrivateGraph, targets: np.ndarray) -> None:
    if not len(targets):
        raise BadInput("audit: found no target, expected at least one")
    if graph.n < 2:
        raise BadInput("audit: found a graph of one node, which has no neighbouring graph")
