"""What needs no private edge at all: a random candidate, and the public's own best guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core import checks
from core.baselines.judge import expected
from core.baselines.method import Explain, Finding, Guarantee, Where
from core.metrics import measure
from core.prior.prior import Prior, uniform
from core.release.distribution import ReleaseDistribution
from core.study.settings import Settings
from core.study.study import Study
from core.utility import evaluate


@dataclass(frozen=True)
class RandomCandidate:
    """Any candidate of the universe, ∅ among them, with the same chance; exact expectations."""

    name: ClassVar[str] = "random-candidate"
    title: ClassVar[str] = "Random candidate"
    where: ClassVar[Where] = Where.NONE
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = False

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: (0, 0)."""
        checks.epsilon(epsilon)
        return Guarantee(True, 0.0, 0.0, "reads no private edge; given that the snapshot is public")

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`; nothing is drawn."""
        checks.epsilon(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            return of_prior(study, target, rho, settings, self.prior(study, target, rho, settings))

        return explain

    def prior(self, study: Study, target: int, rho: float, settings: Settings) -> Prior:
        """The public distribution over the candidates that is drawn from."""
        return uniform(study.scores(target, rho, settings).universe)


@dataclass(frozen=True)
class PublicOnly(RandomCandidate):
    """The guided prior at ε = 0, which reads no private edge: what an analyst could do alone."""

    name: ClassVar[str] = "public-only"
    title: ClassVar[str] = "Public snapshot alone"

    def prior(self, study: Study, target: int, rho: float, settings: Settings) -> Prior:
        """The public distribution over the candidates that is drawn from."""
        return study.guide(target, rho, settings).prior(0.0, settings.utility)


def of_prior(study: Study, target: int, rho: float, settings: Settings, prior: Prior) -> Finding:
    """What a draw from a public distribution does on the private graph, in expectation."""
    scores = study.scores(target, rho, settings)
    utility = evaluate(scores, settings.utility)
    drawn = ReleaseDistribution(scores.universe, utility, prior, 0.0, settings.mechanism, prior.mass)
    return expected(study, target, measure(drawn, scores))
