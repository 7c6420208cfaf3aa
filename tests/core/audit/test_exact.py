from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from core.audit.exact import allowed_roc, attack_auc, attack_roc, compare, posterior_bound, ratio_bound
from core.audit.small_graphs import SMALL, check_small_graphs, release_on
from core.prior.guided import Guide
from core.prior.prior import PriorKind, PriorRule, uniform
from core.prior.scenarios import PublicModel
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.snapshot import Snapshot
from core.universe import Arm, Limits
from core.utility import Utility, UtilityConfig
from tests.core.smallgraphs import make_case

GUIDED = replace(SMALL, prior=PriorRule(PriorKind.GUIDED))
TWO_HOP = replace(SMALL, arm=Arm.TWO_HOP, limits=Limits(k_edges=6, k_features=2, max_edges=2, max_features=1))


def sparsely_public(release):
    """The same release where only the first seven pairs are public, so that two-hop pairs find room."""

    def asked(graph, snapshot, weights, target, epsilon):
        return release(graph, Snapshot(snapshot.pairs[:7], graph.n, simulated=False), weights, target, epsilon)

    return asked


@given(seed=st.integers(0, 10_000), n=st.integers(2, 12))
def test_auc_equals_the_double_sum(seed, n):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
    q[0] = p[0]
    q /= q.sum()
    ratio = p / q
    expected = sum(
        p[i] * q[j] * (1.0 if ratio[i] > ratio[j] else 0.5 if ratio[i] == ratio[j] else 0.0)
        for i in range(n)
        for j in range(n)
    )
    assert attack_auc(p, q) == pytest.approx(expected, abs=1e-12)


def test_auc_agrees_with_sampled_attack():
    """Mann-Whitney on 20,000 draws a side: standard error below 0.003, so 0.02 never trips by chance."""
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(30))
    ratio = p / q
    ours, theirs = ratio[rng.choice(30, 20_000, p=p)], ratio[rng.choice(30, 20_000, p=q)]
    sampled = mannwhitneyu(ours, theirs).statistic / 20_000**2
    assert attack_auc(p, q) == pytest.approx(sampled, abs=0.02)


def test_identical_distributions_give_nothing_away():
    p = np.array([0.2, 0.8])
    assert attack_auc(p, p) == pytest.approx(0.5)


def neighbouring(rng, n, epsilon, ties=False):
    """Two distributions whose ratio stays within `e^ε` either way."""
    p = rng.dirichlet(np.ones(n))
    moved = rng.uniform(0, epsilon / 2, size=n)
    if ties:
        moved = np.round(moved)
    q = p * np.exp(moved)
    return p, q / q.sum()


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), epsilon=st.floats(0.01, 20.0), ties=st.booleans())
def test_roc_of_the_attack(seed, n, epsilon, ties):
    """Its area is the AUC, its best gap the total variation distance, it is concave, and ε allows it."""
    p, q = neighbouring(np.random.default_rng(seed), n, epsilon, ties)
    false, true = attack_roc(p, q)
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(true, false) == pytest.approx(attack_auc(p, q), abs=1e-12)
    assert (true - false).max() == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-12)
    along, up = np.diff(false), np.diff(true)
    assert (up[1:] * along[:-1] <= up[:-1] * along[1:] + 1e-12).all()
    assert (true <= allowed_roc(false, epsilon) + 1e-12).all()


