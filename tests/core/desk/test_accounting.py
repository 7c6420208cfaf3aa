"""Composition against closed forms, exact convolutions of tiny mechanisms, and mpmath."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from core.desk.accounting import Payment, compose, epsilon_of, group, more, posterior, zcdp
from core.errors import BadInput
from tests.core.desk.ledgers import debit

DELTA = 1e-5


def paid(mechanism: str, *amounts: str) -> list[Payment]:
    return [Payment(mechanism, Fraction(epsilon)) for epsilon in amounts]


def exact_delta(losses: Sequence[tuple[np.ndarray, np.ndarray]], epsilon: float) -> float:
    """Σ max(P - e^ε P', 0) of independent outcomes, by listing every combination; P and P' per release."""
    p, q = np.ones(1), np.ones(1)
    for one, other in losses:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def two_points(epsilon: float, low: float) -> tuple[np.ndarray, np.ndarray]:
    """Two outcomes whose log-likelihood ratios are `low` + ε and `low`: the worst that a range of ε allows."""
    q = (1 - math.exp(low)) / (math.exp(low + epsilon) - math.exp(low))
    p = q * math.exp(low + epsilon)
    return np.array([p, 1 - p]), np.array([q, 1 - q])


def exponential(utilities: Sequence[float], epsilon: float) -> np.ndarray:
    weights = np.exp(epsilon * np.asarray(utilities) / 2)
    return weights / weights.sum()


def test_the_pure_line_is_the_exact_sum() -> None:
    composed = compose([*paid("em", "0.1", "1/3"), *paid("pf", "2")], DELTA)
    assert composed.pure == Fraction(1, 10) + Fraction(1, 3) + 2
    assert composed.pure_delta == 0


def test_the_rho_of_each_mechanism() -> None:
    assert zcdp(Payment("em", Fraction(2))) == Fraction(1, 2)
    assert zcdp(Payment("pf", Fraction(2))) == zcdp(Payment("laplace", Fraction(2))) == 2


def test_entries_are_paid_for_too() -> None:
    assert compose([debit("k", "0.1")] * 10, DELTA) == compose(paid("em", *["0.1"] * 10), DELTA)


def test_nothing_costs_nothing() -> None:
    composed = compose([], DELTA)
    assert (composed.pure, composed.zcdp, composed.best) == (0, 0, 0)


@pytest.mark.parametrize("rho", ["0.000001", "0.00125", "0.0125", "0.1", "0.5", "2", "20"])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-9])
def test_the_conversion_is_the_best_order_to_four_digits(rho: str, delta: float) -> None:
    """min over α > 1 of ρα + log(1 - 1/α) - log(δα)/(α - 1), by a golden-section search in 50 digits."""
    with mpmath.workdps(50):
        r, d = mpmath.mpf(rho), mpmath.mpf(delta)

        def bound(alpha: mpmath.mpf) -> mpmath.mpf:
            return r * alpha + mpmath.log(1 - 1 / alpha) - mpmath.log(d * alpha) / (alpha - 1)

        centre = mpmath.sqrt(mpmath.log(1 / d) / r)
        low, high = mpmath.log(centre / 10), mpmath.log(centre * 10)
        for _ in range(200):
            third = (high - low) / 3
            if bound(1 + mpmath.exp(low + third)) < bound(1 + mpmath.exp(high - third)):
                high -= third
            else:
                low += third
        best = max(0.0, float(bound(1 + mpmath.exp(low))))
    found = epsilon_of(Fraction(rho), delta)
    assert best * (1 - 1e-12) <= found <= best * (1 + 1e-4)
    assert found < float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / delta))  # Bun & Steinke 2016, Prop. 1.3


@pytest.mark.parametrize("rho", ["0.0125", "0.5", "4"])
def test_the_conversion_covers_a_gaussian(rho: str) -> None:
    """N(0, 1/(2ρ)) on sensitivity 1 is exactly ρ-zCDP; its δ is Φ(m/2 - ε/m) - e^ε Φ(-m/2 - ε/m), m = sqrt(2ρ)."""
    epsilon, m = epsilon_of(Fraction(rho), DELTA), math.sqrt(2 * float(rho))
    exact = norm.cdf(m / 2 - epsilon / m) - math.exp(epsilon) * norm.cdf(-m / 2 - epsilon / m)
    assert 0.001 * DELTA < exact <= DELTA


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 8), ("0.5", 8), ("1", 10), ("2", 6)])
def test_the_bounded_range_line_covers_the_worst_pair(epsilon: str, count: int) -> None:
    """Among all pairs whose ratios span ε, two points are the worst; every one of them is below δ."""
    composed = compose(paid("em", *[epsilon] * count), 1e-3)
    span = float(Fraction(epsilon))
    worst = max(
        exact_delta([two_points(span, low)] * count, composed.zcdp) for low in np.linspace(-0.999, -0.001, 41) * span
    )
    print(f"{count} x {epsilon}: ε {composed.zcdp:.3f} at δ 0.001, exact δ {worst:.2e}")
    assert worst <= 1e-3
    assert composed.best <= float(composed.pure)


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 8), ("0.5", 8), ("1", 10)])
def test_the_pure_zcdp_line_covers_randomised_response(epsilon: str, count: int) -> None:
    """Randomised response spans 2ε: ρ = ε²/2 covers it, ρ = ε²/8 would not."""
    e = float(Fraction(epsilon))
    response = [two_points(2 * e, -e)] * count
    assert exact_delta(response, compose(paid("pf", *[epsilon] * count), 1e-3).zcdp) <= 1e-3
    assert exact_delta(response, compose(paid("em", *[epsilon] * count), 1e-3).zcdp) > 1e-3


def test_real_exponential_mechanisms_are_below_both_lines() -> None:
    """Every neighbouring pair of utilities in {0, 1} on three candidates, at mixed ε: exact against the bounds."""
    amounts = ["0.5", "1", "1", "2"]
    composed = compose(paid("em", *amounts), 1e-2)
    utilities = list(itertools.product([0.0, 1.0], repeat=3))
    worst = 0.0
    for one, other in itertools.product(utilities, repeat=2):
        releases = [(exponential(one, float(e)), exponential(other, float(e))) for e in amounts]
        assert exact_delta(releases, float(composed.pure)) <= 1e-12
        worst = max(worst, exact_delta(releases, composed.zcdp))
    assert worst <= 1e-2


def test_the_pure_line_is_attained() -> None:
    """Randomised response reveals Σ ε_i and not less."""
    e = 0.4
    releases = [two_points(2 * e, -e)] * 5
    assert exact_delta(releases, 5 * e) <= 1e-15
    assert exact_delta(releases, 5 * e * 0.999) > 1e-4


def test_the_pure_line_holds_for_amounts_chosen_on_the_way() -> None:
    """The second ε depends on the first outcome, both sums below 3: the joint ratio is at most e^3."""
    first = two_points(2.0, -1.0)  # randomised response at ε = 1
    for second_if_yes, second_if_no in ((2.0, 0.5), (0.5, 2.0)):
        seconds = [two_points(2 * e, -e) for e in (second_if_yes, second_if_no)]
        ratios = [first[0][i] * p / (first[1][i] * q) for i in range(2) for p, q in zip(*seconds[i], strict=True)]
        assert max(ratios) <= math.exp(3) * (1 + 1e-12)


def test_many_small_releases_are_cheaper_by_zcdp_and_few_large_ones_are_not() -> None:
    small, large = compose(paid("em", *["0.1"] * 100), DELTA), compose(paid("em", "8"), DELTA)
    assert small.zcdp == small.best < 2.2 < small.pure == 10
    assert large.best == large.pure == 8 < large.zcdp


def test_releases_with_delta_add_theirs() -> None:
    approximate = Payment("gaussian", Fraction(1, 2), Fraction(1, 10**6))
    composed = compose([*paid("em", *["0.1"] * 10), approximate], DELTA)
    assert (composed.pure, composed.pure_delta) == (Fraction(3, 2), Fraction(1, 10**6))
    assert composed.zcdp == pytest.approx(0.5 + epsilon_of(Fraction(1, 80), 9e-6), rel=1e-12)
    ten = compose([approximate] * 10, DELTA)
    assert (ten.pure, ten.best, ten.zcdp) == (5, 5, 5)  # all of δ is used up
    mixed = compose([approximate] * 10 + paid("em", "0.1"), DELTA)
    assert (mixed.best, mixed.zcdp) == (5.1, math.inf)
    assert compose([approximate] * 11, DELTA).best == math.inf


def test_ten_more() -> None:
    spent = paid("em", *["0.1"] * 5)
    then = more(spent, Payment("em", Fraction(1, 5)), 10, DELTA)
    assert then == compose([*spent, *paid("em", *["0.2"] * 10)], DELTA)
    assert then.pure == Fraction(5, 2)


@pytest.mark.parametrize("delta", [0, 1, -1e-5, 2, math.nan])
def test_a_delta_outside_the_unit_interval_is_refused(delta: float) -> None:
    with pytest.raises(BadInput, match="delta"):
        compose([], delta)


@given(st.floats(min_value=1e-3, max_value=20), st.floats(min_value=0.001, max_value=0.999))
def test_the_posterior_bound_is_attained_and_never_passed(epsilon: float, share: float) -> None:
    """Bayes from an even prior, for every pair of probabilities whose ratio is at most e^ε."""
    assert posterior(epsilon) == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)), rel=1e-12)
    p = two_points(2 * epsilon, -epsilon)
    assert p[0][0] / (p[0][0] + p[1][0]) == pytest.approx(posterior(epsilon), rel=1e-9)
    ratio = math.exp(epsilon * (2 * share - 1))
    assert ratio / (1 + ratio) <= posterior(epsilon)


def test_the_posterior_of_no_release_and_of_a_huge_one() -> None:
    assert posterior(0) == 0.5
    assert posterior(1e6) == 1


def test_a_person_with_many_ties_costs_as_many_times_more() -> None:
    """Randomised response on d ties, all hidden at once: the ratio is e^(dε)."""
    ties, epsilon = 6, Fraction(3, 10)
    (p, q) = two_points(0.6, -0.3)
    assert math.prod([p[0] / q[0]] * ties) == pytest.approx(math.exp(group(epsilon, ties)), rel=1e-12)
    assert group(epsilon, ties) == Fraction(9, 5)
