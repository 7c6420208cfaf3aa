import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput
from core.scoring.scores import Scores
from core.universe import Arm, Limits
from core.utility import Utility, UtilityConfig, attainable_max, evaluate
from tests.core.handmade import make_scores

limits_strategy = st.builds(
    Limits,
    k_edges=st.just(4),
    k_features=st.just(4),
    max_edges=st.integers(0, 3),
    max_features=st.integers(1, 4),
)
weights_strategy = st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)).filter(any)


def config_of(weights: tuple[int, int, int], **rest: object) -> UtilityConfig:
    total = sum(weights)
    return UtilityConfig(*(Fraction(weight, total) for weight in weights), **rest)


def exact_utility(scores: Scores, config: UtilityConfig, i: int, j: int) -> Fraction:
    """The formula of section 4, candidate by candidate, with the soft credit's clip in floats."""
    universe = scores.universe
    edges = [e for e in universe.edge_subsets[i] if e >= 0]
    features = [f for f in universe.feature_subsets[j] if f >= 0]
    size = len(edges) + len(features)
    if size == 0:
        return config.w_size
    if scores.predicted[i, j] != np.argmax(scores.clean):
        real = sum(bool(scores.exists[e]) for e in edges)
        plausible = Fraction(real, len(edges)) if edges else Fraction(0)
        k_max = universe.limits.max_edges + universe.limits.max_features
        return config.w_flip + config.w_size * (1 - Fraction(size, k_max)) + config.w_plausible * plausible
    if config.soft:
        ratio = min(max(1 - scores.margin[i, j] / scores.clean_margin, 0), 1)
        return Fraction(math.floor(float(config.w_flip / 2 * 10_000) * ratio), 10_000)
    return Fraction(0)


@settings(max_examples=60, deadline=None)
@given(limits_strategy, weights_strategy, st.sampled_from(Arm), st.booleans(), st.integers(0, 10**6))
def test_every_value_equals_the_formula_in_fractions(limits, weights, arm, soft, seed):
    scores = make_scores(np.random.default_rng(seed), 3, 3, limits, arm)
    config = config_of(weights, soft=soft)
    utility = evaluate(scores, config)
    for i, j in np.ndindex(scores.universe.shape):
        assert Fraction(int(utility.values[i, j]), utility.denominator) == exact_utility(scores, config, i, j)


@settings(max_examples=60, deadline=None)
@given(limits_strategy, weights_strategy, st.sampled_from(Arm), st.booleans(), st.integers(0, 10**6))
def test_tight_sensitivity_bounds_the_change_between_any_two_outcomes(limits, weights, arm, soft, seed):
    rng = np.random.default_rng(seed)
    config = config_of(weights, soft=soft)
    first, second = (evaluate(make_scores(rng, 3, 3, limits, arm, rate), config) for rate in (0.9, 0.1))
    assert np.abs(first.values - second.values).max() <= first.sensitivity == second.sensitivity


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("arm", [Arm.FULL, Arm.INERT_MASKS, Arm.EDGE_ONLY, Arm.FEATURE_ONLY])
def test_tight_sensitivity_is_attained_and_no_larger(arm, soft):
    rng = np.random.default_rng(0)
    scores = make_scores(rng, 3, 3, arm=arm, flip_rate=1.0)
    scores = Scores(scores.universe, scores.clean, scores.predicted, np.ones_like(scores.exists), scores.margin)
    utility = evaluate(scores, UtilityConfig(soft=soft))
    assert utility.values.max() == utility.sensitivity


def test_defaults_give_hundredths_and_the_documented_bounds():
    utility = evaluate(make_scores(np.random.default_rng(1), 4, 4), UtilityConfig())
    assert (utility.denominator, utility.sensitivity) == (100, 96)
    assert attainable_max(UtilityConfig(), Limits(), Arm.FULL) == Fraction(96, 100)
    assert attainable_max(UtilityConfig(), Limits(), Arm.EDGE_ONLY) == Fraction(96, 100)
    assert attainable_max(UtilityConfig(), Limits(), Arm.FEATURE_ONLY) == Fraction(86, 100)
    assert attainable_max(UtilityConfig(), Limits(max_edges=0), Arm.FULL) == Fraction(7, 10) + Fraction(2, 15)
    small = Limits(max_edges=1, max_features=2)
    assert attainable_max(UtilityConfig(), small, Arm.FULL) == Fraction(14, 15)


