"""PrivCF-out: Gaussian noise on the logits of an optimised mask, as if none of them could move by more than 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from core import checks
from core.baselines.cfgnn import Descent, public_universe
from core.baselines.field import Field, gcn_of
from core.baselines.judge import drawn
from core.baselines.method import Explain, Finding, Guarantee, Where
from core.baselines.selection import select
from core.placement.calibration import Calibration
from core.scoring.factorised import GCNScorer
from core.study.settings import Settings
from core.study.study import Study
from core.threads import single_threaded
from core.universe import Universe

ASSUMED_SENSITIVITY = 1.0
MASK = Descent(iterations=200, rate=0.1, beta=0.01, start=1.0)


def mask_logits(scorer: GCNScorer, universe: Universe, descent: Descent = MASK) -> np.ndarray:
    """Optimised mask logits, kE + kF float64: one for each candidate pair, then for each dimension; private.

    Adam, from the same start on every graph, minimises `log p(original) + β Σ (1 - gate)` under the soft mask
    (sigmoid gates). The prediction loss stays on once the class has changed, so that the logits end far
    from 0, out of reach of the noise.
    """
    field = Field(
        scorer.graph,
        scorer.weights,
        universe.target,
        universe.edge_pairs,
        universe.feature_dims,
        universe.arm.inert,
    )
    split, count = len(universe.edge_pairs), len(universe.edge_pairs) + len(universe.feature_dims)
    original = int(scorer.clean[universe.target].argmax())
    logits = torch.full((count,), descent.start, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=descent.rate)
    with single_threaded(0):
        for _ in range(descent.iterations if count else 0):
            optimiser.zero_grad()
            gates = torch.sigmoid(logits)
            predicted = torch.log_softmax(field.logits(gates[:split], gates[split:]), dim=0)
            (predicted[original] + descent.beta * (1.0 - gates).sum()).backward()
            optimiser.step()
    return logits.detach().numpy()


@dataclass(frozen=True)
class PrivCFOut:
    """Noise `N(0, σ²)` on each logit of `mask_logits`, then thresholded within the limits (PrivCFS, section 3.2).

    σ is that of (ε, δ) for an L2 sensitivity of 1, by the analytic curve (Balle & Wang 2018, theorem 8) unless
    the classical rule is asked for. That 1 is assumed of every entry by itself and of an optimiser that
    nothing bounds: the release isn't certified, see `reaudit`.
    """

    delta: float = 1e-5
    calibration: Calibration = Calibration.ANALYTIC
    descent: Descent = MASK
    name: ClassVar[str] = "privcf-out"
    title: ClassVar[str] = "PrivCF-out"
    where: ClassVar[Where] = Where.EXPLANATION
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.sigma(1.0)

    def sigma(self, epsilon: float) -> float:
        """Standard deviation of the noise on one logit; raises `BadInput` for ε or δ out of range."""
        return self.calibration.sigma(epsilon, self.delta, ASSUMED_SENSITIVITY)

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: what the assumption would give, not certified."""
        return Guarantee(
            False,
            checks.epsilon(epsilon),
            self.delta,
            "the noise is that of mask logits that move by at most 1 in all between neighbours, which is assumed "
            "and measured to be false",
        )

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`: fresh noise for every target."""
        scorer, sigma = gcn_of(study, self.name), self.sigma(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            universe = public_universe(study, rho, settings, target)
            logits = mask_logits(scorer, universe, self.descent)
            noised = logits + sigma * rng.standard_normal(len(logits))
            return drawn(study, target, *select(noised, universe), settings.arm.inert)

        return explain
