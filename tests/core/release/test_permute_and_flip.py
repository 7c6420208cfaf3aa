import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.release.permute_and_flip import permute_and_flip


def by_permutations(accept: list[float]) -> list[float]:
    """Run the algorithm's definition over every visiting order."""
    chances = [0.0] * len(accept)
    orders = list(itertools.permutations(range(len(accept))))
    for order in orders:
        reached = 1.0
        for candidate in order:
            chances[candidate] += reached * accept[candidate] / len(orders)
            reached *= 1 - accept[candidate]
    return chances


def by_polynomial(accept: list[float]) -> list[float]:
    """Expand the product of the integral in 60 digits and integrate term by term."""
    with mpmath.workdps(60):
        chances = []
        for chosen, p in enumerate(accept):
            coefficients = [mpmath.mpf(1)]
            for other, q in enumerate(accept):
                if other != chosen:
                    shifted = [mpmath.mpf(0), *coefficients]
                    coefficients = [a - q * b for a, b in zip([*coefficients, mpmath.mpf(0)], shifted, strict=True)]
            chances.append(float(p * mpmath.fsum(c / (k + 1) for k, c in enumerate(coefficients))))
        return chances


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-12, 0), min_size=1, max_size=6))
def test_equals_enumeration_of_visiting_orders(log_weight):
    found = permute_and_flip(np.array(log_weight))
    accept = np.exp(np.array(log_weight) - max(log_weight))
    np.testing.assert_allclose(found, by_permutations(accept.tolist()), rtol=1e-12, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.integers(7, 50), st.floats(0.0, 20.0), st.booleans(), st.integers(0, 10**6))
def test_equals_exact_polynomial_integration(n, spread, levels, seed):
    log_weight = spread * np.random.default_rng(seed).normal(size=n)
    log_weight = np.round(log_weight) if levels else log_weight
    accept = np.exp(log_weight - log_weight.max())
    np.testing.assert_allclose(permute_and_flip(log_weight), by_polynomial(accept.tolist()), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5_000, 24_000])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0, 30.0, 1_000.0])
@pytest.mark.parametrize("levels", [True, False])
def test_sums_to_one_before_normalisation(n, spread, levels):
    rng = np.random.default_rng(n)
    log_weight = -spread * (rng.integers(0, 4, size=n) / 3 if levels else rng.random(n))
    found = permute_and_flip(log_weight)
    assert abs(found.sum() - 1) < 1e-10
    assert (found >= 0).all() and np.isfinite(found).all()


def test_equal_candidates_share_alike():
    np.testing.assert_allclose(permute_and_flip(np.full((79, 299), -5.0)), 1 / (79 * 299), rtol=1e-12)


def test_shape_and_order_are_kept():
    log_weight = np.array([[0.0, -1.0, -2.0], [-3.0, -1.0, 0.0]])
    found = permute_and_flip(log_weight)
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found.ravel(), permute_and_flip(log_weight.ravel()))
    assert found[0, 0] == found[1, 2] > found[0, 1] == found[1, 1] > found[0, 2] > found[1, 0]


@pytest.mark.parametrize("n", [2, 50, 24_000])
@pytest.mark.parametrize("gap", [1e-6, 0.1, 1.0, 4.0, 12.0, 40.0])
def test_one_candidate_above_many_equals_its_closed_form(n, gap):
    """P(best) = ∫ (1 - ta)^(n-1) dt = (1 - (1-a)^n) / (n a), a = exp(-gap)."""
    found = permute_and_flip(np.array([0.0] + [-gap] * (n - 1)))
    with mpmath.workdps(60):
        a = mpmath.exp(-gap)
        best = (1 - (1 - a) ** n) / (n * a)
        rest = (1 - best) / (n - 1)
    assert found[0] == pytest.approx(float(best), rel=1e-12)
    np.testing.assert_allclose(found[1:], float(rest), rtol=1e-12)


@pytest.mark.parametrize("low", [-37.0, -36.7, -36.0, -33.0, -1e-15, -1e-16])
def test_a_sum_of_acceptances_next_to_a_power_of_two_is_integrated(low):
    found = permute_and_flip(np.array([0.0, low]))
    np.testing.assert_allclose(found, by_permutations([1.0, np.exp(low)]), rtol=1e-12)
