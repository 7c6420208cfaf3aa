"""PrivCFS itself as rows of the comparison: exact expectations over the release distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from core import checks
from core.baselines.judge import expected
from core.baselines.method import Explain, Finding, Guarantee, Where
from core.metrics import measure
from core.prior.prior import PriorKind
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.study.settings import Settings
from core.study.study import Study


@dataclass(frozen=True)
class PrivCFS:
    """The exponential mechanism over `C_v` (PrivCFS, theorem 1) under the uniform prior, pure ε.

    Permute-and-flip where the settings ask for it. Sensitivity as in the settings: the proven `tight`
    one, or the paper's 1.
    """

    name: ClassVar[str] = "privcfs"
    title: ClassVar[str] = "PrivCFS"
    where: ClassVar[Where] = Where.EXPLANATION
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = False
    kind: ClassVar[PriorKind] = PriorKind.UNIFORM

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: pure ε."""
        mechanism = "permute-and-flip" if settings.mechanism is Mechanism.PF else "the exponential mechanism"
        return Guarantee(
            True, checks.epsilon(epsilon), 0.0, f"{mechanism} over public candidates; given that the snapshot is public"
        )

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`; nothing is drawn."""
        budget, rho = checks.epsilon(epsilon), checks.rho(rho)
        settings = replace(settings, prior=replace(settings.prior, kind=self.kind))

        def explain(target: int) -> Finding:
            scores, utility, prior = study.evaluated(target, rho, budget, settings)
            distribution = release_distribution(scores.universe, utility, prior, budget, settings.mechanism)
            return expected(study, target, measure(distribution, scores))

        return explain


@dataclass(frozen=True)
class GuidedPrivCFS(PrivCFS):
    """The same under the guided prior, which is computed from public objects only."""

    name: ClassVar[str] = "privcfs-guided"
    title: ClassVar[str] = "PrivCFS, guided prior"
    kind: ClassVar[PriorKind] = PriorKind.GUIDED
