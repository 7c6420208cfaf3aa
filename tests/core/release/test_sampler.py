import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from core.datasets import load
from core.errors import BadInput, PrivCFSError
from core.prior.prior import Prior, PriorKind, PriorRule, uniform
from core.release import sampler
from core.release.distribution import ReleaseDistribution, release_distribution
from core.release.mechanism import Mechanism
from core.release.sampler import copies, draw, grid_scores, most_trials, public_grid
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Limits
from core.utility import Utility, UtilityConfig, evaluate
from tests.core.handmade import make_prior, make_scores, make_universe

BOTH = list(Mechanism)
REJECT = 1e-7

seeds = st.integers(0, 10**6)
budgets = st.floats(-6, 3).map(lambda power: 10.0**power)


def scored(seed=9, k_edges=3, k_features=2, soft=False):
    rng = np.random.default_rng(seed)
    scores = make_scores(rng, k_edges, k_features)
    return scores.universe, evaluate(scores, UtilityConfig(soft=soft)), make_prior(rng, scores.universe)


def steep(rng, universe):
    """Masses from 1e-12 of the largest up to it."""
    mass = 10 ** -np.linspace(0, 12, universe.size)
    return Prior("steep", rng.permutation(mass / mass.sum()).reshape(universe.shape))


def released(mechanism, flat):
    """Eight candidates, one of them best, at ε = 5."""
    universe, utility, prior = scored(9, 2, 1)
    return release_distribution(universe, utility, uniform(universe) if flat else prior, 5.0, mechanism)


def grid_of(utility, prior, epsilon, mechanism=Mechanism.EM):
    return public_grid(prior, utility.denominator, utility.sensitivity, epsilon, mechanism)


def counted(distribution, draws):
    counts = np.zeros(distribution.universe.shape, dtype=np.int64)
    for _ in range(draws):
        counts[draw(distribution)] += 1
    return counts


def goodness(counts, probability):
    """Chi-square p-value; the rarest candidates are pooled until a cell expects 25 draws."""
    expected = counts.sum() * probability.ravel()
    order = np.argsort(expected)
    observed, expected = counts.ravel()[order], expected[order]
    first = np.searchsorted(np.cumsum(expected), 25)
    observed = np.append(observed[first + 1 :], observed[: first + 1].sum())
    expected = np.append(expected[first + 1 :], expected[: first + 1].sum())
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("mechanism", BOTH)
def test_draws_follow_the_closed_form_and_not_that_of_the_other_mechanism(mechanism, flat):
    """System randomness: a false alarm in fewer than 1e-6 runs of a case (simulated), by either assertion."""
    distribution = released(mechanism, flat)
    other = released(next(m for m in BOTH if m is not mechanism), flat)
    counts = counted(distribution, 3_000)
    assert goodness(counts, distribution.probability) > REJECT
    assert goodness(counts, other.probability) < REJECT


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_draws_from_a_guided_prior_follow_the_closed_form(epsilon):
    """A hub of the karate club, whose likeliest candidate has several copies; false alarm 1e-7 (chi-square)."""
    rule = PriorRule(PriorKind.GUIDED)
    study = Study(load("karate"))
    inspection = study.inspect(33, 0.5, epsilon, Settings(Limits(5, 1, 2, 1), prior=rule))
    distribution = inspection.distribution
    assert copies(distribution.prior, Mechanism.EM).max() > 3
    counts = counted(distribution, 2_000)
    assert goodness(counts, distribution.probability) > REJECT
    flat = release_distribution(inspection.universe, distribution.utility, uniform(inspection.universe), epsilon)
    assert goodness(counts, flat.probability) < REJECT


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("place", [(0, 0), (0, 3), (2, 0), (6, 1), (6, 3)])
def test_the_best_candidate_is_found_by_its_edge_and_feature_subset(mechanism, place):
    """False alarm below 28 e^-480: max, not min, and row-major order."""
    universe = make_universe(3, 2)
    values = np.zeros(universe.shape, dtype=np.int64)
    values[place] = 96
    utility = Utility(values, 100, 96)
    assert universe.shape == (7, 4)
    drawn = draw(release_distribution(universe, utility, uniform(universe), 960.0, mechanism))
    assert drawn == place and [type(index) for index in drawn] == [int, int]


