"""tCDP: its Rényi bound and its conversion against numeric integration, and calibration as their inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from core.embeddings.accounting import SMOOTH_SHARE, TCDP, SmoothBudget, rho_for, smooth_for
from core.errors import BadInput


def renyi(alpha: float, gap: float, one: float, other: float) -> float:
    """`ln ∫ p^α q^(1-α) / (α - 1)`, p and q normal with standard deviations `one`, `other`, on a fine grid of logs.

    The trapezoid rule converges faster than any power of the step for such integrands.
    """
    precision = alpha / one**2 + (1 - alpha) / other**2
    middle = (1 - alpha) * gap / other**2 / precision
    x = middle + np.linspace(-30, 30, 60_001) / math.sqrt(precision)
    p = -((x / one) ** 2) / 2 - math.log(one)
    q = -(((x - gap) / other) ** 2) / 2 - math.log(other)
    logs = alpha * p + (1 - alpha) * q - math.log(2 * math.pi) / 2 + math.log(x[1] - x[0])
    return float(logsumexp(logs)) / (alpha - 1)


def hockey_stick(epsilon: float, gap: float, one: float, other: float) -> float:
    """`∫ max(0, p - e^ε q)` on a fine grid; the error is far below the δ that it is compared with."""
    x = np.linspace(-40 * max(one, other), gap + 40 * max(one, other), 400_001)
    p = np.exp(-((x / one) ** 2) / 2) / one
    q = np.exp(-(((x - gap) / other) ** 2) / 2) / other
    return float(np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0), x) / math.sqrt(2 * math.pi))


@pytest.mark.parametrize("alpha", [1.01, 2.0, 17.0])
def test_equal_gaussians_have_the_renyi_divergence_of_rho(alpha):
    rho = 0.3
    assert renyi(alpha, 1.0, 1 / math.sqrt(2 * rho), 1 / math.sqrt(2 * rho)) == pytest.approx(rho * alpha, rel=1e-9)


@pytest.mark.parametrize("beta", [0.002, 0.03, 0.2])
@pytest.mark.parametrize("rho_noise", [1e-3, 0.5])
def test_smooth_gaussians_stay_within_their_tcdp(beta, rho_noise):
    """Neighbours' sensitivities differ by e^±β and their values by the smaller one: the worst the claim allows."""
    cost = SmoothBudget(rho_noise, beta, 1).cost
    sigma = 1 / math.sqrt(2 * rho_noise)  # of sensitivity 1
    orders = [1 + share * (cost.omega - 1) for share in (1e-3, 0.3, 0.9, 0.999)]
    for factor in (math.exp(-beta), math.exp(-beta / 2), 1.0, math.exp(beta)):
        for alpha in orders:
            gap = min(1.0, factor)
            assert renyi(alpha, gap, sigma, factor * sigma) <= cost.rho * alpha


@pytest.mark.parametrize("dimensions", [1, 50])
def test_the_price_of_a_moving_noise_level_in_closed_form(dimensions):
    """d-dimensional, equal means: `d/(2(1-α)) ln(σ_α² / (σ0^(2(1-α)) σ1^(2α)))` is at most 4 d β² α, on a fine grid."""
    for beta in (1e-3, 0.02, 0.1, 0.24):
        alpha = np.linspace(1.0001, 1 / (4 * beta), 500, endpoint=False)[:, None]
        s = np.linspace(-2 * beta, 2 * beta, 201)[None]
        value = dimensions / (2 * (1 - alpha)) * (np.log1p(alpha * np.expm1(s)) - alpha * s)
        assert (value <= 4 * dimensions * beta**2 * alpha).all()


@pytest.mark.parametrize("delta", [1e-5, 1e-2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_calibrated_noise_meets_delta_by_numeric_integration(epsilon, delta):
    sigma = 1 / math.sqrt(2 * rho_for(epsilon, delta))
    assert hockey_stick(epsilon, 1.0, sigma, sigma) <= delta
    budget = smooth_for(epsilon, delta, 1)
    for factor in (math.exp(-budget.beta), math.exp(budget.beta)):
        sigma = 1 / math.sqrt(2 * budget.rho_noise)
        assert hockey_stick(epsilon, min(1.0, factor), sigma, factor * sigma) <= delta


def test_conversion_is_the_best_order():
    """Against the least of `ρ α + ln(1/δ)/(α-1)` over a fine grid of orders in (1, ω]."""
    for rho in (1e-4, 0.02, 1.0):
        for omega in (1.5, 6.0, 200.0, math.inf):
            for delta in (1e-2, 1e-8):
                top = min(omega, 1 + 40 * math.sqrt(-math.log(delta) / rho))
                alpha = 1 + (top - 1) * np.geomspace(1e-5, 1, 200_001)
                least = (rho * alpha - math.log(delta) / (alpha - 1)).min()
                assert TCDP(rho, omega).epsilon(delta) == pytest.approx(least, rel=1e-6)


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-3, 20), st.floats(1e-12, 0.5), st.floats(1.01, 1e6))
def test_calibration_never_overspends_and_leaves_next_to_nothing(epsilon, delta, omega):
    for most in (omega, math.inf):
        try:
            rho = rho_for(epsilon, delta, most)
        except BadInput:
            assert -math.log(delta) / (most - 1) > epsilon * (1 - 1e-9)
            continue
        spent = TCDP(rho, most).epsilon(delta)
        assert spent <= epsilon
        if rho > 1e-3 * epsilon:  # else the difference is one of nearly equal numbers
            assert spent >= epsilon * (1 - 1e-7)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.05, 20), st.floats(1e-10, 0.1), st.integers(1, 200))
def test_smooth_calibration_never_overspends(epsilon, delta, dimensions):
    budget = smooth_for(epsilon, delta, dimensions)
    assert budget.cost.epsilon(delta) <= epsilon
    assert 4 * dimensions * budget.beta**2 <= SMOOTH_SHARE * rho_for(epsilon, delta) * (1 + 1e-9)
    assert budget.rho_noise >= 0.4 * rho_for(epsilon, delta)


def test_the_figures_of_epsilon_one():
    rho = rho_for(1.0, 1e-5)
    assert rho == pytest.approx((math.sqrt(1 + math.log(1e5)) - math.sqrt(math.log(1e5))) ** 2, rel=1e-8)
    assert TCDP(0.02, 5.0) + TCDP(0.01) == TCDP(0.03, 5.0)


def test_impossible_budgets_are_refused():
    with pytest.raises(BadInput, match="omega"):
        TCDP(0.1, 1.0)
    with pytest.raises(BadInput, match="smaller β"):
        rho_for(1.0, 1e-5, 2.0)
    with pytest.raises(BadInput, match="beta"):
        smooth_for(1.0, 1e-5, 50, beta=0.3)
    with pytest.raises(BadInput, match="beta"):
        smooth_for(1.0, 1e-5, 500, beta=0.005)
    with pytest.raises(BadInput, match="delta"):
        rho_for(1.0, 0.0)
