"""The real draw of one candidate, through OpenDP: it spends ε, so only a debited release may call it.

Seeded draws are simulations and live in `core.release.simulate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from core import checks
from core.errors import BadInput, PrivCFSError
from core.prior.prior import Prior
from core.release.distribution import ReleaseDistribution
from core.release.mechanism import Mechanism
from core.utility import Utility

_ROUNDING = Fraction(1, 2**31)
_LARGEST_SCORE = 2**62
_LARGEST_SCALE = 2**400


@dataclass(frozen=True, eq=False)
class GridScores:
    """Integer scores of a release: `values / scale` is `ε u / (2Δu) + ln π`, up to a constant.

    `values`: nE·nF int64, candidates in row-major order. `sensitivity`: bounds the change of any value
    between neighbouring graphs (edge level). `scale`: never below `2 sensitivity / ε`. The unit of all
    three is that of the utility's grid divided by the refinement L.
    """

    values: np.ndarray
    sensitivity: int
    scale: float


def grid_scores(utility: Utility, prior: Prior, epsilon: float) -> GridScores:
    """Scores `L u + round((2LΔu/ε) (ln π - max ln π))` of every candidate; private, owner-side.

    L is a power of two computed from Δu, ε and whether the prior is constant, so neighbouring graphs
    share it, the rounded term and the scale: `L u` alone is private, exact, of sensitivity `LΔu`.
    L is the smallest at which rounding moves an exponent by at most 2^-31; 1 for a constant prior.
    Raises `BadInput` for a bad ε, arrays of two universes, or scores or a scale out of range; it
    doesn't look at `u`, only at the bounds that the grid promises.
    """
    epsilon = checks.epsilon(epsilon)
    if utility.values.shape != prior.mass.shape:
        raise BadInput(f"prior {prior.name}: found {prior.mass.shape} candidates, expected {utility.values.shape}")
    budget = Fraction(epsilon)
    refinement = 1 if prior.constant else _power_of_two(budget / (4 * utility.sensitivity * _ROUNDING))
    sensitivity = refinement * utility.sensitivity
    exact_scale = 2 * sensitivity / budget
    favour = np.log(prior.mass)
    favour -= favour.max()
    reach = refinement * utility.denominator + exact_scale * Fraction(-float(favour.min()))
    fits = reach <= _LARGEST_SCORE and 2 * sensitivity <= _LARGEST_SCORE
    if not fits or not Fraction(1, _LARGEST_SCALE) <= exact_scale <= _LARGEST_SCALE:
        raise BadInput.number(
            "epsilon of a draw",
            epsilon,
            f"one at which utilities in 1/{utility.denominator} and prior {prior.name} fit 62-bit scores: "
            "take one closer to 1",
        )
    scale = _round_up(exact_scale)
    public = np.rint(scale * favour).astype(np.int64)
    return GridScores((refinement * utility.values + public).ravel(), sensitivity, scale)


def draw(distribution: ReleaseDistribution) -> tuple[int, int]:
    """Draw one candidate: its (edge subset, feature subset) index. Pure ε, edge level, spent by the call.

    OpenDP's noisy max at scale `2LΔu/ε` over `grid_scores`: its zCDP measure samples the exponential
    mechanism, its max-divergence measure permute-and-flip, which is report noisy max with exponential
    noise (Ding et al. 2021). Randomness is the system's, not seedable. The time of a call grows with
    the private concentration of the distribution: don't let an analyst time it. Raises `BadInput` for
    what `grid_scores` refuses, and `PrivCFSError` when OpenDP's privacy map asks for more than ε.
    """
    shape = distribution.universe.shape
    if distribution.utility.values.shape != shape:
        raise BadInput(f"utility: found {distribution.utility.values.shape} candidates, the universe has {shape}")
    grid = grid_scores(distribution.utility, distribution.prior, distribution.epsilon)
    edge, feature = divmod(int(_noisy_max(grid, distribution.mechanism, distribution.epsilon)(grid.values)), shape[1])
    return edge, feature


def _noisy_max(grid: GridScores, mechanism: Mechanism, epsilon: float) -> dp.Measurement:
    dp.enable_features("contrib")
    if mechanism is Mechanism.PF:
        measure, allowed = dp.max_divergence(), epsilon
    else:
        # ε-bounded range is ε²/8-zCDP (Cesar & Rogers 2021); the map rounds ε² up
        measure, allowed = dp.zero_concentrated_divergence(), math.nextafter(epsilon * epsilon, math.inf) / 8
    measurement = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64"), measure, scale=grid.scale
    )
    asked = measurement.map(grid.sensitivity)
    if not asked <= allowed:
        raise PrivCFSError(
            f"draw: OpenDP's privacy map gives {asked!r} at epsilon {epsilon!r}, expected at most {allowed!r}; "
            "nothing was drawn: check the installed opendp"
        )
    return measurement


def _power_of_two(least: Fraction) -> int:
    return 1 << max(0, math.ceil(least) - 1).bit_length()


def _round_up(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)
