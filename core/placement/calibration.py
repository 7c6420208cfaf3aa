"""How much Gaussian noise an (ε, δ) guarantee asks for."""

from __future__ import annotations

import math
from enum import StrEnum

from scipy.special import log_ndtr, ndtr, ndtri

from core import checks
from core.errors import BadInput


class Calibration(StrEnum):
    """Which rule turns (ε, δ) into a standard deviation."""

    ANALYTIC = "analytic"
    CLASSICAL = "classical"

    @classmethod
    def parse(cls, value: str) -> Calibration:
        """Return the rule of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "calibration")

    def sigma(self, epsilon: float, delta: float, sensitivity: float) -> float:
        """Standard deviation per entry under this rule, for the given L2 sensitivity."""
        rule = analytic_sigma if self is Calibration.ANALYTIC else classical_sigma
        return rule(epsilon, delta, sensitivity)

    def proven(self, epsilon: float) -> bool:
        """Whether the rule guarantees (ε, δ) at this ε: the classical one has a proof up to 1 only."""
        return self is Calibration.ANALYTIC or epsilon <= 1


def classical_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """`σ = Δ2 sqrt(2 ln(1.25/δ)) / ε` (Dwork & Roth 2014, theorem A.1): a guarantee for ε <= 1 only.

    It is often quoted at larger ε, where it is a noise level and not a proof. Raises `BadInput` for ε
    or δ out of range.
    """
    return sensitivity * math.sqrt(2 * math.log(1.25 / _delta(delta))) / checks.epsilon(epsilon)


def analytic_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Least σ with `Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ) <= δ` (Balle & Wang 2018, theorem 8).

    Exact for every ε. Raises `BadInput` for ε or δ out of range.
    """
    budget, delta = checks.epsilon(epsilon), _delta(delta)
    # At ε = 0 the condition reads 2Φ(1/2s) - 1 <= δ and asks for the most noise; twice that is above any rounding.
    high = 1 / float(ndtri((1 + delta) / 2))
    low = high
    while _excess(low, budget) <= delta:
        low /= 2
    from scipy.optimize import brentq  # loaded when it is needed: the explorer starts sooner

    root = brentq(lambda log_s: _excess(math.exp(log_s), budget) - delta, math.log(low), math.log(high), xtol=1e-14)
    return sensitivity * math.exp(root)


def _excess(s: float, epsilon: float) -> float:
    """δ of Gaussian noise with σ = s Δ at this ε."""
    return float(ndtr(1 / (2 * s) - epsilon * s) - math.exp(epsilon + float(log_ndtr(-1 / (2 * s) - epsilon * s))))


def _delta(value: float) -> float:
    if not 0 < value < 1:
        raise BadInput.number("delta", value, "a probability above 0 and below 1, for example 1e-5")
    return float(value)
