"""One seeded run of the mechanism, with everything that a release wouldn't show: a simulation, owner-only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph import PrivateGraph
from core.labels.classifier import Classifier
from core.labels.noise import draw_seeded
from core.labels.plan import Plan
from core.labels.stability import Tally, node_rows, tally
from core.labels.subsample import seeded_words


@dataclass(frozen=True, eq=False)
class Simulated:
    """Votes, the noise on them, and what came out. `labels`: R int64, None for ⊥."""

    tally: Tally
    noise: int
    labels: np.ndarray | None

    @property
    def released(self) -> bool:
        """Whether labels came out."""
        return self.labels is not None


@dataclass(frozen=True, eq=False)
class Simulation:
    """The mechanism as a function of graph and generator, as audits take it: ⊥ is None, labels a tuple."""

    classifier: Classifier
    plan: Plan
    rows: np.ndarray | None = None

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> tuple[int, ...] | None:
        """Draw once."""
        drawn = simulate(graph, self.classifier, self.plan, rng, self.rows).labels
        return None if drawn is None else tuple(drawn.tolist())


def simulate(
    graph: PrivateGraph,
    classifier: Classifier,
    plan: Plan,
    rng: np.random.Generator,
    rows: np.ndarray | None = None,
) -> Simulated:
    """Run the mechanism once over `rows`, all nodes unless given. No budget is spent, and nothing may be published."""
    found = tally(graph, classifier, plan, seeded_words(rng), node_rows(rows, graph.n))
    noise = draw_seeded(plan.scale, rng)
    return Simulated(found, noise, found.votes.labels if found.released(noise) else None)
