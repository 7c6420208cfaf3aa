from collections import defaultdict

import numpy as np
import pytest

from core.errors import BadInput
from core.prior.prior import uniform
from core.release.cells import gather
from core.scoring.scores import Scores
from core.universe import Limits
from core.utility import UtilityConfig, evaluate
from tests.core.handmade import make_prior, make_scores, make_universe


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (5, 4)])
def test_cells_equal_a_loop_over_candidates(shape, flat, soft):
    rng = np.random.default_rng(3)
    scores = make_scores(rng, *shape, Limits(max_edges=2, max_features=2))
    utility = evaluate(scores, UtilityConfig(soft=soft))
    prior = uniform(scores.universe) if flat else make_prior(rng, scores.universe)
    expected = defaultdict(list)
    for i, j in np.ndindex(scores.universe.shape):
        size = (scores.universe.edge_subsets[i] >= 0).sum() + (scores.universe.feature_subsets[j] >= 0).sum()
        flips = scores.predicted[i, j] != scores.original
        targeted = flips and scores.predicted[i, j] == np.argsort(scores.clean)[-2]
        expected[int(utility.values[i, j]), int(size), bool(flips), bool(targeted)].append(prior.mass[i, j])
    cells = gather(scores, utility, prior)
    keys = zip(cells.values, cells.sizes, cells.flips, cells.targeted, strict=True)
    found = {tuple(value.item() for value in key): place for place, key in enumerate(keys)}
    assert set(found) == set(expected)
    totals = cells.total(prior.mass)
    for key, masses in expected.items():
        place = found[key]
        assert cells.counts[place] == len(masses)
        assert cells.mass[place] == pytest.approx(sum(masses), rel=1e-12)
        assert totals[place] == pytest.approx(sum(masses), rel=1e-12)
        assert cells.concentration[place] == pytest.approx(sum(m * m for m in masses) / sum(masses) ** 2, rel=1e-12)
    assert (cells.denominator, cells.sensitivity) == (utility.denominator, utility.sensitivity)


def test_a_tiny_prior_mass_neither_underflows_nor_divides_by_zero():
    rng = np.random.default_rng(4)
    scores = make_scores(rng, 3, 3)
    prior = make_prior(rng, scores.universe, spread=150.0)
    cells = gather(scores, evaluate(scores, UtilityConfig()), prior)
    assert prior.mass.min() < 1e-170
    assert (cells.concentration > 0).all() and (cells.concentration <= 1 + 1e-12).all()
    assert np.isfinite(cells.probability(np.array([0.1, 1e4]))).all()


def test_bad_budgets_are_refused():
    scores = make_scores(np.random.default_rng(5), 2, 2)
    cells = gather(scores, evaluate(scores, UtilityConfig()), uniform(scores.universe))
    with pytest.raises(BadInput, match="epsilon"):
        cells.probability(np.array([1.0, 0.0]))


def test_a_single_class_has_no_flip_and_no_runner_up():
    universe = make_universe(2, 2)
    same = np.zeros(universe.shape, dtype=np.int16)
    scores = Scores(universe, np.zeros(1), same, np.ones(2, dtype=bool), np.ones(universe.shape))
    cells = gather(scores, evaluate(scores, UtilityConfig()), uniform(universe))
    assert not cells.flips.any() and not cells.targeted.any()
