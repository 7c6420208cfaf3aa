import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput
from core.prior.prior import Prior, uniform
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.utility import Utility, UtilityConfig, evaluate
from tests.core.handmade import make_prior, make_scores, make_universe
from tests.core.release.test_permute_and_flip import by_permutations

BOTH = [Mechanism.EM, Mechanism.PF]


def scored(seed, k_edges=4, k_features=4, soft=False):
    rng = np.random.default_rng(seed)
    scores = make_scores(rng, k_edges, k_features)
    return scores, evaluate(scores, UtilityConfig(soft=soft)), make_prior(rng, scores.universe)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 50.0), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_exponential_mechanism_equals_its_formula(epsilon, soft, flat, seed):
    scores, utility, prior = scored(seed, 3, 2, soft)
    prior = uniform(scores.universe) if flat else prior
    found = release_distribution(scores.universe, utility, prior, epsilon).probability
    with mpmath.workdps(40):
        weight = {
            (i, j): mpmath.mpf(float(prior.mass[i, j]))
            * mpmath.exp(
                mpmath.mpf(epsilon)
                * int(utility.values[i, j])
                / utility.denominator
                / (2 * mpmath.mpf(utility.sensitivity) / utility.denominator)
            )
            for i, j in np.ndindex(scores.universe.shape)
        }
        total = mpmath.fsum(weight.values())
        for place, value in weight.items():
            assert found[place] == pytest.approx(float(value / total), rel=1e-12)


def test_permute_and_flip_visits_candidates_weighted_by_the_prior():
    universe = make_universe(1, 2)
    utility = Utility(np.array([[20, 0, 82, 78], [0, 96, 0, 92]]), 100, 96)
    prior = Prior("handmade", np.array([[5, 1, 2, 2], [4, 1, 3, 2]]) / 20)
    found = release_distribution(universe, utility, prior, 2.0, Mechanism.PF).probability
    weight = [
        math.log(mass) + 2.0 * value / (2 * 96)
        for mass, value in zip(prior.mass.ravel(), utility.values.ravel(), strict=True)
    ]
    accept = [math.exp(w - max(weight)) for w in weight]
    np.testing.assert_allclose(found.ravel(), by_permutations(accept), rtol=1e-12)


@pytest.mark.parametrize("mechanism", BOTH)
def test_a_vanishing_budget_releases_the_prior(mechanism):
    scores, utility, _ = scored(1)
    flat = uniform(scores.universe)
    found = release_distribution(scores.universe, utility, flat, 1e-300, mechanism)
    np.testing.assert_allclose(found.probability, flat.mass, rtol=1e-12)


def test_a_vanishing_budget_releases_a_public_prior_unchanged():
    scores, utility, prior = scored(2)
    found = release_distribution(scores.universe, utility, prior, 1e-300)
    np.testing.assert_allclose(found.probability, prior.mass, rtol=1e-12)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("epsilon", [1e4, 1e308])
def test_a_huge_budget_releases_the_best_candidates(mechanism, epsilon):
    scores, utility, prior = scored(3)
    for base in (prior, uniform(scores.universe)):
        found = release_distribution(scores.universe, utility, base, epsilon, mechanism).probability
        best = utility.values == utility.values.max()
        assert found[best].sum() == pytest.approx(1, abs=1e-12)
        assert np.isfinite(found).all()


def test_a_huge_budget_survives_an_empty_candidate_above_the_sensitivity():
    universe = make_universe(0, 1)
    utility = Utility(np.array([[90, 0]]), 100, 10)
    for mechanism in BOTH:
        found = release_distribution(universe, utility, uniform(universe), 1e308, mechanism).probability
        np.testing.assert_array_equal(found, [[1.0, 0.0]])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(BOTH), st.booleans(), st.floats(0.05, 10), st.booleans(), st.integers(0, 10**6))
def test_neighbouring_outcomes_stay_within_the_privacy_ratio(mechanism, flat, epsilon, soft, seed):
    """Any two outcomes over one universe may be neighbours: the bound has to hold for all of them."""
    rng = np.random.default_rng(seed)
    first, second = (make_scores(rng, 3, 3, flip_rate=rate) for rate in (0.05, 0.9))
    prior = uniform(first.universe) if flat else make_prior(rng, first.universe)
    config = UtilityConfig(soft=soft)
    p, q = (
        release_distribution(s.universe, evaluate(s, config), prior, epsilon, mechanism).probability
        for s in (first, second)
    )
    assert np.abs(np.log(p / q)).max() <= epsilon * (1 + 1e-9)


def test_the_privacy_ratio_test_can_fail():
    low, high = (Utility(np.array([[20, value]]), 100, 24) for value in (0, 96))
    universe = make_universe(0, 1)
    p, q = (
        release_distribution(universe, utility, uniform(universe), 4.0, Mechanism.PF).probability
        for utility in (low, high)
    )
    assert np.abs(np.log(p / q)).max() > 4.0


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 30.0), st.floats(0.01, 0.99), st.booleans(), st.integers(0, 10**6))
def test_permute_and_flip_never_has_the_lower_expected_utility(epsilon, flip_rate, soft, seed):
    scores = make_scores(np.random.default_rng(seed), 3, 3, flip_rate=flip_rate)
    utility = evaluate(scores, UtilityConfig(soft=soft))
    em, pf = (
        release_distribution(scores.universe, utility, uniform(scores.universe), epsilon, mechanism)
        for mechanism in BOTH
    )
    assert (pf.probability * utility.fractions).sum() >= (em.probability * utility.fractions).sum() - 1e-12


@pytest.mark.parametrize("mechanism", BOTH)
def test_the_empty_universe_releases_the_empty_candidate(mechanism):
    scores, utility, _ = scored(4, 0, 0)
    found = release_distribution(scores.universe, utility, uniform(scores.universe), 1.0, mechanism)
    np.testing.assert_allclose(found.probability, [[1.0]], rtol=1e-15)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_bad_budgets_are_refused(epsilon):
    scores, utility, prior = scored(5)
    with pytest.raises(BadInput, match="epsilon: found"):
        release_distribution(scores.universe, utility, prior, epsilon)


def test_arrays_of_another_universe_are_refused():
    scores, utility, _ = scored(6)
    other = make_universe(3, 4)
    with pytest.raises(BadInput, match="utility"):
        release_distribution(other, utility, uniform(other), 1.0)
    with pytest.raises(BadInput, match="prior"):
        release_distribution(scores.universe, utility, uniform(other), 1.0)


@pytest.mark.parametrize("mass", [[[0.0, 1.0]], [[0.5, 0.6]], [[-0.5, 1.5]], [[float("nan"), 0.5]]])
def test_a_prior_without_full_support_or_unit_sum_is_refused(mass):
    with pytest.raises(BadInput, match="prior broken"):
        Prior("broken", np.array(mass))


def test_mechanism_names():
    assert Mechanism.parse("em") is Mechanism.EM and Mechanism.parse("pf") is Mechanism.PF
    with pytest.raises(BadInput, match="em, pf"):
        Mechanism.parse("gumbel")
