"""Laplace noise on whole numbers of votes: its tail, an exact draw that spends ε, and a seeded one that doesn't.

`P(Z = z) = (1 - a) / (1 + a) a^|z|` with `a = e^(-1/b)` for scale b: a count whose sensitivity is s is released
by `count + Z` with pure ε = s/b (Ghosh, Roughgarden & Sundararajan 2009).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from core.errors import PrivCFSError

ROUNDING = 1e-9  # relative, on the safe side: far above a float's error, far below a vote


def scale_for(unit: Fraction, epsilon: Fraction) -> float:
    """`unit / epsilon` rounded up: noise for a sensitivity of at most `unit` votes.

    By so much that a privacy map which rounds up in its turn still stays within ε.
    """
    return float(unit / epsilon) * (1 + 2.0**-50)


def tail(scale: float, least: np.ndarray | int) -> np.ndarray:
    """`P(Z >= least)` for whole numbers of any sign, float64: `a^k / (1 + a)` for k >= 1, its complement else."""
    k = np.asarray(least, dtype=np.float64)
    a = math.exp(-1 / scale)
    return np.where(k >= 1, np.exp(-np.maximum(k, 1) / scale), 1 + a - np.exp(-np.maximum(1 - k, 0) / scale)) / (1 + a)


def least_gap(scale: float, chance: float) -> int:
    """The least k >= 1 with `P(Z >= k) <= chance`, rounded up where a float can't tell."""
    k = scale * (-math.log(chance) - math.log1p(math.exp(-1 / scale)))
    return max(1, math.ceil(k * (1 + ROUNDING) + ROUNDING))


def draw_exact(scale: float, sensitivity: int, epsilon: Fraction) -> int:
    """Draw Z through OpenDP (0.16, exact for whole numbers): pure ε on a count of that sensitivity, spent by the call.

    Randomness is the system's, not seedable. Raises `PrivCFSError` when OpenDP's privacy map asks for more than ε.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=scale)
    asked = measurement.map(sensitivity)
    if not Fraction(asked) <= epsilon:
        raise PrivCFSError(
            f"labels: OpenDP's privacy map gives {asked!r} at epsilon {float(epsilon)!r}; nothing was drawn: check the "
            "installed opendp"
        )
    return int(measurement(0))


def draw_seeded(scale: float, rng: np.random.Generator) -> int:
    """Draw Z from a seeded generator, as the difference of two geometric numbers: a simulation, never a release."""
    p = -math.expm1(-1 / scale)
    return int(rng.geometric(p) - rng.geometric(p))
