"""Noise levels and guarantees against their definitions, at 30 digits."""

from __future__ import annotations

import math

import mpmath
import pytest

from core.baselines.curve import gaussian_delta, gaussian_epsilon, zcdp_delta, zcdp_rho
from core.errors import BadInput
from core.placement.calibration import analytic_sigma
from tests.core.placement.test_calibration import hockey_stick


def zcdp_delta_at_30_digits(rho: float, epsilon: float) -> float:
    """Golden-section search for the infimum over α of Canonne, Kamath & Steinke's bound."""
    with mpmath.workdps(30):
        rho, epsilon = mpmath.mpf(rho), mpmath.mpf(epsilon)

        def bound(t):
            alpha = 1 + mpmath.exp(t)
            return mpmath.exp((alpha - 1) * (alpha * rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha) ** alpha

        low, high, golden = mpmath.mpf(-10), mpmath.mpf(16), (mpmath.sqrt(5) - 1) / 2
        for _ in range(150):
            a, b = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, b) if bound(a) < bound(b) else (a, high)
        return float(bound((low + high) / 2))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0, 30.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-2])
def test_zcdp_gives_exactly_the_delta_that_was_asked_for(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta_at_30_digits(rho, epsilon) == pytest.approx(delta, rel=1e-7)
    assert zcdp_delta_at_30_digits(1.001 * rho, epsilon) > delta
    # A single Gaussian of that ρ is one of the mechanisms that the bound must hold for.
    assert gaussian_delta(1 / math.sqrt(2 * rho), epsilon, 1.0) < delta


def test_zcdp_agrees_with_dp_accounting():
    import dp_accounting

    accountant = dp_accounting.rdp.RdpAccountant(orders=[1 + k / 100 for k in range(1, 2000)])
    accountant.compose(dp_accounting.ZCDpEvent(zcdp_rho(8.0, 1e-5)))
    assert accountant.get_epsilon(1e-5) == pytest.approx(8.0, rel=1e-4)


@pytest.mark.parametrize("sensitivity", [0.3, 1.0, 20.0])
def test_epsilon_of_a_gaussian_is_where_its_curve_meets_delta(sensitivity):
    sigma = analytic_sigma(8.0, 1e-5, 1.0)
    epsilon = gaussian_epsilon(sigma, 1e-5, sensitivity)
    assert float(hockey_stick(sigma, epsilon, sensitivity)) == pytest.approx(1e-5, rel=1e-6)


def test_epsilon_is_that_of_the_calibration_and_grows_with_the_sensitivity():
    sigma = analytic_sigma(8.0, 1e-5, 1.0)
    assert gaussian_epsilon(sigma, 1e-5, 1.0) == pytest.approx(8.0, rel=1e-9)
    assert gaussian_epsilon(sigma, 1e-5, 0.0) == gaussian_epsilon(sigma, 1e-5, 1e-6) == 0.0
    assert gaussian_epsilon(sigma, 1e-5, 20.0) > 600


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-5), (math.nan, 1e-5), (1e-300, 1e-5), (1.0, 0.0), (1.0, 1.0)])
def test_bad_budgets_are_refused(epsilon, delta):
    with pytest.raises(BadInput, match="epsilon" if delta == 1e-5 else "delta"):
        zcdp_rho(epsilon, delta)


def test_delta_falls_with_epsilon_and_grows_with_rho():
    assert zcdp_delta(1.0, 6.0) > zcdp_delta(1.0, 7.0) > zcdp_delta(0.9, 7.0)
    assert zcdp_delta(5.0, 1.0) == pytest.approx(zcdp_delta_at_30_digits(5.0, 1.0), rel=1e-9)
    assert zcdp_delta(500.0, 1e-3) <= 1.0
