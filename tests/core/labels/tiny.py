"""Tiny graphs and classifiers, and the mechanism written down from its definition, sharing no code with it."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from core.graph import Nodes, PrivateGraph


def tiny_graph(n: int, edges: Sequence[tuple[int, int]]) -> PrivateGraph:
    """A graph on nodes 0..n-1 that have no features to speak of."""
    names = tuple(f"v{i}" for i in range(n))
    nodes = Nodes(names, sparse.csr_array(np.ones((n, 1))), ("one",), ("a", "b", "c"))
    return PrivateGraph(nodes, np.array(edges, dtype=np.int64).reshape(-1, 2))


@dataclass(frozen=True, eq=False)
class Table:
    """Any function of the set of edges as a classifier: the worst that a frozen model may be."""

    n: int
    answer: Callable[[frozenset[tuple[int, int]]], Sequence[int]]
    classes: int = 3
    kind: str = "table"
    width: int = 1
    digest: str = "0" * 64

    def labels(self, edges: np.ndarray, kept: np.ndarray) -> np.ndarray:
        pairs = [tuple(edge) for edge in edges.tolist()]
        return np.array(
            [self.answer(frozenset(itertools.compress(pairs, row))) for row in kept.tolist()], dtype=np.int64
        ).reshape(len(kept), self.n)


def brute_force(
    edges: Sequence[tuple[int, int]],
    answer: Callable[[frozenset[tuple[int, int]]], Sequence[int]],
    p: float,
    m: int,
    cap: float,
    scale: float,
    needed: int,
) -> dict[Any, float]:
    """Output distribution over every matrix of M x m bits, the noise summed term by term; None is ⊥."""
    a = math.exp(-1 / scale)
    weights = {z: (1 - a) / (1 + a) * a ** abs(z) for z in range(-6 * m - 400, 6 * m + 400)}
    clears = {d: sum(w for z, w in weights.items() if d + z >= needed) for d in range(m + 1)}
    found: dict[Any, float] = defaultdict(float)
    for bits in itertools.product((0, 1), repeat=len(edges) * m):
        rows = [bits[e * m : (e + 1) * m] for e in range(len(edges))]
        chance = math.prod(p if bit else 1 - p for bit in bits)
        if any(sum(row) > cap for row in rows):
            found[None] += chance
            continue
        votes = Counter(
            tuple(answer(frozenset(edge for edge, row in zip(edges, rows, strict=True) if row[place])))
            for place in range(m)
        )
        counts = sorted(votes.values(), reverse=True)
        top = min(vector for vector, count in votes.items() if count == counts[0])
        out = clears[counts[0] - (counts[1] if len(counts) > 1 else 0)]
        found[top] += chance * out
        found[None] += chance * (1 - out)
    return dict(found)


def least_delta(one: dict[Any, float], other: dict[Any, float], epsilon: float) -> float:
    """The least δ at which the two are ε-close, over every set of outcomes."""
    outcomes = list(one.keys() | other.keys())
    worst = 0.0
    for size in range(len(outcomes) + 1):
        for event in itertools.combinations(outcomes, size):
            p, q = (sum(side.get(outcome, 0.0) for outcome in event) for side in (one, other))
            worst = max(worst, p - math.exp(epsilon) * q, q - math.exp(epsilon) * p)
    return worst
