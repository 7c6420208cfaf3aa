"""Candidates that no metric can tell apart, gathered into cells: a few dozen in place of thousands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import checks
from core.prior.prior import Prior
from core.release.mechanism import exponent
from core.scoring.scores import Scores
from core.utility import Utility


@dataclass(frozen=True, eq=False)
class Cells:
    """Non-empty groups of candidates equal in utility, size, flip and target class, c of them.

    `values`: c int64 grid units. `sizes`: c int64, |S|; 0 is the empty candidate. `flips`, `targeted`:
    c bool; the latter is a flip to the runner-up class. `counts`: c int64. `mass`: c float64, prior
    mass `Σπ`. `concentration`: c float64, `Σπ² / (Σπ)²` within the cell. `key`: nE x nF int64 bin of
    each candidate; `bins`: c int64, the bin of each cell. `denominator`, `sensitivity`: of the utility.
    """

    values: np.ndarray
    sizes: np.ndarray
    flips: np.ndarray
    targeted: np.ndarray
    counts: np.ndarray
    mass: np.ndarray
    concentration: np.ndarray
    key: np.ndarray
    bins: np.ndarray
    denominator: int
    sensitivity: int

    def total(self, weight: np.ndarray) -> np.ndarray:
        """Sum of a candidate-wise array (nE x nF) over each cell, c float64."""
        return np.bincount(self.key.ravel(), weights=weight.ravel())[self.bins]

    def probability(self, epsilons: np.ndarray) -> np.ndarray:
        """Probability of each cell under the exponential mechanism, n_eps x c; raises `BadInput` for a bad ε."""
        budgets = np.array([checks.epsilon(value) for value in epsilons])
        log_weight = exponent(self.values, self.sensitivity, budgets[:, None]) + np.log(self.mass)
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)


def gather(scores: Scores, utility: Utility, prior: Prior) -> Cells:
    """Group the candidates of one target; a constant prior needs one histogram pass."""
    sizes = scores.universe.limits.k_max + 1
    outcomes = scores.flips + (scores.flips & (scores.predicted == scores.runner_up)).astype(np.int64)
    levels, values = None, utility.values
    if utility.denominator > values.size:
        levels, values = np.unique(values, return_inverse=True)
    key = (values * sizes + scores.universe.sizes) * 3 + outcomes
    flat = key.ravel()
    histogram = np.bincount(flat)
    bins = np.flatnonzero(histogram)
    counts = histogram[bins]
    mass: np.ndarray = counts / values.size
    concentration: np.ndarray = 1 / counts
    if not prior.constant:
        sums = np.bincount(flat, weights=prior.mass.ravel())
        share = prior.mass.ravel() / sums[flat]
        mass, concentration = sums[bins], np.bincount(flat, weights=share * share)[bins]
    rest, outcome = np.divmod(bins, 3)
    level, size = np.divmod(rest, sizes)
    return Cells(
        values=level if levels is None else levels[level],
        sizes=size,
        flips=outcome > 0,
        targeted=outcome == 2,
        counts=counts,
        mass=mass,
        concentration=concentration,
        key=key,
        bins=bins,
        denominator=utility.denominator,
        sensitivity=utility.sensitivity,
    )
