"""Randomized response on the membership bits of the non-private optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from core import checks
from core.baselines.judge import drawn
from core.baselines.method import Explain, Finding, Guarantee, Where
from core.placement.explainer import Intervention, best_flip
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Universe


def membership(universe: Universe, best: Intervention | None) -> np.ndarray:
    """Which candidate pairs, then dimensions, the optimum holds: kE + kF bool, all False without one."""
    count = len(universe.edge_pairs) + len(universe.feature_dims)
    bits = np.zeros(count, dtype=bool)
    if best is not None:
        edges, masks = best.universe.edge_subsets[0], best.universe.feature_subsets[0]
        bits[edges[edges >= 0]] = True
        bits[len(universe.edge_pairs) + masks[masks >= 0]] = True
    return bits


def changes(universe: Universe) -> int:
    """Most bits in which two memberships can differ: no set holds more than the limits, so two no more than twice that.

    `min(kE, 2 max_edges) + min(kF, 2 max_features)`, 10 of 24 at the defaults: public.
    """
    limits = universe.limits
    edges = min(len(universe.edge_pairs), 2 * limits.max_edges)
    return edges + min(len(universe.feature_dims), 2 * limits.max_features)


def flip_probability(epsilon: float, bits: int) -> float:
    """`1/(1 + e^{ε/bits})` for each bit, where `bits` of them may differ between neighbours (Warner 1965)."""
    return float(expit(-checks.epsilon(epsilon) / max(bits, 1)))


@dataclass(frozen=True)
class RRBits:
    """Each bit "is this candidate in the optimum?" is reported wrongly with probability `1/(1 + e^{ε/k})`.

    One changed edge may replace the optimum by any other, so ε is split over the k bits that may differ, see
    `changes`; together they are pure ε, edge level (PrivCFS, appendix G). The pairs and dimensions whose
    bit comes out as 1 are the intervention: there may be more of them than the limits of the universe.
    """

    name: ClassVar[str] = "rr-bits"
    title: ClassVar[str] = "Randomized response on the optimum"
    where: ClassVar[Where] = Where.EXPLANATION
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = True

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: pure ε."""
        return Guarantee(
            True,
            checks.epsilon(epsilon),
            0.0,
            "every bit that may change has its share of ε; given that the snapshot is public",
        )

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`: fresh noise for every target."""
        budget, rho = checks.epsilon(epsilon), checks.rho(rho)

        def explain(target: int) -> Finding:
            scores = study.scores(target, rho, settings)
            universe = scores.universe
            bits = membership(universe, best_flip(scores, settings.utility))
            reported = bits ^ (rng.random(len(bits)) < flip_probability(budget, changes(universe)))
            split = len(universe.edge_pairs)
            pairs, features = universe.edge_pairs[reported[:split]], universe.feature_dims[reported[split:]]
            return drawn(study, target, pairs, features, settings.arm.inert)

        return explain
