"""Many targets at once against one at a time, against dense forwards, and within the memory asked for."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.backbone.gcn import GCNWeights
from core.backbone.module import freeze
from core.errors import BadInput
from core.graph import PrivateGraph
from core.scoring import batched
from core.scoring.batched import score_many
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.factorised import GCNScorer
from core.scoring.messages import CandidateLogits
from core.scoring.relaxation import bounds
from core.scoring.sets import deletion_sets
from core.snapshot import Snapshot, simulate
from core.threads import single_threaded
from core.universe import Arm, Limits, build_universe
from tests.core.foreign import PlainGCN
from tests.core.smallgraphs import Case, brute_force_logits, make_case

LIMITS = Limits(k_edges=5, k_features=4, max_edges=2, max_features=2)
THREE = Limits(k_edges=6, k_features=3, max_edges=3, max_features=1)
ONE_HOP = [arm for arm in Arm if not arm.two_hop]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small operations wait for each other on more threads than that."""
    with single_threaded(0):
        yield


cases = st.builds(
    make_case,
    seed=st.integers(0, 10_000),
    n=st.sampled_from([2, 9]),
    density=st.sampled_from([0.0, 0.15, 0.4, 0.8, 1.0]),
    disclosed=st.sampled_from([0.0, 0.5, 1.0]),
)


def universes_of(case, limits=LIMITS, arm=Arm.FULL):
    nodes = case.graph.nodes
    return [build_universe(nodes, case.snapshot, case.weights, v, limits, arm) for v in range(case.graph.n)]


def featureless(case, row=1):
    """The same case where one node has no features at all."""
    x = case.graph.nodes.x.toarray()
    x[row] = 0.0
    return replace(case, graph=PrivateGraph(replace(case.graph.nodes, x=x), case.graph.edges))


def same(found, expected):
    assert found.universe is expected.universe
    assert (found.clean == expected.clean).all()
    assert (found.exists == expected.exists).all()
    assert found.predicted.dtype == expected.predicted.dtype == np.int16
    assert found.predicted.shape == expected.predicted.shape
    assert (found.predicted == expected.predicted).all()
    assert (found.flips == expected.flips).all()


@settings(max_examples=40)
@given(
    case=cases,
    limits=st.sampled_from([LIMITS, THREE, Limits(k_edges=0), Limits(k_features=0)]),
    arm=st.sampled_from(ONE_HOP),
    memory=st.sampled_from([0, 20_000, 10**9]),
    checked=st.integers(0, 8),
)
def test_equals_one_target_at_a_time_and_brute_force(case, limits, arm, memory, checked):
    case = featureless(case)
    universes = universes_of(case, limits, arm)
    scorer = GCNScorer(case.graph, case.weights)
    found = list(score_many(scorer, universes, memory=memory))
    for mine, universe in zip(found, universes, strict=True):
        same(mine, scorer.score(universe))
        assert np.isnan(mine.margin).all() and mine.margin.shape == universe.shape
    mine = found[checked % len(found)]
    assert (mine.predicted == brute_force_logits(case, mine.universe).argmax(axis=2)).all()


@settings(max_examples=40)
@given(case=cases, limits=st.sampled_from([LIMITS, THREE]), arm=st.sampled_from(ONE_HOP), target=st.integers(0, 8))
def test_messages_sum_to_dense_forwards_and_bounds_hold_for_every_mask(case, limits, arm, target):
    universes, place = universes_of(case, limits, arm), target % case.graph.n
    universe, scorer = universes[place], GCNScorer(case.graph, case.weights)
    expected = brute_force_logits(case, universe)
    sets = deletion_sets(scorer.states, universes)
    mine = np.arange(sets.start[place], sets.start[place + 1])
    messages, kept = sets.summed(mine)
    assert (sets.sender[messages] == place).all()
    step = CandidateLogits(case.weights, scorer.device, scorer.dtype)
    logits = step.sums(sets.offset[messages], sets.weight[messages], kept, masked_of(case, universe)).numpy()
    assert np.abs(logits[sets.inverse[place]] - expected).max() < 1e-12

    whole, parts = scorer.states.hidden, batched._parts(case.graph.nodes, case.weights.w1, universes)
    most, original = universe.feature_subsets.shape[1], scorer.clean.argmax(axis=1)
    leads = expected - expected[..., [original[place]]]
    leads = np.delete(leads, original[place], axis=2).max(axis=2)
    lead, scale = bounds(sets, case.weights, whole, parts, most, original)
    assert (lead[mine][sets.inverse[place]] >= leads.max(axis=1) - 1e-12).all()
    assert (scale[mine][sets.inverse[place]] >= np.abs(expected).max(axis=(1, 2))).all()
    met, _ = bounds(sets, case.weights, whole, np.zeros_like(parts), most, original)
    assert np.abs(met[mine][sets.inverse[place]] - leads[:, 0]).max() < 1e-12


