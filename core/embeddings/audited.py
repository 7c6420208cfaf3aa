"""The embedding as the auditor takes mechanisms: a function of a graph, and the witness that sees most of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.embeddings.counting import densities
from core.embeddings.plan import NoisePlan
from core.embeddings.release import draw, noised_many
from core.graph import PrivateGraph


@dataclass(frozen=True)
class EmbeddingRelease:
    """Draws embeddings under a plan, through OpenDP as a release does, without the generator: each spends (ε, δ)."""

    plan: NoisePlan

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> np.ndarray:
        """One embedding in grid steps, d int64."""
        return draw(self.plan, graph)

    def release_many(self, graph: PrivateGraph, count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """`count` independent embeddings of one graph, counted once."""
        admitted = self.plan.domain.admit(graph)
        counted = densities(self.plan.patterns, admitted)
        return list(noised_many(self.plan, counted, int(admitted.degree.max()), count))


@dataclass(frozen=True)
class Along:
    """The log-likelihood ratio of two graphs under equal Gaussian noise, up to scale and shift: the best witness."""

    direction: tuple[float, ...]

    @classmethod
    def between(cls, plan: NoisePlan, one: PrivateGraph, other: PrivateGraph) -> Along:
        """The witness for a pair of graphs of the domain, in grid steps."""
        ends = [plan.on_grid(densities(plan.patterns, plan.domain.admit(graph))) for graph in (one, other)]
        moved = (ends[1] - ends[0]).astype(np.float64)
        return cls(tuple((moved / np.linalg.norm(moved)).tolist()))

    def __call__(self, output: np.ndarray) -> float:
        """Where the embedding lies on the line through the two graphs."""
        return float(np.dot(output, self.direction))
