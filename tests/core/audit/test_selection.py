from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, binomtest

from core.audit.selection import Event, Tail, choose, lower_bound, upper_bound
from core.errors import BadInput

VALUES = st.sampled_from([-math.inf, -1.5, 0.0, 0.1, 1.0, 2.0, 7.0, math.inf, math.nan])
SAMPLES = st.lists(VALUES, min_size=1, max_size=14)


@given(n=st.integers(1, 300), share=st.floats(0, 1), error=st.sampled_from([0.2, 0.05, 0.005, 1e-6]))
def test_bounds_solve_the_binomial_tail_equations(n, share, error):
    k = round(share * n)
    if k > 0:
        low = brentq(lambda p: binom.sf(k - 1, n, p) - error, 0, 1, xtol=1e-15)
        assert float(lower_bound(k, n, error)) == pytest.approx(low, abs=1e-9)
    else:
        assert lower_bound(k, n, error) == 0
    if k < n:
        high = brentq(lambda p: binom.cdf(k, n, p) - error, 0, 1, xtol=1e-15)
        assert float(upper_bound(k, n, error)) == pytest.approx(high, abs=1e-9)
    else:
        assert upper_bound(k, n, error) == 1


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 5_000), (17, 5_000), (2_500, 5_000), (5_000, 5_000)])
def test_bounds_are_those_of_scipy(k, n):
    found = binomtest(k, n, alternative="greater").proportion_ci(0.995, "exact").low
    assert float(lower_bound(k, n, 0.005)) == pytest.approx(found, rel=1e-9)
    found = binomtest(k, n, alternative="less").proportion_ci(0.995, "exact").high
    assert float(upper_bound(k, n, 0.005)) == pytest.approx(found, rel=1e-9)


def place(value):
    """The documented order: numbers, then NaN."""
    return (1, 0.0) if math.isnan(value) else (0, value)


def quadratic(one, other, delta, error):
    """Every threshold, tail and direction, counted one by one; the first of the best."""
    thresholds = sorted({place(value): value for value in [*one, *other]}.items())
    best = None
    for tail, favours in itertools.product((Tail.AT_LEAST, Tail.AT_MOST), (0, 1)):
        sides = (one, other) if favours == 0 else (other, one)
        for rank, threshold in thresholds:
            inside = [[place(v) >= rank if tail is Tail.AT_LEAST else place(v) <= rank for v in side] for side in sides]
            alpha = float(lower_bound(sum(inside[0]), len(sides[0]), error))
            beta = float(upper_bound(sum(inside[1]), len(sides[1]), error))
            score = math.log((alpha - delta) / beta) if alpha > delta else -math.inf
            if best is None or score > best[0] + 1e-12:
                best = score, tail, threshold, favours
    return best


@given(one=SAMPLES, other=SAMPLES, delta=st.sampled_from([0.0, 0.01, 0.3]), error=st.sampled_from([0.3, 0.005]))
def test_sorting_finds_what_the_quadratic_search_finds(one, other, delta, error):
    score, tail, threshold, favours = quadratic(one, other, delta, error)
    found = choose(np.array(one), np.array(other), delta, error)
    assert found.score == pytest.approx(score, abs=1e-12)
    assert (found.event.tail, found.event.favours) == (tail, favours)
    assert place(found.event.threshold) == place(threshold)
    for value in (*one, *other):
        inside = place(value) >= place(threshold) if tail is Tail.AT_LEAST else place(value) <= place(threshold)
        assert found.event.holds(np.array([value]))[0] == inside


@given(
    one=st.lists(st.integers(0, 4), min_size=2, max_size=30), other=st.lists(st.integers(0, 4), min_size=2, max_size=30)
)
def test_a_set_of_outcomes_is_ordered_on_one_half_and_cut_on_the_other(one, other):
    found = choose(np.array(one, dtype=float), np.array(other, dtype=float), 0.0, 0.1, finite=True)
    halves = [(side[: len(side) // 2], side[len(side) // 2 :]) for side in (one, other)]
    ratio = {v: (halves[0][0].count(v) + 0.5) / (halves[1][0].count(v) + 0.5) for v in {*one, *other}}
    sets = [{v for v in ratio if ratio[v] >= t} for t in ratio.values()]
    sets += [{v for v in ratio if ratio[v] <= t} for t in ratio.values()]
    best = max(
        math.log(max(float(lower_bound(sum(v in kept for v in a), len(a), 0.1)), 1e-300))
        - math.log(float(upper_bound(sum(v in kept for v in b), len(b), 0.1)))
        for kept in sets
        for a, b in ((halves[0][1], halves[1][1]), (halves[1][1], halves[0][1]))
    )
    assert set(found.event.members) in sets
    if math.isfinite(found.score):
        assert found.score == pytest.approx(best, abs=1e-9)
    values = np.arange(6.0)
    assert found.event.holds(values).tolist() == [v in found.event.members for v in values]


@pytest.mark.parametrize(
    ("event", "inside", "text"),
    [
        (Event(Tail.AT_LEAST, 1.0, 0), [False, False, True, True, True], "value >= 1"),
        (Event(Tail.AT_MOST, 1.0, 0), [True, True, True, False, False], "value <= 1"),
        (Event(Tail.AT_LEAST, math.nan, 0), [False, False, False, False, True], "value is undefined"),
        (Event(Tail.AT_MOST, math.nan, 0), [True] * 5, "any value"),
        (Event(Tail.AT_MOST, math.inf, 0), [True, True, True, True, False], "value is defined"),
        (Event(Tail.AT_LEAST, -math.inf, 0), [True] * 5, "value >= -inf"),
        (Event(Tail.ONE_OF, math.nan, 0, (0.0, 1.0)), [False, True, True, False, False], "value in {0, 1}"),
        (Event(Tail.ONE_OF, math.nan, 0, tuple(map(float, range(10)))), [False, True, True, False, False],
         "value in {0, 1, 2, 3, 4, 5, 6, 7 and 2 more}"),
    ],
)  # fmt: skip
def test_undefined_values_come_after_all_numbers(event, inside, text):
    assert event.holds(np.array([-math.inf, 0.0, 1.0, math.inf, math.nan])).tolist() == inside
    assert event.text == text


def test_being_undefined_can_be_the_event():
    one, other = np.where(np.arange(200) < 150, np.nan, 0.0), np.zeros(200)
    found = choose(one, other, 0.0, 0.005).event
    assert (found.text, found.favours) == ("value is undefined", 0)


def test_a_rare_event_must_be_worth_its_uncertainty():
    """One hit against none has an infinite ratio in the sample, and still loses to 301 against 100."""
    one = np.r_[5.0, np.ones(300), np.zeros(699)]
    other = np.r_[np.ones(100), np.zeros(900)]
    assert choose(one, other, 0.0, 0.005).event == Event(Tail.AT_LEAST, 1.0, 0)


def test_an_empty_sample_is_refused():
    with pytest.raises(BadInput, match="found 0 and 1 draws, expected at least one a side"):
        choose(np.array([]), np.array([1.0]), 0.0, 0.01)
