import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.metrics import Metrics, levels, measure, measure_cells
from core.prior.prior import uniform
from core.release.cells import gather
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.release.simulate import simulate
from core.universe import Arm
from core.utility import Utility, UtilityConfig, evaluate
from tests.core.handmade import make_prior, make_scores

EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 500.0]


def setting(seed, soft=False, flat=False, arm=Arm.FULL, flip_rate=0.3, shape=(4, 4)):
    rng = np.random.default_rng(seed)
    scores = make_scores(rng, *shape, arm=arm, flip_rate=flip_rate)
    prior = uniform(scores.universe) if flat else make_prior(rng, scores.universe)
    return scores, evaluate(scores, UtilityConfig(soft=soft)), prior


def by_loop(distribution, scores) -> Metrics:
    """Section 6 word for word, one candidate at a time."""
    universe = scores.universe
    original, runner_up = np.argsort(scores.clean)[::-1][:2]
    valid = targeted = nonempty = size = expected = collision = ceiling = 0.0
    utilities = []
    for i, j in np.ndindex(universe.shape):
        p = distribution.probability[i, j]
        s = int((universe.edge_subsets[i] >= 0).sum() + (universe.feature_subsets[j] >= 0).sum())
        u = distribution.utility.values[i, j] / distribution.utility.denominator
        flip = scores.predicted[i, j] != original
        ceiling = max(ceiling, float(flip))
        valid += p * flip
        targeted += p * (scores.predicted[i, j] == runner_up)
        nonempty += p * (s > 0)
        size += p * s
        expected += p * u
        collision += p * p
        utilities.append(u)
    return Metrics(
        valid=valid,
        ceiling=ceiling,
        targeted=targeted,
        empty=distribution.probability[0, 0],
        valid_given_nonempty=valid / nonempty if nonempty else None,
        size=size,
        regret=max(utilities) - expected,
        collision=collision,
        effective_support=1 / collision,
        retention=valid / ceiling if ceiling else None,
    )


def assert_same(found: Metrics, expected: Metrics) -> None:
    for field in dataclasses.fields(Metrics):
        want = getattr(expected, field.name)
        got = getattr(found, field.name)
        assert got is None if want is None else got == pytest.approx(want, rel=1e-12, abs=1e-13), field.name


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(Mechanism),
    st.sampled_from(Arm),
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 30),
    st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    st.integers(0, 10**6),
)
def test_metrics_equal_a_loop_over_candidates(mechanism, arm, soft, flat, epsilon, flip_rate, seed):
    scores, utility, prior = setting(seed, soft, flat, arm, flip_rate, (3, 3))
    distribution = release_distribution(scores.universe, utility, prior, epsilon, mechanism)
    assert_same(measure(distribution, scores), by_loop(distribution, scores))


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("flip_rate", [0.0, 0.3])
def test_the_compact_path_equals_the_full_distribution(soft, flat, flip_rate):
    scores, utility, prior = setting(7, soft, flat, flip_rate=flip_rate)
    curves = measure_cells(gather(scores, utility, prior), EPSILONS)
    for place, epsilon in enumerate(EPSILONS):
        expected = by_loop(release_distribution(scores.universe, utility, prior, epsilon), scores)
        row = {name: None if np.isnan(curve[place]) else float(curve[place]) for name, curve in curves.items()}
        assert_same(Metrics(**row), expected)


def test_monte_carlo_agrees():
    """Six means of 100,000 draws within 4.9 standard errors: false alarm rate below 1e-5; fixed seed."""
    scores, utility, prior = setting(9, flat=True)
    distribution = release_distribution(scores.universe, utility, prior, 4.0)
    metrics = measure(distribution, scores)
    i, j = simulate(distribution, np.random.default_rng(0), 100_000).T
    agree = (i[::2] == i[1::2]) & (j[::2] == j[1::2])
    regret = utility.fractions.max() - utility.fractions[i, j]
    runner_up = np.argsort(scores.clean)[-2]
    for sample, value in [
        (scores.predicted[i, j] != scores.original, metrics.valid),
        (scores.predicted[i, j] == runner_up, metrics.targeted),
        ((i == 0) & (j == 0), metrics.empty),
        (scores.universe.sizes[i, j], metrics.size),
        (regret, metrics.regret),
        (agree, metrics.collision),
    ]:
        error = sample.std() / np.sqrt(len(sample))
        assert 0 < abs(sample.mean() - value) < 4.9 * error


def test_an_empty_universe_has_defined_and_undefined_figures():
    scores, utility, _ = setting(1, shape=(0, 0))
    distribution = release_distribution(scores.universe, utility, uniform(scores.universe), 1.0)
    assert measure(distribution, scores) == Metrics(0, 0, 0, 1, None, 0, 0, 1, 1, None)


def test_size_share_divides_by_edges_and_features():
    scores, utility, prior = setting(2)
    metrics = measure(release_distribution(scores.universe, utility, prior, 1.0), scores)
    assert metrics.size_share(5278, 1433) == pytest.approx(metrics.size / 6711)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_levels_partition_the_candidates(soft, mechanism):
    scores, utility, prior = setting(3, soft)
    distribution = release_distribution(scores.universe, utility, prior, 2.0, mechanism)
    expected: dict[tuple, list[float]] = {}
    for i, j in np.ndindex(scores.universe.shape):
        key = (utility.values[i, j] / utility.denominator, bool(scores.flips[i, j]), (i, j) == (0, 0))
        expected.setdefault(key, []).append(distribution.probability[i, j])
    found = levels(distribution, scores)
    assert {(level.utility, level.flips, level.empty) for level in found} == set(expected)
    assert len(found) == len(expected)
    for level in found:
        chances = expected[level.utility, level.flips, level.empty]
        assert level.count == len(chances)
        assert level.probability == pytest.approx(sum(chances), rel=1e-12)
    utilities = [level.utility for level in found]
    assert utilities == sorted(utilities, reverse=True)


def test_levels_keep_kinds_of_equal_utility_apart():
    scores, _, prior = setting(4)
    flat = Utility(np.full(scores.universe.shape, 20), 100, 96)
    found = levels(release_distribution(scores.universe, flat, prior, 2.0), scores)
    flips = int(scores.flips.sum())
    assert [(level.flips, level.empty, level.count) for level in found] == [
        (True, False, flips),
        (False, True, 1),
        (False, False, scores.universe.size - flips - 1),
    ]