@pytest.mark.parametrize("mechanism", BOTH)
def test_a_vanishing_budget_follows_the_prior(mechanism):
    """False alarm below 1e-20: all candidates but one have a mass of 1e-22."""
    universe, utility, _ = scored()
    mass = np.full(universe.shape, 1e-22)
    mass[4, 1] = 1
    prior = Prior("peaked", mass / mass.sum())
    assert draw(release_distribution(universe, utility, prior, 1e-12, mechanism)) == (4, 1)


@settings(max_examples=60, deadline=None)
@given(budgets, st.sampled_from(["uniform", "handmade", "steep"]), st.booleans(), st.sampled_from(BOTH), seeds)
@example(1e-6, "steep", True, Mechanism.EM, 0)
@example(1e3, "steep", True, Mechanism.EM, 0)
def test_the_grid_keeps_the_exponent(epsilon, kind, soft, mechanism, seed):
    """The entries of a candidate weigh `π exp(εu/2Δu)` together; permute-and-flip has one entry each."""
    universe, utility, prior = scored(seed, soft=soft)
    if kind != "handmade":
        prior = uniform(universe) if kind == "uniform" else steep(np.random.default_rng(seed), universe)
    grid = grid_of(utility, prior, epsilon, mechanism)
    scores = grid_scores(utility, grid)
    assert scores.dtype == np.int64 and scores.shape == (grid.copies.sum(),)
    owner = np.repeat(np.arange(universe.size), grid.copies)
    assert [grid.candidate(entry) for entry in range(len(scores))] == owner.tolist()
    assert (np.array_equal(owner, np.arange(universe.size))) == (mechanism is Mechanism.PF or kind == "uniform")
    exponent = epsilon * utility.values.ravel() / (2 * utility.sensitivity) + np.log(prior.mass.ravel())
    exact = (exponent - np.log(grid.copies))[owner]
    found = (scores - scores[0]) / grid.scale
    np.testing.assert_allclose(found, exact - exact[0], rtol=1e-14, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(budgets, st.booleans(), seeds)
def test_only_the_utility_moves_the_scores_by_whole_refined_units(epsilon, flat, seed):
    """Any two utilities within Δ of each other may belong to neighbouring graphs."""
    rng = np.random.default_rng(seed)
    universe = make_universe(3, 2)
    sensitivity = int(rng.integers(1, 101))
    first = rng.integers(0, 101, size=universe.shape)
    second = np.clip(first + rng.integers(-sensitivity, sensitivity + 1, size=universe.shape), 0, 100)
    first[0, 0], second[0, 0] = 0, sensitivity
    prior = uniform(universe) if flat else steep(rng, universe)
    utilities = [Utility(values, 100, sensitivity) for values in (first, second)]
    grids = [grid_of(utility, prior, epsilon) for utility in utilities]
    assert grids[0].sensitivity == grids[1].sensitivity and grids[0].scale == grids[1].scale
    refinement, rest = divmod(grids[0].sensitivity, sensitivity)
    assert rest == 0 and refinement.bit_count() == 1
    change = grid_scores(utilities[1], grids[1]) - grid_scores(utilities[0], grids[0])
    np.testing.assert_array_equal(change, np.repeat(refinement * (second - first).ravel(), grids[0].copies))
    assert np.abs(change).max() == grids[0].sensitivity


@settings(max_examples=200, deadline=None)
@given(st.floats(-300, 300).map(lambda power: 10.0**power), st.integers(1, 10**10), st.booleans(), seeds)
@example(1e-12, 96, False, 0)
@example(1e6, 96, False, 0)
@example(1e-100, 96, True, 0)
@example(1e100, 96, True, 0)
def test_a_grid_is_exact_or_refused(epsilon, sensitivity, flat, seed):
    rng = np.random.default_rng(seed)
    universe = make_universe(3, 2)
    denominator = math.ceil(sensitivity / 0.96)
    utility = Utility(rng.integers(0, denominator + 1, size=universe.shape), denominator, sensitivity)
    prior = uniform(universe) if flat else steep(rng, universe)
    try:
        grid = grid_of(utility, prior, epsilon)
    except BadInput as error:
        assert "\n" not in str(error)
        too_small = 2 * sensitivity / epsilon * 28 > 2**61
        too_large = epsilon > 2**30
        assert not 1e-100 < epsilon < 1e100 if flat else too_small or too_large
        return
    least = 2 * grid.sensitivity / Fraction(epsilon)
    assert least <= Fraction(grid.scale) <= least * (1 + Fraction(1, 2**52))
    if not flat:
        assert 0.5 / grid.scale <= 2.0**-31
    share = prior.mass.ravel() / grid.copies
    for offset, mass in zip(grid.offsets, share, strict=True):
        assert int(offset) / grid.scale == pytest.approx(math.log(mass / share.max()), abs=2.0**-31 + 1e-13)
    np.testing.assert_array_equal(
        grid_scores(utility, grid),
        np.repeat(grid.sensitivity // sensitivity * utility.values.ravel() + grid.offsets, grid.copies),
    )


@settings(max_examples=100, deadline=None)
@given(seeds, st.floats(0, 12), st.integers(0, 6), st.integers(0, 6))
@example(0, 0.0, 0, 0)
def test_no_entry_holds_more_than_an_even_share_of_the_prior(seed, spread, k_edges, k_features):
    universe = make_universe(k_edges, k_features)
    prior = make_prior(np.random.default_rng(seed), universe, spread)
    grid = public_grid(prior, 100, 96, 1.0)
    assert universe.size <= grid.copies.sum() <= 2 * universe.size
    assert (prior.mass.ravel() / grid.copies).max() <= (1 + 1e-5) / universe.size
    assert set(public_grid(prior, 100, 96, 1.0, Mechanism.PF).copies) == {1}
    assert set(public_grid(uniform(universe), 100, 96, 1.0).copies) == {1}


@settings(max_examples=100, deadline=None)
@given(seeds, st.floats(0.01, 40), st.sampled_from(["uniform", "handmade", "steep"]))
def test_most_trials_bounds_the_rejections_of_every_private_graph(seed, epsilon, kind):
    """Entries are taken with probability `mean w / max w`, so that many trials fail with 2^-20 at most."""
    rng = np.random.default_rng(seed)
    universe, utility, prior = scored(seed)
    if kind != "handmade":
        prior = uniform(universe) if kind == "uniform" else steep(rng, universe)
    gap = epsilon * utility.denominator / (2 * utility.sensitivity)
    most = most_trials(prior, gap, Mechanism.EM)
    one = np.zeros(universe.shape, dtype=np.int64)
    one.flat[rng.integers(universe.size)] = utility.denominator
    heavy = np.zeros(universe.shape, dtype=np.int64)
    heavy.flat[prior.mass.argmax()] = utility.denominator
    for values in (utility.values, one, heavy, rng.integers(0, utility.denominator + 1, size=universe.shape)):
        other = Utility(values, utility.denominator, utility.sensitivity)
        grid = grid_of(other, prior, epsilon)
        weight = np.exp((grid_scores(other, grid) - grid_scores(other, grid).max()) / grid.scale)
        assert (1 - weight.mean()) ** most <= 2.0**-20 * (1 + 1e-6)
    assert most <= 14 * 2 * universe.size
    assert most_trials(prior, gap, Mechanism.PF) == universe.size


@pytest.mark.parametrize("kind", ["steep", "uniform"])
def test_a_prior_that_favours_one_candidate_makes_no_draw_slow(kind):
    """At ε = 1 two entries in three are taken, whatever the prior says."""
    universe = make_universe(12, 12)
    prior = uniform(universe) if kind == "uniform" else steep(np.random.default_rng(0), universe)
    assert prior.mass.max() > 0.001 or kind == "uniform"
    assert most_trials(prior, 1.0 * 100 / 192, Mechanism.EM) <= 2 * 14 * math.exp(100 / 192) + 1


@settings(max_examples=100, deadline=None)
@given(budgets, st.integers(1, 10**10), st.booleans())
def test_the_privacy_map_of_opendp_gives_epsilon_and_no_more(epsilon, sensitivity, flat):
    """The distance of `linf_distance` is the change of one score; scores may move both ways."""
    dp.enable_features("contrib")
    universe = make_universe(3, 2)
    utility = Utility(np.zeros(universe.shape, dtype=np.int64), sensitivity, sensitivity)
    prior = uniform(universe) if flat else steep(np.random.default_rng(0), universe)
    grid = grid_of(utility, prior, epsilon)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    pure, concentrated = (
        dp.m.make_noisy_max(*space, measure, scale=grid.scale).map(grid.sensitivity)
        for measure in (dp.max_divergence(), dp.zero_concentrated_divergence())
    )
    assert pure <= epsilon and pure == pytest.approx(epsilon, rel=1e-14)
    assert concentrated == pytest.approx(epsilon**2 / 8, rel=1e-14)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("epsilon", [1e-100, 1e-12, 1e-3, 0.1, 1.0, 7.3, 1e6, 1e100])
def test_extreme_budgets_draw_a_candidate(mechanism, epsilon):
    universe, utility, prior = scored()
    for base in (uniform(universe), prior) if 1e-12 <= epsilon <= 1e6 else (uniform(universe),):
        edge, feature = draw(release_distribution(universe, utility, base, epsilon, mechanism))
        assert 0 <= edge < universe.shape[0] and 0 <= feature < universe.shape[1]


@pytest.mark.parametrize("mechanism", BOTH)
def test_the_empty_universe_draws_the_empty_candidate(mechanism):
    universe, utility, _ = scored(4, 0, 0)
    assert draw(release_distribution(universe, utility, uniform(universe), 1.0, mechanism)) == (0, 0)


@pytest.mark.parametrize("mechanism", BOTH)
def test_nothing_is_drawn_at_a_scale_that_asks_for_more_than_epsilon(mechanism, monkeypatch):
    distribution = released(mechanism, True)
    grid = grid_of(distribution.utility, distribution.prior, distribution.epsilon, mechanism)
    low = replace(grid, scale=math.nextafter(math.nextafter(grid.scale, 0), 0))
    monkeypatch.setattr(sampler, "public_grid", lambda *_: low)
    with pytest.raises(PrivCFSError, match=r"privacy map.*nothing was drawn"):
        draw(distribution)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-20, 1e12, 1e300])
