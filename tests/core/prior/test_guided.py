"""The guided prior: a distribution over every candidate, from public objects alone, that obeys its stated rule."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.backbone.gcn import GCNWeights
from core.backbone.train import Backbone
from core.datasets import load
from core.errors import BadInput
from core.prior import guided
from core.prior import scenarios as public_scenarios
from core.prior.cover import Cover
from core.prior.guided import BOUNDARY_WEIGHT, ENTROPY, REFERENCE_SHARE, REGRET, Guide
from core.prior.prior import PriorKind, PriorRule, reference
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits
from core.utility import UtilityConfig
from tests.core.handmade import make_universe

CONFIG = UtilityConfig()
LIMITS = Limits(k_edges=4, k_features=4, max_edges=2, max_features=2)
BUDGETS = st.sampled_from([0, 1e-6, 0.1, 1.0, 4, 8.0, 100.0])
PENALTIES = st.sampled_from([0.0, 0.5, 2.0, 20.0])


def make_guide(seed, completions=6, rate=0.3, k_edges=3, k_features=3, arm=Arm.FULL):
    """Random scenarios in which single candidates lead; as always the last two are those of the boundary."""
    rng = np.random.default_rng(seed)
    universe = make_universe(k_edges, k_features, LIMITS, arm)
    chance = rate * rng.uniform(0, 2, size=universe.shape)
    scenarios = rng.random((completions + 2, *universe.shape)) < chance
    scenarios[:, 0, 0] = False
    return Guide(universe, scenarios), scenarios


@given(seed=st.integers(0, 10**6), epsilon=BUDGETS, penalty=PENALTIES, arm=st.sampled_from(list(Arm)))
def test_every_candidate_keeps_its_share_of_the_reference(seed, epsilon, penalty, arm):
    guide, _ = make_guide(seed, arm=arm)
    prior = guide.prior(epsilon, CONFIG, penalty)
    assert prior.name == "guided"
    assert prior.mass.shape == guide.universe.shape
    assert prior.mass.sum() == pytest.approx(1, abs=1e-12)
    assert (prior.mass >= REFERENCE_SHARE * reference(guide.universe, penalty) * (1 - 1e-9)).all()


@given(seed=st.integers(0, 10**6), epsilon=BUDGETS, penalty=PENALTIES)
def test_candidates_that_no_scenario_tells_apart_share_a_density(seed, epsilon, penalty):
    guide, scenarios = make_guide(seed, completions=2)
    prior = guide.prior(epsilon, CONFIG, penalty)
    density = prior.mass / reference(guide.universe, penalty)
    by_outcome = {}
    for place in np.ndindex(guide.universe.shape):
        by_outcome.setdefault(tuple(scenarios[:, *place].tolist()), []).append(density[place])
    assert len(by_outcome) < guide.universe.size
    assert all(max(values) <= min(values) * (1 + 1e-12) for values in by_outcome.values())


@given(seed=st.integers(0, 10**6), penalty=PENALTIES)
def test_at_epsilon_0_it_is_the_softmax_of_how_many_completions_flip(seed, penalty):
    """`(1 - η) r exp(share / τ) / Z + η r`, candidate by candidate; the boundary scenarios have no say."""
    guide, scenarios = make_guide(seed)
    base = reference(guide.universe, penalty)
    weight = base * np.exp((scenarios[:-2].mean(axis=0) - 1) / ENTROPY)
    expected = (1 - REFERENCE_SHARE) * weight / weight.sum() + REFERENCE_SHARE * base
    assert guide.prior(0, CONFIG, penalty).mass == pytest.approx(expected, rel=1e-6)
    scenarios[-2:] = ~scenarios[-2:]
    assert Guide(guide.universe, scenarios).prior(0, CONFIG, penalty).mass == pytest.approx(expected, rel=1e-6)


@given(seed=st.integers(0, 10**6), epsilon=st.sampled_from([0.1, 1.0, 4.0, 8.0]), penalty=st.sampled_from([0.0, 0.5]))
def test_it_is_the_rule_of_its_docstring_with_each_candidate_for_itself(seed, epsilon, penalty):
    """The program over candidates in the place of groups, λ = ε ū / 2Δu at the default weights, worked out by hand."""
    guide, scenarios = make_guide(seed)
    base = reference(guide.universe, penalty).ravel()
    gain = epsilon * ((0.7 + 0.95) / 2) / (2 * 0.95)  # k_max is 4 here: the best flip is worth 0.7 + 0.15 + 0.1
    trust = min(1, epsilon)
    boundary = BOUNDARY_WEIGHT * trust
    weight = np.r_[np.full(6, (1 - boundary) / 6), boundary / 2, boundary / 2]
    cover = Cover(scenarios.reshape(8, -1).astype(float), base, weight, gain, REGRET * trust, ENTROPY)
    found = (guide.prior(epsilon, CONFIG, penalty).mass.ravel() - REFERENCE_SHARE * base) / (1 - REFERENCE_SHARE)
    assert cover.objective(np.maximum(found, 1e-300)) == pytest.approx(cover.objective(cover.solve()), abs=3e-7)
    assert found == pytest.approx(cover.solve(), abs=0.01)


def test_the_papers_sensitivity_asks_for_less_gain():
    """λ falls with Δu: `paper` (1) at ε is `tight` (0.95) at 0.95 ε, and not `tight` at ε."""
    guide, _ = make_guide(1)
    paper = UtilityConfig(sensitivity="paper")
    assert guide.prior(4.0, paper).mass == pytest.approx(guide.prior(3.8, CONFIG).mass, rel=1e-4)
    assert np.abs(guide.prior(4.0, paper).mass - guide.prior(4.0, CONFIG).mass).max() > 1e-4


def expected_size(guide, epsilon, penalty):
    """Under the prior, ∅ counted as a largest candidate as the penalty does."""
    sizes = guide.universe.sizes.copy()
    sizes[0, 0] = LIMITS.k_max
    return float((guide.prior(epsilon, CONFIG, penalty).mass * sizes).sum())


@given(seed=st.integers(0, 10**6))
def test_a_size_penalty_lowers_the_expected_size(seed):
    """Always at ε = 0, where it tilts a softmax; on average where a lost reference counts too."""
    guide, _ = make_guide(seed)
    sizes = [expected_size(guide, 0, penalty) for penalty in (0.0, 1.0, 4.0)]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_size_penalty_lowers_the_expected_size_of_a_release_on_average(epsilon):
    guides = [make_guide(seed)[0] for seed in range(20)]
    sizes = [np.mean([expected_size(guide, epsilon, penalty) for guide in guides]) for penalty in (0.0, 1.0, 4.0)]
    assert sizes[0] > sizes[1] + 0.05 > sizes[2] + 0.1


@given(seed=st.integers(0, 10**6))
def test_a_larger_epsilon_spreads_the_prior(seed):
    """A small ε names the candidates that flip most completions, a large one covers all of them."""
    guide, _ = make_guide(seed, completions=8)
    concentration = [float((guide.prior(epsilon, CONFIG).mass ** 2).sum()) for epsilon in (0, 8.0)]
    assert concentration[1] < concentration[0]


def test_a_universe_of_the_empty_candidate_alone():
    guide, _ = make_guide(0, k_edges=0, k_features=0)
    for epsilon in (0, 1.0):
        assert guide.prior(epsilon, CONFIG).mass.tolist() == [[1.0]]


def test_scenarios_that_agree_on_every_candidate_leave_the_reference():
    universe = make_universe(2, 2, LIMITS)
    guide = Guide(universe, np.zeros((26, *universe.shape), dtype=bool))
    assert guide.prior(3.0, CONFIG).mass == pytest.approx(np.full(universe.shape, 1 / universe.size))


@pytest.mark.parametrize("epsilon", [50.0, 1e6, 1e300, 1.7e308, 1e-300])
def test_extreme_budgets_give_a_prior(epsilon):
    """Past some gain nothing changes."""
    guide, _ = make_guide(2)
    prior = guide.prior(epsilon, CONFIG)
    assert np.isfinite(prior.mass).all()
    if epsilon > 1e3:
        assert (prior.mass == guide.prior(1e4, CONFIG).mass).all()
    if epsilon < 1e-3:
        assert prior.mass == pytest.approx(guide.prior(0, CONFIG).mass, rel=1e-6)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf, "1", None])
def test_other_budgets_are_refused(epsilon):
    guide, _ = make_guide(2)
    with pytest.raises(BadInput, match="epsilon: found"):
        guide.prior(epsilon, CONFIG)


@pytest.mark.parametrize(
    ("config", "limits", "arm"),
    [
        (UtilityConfig("0", "0", "1"), LIMITS, Arm.FEATURE_ONLY),
        (UtilityConfig("0", "1", "0"), Limits(max_edges=0, max_features=1), Arm.FULL),
    ],
)
@pytest.mark.parametrize("epsilon", [0, 2.0])
def test_weights_under_which_no_flip_is_worth_anything(config, limits, arm, epsilon):
    """There is nothing to gain from the private edges: the public guess, whatever ε."""
    universe = make_universe(3, 3, limits, arm)
    scenarios = np.random.default_rng(0).random((8, *universe.shape)) < 0.5
    scenarios[:, 0, 0] = False
    prior = Guide(universe, scenarios).prior(epsilon, config)
    assert prior.mass.sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def owned():
    """The karate club with a given snapshot that holds non-edges too, and weights that nobody trained."""
    club = load("karate")
    rng = np.random.default_rng(0)
    strangers = np.array([[0, 33], [5, 20], [11, 30], [2, 25]])
    pairs = np.concatenate([rng.permutation(club.graph.edges)[:40], strangers])
    weights = GCNWeights(*(rng.normal(size=shape) for shape in [(34, 8), (8,), (8, 2), (2,)]))
    given_snapshot = Snapshot(rng.permutation(pairs), club.graph.n, simulated=False)
    return replace(club, snapshot=given_snapshot), Backbone(weights, math.nan, math.nan)


@pytest.mark.parametrize("pair", [(0, 1), (0, 33), (8, 30), (15, 17)])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_neighbouring_private_graphs_share_it_byte_for_byte(owned, pair, penalty):
    """Through the owner's own desk, with an edge gone or added at the target, near it and far from it."""
    dataset, backbone = owned
    settings = Settings(prior=PriorRule(PriorKind.GUIDED, penalty))
    one = Study(dataset, backbone)
    other = Study(replace(dataset, graph=dataset.graph.toggled(*pair)), backbone)
    assert one.dataset.graph.digest != other.dataset.graph.digest
    for target, rho, epsilon in ((0, 0.5, 0), (0, 1.0, 2.0), (8, 0.7, 0.1), (33, 0.5, 8.0)):
        asked = (target, rho, epsilon, settings)
        assert one.prior(*asked).mass.tobytes() == other.prior(*asked).mass.tobytes()
        assert one.guide(*asked[:2]).universe.digest == other.guide(*asked[:2]).universe.digest


