"""Gaussian calibrations against the definition of (ε, δ) itself, integrated at 30 digits."""

from __future__ import annotations

import math

import mpmath
import pytest

from core.errors import BadInput
from core.placement.calibration import Calibration, analytic_sigma, classical_sigma

EPSILONS = [0.01, 0.5, 1.0, 7.2, 30.0]


def hockey_stick(sigma: float, epsilon: float, sensitivity: float) -> mpmath.mpf:
    """`∫ max(0, p(x) - e^ε q(x)) dx` for normal densities p, q that lie `sensitivity` apart."""
    with mpmath.workdps(30):
        s, gap, e = mpmath.mpf(sigma), mpmath.mpf(sensitivity), mpmath.mpf(epsilon)
        cut = gap / 2 - e * s**2 / gap  # p > e^ε q below this point
        return mpmath.quad(
            lambda x: mpmath.npdf(x, 0, s) - mpmath.exp(e) * mpmath.npdf(x, gap, s),
            [cut - 40 * s, cut - 10 * s, cut - 3 * s, cut - s, cut],
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-5, 1e-2])
def test_analytic_sigma_meets_delta_exactly(epsilon, delta):
    sigma = analytic_sigma(epsilon, delta, math.sqrt(2))
    assert float(hockey_stick(sigma, epsilon, math.sqrt(2))) == pytest.approx(delta, rel=1e-7)
    assert float(hockey_stick(0.999 * sigma, epsilon, math.sqrt(2))) > delta


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0])
def test_classical_sigma_is_sufficient_where_it_is_proven(epsilon):
    sigma = classical_sigma(epsilon, 1e-5, 1.0)
    assert sigma == pytest.approx(math.sqrt(2 * math.log(125_000)) / epsilon)
    assert float(hockey_stick(sigma, epsilon, 1.0)) < 1e-5
    assert sigma > analytic_sigma(epsilon, 1e-5, 1.0)


def test_classical_sigma_fails_at_large_epsilon_and_says_that_it_is_not_proven():
    sigma = classical_sigma(100.0, 1e-5, 1.0)
    assert float(hockey_stick(sigma, 100.0, 1.0)) > 1e-5
    assert not Calibration.CLASSICAL.proven(1.01)
    assert Calibration.CLASSICAL.proven(1.0)
    assert Calibration.ANALYTIC.proven(100.0)


@pytest.mark.parametrize("rule", list(Calibration))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sigma_is_proportional_to_sensitivity(rule, epsilon):
    ratio = rule.sigma(epsilon, 1e-5, math.sqrt(2)) / rule.sigma(epsilon, 1e-5, 1.0)
    assert ratio == pytest.approx(math.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-300, 1e300])
def test_extreme_epsilon_gives_a_finite_sigma(epsilon):
    assert 0 < analytic_sigma(epsilon, 1e-5, 1.0) < 1e6


@pytest.mark.parametrize("rule", list(Calibration))
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-5), (math.nan, 1e-5), (1.0, 0.0), (1.0, 1.0), (1.0, math.nan)])
def test_bad_budgets_are_refused(rule, epsilon, delta):
    with pytest.raises(BadInput, match="epsilon" if delta == 1e-5 else "delta"):
        rule.sigma(epsilon, delta, 1.0)


def test_an_unknown_calibration_lists_the_known_ones():
    with pytest.raises(BadInput, match=r"'exact'.*analytic, classical"):
        Calibration.parse("exact")
