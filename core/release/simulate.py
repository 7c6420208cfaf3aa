"""Seeded draws for teaching and plots: a simulation, never a release."""

from __future__ import annotations

import numpy as np

from core import checks
from core.release.distribution import ReleaseDistribution


def simulate(distribution: ReleaseDistribution, rng: np.random.Generator, draws: int) -> np.ndarray:
    """Draw candidates with a reproducible floating-point generator: not private, debits no budget.

    Returns draws x 2 int64, each row the (edge subset, feature subset) index of a candidate.
    Raises `BadInput` for a number of draws outside 0..10,000,000.
    """
    draws = checks.count(draws, "simulated draws", 0, 10_000_000)
    flat = rng.choice(distribution.universe.size, size=draws, p=distribution.probability.ravel())
    return np.stack(np.unravel_index(flat, distribution.universe.shape), axis=1).astype(np.int64)
