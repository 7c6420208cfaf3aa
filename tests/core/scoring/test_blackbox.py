"""The black-box scorer against passes over whole edited graphs, and against the factorised scorer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCN

from core.backbone.module import freeze
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph, PublicGraph
from core.scoring import blackbox
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot
from core.universe import Arm, Limits, build_universe
from tests.core.foreign import SOUND, PlainGCN, Single, brute_force, definition, long_case, sound
from tests.core.smallgraphs import brute_force_logits, make_case

LIMITS = Limits(k_edges=4, k_features=3, max_edges=2, max_features=2)
TWO_HOP = [Arm.TWO_HOP, Arm.TWO_HOP_INERT_MASKS]


def scored(case, module, target, limits=LIMITS, arm=Arm.FULL, **options):
    weights = freeze(module, case.graph.nodes)
    scorer = BlackBoxScorer(case.graph, weights, **options)
    return scorer, build_universe(case.graph.nodes, case.snapshot, weights, target, limits, arm)


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    density=st.sampled_from([0.0, 0.15, 0.4, 0.8, 1.0]),
    arm=st.sampled_from(list(Arm)),
)
def test_equals_brute_force(name, seed, target, density, arm):
    """Small graphs with no-op pairs and triangles, isolated targets among them."""
    case = make_case(seed, density=density)
    module = sound(name, seed)
    scorer, universe = scored(case, module, target, arm=arm)
    expected = brute_force(module, case.graph, universe)
    assert np.abs(scorer.logits(universe) - expected).max() < 1e-9
    scores = scorer.score(universe)
    assert (scores.predicted == expected.argmax(axis=2)).all()
    assert scores.exists.tolist() == [tuple(p) in set(map(tuple, case.graph.edges)) for p in universe.edge_pairs]
    assert np.abs(scores.clean - expected[0, 0]).max() < 1e-9


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_equals_brute_force_where_the_subgraph_is_a_part(name, seed):
    case = long_case(seed)
    target = 10 + seed % 30
    near = case.graph.neighbours(target)
    pairs = np.sort(np.stack([np.full(len(near) + 1, target), [*near, 0]], axis=1), axis=1)
    case = type(case)(case.graph, Snapshot(pairs, case.graph.n, simulated=False), case.weights)
    module = sound(name, seed)
    scorer, universe = scored(case, module, target)
    expected = brute_force(module, case.graph, universe)
    assert np.abs(scorer.logits(universe) - expected).max() < 1e-9
    assert np.abs(scorer.clean - definition(module, case.graph.nodes.x.toarray(), case.graph.edges)).max() < 1e-9


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), density=st.sampled_from([0.15, 0.4, 0.8]), arm=st.sampled_from(TWO_HOP))
def test_equals_brute_force_with_pairs_away_from_the_target(name, seed, density, arm):
    """Few pairs are public, so that some lie away from the target, no-ops and pairs out of its reach among them."""
    case = make_case(seed, density=density, disclosed=0.2)
    module = sound(name, seed)
    for target in range(0, 9, 4):
        scorer, universe = scored(case, module, target, Limits(6, 2, 2, 1), arm)
        assert np.abs(scorer.logits(universe) - brute_force(module, case.graph, universe)).max() < 1e-9


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_equals_brute_force_on_a_part_with_pairs_inside_it_and_out_of_it(name, seed):
    """The two ties of a neighbour; one that the target's public neighbour has far off, where nothing can reach it."""
    case = long_case(seed)
    target, n = 10 + seed % 30, case.graph.n
    near, far = int(case.graph.neighbours(target)[0]), (target + 40) % n
    pairs = {(min(target, near), max(target, near)), (min(target, far), max(target, far))}
    pairs |= {(min(u, w), max(u, w)) for u in (near, far) for w in case.graph.neighbours(u)[:3].tolist()}
    snapshot = Snapshot(np.array(sorted(pairs)), n, simulated=False)
    module = sound(name, seed)
    scorer, universe = scored(
        type(case)(case.graph, snapshot, case.weights), module, target, Limits(8, 2, 2, 1), Arm.TWO_HOP
    )
    assert not universe.incident
    assert np.abs(scorer.logits(universe) - brute_force(module, case.graph, universe)).max() < 1e-9


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), target=st.integers(0, 8), density=st.sampled_from([0.0, 0.4, 0.8]))
def test_equals_the_two_hop_scorer_on_the_gcn(seed, target, density):
    case = make_case(seed, density=density, disclosed=0.25)
    scorer, universe = scored(case, PlainGCN(case.weights), target, Limits(6, 2, 3, 1), Arm.TWO_HOP)
    mine, theirs = scorer.score(universe), GCNScorer(case.graph, case.weights).score(universe)
    assert (mine.predicted == theirs.predicted).all()
    assert (mine.exists == theirs.exists).all()
    assert np.abs(mine.margin - theirs.margin).max() < 1e-9


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    density=st.sampled_from([0.0, 0.4, 0.8]),
    arm=st.sampled_from(list(Arm)),
)
def test_equals_the_factorised_scorer_on_the_gcn(seed, target, density, arm):
    case = make_case(seed, density=density)
    scorer, universe = scored(case, PlainGCN(case.weights), target, arm=arm)
    other = GCNScorer(case.graph, case.weights)
    assert universe.digest == build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS, arm).digest
    assert np.abs(scorer.clean - other.clean).max() < 1e-9
    assert np.abs(scorer.logits(universe) - other.logits(universe)).max() < 1e-9
    mine, theirs = scorer.score(universe), other.score(universe)
    assert (mine.predicted == theirs.predicted).all()
    assert (mine.exists == theirs.exists).all()
    assert np.abs(mine.margin - theirs.margin).max() < 1e-9
    assert (mine.margin.shape, mine.predicted.dtype) == (theirs.margin.shape, theirs.predicted.dtype)


