"""The non-private counterfactual explainer that graph-level placement runs on a noised graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.scoring.scorer import Scorer
from core.scoring.scores import Scores
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.universe import Universe, build_universe
from core.utility import UtilityConfig, evaluate


@dataclass(frozen=True, eq=False)
class Intervention:
    """A candidate that flips the graph it was found on.

    `universe` holds that candidate alone. `predicted`: the class after it, and `utility`, in [0, 1]:
    both on the graph it was found on.
    """

    universe: Universe
    predicted: int
    utility: float

    @property
    def edges(self) -> np.ndarray:
        """Node pairs to delete, r x 2 rows."""
        return self.universe.members(0, 0)[0]

    @property
    def features(self) -> np.ndarray:
        """Feature dimensions to mask, s."""
        return self.universe.members(0, 0)[1]

    def predicted_on(self, scorer: Scorer) -> int:
        """The class of the target after this intervention on another graph; pairs absent there are no-ops."""
        return int(scorer.score(self.universe, margins=False).predicted[0, 0])


def explain(scorer: Scorer, snapshot: Snapshot, target: int, settings: Settings) -> Intervention | None:
    """The best flip of the prediction at `target` on the graph of `scorer`, over pairs of `snapshot`.

    No privacy of its own. Returns None when no candidate flips. Raises `BadInput` for a bad target.
    """
    universe = build_universe(scorer.graph.nodes, snapshot, scorer.weights, target, settings.limits, settings.arm)
    return best_flip(scorer.score(universe, margins=settings.utility.soft), settings.utility)


def best_flip(scores: Scores, config: UtilityConfig) -> Intervention | None:
    """The flipping candidate of highest utility, ties by universe order; None when none flips."""
    utility = evaluate(scores, config)
    worth = np.where(scores.flips, utility.values, -1)
    worth[0, 0] = -1  # ∅ changes nothing, whatever rounding says of a tied prediction
    i, j = (int(k) for k in np.unravel_index(worth.argmax(), worth.shape))
    if worth[i, j] < 0:
        return None
    universe = scores.universe
    alone = replace(
        universe, edge_subsets=universe.edge_subsets[i : i + 1], feature_subsets=universe.feature_subsets[j : j + 1]
    )
    return Intervention(alone, int(scores.predicted[i, j]), float(utility.fractions[i, j]))