def masked_of(case, universe):
    rows = np.tile(case.graph.nodes.x[[universe.target]].toarray(), (universe.shape[1], 1))
    if not universe.arm.inert:
        for j in range(universe.shape[1]):
            rows[j, universe.members(0, j)[1]] = 0.0
    return rows @ case.weights.w1


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), memory=st.sampled_from([30_000, 10**9]))
def test_order_is_kept_whatever_universes_come_together(seed, memory):
    """Mixed arms, limits and repeated targets; universes with pairs away from their target among them."""
    case = make_case(seed, density=0.4)
    scorer, rng = GCNScorer(case.graph, case.weights), np.random.default_rng(seed)
    pool = [u for limits in (LIMITS, THREE) for arm in Arm for u in universes_of(case, limits, arm)]
    pool += [u.with_pairs(2) for u in pool if u.incident]
    universes = [pool[place] for place in rng.integers(len(pool), size=30)]
    for mine, universe in zip(score_many(scorer, universes, memory=memory), universes, strict=True):
        same(mine, scorer.score(universe))


@settings(max_examples=25)
@given(case=cases, arm=st.sampled_from(ONE_HOP))
def test_margins_equal_those_of_one_target_at_a_time(case, arm):
    scorer = GCNScorer(case.graph, case.weights)
    universes = universes_of(case, LIMITS, arm)
    for mine, universe in zip(score_many(scorer, universes, margins=True), universes, strict=True):
        expected = scorer.score(universe)
        same(mine, expected)
        assert np.abs(mine.margin - expected.margin).max() < 1e-12


def nearly_tied(case, gap):
    """The same case where the second class differs from the first by `gap` only, and the others are far behind."""
    w2, b2 = case.weights.w2.copy(), case.weights.b2.copy()
    w2[:, 1] = w2[:, 0] + gap * w2[:, 1]
    b2[:2], b2[2:] = 0.0, -1e3
    return Case(case.graph, case.snapshot, GCNWeights(case.weights.w1, case.weights.b1, w2, b2))


def test_single_precision_decides_as_double_does():
    """Near ties that float32 gets wrong by itself are found and decided in float64, and only those."""
    wrong = 0
    for seed in range(20):
        case = nearly_tied(make_case(seed), 1e-6)
        exact, single = (GCNScorer(case.graph, case.weights, dtype=kind) for kind in (torch.float64, torch.float32))
        universes = universes_of(case)
        for mine, universe in zip(score_many(single, universes), universes, strict=True):
            same(mine, exact.score(universe))
            wrong += int((single.score(universe).predicted != mine.predicted).sum())
    assert wrong > 20


def test_exact_ties_are_left_to_the_scorer_of_one_target(monkeypatch):
    case = nearly_tied(make_case(1), 0.0)
    scorer = GCNScorer(case.graph, case.weights)
    expected = [scorer.score(universe) for universe in universes_of(case)]
    asked = []
    score = GCNScorer.score
    monkeypatch.setattr(GCNScorer, "score", lambda self, *a, **k: asked.append(a) or score(self, *a, **k))
    for mine, theirs in zip(score_many(scorer, [one.universe for one in expected]), expected, strict=True):
        same(mine, theirs)
    assert len(asked) == len(expected)


def test_more_messages_than_pay_are_left_to_the_scorer_of_one_target(monkeypatch):
    case = make_case(2, density=1.0, disclosed=1.0)
    scorer = GCNScorer(case.graph, case.weights)
    expected = [scorer.score(universe) for universe in universes_of(case)]
    asked, score = [], GCNScorer.score
    monkeypatch.setattr(GCNScorer, "score", lambda self, *a, **k: asked.append(a) or score(self, *a, **k))
    monkeypatch.setattr(batched, "MORE_MESSAGES", 0)
    for mine, theirs in zip(score_many(scorer, [one.universe for one in expected]), expected, strict=True):
        same(mine, theirs)
    assert asked


def test_nothing_is_pulled_before_it_is_needed():
    case = make_case(3, n=40, density=0.2)
    scorer, pulled = GCNScorer(case.graph, case.weights), []
    universes = universes_of(case)
    memory = 4 * max(batched._Many(scorer, False).bytes(universe) for universe in universes)
    stream = score_many(scorer, (pulled.append(u) or u for u in universes), memory=memory)
    for done, scores in enumerate(stream):
        assert scores.universe is universes[done]
        ahead = pulled[done:-1]
        assert sum(batched._Many(scorer, False).bytes(universe) for universe in ahead) <= memory
    assert len(pulled) == len(universes)