def test_a_desk_gives_the_same_prior_again_and_in_any_order(owned):
    asked = [(target, rho, epsilon) for target in (0, 8) for rho in (0.5, 1.0) for epsilon in (0, 0.5, 4.0)]
    settings = Settings(prior=PriorRule(PriorKind.GUIDED))
    first, second = Study(*owned), Study(*owned)
    there = [first.prior(*question, settings).mass.tobytes() for question in asked]
    back = [second.prior(*question, settings).mass.tobytes() for question in reversed(asked)][::-1]
    assert there == back == [first.prior(*question, settings).mass.tobytes() for question in asked]
    assert len(set(there)) > 6


def test_another_snapshot_gives_another_prior(owned):
    """So that the comparison of neighbours has something to tell apart."""
    dataset, backbone = owned
    settings = Settings(prior=PriorRule(PriorKind.GUIDED))
    fewer = Snapshot(dataset.snapshot.pairs[1:], dataset.graph.n, simulated=False)
    one, other = Study(dataset, backbone), Study(replace(dataset, snapshot=fewer), backbone)
    assert all(
        one.prior(target, 0.5, 1.0, settings).mass.tobytes() != other.prior(target, 0.5, 1.0, settings).mass.tobytes()
        for target in (0, 8, 33)
    )


def test_the_rule_is_stated_with_the_numbers_in_use():
    """The docstring is what a reader of the guarantee trusts to be fixed in advance."""
    stated = " ".join(guided.__doc__.split())
    assert f"{3 * public_scenarios.COMPLETIONS} random completions" in stated
    assert f"`τ = {ENTROPY:g}`" in stated
    assert f"of weight `t/{1 / BOUNDARY_WEIGHT:g}` together and `κ = {REGRET:g}t`" in stated
    assert f"Mix in {100 * REFERENCE_SHARE:g} % of the reference" in stated


@given(
    seed=st.integers(0, 10**6), completions=st.sampled_from([1, 6, 7, 40, 60]), rate=st.sampled_from([0.0, 0.02, 0.4])
)
def test_groups_are_the_candidates_that_no_scenario_tells_apart(seed, completions, rate):
    """Up to all the scenarios of a model with the most completions; and where every candidate flips somewhere."""
    guide, scenarios = make_guide(seed, completions, rate)
    for told in (scenarios, scenarios | np.ones_like(scenarios[:1])):
        grouped = Guide(guide.universe, told)
        assert (grouped.flips[:, grouped.member] == told).all()
        assert len(np.unique(grouped.flips, axis=1).T) == grouped.flips.shape[1]
        assert np.unique(grouped.member).tolist() == list(range(grouped.flips.shape[1]))
