"""The exact distribution from which one candidate would be released: private, owner-side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import checks
from core.errors import BadInput
from core.prior.prior import Prior
from core.release.mechanism import Mechanism, exponent
from core.release.permute_and_flip import permute_and_flip
from core.universe import Universe
from core.utility import Utility


@dataclass(frozen=True, eq=False)
class ReleaseDistribution:
    """Probability of every candidate of `universe`, with everything that determines it.

    `probability`: nE x nF float64, sums to 1. `epsilon`: pure ε, edge level, one release.
    """

    universe: Universe
    utility: Utility
    prior: Prior
    epsilon: float
    mechanism: Mechanism
    probability: np.ndarray


def release_distribution(
    universe: Universe,
    utility: Utility,
    prior: Prior,
    epsilon: float,
    mechanism: Mechanism = Mechanism.EM,
) -> ReleaseDistribution:
    """Distribution of one release (PrivCFS, section 3.5; McKenna & Sheldon 2020).

    Exponential mechanism: `P(S) ∝ π(S) exp(ε u(S) / (2Δu))`. Permute-and-flip: see `permute_and_flip`,
    with the same weights. `Δu` is the sensitivity of `utility`, in grid units like its values.
    Raises `BadInput` for a bad ε or arrays of another universe.
    """
    budget = checks.epsilon(epsilon)
    for what, shape in (("utility", utility.values.shape), ("prior", prior.mass.shape)):
        if shape != universe.shape:
            raise BadInput(f"{what}: found {shape} candidates, the universe has {universe.shape}")
    log_weight = exponent(utility.values, utility.sensitivity, budget) + np.log(prior.mass)
    if mechanism is Mechanism.PF:
        probability = permute_and_flip(log_weight)
    else:
        probability = np.exp(log_weight - log_weight.max())
    probability /= probability.sum()
    return ReleaseDistribution(universe, utility, prior, budget, mechanism, probability)
