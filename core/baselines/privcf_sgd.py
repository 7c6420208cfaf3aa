"""PrivCF-SGD: the mask is optimised with gradients that are clipped and noised, so every step is private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from core import checks
from core.baselines.cfgnn import public_universe
from core.baselines.curve import zcdp_rho
from core.baselines.field import Field, gcn_of
from core.baselines.judge import drawn
from core.baselines.method import Explain, Finding, Guarantee, Where
from core.baselines.selection import select
from core.errors import BadInput
from core.study.settings import Settings
from core.study.study import Study
from core.threads import single_threaded


def clipped_gradient(field: Field, logits: np.ndarray, original: int, clip: float) -> np.ndarray:
    """Gradient of `logit_original - max_other logit` under soft gates, k + s float64, of L2 norm at most `clip`.

    The first of `logits` belong to the field's pairs. Everything that it reads of the private graph, the
    original class included, is within the clip: between any two graphs it moves by at most `2 clip`.
    """
    split = len(field.exists)
    free = torch.tensor(logits, requires_grad=True)
    gates = torch.sigmoid(free)
    predicted = field.logits(gates[:split], gates[split:])
    others = torch.cat([predicted[:original], predicted[original + 1 :]])
    if not len(others):
        return np.zeros(len(logits))
    with single_threaded(0):
        (gradient,) = torch.autograd.grad(predicted[original] - others.max(), free)
    return gradient.numpy() * min(1.0, clip / max(float(gradient.norm()), 1e-300))


@dataclass(frozen=True)
class PrivCFSGD:
    """`m <- m - rate (clip_C(∇) + N(0, σ² I)) / C` on the mask logits of the public universe, `steps` times.

    Each step is a Gaussian mechanism of L2 sensitivity `2C` (triangle inequality: both gradients are clipped
    to C), `(2C)²/(2σ²)`-zCDP; adaptive composition adds these up over the steps (Bun & Steinke 2016, lemmas
    2.3 and 2.4), and σ makes the sum the largest ρ that gives (ε, δ) by Canonne, Kamath & Steinke (2020,
    proposition 12). The start is public, and reading the intervention from the last logits is post-processing.
    `steps`, `clip` and `rate` are public and fixed in advance. Raises `BadInput` out of range.
    """

    delta: float = 1e-5
    steps: int = 20
    clip: float = 0.1
    rate: float = 0.1
    name: ClassVar[str] = "privcf-sgd"
    title: ClassVar[str] = "PrivCF-SGD"
    where: ClassVar[Where] = Where.EXPLANATION
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.count(self.steps, "steps", 1, 100_000)
        for name in ("clip", "rate"):
            if not 0 < getattr(self, name) < 1e6:
                raise BadInput.number(f"PrivCF-SGD, {name}", getattr(self, name), "a number above 0, for example 0.1")
        self.sigma(1.0)

    @property
    def sensitivity(self) -> float:
        """Most that a clipped gradient moves between neighbouring graphs, L2."""
        return 2 * self.clip

    def sigma(self, epsilon: float) -> float:
        """Standard deviation of the noise on each entry of each gradient; raises `BadInput` for ε or δ."""
        return self.sensitivity * math.sqrt(self.steps / (2 * zcdp_rho(epsilon, self.delta)))

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: (ε, δ), whatever the optimiser does."""
        budget = checks.epsilon(epsilon)
        self.sigma(budget)
        return Guarantee(
            True, budget, self.delta, "every gradient is clipped and noised; given that the snapshot is public"
        )

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`: fresh noise for every target."""
        scorer, sigma = gcn_of(study, self.name), self.sigma(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            universe = public_universe(study, rho, settings, target)
            pairs, dims = universe.edge_pairs, universe.feature_dims
            field = Field(scorer.graph, scorer.weights, target, pairs, dims, settings.arm.inert)
            logits = self.descend(field, len(pairs) + len(dims), int(scorer.clean[target].argmax()), sigma, rng)
            return drawn(study, target, *select(logits, universe), settings.arm.inert)

        return explain

    def descend(self, field: Field, count: int, original: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
        """Mask logits (`count`) after all steps: private at the level that `sigma` gives."""
        logits = np.zeros(count)
        for _ in range(self.steps if count else 0):
            noised = clipped_gradient(field, logits, original, self.clip) + sigma * rng.standard_normal(count)
            logits = logits - self.rate * noised / self.clip
        return logits