@pytest.mark.parametrize("memory", [1 << 21, 1 << 24])
def test_a_chunk_stays_within_the_memory_asked_for(cora, cora_backbone, memory):
    """Peak of all NumPy arrays over 400 targets and the hub, one target's results included."""
    scorer, snapshot = GCNScorer(cora.graph, cora_backbone.weights), simulate(cora.graph, 0)
    targets = [*range(0, 2000, 5), int(cora.graph.degree.argmax())]
    universes = [build_universe(cora.nodes, snapshot, cora_backbone.weights, v) for v in targets]
    next(iter(score_many(scorer, universes[:1])))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        count = sum(1 for _ in score_many(scorer, universes, memory=memory))
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert count == len(targets)
    assert peak < memory


def test_every_node_of_cora_is_decided_as_one_at_a_time(cora, cora_backbone):
    scorer, snapshot = GCNScorer(cora.graph, cora_backbone.weights), simulate(cora.graph, 0)
    universes = [build_universe(cora.nodes, snapshot, cora_backbone.weights, v) for v in range(cora.graph.n)]
    flips = 0
    for mine in score_many(scorer, universes):
        same(mine, scorer.score(mine.universe, margins=False))
        flips += int(mine.flips.sum())
    assert flips > 100_000


def test_cora_in_single_precision_asks_double_for_few_sets(cora, cora_backbone, monkeypatch):
    exact, snapshot = GCNScorer(cora.graph, cora_backbone.weights), simulate(cora.graph, 0)
    single = GCNScorer(cora.graph, cora_backbone.weights, dtype=torch.float32)
    targets = [*range(0, cora.graph.n, 12), int(cora.graph.degree.argmax())]
    universes = [build_universe(cora.nodes, snapshot, cora_backbone.weights, v) for v in targets]
    expected = list(score_many(exact, universes))
    rows = {torch.float32: 0, torch.float64: 0}
    sums = CandidateLogits.sums

    def counted(step, offset, weight, kept, masked):
        rows[step.dtype] += len(kept)
        return sums(step, offset, weight, kept, masked)

    monkeypatch.setattr(CandidateLogits, "sums", counted)
    for mine, theirs in zip(score_many(single, universes), expected, strict=True):
        same(mine, theirs)
    assert 0 < rows[torch.float64] < rows[torch.float32] / 2


def test_most_sets_of_cora_are_settled_by_their_bound(cora, cora_backbone):
    """Those left open are hardly more than those that hold a flip."""
    scorer, snapshot = GCNScorer(cora.graph, cora_backbone.weights), simulate(cora.graph, 0)
    targets = np.arange(0, cora.graph.n, 10)
    universes = [build_universe(cora.nodes, snapshot, cora_backbone.weights, int(v)) for v in targets]
    sets = deletion_sets(scorer.states, universes)
    parts = batched._parts(cora.nodes, cora_backbone.weights.w1, universes)
    original = scorer.clean[targets].argmax(axis=1)
    lead, _ = bounds(sets, cora_backbone.weights, scorer.states.hidden[targets], parts, 3, original)
    flipping = sum(int(scorer.score(universe).flips.any(axis=1).sum()) for universe in universes)
    assert flipping <= (lead > 0).sum() < 1.2 * flipping < 0.5 * len(lead)


def test_a_foreign_module_is_scored_one_by_one():
    case = make_case(0, n=5)
    scorer = BlackBoxScorer(case.graph, freeze(PlainGCN(case.weights), case.graph.nodes))
    universes = universes_of(case)
    for mine, universe in zip(score_many(scorer, universes), universes, strict=True):
        same(mine, scorer.score(universe))


def test_no_edges_no_pairs_and_one_class():
    case = make_case(0, density=0.0, disclosed=0.0)
    one = GCNWeights(case.weights.w1, case.weights.b1, case.weights.w2[:, :1], case.weights.b2[:1])
    graph = PrivateGraph(replace(case.graph.nodes, classes=("only",)), case.graph.edges)
    scorer = GCNScorer(graph, one)
    lonely = Case(graph, Snapshot(np.empty((0, 2), dtype=int), graph.n, simulated=False), one)
    for mine in score_many(scorer, universes_of(lonely)):
        same(mine, scorer.score(mine.universe))
        assert not mine.flips.any()
    assert list(score_many(scorer, [])) == []


def test_refuses_a_universe_of_a_larger_graph():
    small, large = make_case(0, n=5), make_case(0, n=9)
    with pytest.raises(BadInput, match="another graph"):
        list(score_many(GCNScorer(small.graph, small.weights), universes_of(large)))


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_cuda_equals_cpu(dtype):
    case = make_case(3, n=40, density=0.2)
    exact, there = GCNScorer(case.graph, case.weights), GCNScorer(case.graph, case.weights, "cuda", dtype)
    for mine in score_many(there, universes_of(case)):
        same(mine, exact.score(mine.universe))