def test_equals_the_factorised_scorer_on_cora(cora, cora_backbone):
    target = int(np.flatnonzero(cora.graph.degree == 5)[0])
    near = cora.graph.neighbours(target)
    pairs = np.sort(np.stack([np.full(len(near), target), near], axis=1), axis=1)
    weights = cora_backbone.weights
    universe = build_universe(
        cora.nodes, Snapshot(pairs, cora.graph.n, simulated=False), weights, target, Limits(6, 5, 2, 2)
    )
    scorer = BlackBoxScorer(cora.graph, freeze(PlainGCN(weights), cora.nodes))
    other = GCNScorer(cora.graph, weights)
    assert np.abs(scorer.logits(universe) - other.logits(universe)).max() < 1e-9
    assert (scorer.score(universe).predicted == other.score(universe).predicted).all()


@pytest.mark.parametrize("elements", [1, 400, 10**9])
def test_memory_limit_changes_nothing(elements):
    case = make_case(5, density=0.6)
    scorer, universe = scored(case, PlainGCN(case.weights), 3, elements=elements)
    assert np.abs(scorer.logits(universe) - brute_force_logits(case, universe)).max() < 1e-9


def test_margins_are_left_out_on_request():
    case = make_case(5, density=0.6)
    scorer, universe = scored(case, PlainGCN(case.weights), 3)
    assert np.isnan(scorer.score(universe, margins=False).margin).all()


def test_one_class_has_the_whole_margin():
    nodes = make_case(5).graph.nodes
    nodes = Nodes(nodes.ids, nodes.x, nodes.feature_names, ("only",))
    case = make_case(5)
    graph = PrivateGraph(nodes, case.graph.edges)
    weights = freeze(GCN(6, 4, 2, 1), nodes)
    scores = BlackBoxScorer(graph, weights).score(build_universe(nodes, case.snapshot, weights, 0, LIMITS))
    assert (scores.margin == 1.0).all()
    assert not scores.flips.any()


class Counting(PlainGCN):
    rows = 0

    def forward(self, x, edge_index):
        Counting.rows += len(x)
        return super().forward(x, edge_index)


@pytest.mark.parametrize("arm", [Arm.FULL, Arm.INERT_MASKS])
def test_no_op_pairs_and_inert_masks_are_not_scored_twice(arm):
    case = make_case(7, density=0.5)
    scorer, universe = scored(case, Counting(case.weights), 0, Limits(6, 3, 2, 2), arm)
    edges = set(map(tuple, case.graph.edges.tolist()))
    real = [frozenset(map(tuple, universe.members(i, 0)[0].tolist())) & edges for i in range(universe.shape[0])]
    assert len(set(real)) < universe.shape[0]
    Counting.rows = 0
    scorer.score(universe)
    assert Counting.rows % case.graph.n == 0
    assert Counting.rows // case.graph.n == len(set(real)) * (1 if arm is Arm.INERT_MASKS else universe.shape[1])


def test_target_without_features_or_edges():
    case = make_case(1, density=0.4)
    x = case.graph.nodes.x.toarray()
    x[2] = 0.0
    nodes = Nodes(case.graph.nodes.ids, x, case.graph.nodes.feature_names, case.graph.nodes.classes)
    away = case.graph.edges[(case.graph.edges != 2).all(axis=1)]
    for edges in (case.graph.edges, away):
        bare = type(case)(PrivateGraph(nodes, edges), case.snapshot, case.weights)
        for name in SOUND:
            module = sound(name)
            scorer, universe = scored(bare, module, 2)
            assert universe.shape[1] == 1
            assert np.abs(scorer.logits(universe) - brute_force(module, bare.graph, universe)).max() < 1e-9


def test_another_graph_of_the_same_nodes():
    case = make_case(4, density=0.5)
    module = sound("GAT")
    scorer, universe = scored(case, module, 1)
    for graph in (case.graph.toggled(1, 2), PublicGraph(case.graph.nodes, case.snapshot.pairs)):
        other = scorer.on(graph)
        assert np.abs(other.logits(universe) - brute_force(module, graph, universe)).max() < 1e-9
        assert np.abs(other.clean - definition(module, graph.nodes.x.toarray(), graph.edges)).max() < 1e-9
    with pytest.raises(BadInput, match="other nodes"):
        scorer.on(make_case(5).graph)


def test_a_checked_module_is_not_checked_again(monkeypatch):
    case = make_case(4, density=0.5)
    scorer, _ = scored(case, sound("GAT"), 1)
    monkeypatch.setattr(blackbox, "check_locality", lambda *_: pytest.fail("checked again"))
    scorer.on(case.graph.toggled(1, 2))
    BlackBoxScorer(case.graph, scorer.weights, check=False)


def test_refuses_a_universe_of_a_larger_graph():
    small, large = make_case(0, n=5), make_case(0, n=9)
    scorer, _ = scored(small, PlainGCN(small.weights), 0)
    _, universe = scored(large, PlainGCN(large.weights), 8)
    with pytest.raises(BadInput, match="another graph"):
        scorer.score(universe)


def test_a_module_in_float32_is_scored_and_says_so():
    case = make_case(6, density=0.5)
    module = Single()
    scorer, universe = scored(case, module, 1)
    assert scorer.weights.dtype == torch.float32
    assert "float32" in scorer.weights.note
    logits = scorer.logits(universe)
    expected = brute_force(module.gnn, case.graph, universe)
    assert np.abs(logits - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())
    assert logits.dtype == np.float64
