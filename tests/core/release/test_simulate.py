import numpy as np
import pytest
from scipy import stats

from core.errors import BadInput
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.release.simulate import simulate
from core.utility import UtilityConfig, evaluate
from tests.core.handmade import make_prior, make_scores


def distribution(mechanism=Mechanism.EM):
    rng = np.random.default_rng(8)
    scores = make_scores(rng, 3, 2)
    utility = evaluate(scores, UtilityConfig())
    return release_distribution(scores.universe, utility, make_prior(rng, scores.universe, 1.0), 3.0, mechanism)


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_draws_follow_the_distribution(mechanism):
    """Chi-square at 1e-4; the seed is fixed, so the outcome is as well."""
    chances = distribution(mechanism)
    drawn = simulate(chances, np.random.default_rng(0), 40_000)
    counts = np.zeros(chances.universe.shape)
    np.add.at(counts, tuple(drawn.T), 1)
    assert stats.chisquare(counts.ravel(), 40_000 * chances.probability.ravel()).pvalue > 1e-4


def test_one_seed_gives_one_sequence():
    chances = distribution()
    first, again, other = (simulate(chances, np.random.default_rng(seed), 50) for seed in (1, 1, 2))
    assert first.shape == (50, 2) and first.dtype == np.int64
    assert (first == again).all() and (first != other).any()
    assert simulate(chances, np.random.default_rng(1), 0).shape == (0, 2)


@pytest.mark.parametrize("draws", [-1, 1.5, 10**8])
def test_bad_numbers_of_draws_are_refused(draws):
    with pytest.raises(BadInput, match="simulated draws"):
        simulate(distribution(), np.random.default_rng(0), draws)
