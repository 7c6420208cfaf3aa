"""Which pairs an exact audit asks about: those that reach a target, by what they change."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core.audit.pairs import PairKind, Vicinity, population_pairs, target_pairs
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph
from tests.core.smallgraphs import make_case


def bare(edges, n):
    names = tuple(str(i) for i in range(n))
    return PrivateGraph(Nodes(names, sparse.csr_array(np.ones((n, 1))), ("f",), ("a", "b")), np.array(edges))


def two_layers(graph, rng):
    """A two-layer pass with nothing cut off at zero, so that whatever is seen is felt: N outputs."""
    x = rng.uniform(0.5, 1.5, size=(graph.n, 3))
    return lambda g: _normalised(g) @ _normalised(g) @ x


def _normalised(graph):
    a = graph.adjacency.toarray() + np.eye(graph.n)
    scale = a.sum(axis=1) ** -0.5
    return scale[:, None] * a * scale


@given(seed=st.integers(0, 10_000), density=st.floats(0.0, 0.5), target=st.integers(0, 8))
def test_a_pair_has_a_distance_exactly_when_the_target_feels_it(seed, density, target):
    graph = make_case(seed, density=density).graph
    around = Vicinity(graph, target)
    outputs = two_layers(graph, np.random.default_rng(seed))
    before = outputs(graph)[target]
    near = {asked.pair for asked in around.edges()}
    for u, w in itertools.combinations(range(graph.n), 2):
        felt = np.abs(outputs(graph.toggled(u, w))[target] - before).max() > 1e-12
        assert felt == (around.steps[[u, w]].min() <= 2)
        assert ((u, w) in near) == (felt and bool(graph.contains(np.array([[u, w]]))[0]))


@given(seed=st.integers(0, 10_000), layers=st.integers(0, 4), target=st.integers(0, 11))
def test_steps_are_shortest_paths(seed, layers, target):
    graph = make_case(seed, n=12, density=0.15).graph
    whole = nx.empty_graph(graph.n)
    whole.add_edges_from(graph.edges.tolist())
    known = nx.single_source_shortest_path_length(whole, target)
    expected = [min(known.get(v, 99), layers + 1) for v in range(graph.n)]
    assert Vicinity(graph, target, layers).steps.tolist() == expected


def test_drawn_pairs_are_what_they_say(cora):
    graph = cora.graph
    targets = cora.split.test[:7]
    pairs = population_pairs(graph, targets, 80, np.random.default_rng(0))
    for kind in PairKind:
        of_kind = [asked for asked in pairs if asked.kind is kind]
        assert len(of_kind) == 80
        assert sum(asked.edge for asked in of_kind) == 40
        assert len({(asked.target, asked.pair) for asked in of_kind}) == 80
        counts = np.bincount(np.searchsorted(targets, [asked.target for asked in of_kind]))
        assert counts.tolist() in ([11, 12, 11, 12, 11, 12, 11], [11, 12, 11, 12, 12, 11, 11])
    for asked in pairs:
        assert graph.contains(np.array([asked.pair]))[0] == asked.edge
        steps = Vicinity(graph, asked.target).steps[list(asked.pair)].min()
        assert asked.distance == (steps if steps <= 2 else None)
        assert asked.kind is PairKind.ANYWHERE or asked.distance is not None
    assert [asked.target for asked in pairs] == sorted(asked.target for asked in pairs)
    assert pairs == population_pairs(graph, targets, 80, np.random.default_rng(0))
    assert pairs != population_pairs(graph, targets, 80, np.random.default_rng(1))


def test_absent_pairs_at_the_target_are_drawn_as_often_as_further_ones(cora):
    """Three distances, evenly: of 600 draws each count lies within 130..270 but with probability below 1e-9."""
    target = int(cora.split.test[0])
    drawn = Vicinity(cora.graph, target).absent(600, np.random.default_rng(0))
    counts = np.bincount([asked.distance for asked in drawn])
    assert len(drawn) == 600
    assert ((counts > 130) & (counts < 270)).all()


def test_one_target_is_asked_about_every_edge_within_reach():
    path = bare([(i, i + 1) for i in range(9)], 10)
    pairs = target_pairs(path, 4, np.random.default_rng(0))
    near = [asked.pair for asked in pairs if asked.kind is PairKind.NEAR and asked.edge]
    assert near == [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert [asked.distance for asked in pairs[:6]] == [2, 1, 0, 0, 1, 2]
    assert [len([a for a in pairs if a.kind is kind]) for kind in PairKind] == [12, 6]


def test_graphs_that_lack_edges_or_absent_pairs():
    rng = np.random.default_rng(0)
    lonely = bare(np.empty((0, 2), dtype=np.int64), 5)
    pairs = population_pairs(lonely, np.array([2]), 3, rng)
    assert not any(asked.edge for asked in pairs)
    assert len([asked for asked in pairs if asked.kind is PairKind.NEAR]) == 3
    assert all(2 in asked.pair for asked in pairs if asked.kind is PairKind.NEAR)
    full = bare(list(itertools.combinations(range(5), 2)), 5)
    assert all(asked.edge for asked in population_pairs(full, np.array([0, 1]), 10, rng))
    assert target_pairs(lonely, 0, rng)[0].distance == 0


def test_nothing_to_audit_is_refused():
    graph = bare([(0, 1)], 2)
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="no target"):
        population_pairs(graph, np.array([], dtype=np.int64), 10, rng)
    with pytest.raises(BadInput, match="audit pairs"):
        population_pairs(graph, np.array([0]), 0, rng)
    with pytest.raises(BadInput, match="one node"):
        target_pairs(bare(np.empty((0, 2), dtype=np.int64), 1), 0, rng)