@given(seed=st.integers(0, 10_000))
def test_no_test_on_one_release_lies_above_the_roc(seed):
    """Every one of the 2^6 sets of outcomes as the attack's answer "p"."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    false, true = attack_roc(p, q)
    chosen = (np.arange(64)[:, None] >> np.arange(6)) & 1
    assert (chosen @ p <= np.interp(chosen @ q, false, true) + 1e-12).all()


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 30.0])
def test_randomized_response_attains_what_epsilon_allows(epsilon):
    lie = 1 / (1 + math.exp(epsilon))
    honest = 1 - lie
    p, q = np.array([honest, lie]), np.array([lie, honest])
    false, true = attack_roc(p, q)
    grid = np.concatenate([np.linspace(0, 1, 101), lie * np.linspace(0, 2, 21)])
    assert allowed_roc(grid, epsilon) == pytest.approx(np.interp(grid, false, true), abs=1e-12)
    assert posterior_bound(epsilon) == pytest.approx(honest, abs=1e-12)
    assert attack_auc(p, q) == pytest.approx(posterior_bound(epsilon), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 8.0, 700.0, 5_000.0])
def test_bounds_are_probabilities_at_any_epsilon(epsilon):
    grid = np.linspace(0, 1, 101)
    allowed = allowed_roc(grid, epsilon)
    assert ((allowed >= grid) & (allowed <= 1)).all()
    assert (allowed[0], allowed[-1]) == (0, 1)
    assert 0.5 < posterior_bound(epsilon) <= 1
    assert ratio_bound(epsilon) == (math.exp(epsilon) if epsilon < 709 else math.inf)


def test_a_large_epsilon_is_checked_without_overflow():
    report = check_small_graphs(release_on(), epsilon=720.0, graphs=1, targets=1)
    assert report.passed and report.bound == math.inf


def test_a_pair_by_hand():
    case = make_case(4, density=0.5, disclosed=1.0)
    own = release_on()(case.graph, case.snapshot, case.weights, 0, 2.0)
    other = release_on()(case.graph.toggled(0, 1), case.snapshot, case.weights, 0, 2.0)
    found = compare(own, other)
    p, q = own.probability, other.probability
    assert found.same_support
    assert found.delta_u == pytest.approx(np.abs(own.utility.fractions - other.utility.fractions).max())
    assert found.ratio == pytest.approx(max((p / q).max(), (q / p).max()))
    assert found.advantage == pytest.approx(np.maximum(p - q, 0).sum())
    assert found.ratio <= math.exp(2.0)


def test_exhaustive_small_graph_check_passes():
    """PrivCFS, appendix C: at ε = 4 its sensitivity is 0.93 with k_max = 3 and ratios stay below e^4."""
    report = check_small_graphs(release_on(), epsilon=4.0)
    assert report.pairs >= 3_200
    assert report.passed
    assert report.max_delta_u == pytest.approx(14 / 15)
    assert 1.0 < report.max_ratio < report.bound


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        replace(SMALL, mechanism=Mechanism.PF),
        replace(SMALL, utility=UtilityConfig(soft=True)),
        replace(SMALL, utility=UtilityConfig(sensitivity="paper")),
    ],
    ids=["em", "pf", "soft", "paper"],
)
def test_boundary_cases_at_epsilon_8(settings):
    report = check_small_graphs(release_on(settings), epsilon=8.0, graphs=3, targets=2)
    assert report.passed
    assert report.max_delta_u > 0


@pytest.mark.parametrize(
    ("settings", "graphs"),
    [
        (TWO_HOP, 4),
        (replace(TWO_HOP, arm=Arm.TWO_HOP_INERT_MASKS, utility=UtilityConfig(soft=True)), 2),
        (replace(TWO_HOP, prior=PriorRule(PriorKind.GUIDED)), 1),
    ],
    ids=["em", "inert soft", "guided"],
)
def test_exhaustive_small_graph_check_passes_with_pairs_away_from_the_target(settings, graphs):
    away = []

    def release(*asked):
        found = release_on(settings)(*asked)
        away.append(not found.universe.incident)
        return found

    report = check_small_graphs(sparsely_public(release), epsilon=4.0, graphs=graphs)
    assert report.pairs == graphs * 28 * 3
    assert np.mean(away) > 0.5
    assert report.passed
    assert report.sensitivity == pytest.approx(14 / 15, abs=1e-4)
    assert report.max_delta_u > 0.5
    assert 1.0 < report.max_ratio < report.bound


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "graphs"), [(Mechanism.EM, 40), (Mechanism.PF, 8)], ids=["em", "pf"])
def test_exhaustive_small_graph_check_passes_under_the_guided_prior(mechanism, graphs):
    report = check_small_graphs(release_on(replace(GUIDED, mechanism=mechanism)), epsilon=4.0, graphs=graphs)
    assert report.pairs == graphs * 28 * 3
    assert report.passed
    assert report.max_delta_u == pytest.approx(14 / 15)
    assert 1.0 < report.max_ratio < report.bound


@pytest.mark.parametrize("mechanism", Mechanism)
def test_boundary_cases_at_epsilon_8_with_the_guided_prior_made_anew_for_each_release(mechanism):
    """Nothing is kept between neighbours, sizes are penalised and the share disclosed is guessed otherwise."""
    settings = replace(GUIDED, mechanism=mechanism, prior=PriorRule(PriorKind.GUIDED, 1.0))

    def anew(*asked):
        return release_on(settings, rho=0.8)(*asked)

    report = check_small_graphs(anew, epsilon=8.0, graphs=2, targets=2)
    assert report.passed
    assert report.max_delta_u > 0


def test_a_guided_release_is_made_of_the_prior_that_its_settings_ask_for():
    case = make_case(5, density=0.5, disclosed=0.7)
    for rule in (PriorRule(size_penalty=2.0), PriorRule(PriorKind.GUIDED), PriorRule(PriorKind.GUIDED, 2.0)):
        found = release_on(replace(SMALL, prior=rule), rho=0.5)(case.graph, case.snapshot, case.weights, 0, 2.0)
        if rule.kind is PriorKind.UNIFORM:
            expected = uniform(found.universe, 2.0)
        else:
            model = PublicModel(case.graph.nodes, case.snapshot, case.weights, 0.5)
            guide = Guide(found.universe, model.scenarios(found.universe))
            expected = guide.prior(2.0, SMALL.utility, rule.size_penalty)
        assert found.prior.mass.tobytes() == expected.mass.tobytes()


def test_what_is_kept_for_one_target_is_not_taken_for_another():
    """One release function asked about several targets, snapshots and ε in turn, and a fresh one for each."""
    kept = release_on(GUIDED)
    for seed, target, epsilon in ((1, 0, 1.0), (1, 1, 1.0), (2, 1, 1.0), (1, 0, 4.0), (1, 0, 1.0)):
        case = make_case(seed)
        asked = (case.graph, case.snapshot, case.weights, target, epsilon)
        assert kept(*asked).prior.mass.tobytes() == release_on(GUIDED)(*asked).prior.mass.tobytes()


def test_a_data_dependent_universe_fails_the_check():
    def leaky(graph, snapshot, weights, target, epsilon):
        kept = snapshot.pairs[graph.contains(snapshot.pairs)]
        return release_on()(graph, Snapshot(kept, graph.n, simulated=False), weights, target, epsilon)

    report = check_small_graphs(leaky, graphs=2, targets=2)
    assert not report.same_supports
    assert not report.passed


def test_two_hop_pairs_of_private_neighbours_fail_the_check():
    def leaky(graph, snapshot, weights, target, epsilon):
        near = graph.edges[(graph.edges == target).any(axis=1)]
        further = snapshot.pairs[~(snapshot.pairs == target).any(axis=1)]
        seen = Snapshot(np.concatenate([near, further]), graph.n, simulated=False)
        return release_on(TWO_HOP)(graph, seen, weights, target, epsilon)

    report = check_small_graphs(sparsely_public(leaky), graphs=1, targets=2)
    assert not report.same_supports
    assert not report.passed


def test_an_understated_sensitivity_fails_the_check():
    def greedy(graph, snapshot, weights, target, epsilon):
        honest = release_on()(graph, snapshot, weights, target, epsilon)
        utility = Utility(honest.utility.values, honest.utility.denominator, honest.utility.sensitivity // 3)
        return replace(release_on()(graph, snapshot, weights, target, 3 * epsilon), utility=utility)

    report = check_small_graphs(greedy, graphs=2, targets=2)
    assert report.same_supports
    assert report.max_delta_u > report.sensitivity
    assert not report.passed


def edges_in_the_place_of_the_snapshot(graph, snapshot, weights):
    return PublicModel(graph.nodes, Snapshot(graph.edges, graph.n, simulated=False), weights, 0.6)


def share_measured_on_the_private_graph(graph, snapshot, weights):
    """How many pairs are taken to be hidden is all that it learns from E; where they are is still guessed."""
    return PublicModel(graph.nodes, snapshot, weights, graph.contains(snapshot.pairs).sum() / graph.m)


@pytest.mark.parametrize("model", [edges_in_the_place_of_the_snapshot, share_measured_on_the_private_graph])
def test_a_prior_that_reads_private_edges_fails_the_check(model):
    def leaky(graph, snapshot, weights, target, epsilon):
        honest = release_on()(graph, snapshot, weights, target, epsilon)
        universe = honest.universe
        prior = Guide(universe, model(graph, snapshot, weights).scenarios(universe)).prior(epsilon, SMALL.utility)
        return release_distribution(universe, honest.utility, prior, epsilon)

    report = check_small_graphs(leaky, graphs=2, targets=1)
    assert report.same_supports
    assert report.max_delta_u <= report.sensitivity
    assert report.max_ratio > report.bound
    assert not report.passed
