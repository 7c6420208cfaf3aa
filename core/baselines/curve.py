"""Conversions between a noise level and the (ε, δ) that it gives."""

from __future__ import annotations

import math

from scipy.special import log_ndtr, ndtr

from core import checks
from core.errors import BadInput

SMALLEST_RHO = 1e-30


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float) -> float:
    """`δ = Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ)`: least δ of Gaussian noise at ε >= 0 (Balle & Wang 2018)."""
    mu = sensitivity / sigma
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))))


def gaussian_epsilon(sigma: float, delta: float, sensitivity: float) -> float:
    """Least ε >= 0 that Gaussian noise of standard deviation `sigma` gives at `delta`, exact (Balle & Wang 2018).

    `sensitivity`: L2, of the whole vector that the noise is added to.
    """
    if sensitivity == 0 or gaussian_delta(sigma, 0.0, sensitivity) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(sigma, high, sensitivity) > delta:
        high *= 2
    from scipy.optimize import brentq

    return float(brentq(lambda epsilon: gaussian_delta(sigma, epsilon, sensitivity) - delta, 0.0, high, xtol=1e-12))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Least δ known to follow from ρ-zCDP at ε: `inf_{α > 1} e^{(α-1)(αρ-ε)} (1 - 1/α)^α / (α - 1)`.

    Canonne, Kamath & Steinke 2020, proposition 12; the exponent is convex in α.
    """
    from scipy.optimize import minimize_scalar

    def log_delta(t: float) -> float:
        beyond = math.exp(t)  # α - 1
        alpha = 1 + beyond
        return beyond * (alpha * rho - epsilon) + alpha * (t - math.log(alpha)) - t

    # The optimum lies near α = (ε/ρ + 1)/2; the search is over ln(α - 1), far to both sides of it.
    middle = math.log(max((epsilon / rho - 1) / 2, 1e-6))
    found = minimize_scalar(log_delta, bounds=(middle - 12, middle + 12), method="bounded", options={"xatol": 1e-10})
    return math.exp(min(float(found.fun), 0.0))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Most ρ whose zCDP gives (ε, δ) by `zcdp_delta`; raises `BadInput` for ε or δ out of range."""
    budget = checks.epsilon(epsilon)
    if not 0 < delta < 1:
        raise BadInput.number("delta", delta, "a probability above 0 and below 1, for example 1e-5")
    from scipy.optimize import brentq

    # ρ-zCDP gives ε = ρ + 2 sqrt(ρ ln 1/δ) (Bun & Steinke 2016): that ρ is enough, and ε itself is too much.
    rest = math.sqrt(math.log(1 / delta))
    low = (budget / (math.sqrt(rest**2 + budget) + rest)) ** 2
    if low < SMALLEST_RHO:
        raise BadInput.number("epsilon", epsilon, "one that leaves noise a finite size, such as 1e-6 or more")
    high = low
    while zcdp_delta(high, budget) <= delta:
        high *= 2
    root = brentq(
        lambda t: math.log(zcdp_delta(math.exp(t), budget)) - math.log(delta),
        math.log(low), math.log(high), xtol=1e-12,
    )  # fmt: skip
    return math.exp(root)
