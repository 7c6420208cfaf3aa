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

UNLIKELY = 2.0**-20

_ROUNDING = Fraction(1, 2**31)
_ROUNDED = 1e-6  # of a number of copies
_LARGEST_GAP = 700.0  # of exponents that `exp` takes
_LARGEST_SCORE = 2**62
_LARGEST_SCALE = 2**400


@dataclass(frozen=True, eq=False)
class PublicGrid:
    """What two neighbouring graphs share of a draw's integer scores; nothing of it reads a utility.

    A candidate's score is `refinement u + offsets`, in units of the utility's grid divided by the
    refinement L, and that over `scale` is `ε u / (2Δu) + ln (π / copies)`, up to a constant. `offsets`,
    `copies`: nE·nF int64, candidates in row-major order. `sensitivity`: `LΔu`, bounds the change of any
    score between neighbouring graphs (edge level). `scale`: never below `2 sensitivity / ε`.
    """

    refinement: int
    offsets: np.ndarray
    copies: np.ndarray
    sensitivity: int
    scale: float

    def candidate(self, entry: int) -> int:
        """The candidate that an entry of `grid_scores` is a copy of."""
        return int(np.searchsorted(np.cumsum(self.copies), entry, side="right"))


def copies(prior: Prior, mechanism: Mechanism) -> np.ndarray:
    """How many entries of a draw each candidate gets, nE·nF int64; public.

    The exponential mechanism over entries of `π(S) / copies(S)` each is the one over candidates of `π(S)`,
    and OpenDP samples it by rejection: its time grows with the largest share of one entry. With
    `ceil(n π(S))` copies, at most 2n in all, no entry has more than 1/n, whatever the prior favours.
    Permute-and-flip over copies would be another mechanism: there, and for a constant prior, one each.
    """
    if mechanism is Mechanism.PF or prior.constant:
        return np.ones(prior.mass.size, dtype=np.int64)
    return np.maximum(np.ceil(prior.mass.ravel() * prior.mass.size - _ROUNDED), 1).astype(np.int64)


def most_trials(prior: Prior, gap: float, mechanism: Mechanism) -> int:
    """How many candidates OpenDP may look at before it takes one; public.

    `gap`: bounds the exponents' differences, `ε max|u - u'| / (2Δu)`. Permute-and-flip looks at each once
    at most. The exponential mechanism takes an entry with probability `p = Σw / (N max w)`, which is at
    least `max(1, e^-gap / max(π / copies)) / N` on every private graph, for N entries of weight w: more
    than `ln(1/UNLIKELY) / p` looks happen with probability `UNLIKELY` at most.
    """
    each = copies(prior, mechanism)
    entries = int(each.sum())
    if mechanism is Mechanism.PF:
        return entries
    heaviest = float((prior.mass.ravel() / each).max())
    looks = min(entries, entries * heaviest * math.exp(min(gap, _LARGEST_GAP)))
    return math.ceil(looks * math.log(1 / UNLIKELY))


def public_grid(
    prior: Prior, denominator: int, sensitivity: int, epsilon: float, mechanism: Mechanism = Mechanism.EM
) -> PublicGrid:
    """The grid of a draw from utilities in 1/`denominator` whose sensitivity is `sensitivity` such units.

    Offsets are `round((2LΔu/ε) (ln w - max ln w))`, `w = π / copies`. L is a power of two, the smallest at
    which rounding moves an exponent by at most 2^-31; 1 for a constant prior. So `L u` alone is private,
    exact, of sensitivity `LΔu`. Raises `BadInput` for a bad ε, or scores or a scale out of range.
    """
    epsilon = checks.epsilon(epsilon)
    budget = Fraction(epsilon)
    refinement = 1 if prior.constant else _power_of_two(budget / (4 * sensitivity * _ROUNDING))
    most = refinement * sensitivity
    exact_scale = 2 * most / budget
    each = copies(prior, mechanism)
    favour = np.log(prior.mass.ravel() / each)
    favour -= favour.max()
    reach = refinement * denominator + exact_scale * Fraction(-float(favour.min()))
    fits = reach <= _LARGEST_SCORE and 2 * most <= _LARGEST_SCORE
    if not fits or not Fraction(1, _LARGEST_SCALE) <= exact_scale <= _LARGEST_SCALE:
        raise BadInput.number(
            "epsilon of a draw",
            epsilon,
            f"one at which utilities in 1/{denominator} and prior {prior.name} fit 62-bit scores: take one closer to 1",
        )
    scale = _round_up(exact_scale)
    return PublicGrid(refinement, np.rint(scale * favour).astype(np.int64), each, most, scale)


def grid_scores(utility: Utility, grid: PublicGrid) -> np.ndarray:
    """One int64 score an entry, the copies of a candidate side by side; private, owner-side."""
    return np.repeat(grid.refinement * utility.values.ravel() + grid.offsets, grid.copies)


def draw(distribution: ReleaseDistribution) -> tuple[int, int]:
    """Draw one candidate: its (edge subset, feature subset) index. Pure ε, edge level, spent by the call.

    OpenDP's noisy max at scale `2LΔu/ε` over `grid_scores` (0.16): its zCDP measure samples the exponential
    mechanism, its max-divergence measure permute-and-flip, which is report noisy max with exponential
    noise (Ding et al. 2021). Which copy of a candidate was drawn is forgotten. Randomness is the system's,
    not seedable. The time of a call still depends on the private distribution, within what `most_trials`
    bounds: a release waits, see `core.release.latency`. Raises `BadInput` for what `public_grid` refuses,
    and `PrivCFSError` when OpenDP's privacy map asks for more than ε.
    """
    utility, prior, shape = distribution.utility, distribution.prior, distribution.universe.shape
    for what, found in (("utility", utility.values.shape), (f"prior {prior.name}", prior.mass.shape)):
        if found != shape:
            raise BadInput(f"{what}: found {found} candidates, the universe has {shape}")
    grid = public_grid(prior, utility.denominator, utility.sensitivity, distribution.epsilon, distribution.mechanism)
    noisy_max = _noisy_max(grid, distribution.mechanism, distribution.epsilon)
    edge, feature = divmod(grid.candidate(int(noisy_max(grid_scores(utility, grid)))), shape[1])
    return edge, feature


def _noisy_max(grid: PublicGrid, mechanism: Mechanism, epsilon: float) -> dp.Measurement:
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