def test_paper_sensitivity_is_one():
    for soft in (False, True):
        utility = evaluate(make_scores(np.random.default_rng(1), 4, 4), UtilityConfig(soft=soft, sensitivity="paper"))
        assert utility.sensitivity == utility.denominator


def test_soft_grid_keeps_hard_levels_exact():
    scores = make_scores(np.random.default_rng(2), 4, 4, Limits(max_edges=1, max_features=2))
    hard, soft = (evaluate(scores, UtilityConfig(soft=flag)) for flag in (False, True))
    assert hard.denominator == 30 and soft.denominator == 30_000
    same = scores.flips.copy()
    same[0, 0] = True
    np.testing.assert_array_equal(hard.values[same] * 1_000, soft.values[same])
    credit = soft.values[~same]
    assert (credit % 3 == 0).all() and (credit > 0).any() and credit.max() <= 10_500


def test_soft_credit_is_zero_without_a_clean_margin():
    scores = make_scores(np.random.default_rng(3), 3, 3)
    tied = Scores(scores.universe, np.zeros(3), np.zeros_like(scores.predicted), scores.exists, scores.margin)
    utility = evaluate(tied, UtilityConfig(soft=True))
    assert np.flatnonzero(utility.values).tolist() == [0]


def test_the_margin_only_matters_when_soft():
    scores = make_scores(np.random.default_rng(4), 3, 3)
    other = Scores(scores.universe, scores.clean, scores.predicted, scores.exists, scores.margin / 2)
    hard = [evaluate(s, UtilityConfig()).values for s in (scores, other)]
    soft = [evaluate(s, UtilityConfig(soft=True)).values for s in (scores, other)]
    assert (hard[0] == hard[1]).all() and (soft[0] != soft[1]).any()


@pytest.mark.parametrize(
    "weights",
    [("0.7", "0.2", "0.1"), (0.7, 0.2, 0.1), ("7/10", Fraction(1, 5), "1e-1")],
)
def test_weights_are_read_exactly(weights):
    assert UtilityConfig(*weights) == UtilityConfig()


def test_whole_weights_are_read():
    assert UtilityConfig(1, 0, "0").w_flip == Fraction(1)


@pytest.mark.parametrize(
    ("settings_", "part"),
    [
        ({"w_flip": "0.8"}, "sum to exactly 1"),
        ({"w_flip": "0.6"}, "sum of 9/10"),
        ({"w_flip": "-0.1", "w_size": 1, "w_plausible": "0.1"}, "w_flip"),
        ({"w_size": "much"}, "w_size: found 'much'"),
        ({"w_plausible": "1/0"}, "w_plausible"),
        ({"w_flip": float("nan")}, "w_flip"),
        ({"w_flip": float("inf")}, "w_flip"),
        ({"w_flip": True}, "w_flip"),
        ({"w_flip": None}, "w_flip"),
        ({"sensitivity": "loose"}, "tight, paper"),
        ({"soft": "yes"}, "soft"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings_, part):
    with pytest.raises(BadInput, match=part) as caught:
        UtilityConfig(**settings_)
    assert "\n" not in str(caught.value)


def test_a_grid_too_fine_is_refused():
    config = UtilityConfig("0.70000001", "0.2", "0.09999999")
    with pytest.raises(BadInput, match="fewer decimals"):
        evaluate(make_scores(np.random.default_rng(5), 2, 2), config)


@pytest.mark.parametrize(
    ("values", "denominator", "sensitivity"),
    [
        (np.array([[0, 101]]), 100, 96),
        (np.array([[-1, 5]]), 100, 96),
        (np.array([[0, 5]]), 100, 0),
        (np.array([[0, 0]]), 0, 1),
        (np.array([[0.0, 0.5]]), 1, 1),
        (np.array([0, 1]), 1, 1),
    ],
)
def test_a_utility_off_its_grid_is_refused(values, denominator, sensitivity):
    with pytest.raises(BadInput, match="utility"):
        Utility(values, denominator, sensitivity)
