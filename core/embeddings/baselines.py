"""What else gives a graph edge-level DP: the whole edge set is noised, and anything is computed from the noised graph.

Reproducible floating-point draws, for comparison tables: never a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import expit

from core import checks
from core.errors import BadInput
from core.graph import PrivateGraph
from core.placement.mechanisms import RandomizedResponse


class Baseline(StrEnum):
    """A way to noise the edge set."""

    RR = "rr"
    DPRR = "dprr"

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """The noised graph: pure ε, edge level. Raises `BadInput` for a bad ε."""
        if self is Baseline.RR:
            return RandomizedResponse().release(graph, epsilon, rng)
        return DegreePreserving().release(graph, epsilon, rng)


@dataclass(frozen=True)
class DegreePreserving:
    """Randomized response that keeps degrees in expectation: DPRR (Hidano & Murakami 2022), with one trusted owner.

    `ε1 = degree_share ε` pays for degrees with Laplace noise of scale `2/ε1` (an edge is in two degrees), `ε - ε1` for
    randomized response with flip probability `f`. Then each pair is kept with the probability
    `q_i = d_i / (d_i (1 - 2f) + (n - 1) f)` of its end i with the larger row, who reports it in the local protocol; d_i
    is the noisy degree, clipped to [0, n - 1]. Keeping is post-processing, so all is pure ε.
    """

    degree_share: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.degree_share < 1:
            raise BadInput.number("share of epsilon for degrees", self.degree_share, "a number above 0 and below 1")

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """The noised graph on the same nodes; raises `BadInput` for a bad ε."""
        budget = checks.epsilon(epsilon)
        first = checks.epsilon(self.degree_share * budget)
        second = checks.epsilon(budget - first)
        flip = float(expit(-second))
        degree = np.clip(self.noisy_degrees(graph, first, rng), 0, graph.n - 1)
        keep = degree / (degree * (1 - 2 * flip) + (graph.n - 1) * flip)
        noised = RandomizedResponse().release(graph, second, rng)
        return graph.with_edges(noised.edges[rng.random(noised.m) < keep[noised.edges[:, 1]]])

    def noisy_degrees(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        """All degrees with Laplace noise of scale 2/ε, n float64: pure ε, since one edge moves two of them by 1."""
        return np.asarray(graph.degree + rng.laplace(scale=2 / epsilon, size=graph.n))