def test_scores_that_do_not_fit_are_refused_in_one_line(epsilon):
    _, utility, prior = scored()
    with pytest.raises(BadInput, match=r"^epsilon of a draw: found .* fit 62-bit scores: take one closer to 1$"):
        grid_of(utility, prior, epsilon)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-120, 1e130, 1e300])
def test_a_scale_that_does_not_fit_is_refused_under_any_prior(epsilon):
    universe, utility, _ = scored()
    with pytest.raises(BadInput, match="epsilon of a draw"):
        grid_of(utility, uniform(universe), epsilon)


def test_a_sensitivity_beyond_64_bits_is_refused():
    universe, _, _ = scored()
    public_grid(uniform(universe), 100, 2**61, 1.0)
    with pytest.raises(BadInput, match="epsilon of a draw"):
        public_grid(uniform(universe), 100, 2**61 + 1, 1.0)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_bad_budgets_are_refused(epsilon):
    _, utility, prior = scored()
    with pytest.raises(BadInput, match="epsilon: found"):
        grid_of(utility, prior, epsilon)


def test_arrays_of_another_universe_are_refused():
    universe, utility, prior = scored()
    other = make_universe(3, 4)
    with pytest.raises(BadInput, match="prior uniform: found"):
        draw(ReleaseDistribution(universe, utility, uniform(other), 1.0, Mechanism.EM, prior.mass))
    with pytest.raises(BadInput, match="utility: found"):
        draw(ReleaseDistribution(other, utility, prior, 1.0, Mechanism.EM, uniform(universe).mass))
