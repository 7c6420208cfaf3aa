"""What noised densities cost: truncated concentrated DP, and its way to (ε, δ) and back.

(ρ, ω)-tCDP (Bun, Dwork, Rothblum & Steinke 2018): the Rényi divergence of order α between the outputs on neighbours is
at most ρ α for all α in (1, ω). ω = ∞ is ρ-zCDP. It composes by adding ρ and taking the least ω.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from core import checks
from core.errors import BadInput

SMOOTH_SHARE = 0.1  # of ρ that the changing noise level costs, unless β is given
ROUNDING = 1e-9  # of ρ, kept back from a calibration for float arithmetic and the grid (`core.embeddings.plan`)


@dataclass(frozen=True)
class TCDP:
    """(ρ, ω)-tCDP, edge level; ω > 1, infinite for zCDP. Raises `BadInput`."""

    rho: float
    omega: float = math.inf

    def __post_init__(self) -> None:
        checks.epsilon(self.rho, "rho of tCDP")
        if not self.omega > 1:
            raise BadInput.number("omega", self.omega, "a number above 1")

    def epsilon(self, delta: float) -> float:
        """The ε at δ: `ρ + 2 sqrt(ρ ln(1/δ))` if `ln(1/δ) <= (ω-1)^2 ρ`, else `ρ ω + ln(1/δ)/(ω-1)`.

        The least of `ρ α + ln(1/δ)/(α-1)` over α in (1, ω] (Bun et al. 2018, Lemma 6).
        """
        log = _log(delta)
        if math.isinf(self.omega) or log <= (self.omega - 1) ** 2 * self.rho:
            return self.rho + 2 * math.sqrt(self.rho * log)
        return self.rho * self.omega + log / (self.omega - 1)

    def __add__(self, other: TCDP) -> TCDP:
        """Both releases together."""
        return TCDP(self.rho + other.rho, min(self.omega, other.omega))


@dataclass(frozen=True)
class SmoothBudget:
    """How a smooth release spends its ρ: `2 ρ' + 4 d β^2`, at ω = 1/(4β) (Theorem 4.6)."""

    rho_noise: float
    beta: float
    dimensions: int

    @property
    def cost(self) -> TCDP:
        """`(2ρ' + 4dβ², 1/(4β))`-tCDP of `N(f(G), S(G)² / (2ρ') I_d)`, S β-smooth and above the l2 sensitivity of f."""
        return TCDP(2 * self.rho_noise + 4 * self.dimensions * self.beta**2, 1 / (4 * self.beta))


def rho_for(epsilon: float, delta: float, omega: float = math.inf) -> float:
    """The largest ρ, less `ROUNDING`, whose (ρ, ω)-tCDP gives ε at δ; raises `BadInput` where ω is too small for any.

    `sqrt ρ = sqrt(ε + ln(1/δ)) - sqrt(ln(1/δ))`, or `ρ = (ε - ln(1/δ)/(ω-1)) / ω` beyond the first case.
    """
    budget, log = checks.epsilon(epsilon), _log(delta)
    rho: float = (budget / (math.sqrt(budget + log) + math.sqrt(log))) ** 2
    if not math.isinf(omega) and log > (omega - 1) ** 2 * rho:
        rho = (budget - log / (omega - 1)) / omega
    if not rho > 0:
        raise BadInput.number(
            "omega", omega, f"one at which ε = {budget:g}, δ = {delta:g} can be met; take a smaller β"
        )
    return checks.epsilon(rho * (1 - ROUNDING), "rho for this epsilon and delta")


def smooth_for(epsilon: float, delta: float, dimensions: int, beta: float | None = None) -> SmoothBudget:
    """The budget of a smooth release of d numbers at (ε, δ); β is public and fixed before the graph is seen.

    β unless given: `SMOOTH_SHARE` of ρ goes into 4dβ², or less where ω would else leave the first case of the
    conversion. Raises `BadInput` for a β that leaves nothing for the noise, or of 1/4 and more.
    """
    checks.count(dimensions, "dimensions", 1, 10**6)
    log = _log(delta)
    if beta is None:
        rho = rho_for(epsilon, delta)
        beta = min(math.sqrt(SMOOTH_SHARE * rho / (4 * dimensions)), 1 / (4 * (1 + math.sqrt(log / rho))))
        beta *= 1 - 1e-12  # stays within the first case of the conversion
    if not 1e-6 <= beta < 0.25:
        raise BadInput.number("beta", beta, "a number from 1e-6 to below 1/4")
    rho = rho_for(epsilon, delta, 1 / (4 * beta))
    left = (rho - 4 * dimensions * beta**2) / 2
    if left <= 0:
        raise BadInput.number("beta", beta, f"one with 4 d β² below ρ = {rho:.3g}; take a smaller one")
    return SmoothBudget(left, beta, dimensions)


def _log(delta: float) -> float:
    if isinstance(delta, bool) or not 0 < delta < 1:
        raise BadInput.number("delta", delta, "a probability above 0 and below 1, for example 1e-5")
    return -math.log(delta)
