"""The base measure without a guess, and what makes a prior one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.prior.prior import LARGEST_PENALTY, Prior, PriorKind, PriorRule, reference, uniform
from core.universe import Arm, Limits
from tests.core.handmade import make_prior, make_universe


@given(
    k_edges=st.integers(0, 5),
    k_features=st.integers(0, 5),
    arm=st.sampled_from(list(Arm)),
    penalty=st.floats(0, LARGEST_PENALTY),
)
def test_reference_is_its_formula(k_edges, k_features, arm, penalty):
    """Sizes by listing each candidate's members; ∅ weighs as much as a candidate of size k_max."""
    universe = make_universe(k_edges, k_features, Limits(max_edges=2, max_features=3), arm)
    size = {place: sum(map(len, universe.members(*place))) or 5 for place in np.ndindex(universe.shape)}
    total = math.fsum(math.exp(-penalty * s) for s in size.values())
    found = reference(universe, penalty)
    assert found.shape == universe.shape
    for place, s in size.items():
        assert found[place] == pytest.approx(math.exp(-penalty * s) / total, rel=1e-12)


@given(k_edges=st.integers(0, 12), k_features=st.integers(0, 12))
def test_without_a_penalty_all_masses_are_the_same_number(k_edges, k_features):
    universe = make_universe(k_edges, k_features)
    prior = uniform(universe)
    assert prior.name == "uniform"
    assert prior.constant
    assert set(prior.mass.ravel().tolist()) == {float(Fraction(1, universe.size))}


def test_a_penalty_prefers_small_candidates_and_not_silence():
    universe = make_universe(2, 3)
    prior = uniform(universe, 1.5)
    assert not prior.constant
    assert prior.mass[1, 0] / prior.mass[1, 1] == pytest.approx(math.exp(1.5))
    assert prior.mass[0, 0] == prior.mass[universe.sizes == 5].max() == prior.mass.min()


def test_the_sizes_of_a_universe_are_left_as_they_are():
    universe = make_universe(2, 3)
    reference(universe, 2.0)
    assert universe.sizes[0, 0] == 0


def test_a_handmade_prior_varies():
    assert not make_prior(np.random.default_rng(0), make_universe(2, 2)).constant


@pytest.mark.parametrize("mass", [[[0.0, 1.0]], [[-0.1, 1.1]], [[0.5, 0.5 + 1e-8]], [[0.4, 0.5]], [[np.nan, 1.0]]])
def test_masses_that_are_no_distribution_are_refused(mass):
    with pytest.raises(BadInput, match=r"prior mine: .*positive masses that sum to 1"):
        Prior("mine", np.array(mass))


def test_kinds_go_by_name():
    assert PriorKind.parse("uniform") is PriorKind.UNIFORM
    assert PriorKind.parse("guided") is PriorKind.GUIDED
    with pytest.raises(BadInput, match=r"prior: found 'best', expected one of: uniform, guided"):
        PriorKind.parse("best")


def test_a_rule_by_default_is_the_papers_mechanism():
    assert PriorRule() == PriorRule(PriorKind.UNIFORM, 0.0)


@pytest.mark.parametrize("penalty", [0, 1, 2.5, 20])
def test_penalties_in_range_are_kept_as_floats(penalty):
    rule = PriorRule(size_penalty=penalty)
    assert isinstance(rule.size_penalty, float)
    assert rule == PriorRule(size_penalty=float(penalty))


@pytest.mark.parametrize("penalty", [-0.1, 20.5, math.nan, math.inf, True, "1", None])
def test_other_penalties_are_refused(penalty):
    with pytest.raises(BadInput, match=r"size penalty: found .*a number from 0 to 20"):
        PriorRule(size_penalty=penalty)
