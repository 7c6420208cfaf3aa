from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.audit.canaries import (
    Context,
    cut_off,
    edge_scores,
    embedded,
    hub,
    moved_edge,
    node_scores,
    spread,
    star,
    without_edge,
    without_node,
)  # fmt: skip
from core.audit.claims import Relation
from core.errors import BadInput
from tests.core.smallgraphs import make_case

KARATE = nx.karate_club_graph()
ON_STARS = (Relation.EDGE, Relation.NODE_BOUNDED, Relation.NODE_UNBOUNDED)


def edges_of(graph):
    return {frozenset(edge) for edge in graph.edges}


def test_a_star_loses_its_centre_its_rays_or_one_of_them():
    bounded, unbounded, edge = (star(5, relation) for relation in (ON_STARS[1], ON_STARS[2], ON_STARS[0]))
    assert (bounded.one.number_of_edges(), bounded.other.number_of_edges(), len(bounded.other)) == (5, 0, 6)
    assert (unbounded.other.number_of_edges(), len(unbounded.other)) == (0, 5)
    assert edge.other.number_of_edges() == 4
    with pytest.raises(BadInput, match="relation of a star"):
        star(5, Relation.EDGE_REPLACE)


@pytest.mark.parametrize("relation", ON_STARS)
@pytest.mark.parametrize("connected", [False, True])
def test_a_centre_in_a_random_graph(relation, connected):
    pair = embedded(30, 0.15, 8, np.random.default_rng(0), connected, relation)
    assert pair.one.degree[30] == 8
    rest = {edge for edge in edges_of(pair.one) if 30 not in edge}
    assert rest == {edge for edge in edges_of(pair.other) if 30 not in edge}
    if connected:
        assert nx.is_connected(pair.one)
        assert nx.is_connected(pair.other)
    if relation is Relation.NODE_BOUNDED:
        assert pair.other.degree[30] == (1 if connected else 0)
    again = embedded(30, 0.15, 8, np.random.default_rng(0), connected, relation)
    assert edges_of(again.one) == edges_of(pair.one)


def test_random_graphs_that_are_never_connected_are_refused():
    with pytest.raises(BadInput, match=r"density: found 0\.0, expected one at which 20 random nodes are"):
        embedded(20, 0.0, 3, np.random.default_rng(0), connected=True)
    with pytest.raises(BadInput, match="leaves: found 21"):
        embedded(20, 0.5, 21, np.random.default_rng(0))


def test_the_hub_of_a_real_graph():
    pair = hub(KARATE)
    assert (KARATE.degree[33], pair.other.degree[33]) == (17, 0)
    assert pair.other.number_of_edges() == 78 - 17
    kept = hub(KARATE, left=2)
    assert kept.other.degree[33] == 2
    with pytest.raises(BadInput, match="found 17 edges at the node of largest degree, expected over 17"):
        hub(KARATE, left=17)


def test_private_graphs_stay_what_they_are():
    graph = make_case(2).graph
    u, v = graph.edges[0].tolist()
    pair = without_edge(graph, (v, u))
    assert pair.other.digest == graph.toggled(u, v).digest
    assert f"{graph.nodes.ids[v]} - {graph.nodes.ids[u]}" in pair.name
    assert hub(graph).other.degree[graph.degree.argmax()] == 0
    assert cut_off(graph, u).other.degree[u] == 0
    free = next(w for w in range(graph.n) if w != u and w not in graph.neighbours(u))
    moved = moved_edge(graph, (u, v), (u, free))
    assert moved.other.digest == graph.toggled(u, v).toggled(u, free).digest
    assert moved.relation is Relation.EDGE_REPLACE


def test_a_node_goes_with_its_edges():
    pair = without_node(KARATE, 33)
    assert len(pair.other) == 33
    assert pair.other.number_of_edges() == 78 - 17


def test_contexts_of_edges_by_hand():
    """A triangle 0-1-2 with a tail 2-3-4."""
    graph = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])
    assert edge_scores(graph, Context.DEGREE) == {(0, 1): 4, (0, 2): 5, (1, 2): 5, (2, 3): 5, (3, 4): 3}
    assert edge_scores(graph, Context.TRIANGLES) == {(0, 1): 1, (0, 2): 1, (1, 2): 1, (2, 3): 0, (3, 4): 0}
    density = edge_scores(graph, Context.DENSITY)
    assert density[0, 1] == 1.0
    assert density[3, 4] == pytest.approx(2 / 3)
    centrality = edge_scores(graph, Context.CENTRALITY)
    assert max(centrality, key=centrality.get) == (2, 3)
    assert centrality[2, 3] == pytest.approx(6 / 10)
    assert node_scores(graph, Context.CENTRALITY)[2] == pytest.approx(4 / 6)
    assert node_scores(graph, Context.TRIANGLES) == {0: 1, 1: 1, 2: 1, 3: 0, 4: 0}
    assert node_scores(graph, Context.DENSITY)[2] == pytest.approx(1 / 3)
    assert node_scores(graph, Context.DEGREE)[2] == 3


def test_a_spread_goes_from_the_lowest_to_the_highest():
    scores = {name: k for k, name in enumerate("abcde")}
    assert spread(scores, 3) == ["a", "c", "e"]
    assert spread(scores, 9) == list("abcde")
    assert spread({"b": 1, "a": 1}, 1) == ["a"]
