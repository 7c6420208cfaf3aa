"""Scores on a neighbouring graph without a pass over it, against that pass and against dense forwards."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.neighbours import ToggledTies, score_neighbour
from core.errors import BadInput
from core.graph import PublicGraph
from core.scoring.factorised import GCNScorer
from core.snapshot import simulate
from core.universe import Arm, Limits, build_universe
from tests.core.smallgraphs import brute_force_logits, make_case

LIMITS = Limits(k_edges=5, k_features=3, max_edges=2, max_features=2)


def same(one, other):
    """Every decision and margin, bit for bit."""
    return (
        one.predicted.tobytes() == other.predicted.tobytes()
        and one.exists.tobytes() == other.exists.tobytes()
        and one.margin.tobytes() == other.margin.tobytes()
        and one.clean == pytest.approx(other.clean, abs=1e-12)
    )


PAIRS = list(itertools.combinations(range(9), 2))


@given(
    seed=st.integers(0, 10_000),
    density=st.floats(0.05, 0.95),
    target=st.integers(0, 8),
    arm=st.sampled_from(Arm),
    pairs=st.lists(st.sampled_from(PAIRS), min_size=1, max_size=2),
)
def test_a_neighbour_gets_the_scores_of_its_own_scorer(seed, density, target, arm, pairs):
    case = make_case(seed, density=density)
    scorer = GCNScorer(case.graph, case.weights)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS, arm)
    for pair in pairs:
        expected = scorer.on(case.graph.toggled(*pair)).score(universe)
        assert same(score_neighbour(scorer, universe, pair, margins=True), expected)


@pytest.mark.parametrize("seed", range(4))
def test_every_neighbour_gets_the_decisions_of_dense_forwards(seed):
    case = make_case(seed, density=0.3)
    scorer = GCNScorer(case.graph, case.weights)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, seed, LIMITS)
    for pair in PAIRS:
        neighbour = replace(case, graph=case.graph.toggled(*pair))
        found = score_neighbour(scorer, universe, pair)
        dense = brute_force_logits(neighbour, universe)
        assert (found.predicted == dense.argmax(axis=2)).all()
        assert found.clean == pytest.approx(dense[0, 0], abs=1e-9)
        assert (found.exists == neighbour.graph.contains(universe.edge_pairs)).all()
        assert np.isnan(found.margin).all()


def test_a_real_target_and_its_busiest_neighbourhood(cora, cora_backbone):
    """The node of the highest degree, where sets are crowded, and one of its neighbours."""
    graph, weights = cora.graph, cora_backbone.weights
    scorer = GCNScorer(graph, weights)
    public = simulate(graph, 0).prefix(0.5)
    hub = int(graph.degree.argmax())
    end = int(graph.neighbours(hub)[0])
    further = int(graph.neighbours(end)[-1])
    for target in (hub, end):
        universe = build_universe(graph.nodes, public, weights, target)
        for pair in ((hub, end), (min(end, further), max(end, further)), (further, 7), (0, hub)):
            expected = scorer.on(graph.toggled(*pair)).score(universe, margins=False)
            found = score_neighbour(scorer, universe, pair)
            assert (found.predicted == expected.predicted).all()
            assert found.clean == pytest.approx(expected.clean, abs=1e-12)


@given(seed=st.integers(0, 1_000), density=st.floats(0.0, 1.0))
def test_toggled_ties_are_those_of_the_toggled_graph(seed, density):
    graph = make_case(seed, density=density).graph
    rows = np.arange(graph.n)
    for pair in PAIRS:
        ties, toggled = ToggledTies(graph, pair), graph.toggled(*pair)
        assert ties.added == (toggled.m > graph.m)
        assert (ties.degrees(rows) == toggled.degree + 1).all()
        assert all((ties.neighbours(v) == toggled.neighbours(v)).all() for v in rows)


def test_public_graphs_and_foreign_universes_are_refused():
    case = make_case(0)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, 0)
    public = PublicGraph(case.graph.nodes, case.graph.edges)
    with pytest.raises(BadInput, match="public graph"):
        score_neighbour(GCNScorer(public, case.weights), universe, (0, 1))
    with pytest.raises(BadInput, match="another graph"):
        score_neighbour(GCNScorer(case.graph, case.weights), replace(universe, target=40), (0, 1))
