"""What can be had without privacy: the best candidate of the universe, and the best of all private edges in reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core import checks
from core.baselines.field import gcn_of
from core.baselines.judge import drawn, nothing_found
from core.baselines.method import NOT_PRIVATE, Explain, Finding, Guarantee, Where
from core.placement.explainer import best_flip
from core.scoring.unrestricted import unrestricted_flip
from core.study.settings import Settings
from core.study.study import Study


@dataclass(frozen=True)
class Optimum:
    """The flipping candidate of highest utility in the public universe, by exact enumeration (PrivCFS, 3.4)."""

    name: ClassVar[str] = "optimum"
    title: ClassVar[str] = "Non-private optimum"
    where: ClassVar[Where] = Where.NONE
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = False

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: none."""
        checks.epsilon(epsilon)
        return NOT_PRIVATE

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`."""
        checks.epsilon(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            best = best_flip(study.scores(target, rho, settings), settings.utility)
            if best is None:
                return nothing_found(study, target)
            return drawn(study, target, best.edges, best.features, settings.arm.inert)

        return explain


@dataclass(frozen=True)
class UnrestrictedOptimum:
    """A flip by any `max_edges` private edges within reach and masks of the universe (PrivCFS, appendix D).

    The first that the branch and bound meets: edges at the target before others, few before many; not
    the smallest. The size is an upper bound of what is needed.
    """

    name: ClassVar[str] = "unrestricted"
    title: ClassVar[str] = "Any private edges in reach, non-private"
    where: ClassVar[Where] = Where.NONE
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = False

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: none."""
        checks.epsilon(epsilon)
        return NOT_PRIVATE

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`."""
        scorer = gcn_of(study, self.name)
        checks.epsilon(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            found = unrestricted_flip(scorer, study.scores(target, 1.0, settings).universe)
            if found.edges is None or found.features is None:
                return nothing_found(study, target)
            return drawn(study, target, found.edges, found.features, settings.arm.inert)

        return explain
