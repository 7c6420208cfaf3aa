"""Public settings: cap, unit, thresholds and the δ that a release really has."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.labels.noise import tail
from core.labels.plan import Cap, Plan, least_cap

TYPICAL = Plan(Fraction("0.07"), 400, Fraction(8), Fraction("1e-5"))
plans = st.builds(
    Plan,
    st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    st.integers(1, 2000),
    st.fractions(Fraction(1, 10), 20, max_denominator=100),
    st.sampled_from([Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**5)]),
    st.sampled_from(Cap),
)


def exact_overflow(plan: Plan) -> Fraction:
    p = plan.p_s
    within = sum(math.comb(plan.m, k) * p**k * (1 - p) ** (plan.m - k) for k in range(min(plan.cap, plan.m) + 1))
    return 1 - within


def test_the_papers_numbers():
    assert (TYPICAL.cap, TYPICAL.unit) == (56, 112)
    assert TYPICAL.threshold == pytest.approx(math.log(1e5) / 8)
    assert TYPICAL.stability(400) == pytest.approx(400 / 112 - 1)
    # a vote or two above the continuous threshold, never below
    assert 0 < TYPICAL.votes_needed - 112 * (1 + TYPICAL.threshold) <= 2
    assert TYPICAL.holds


@given(plans)
def test_noise_and_threshold_cover_the_sensitivity(plan):
    assert plan.unit >= 2 * plan.cap
    assert tail(plan.scale, plan.votes_needed - 2 * plan.cap) <= plan.delta / 2
    assert plan.votes_needed > float(plan.unit) * (1 + plan.threshold)
    if plan.rule is Cap.FITTED:
        assert plan.holds


@pytest.mark.parametrize("p_s", ["0.01", "0.02", "0.05", "0.0725", "1/3"])
@pytest.mark.parametrize("rule", Cap)
def test_the_overflow_is_the_binomial_tail_of_one_edge(p_s, rule):
    plan = Plan(Fraction(p_s), 120, Fraction(4), Fraction("1e-3"), rule)
    exact = exact_overflow(plan)
    assert exact <= Fraction(plan.overflow)
    assert plan.overflow == pytest.approx(float(exact), rel=1e-8, abs=1e-18)
    assert plan.delta_total == pytest.approx(float(exact + (1 - exact) / 2000), rel=1e-8)


def test_the_fitted_cap_is_the_least_one():
    plan = Plan(Fraction("0.02"), 400, Fraction(8), Fraction("1e-5"), Cap.FITTED)
    assert exact_overflow(plan) <= Fraction("5e-6")
    p = Fraction("0.02")
    fewer = 1 - sum(math.comb(400, k) * p**k * (1 - p) ** (400 - k) for k in range(plan.cap))
    assert fewer > Fraction("5e-6")
    assert plan.unit == 2 * plan.cap


@given(st.fractions(Fraction(1, 500), 1, max_denominator=500), st.integers(1, 3000), st.sampled_from(["1e-2", "1e-5"]))
def test_from_the_least_cap_on_the_claim_holds(p_s, m, delta):
    plan = Plan(p_s, m, Fraction(1), Fraction(delta))
    if plan.cap >= least_cap(plan.delta):
        assert plan.holds


def test_a_thin_plan_is_refused_with_what_would_do():
    plan = Plan(Fraction("0.02"), 400, Fraction(8), Fraction("1e-5"))
    assert not plan.holds
    with pytest.raises(BadInput, match=r"400 subgraphs at p_s 0.02.*chance 0.0034.*take m 1,\d\d\d or more") as refused:
        plan.check_holds()
    enough = int(str(refused.value).split("take m ")[1].split(" or")[0].replace(",", ""))
    Plan(plan.p_s, enough, plan.epsilon, plan.delta).check_holds()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p_s": Fraction(0)}, "p_s: found 0"),
        ({"p_s": Fraction(3, 2)}, "p_s: found 1.5"),
        ({"m": 0}, "subgraphs m: found 0"),
        ({"epsilon": Fraction(-1)}, "epsilon"),
        ({"epsilon": Fraction(2000)}, "epsilon: found 2000"),
        ({"delta": Fraction(1)}, "delta: found 1"),
        ({"delta": Fraction(0)}, "delta"),
        ({"rule": "loose"}, "cap: found 'loose'"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    values = {"p_s": Fraction(1, 10), "m": 10, "epsilon": Fraction(1), "delta": Fraction("0.1"), "rule": Cap.PAPER}
    with pytest.raises(BadInput, match=message):
        Plan(**{**values, **changes})
