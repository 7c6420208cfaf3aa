"""The six pairs: neighbours by one node's edges, with the restrictions that their names promise."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.audit.claims import Relation
from core.audit.privdpr.canaries import batches_seen, canaries, non_empty, real_hub, star
from core.audit.privdpr.mechanism import PrivDPR, StoredGraph
from core.errors import BadInput

SEEN = {
    "star": (1, 0),
    "A: not empty": (6, 1),
    "B: in G(n, p)": (9, 3),
    "C: connected": (6, 1),
    "D: connected, in G(n, p)": (9, 3),
    "hub of a real network": (2, 1),
}


@pytest.fixture(scope="module")
def pairs():
    return {pair.name: pair for pair in canaries()}


def test_pairs_differ_in_the_edges_of_one_node(pairs):
    assert list(pairs) == list(SEEN)
    for pair in pairs.values():
        assert pair.relation is Relation.NODE_BOUNDED
        assert list(pair.one) == list(pair.other)
        gone = set(pair.one.edges) - set(pair.other.edges)
        assert not set(pair.other.edges) - set(pair.one.edges)
        assert len(set.intersection(*(set(edge) for edge in gone))) == 1


def test_restrictions_hold_on_both_graphs(pairs):
    assert not pairs["star"].other.number_of_edges()
    assert all(pair.other.number_of_edges() for name, pair in pairs.items() if name != "star")
    for name in ("C: connected", "D: connected, in G(n, p)"):
        assert nx.is_connected(pairs[name].one) and nx.is_connected(pairs[name].other)
    for name in ("B: in G(n, p)", "D: connected, in G(n, p)"):
        one, other = pairs[name].one.number_of_edges(), pairs[name].other.number_of_edges()
        assert (one - other) / one < 0.1


def test_pairs_differ_in_how_many_batches_find_a_tie(pairs):
    """What `batches_seen` counts is what the mechanism's walks find."""
    for name, pair in pairs.items():
        assert (batches_seen(pair.one), batches_seen(pair.other)) == SEEN[name]
        for graph in (pair.one, pair.other):
            stored, rng = StoredGraph.of(graph), np.random.default_rng(0)
            starts = range(0, len(graph) - 15, 16)
            found = [len(PrivDPR()._walked(stored, np.arange(s, s + 16), rng)[0]) > 0 for s in starts]
            assert sum(found) == batches_seen(graph)


def test_the_real_network_is_the_karate_club_without_its_hub(pairs):
    club, pair = nx.karate_club_graph(), pairs["hub of a real network"]
    assert nx.is_isomorphic(pair.one, club)
    assert pair.one.degree[33] == max(dict(club.degree).values()) == 17
    assert pair.other.degree[33] == 0
    assert pair.other.number_of_edges() == club.number_of_edges() - 17


def test_sizes_and_networks_of_ones_own():
    assert batches_seen(star(40).one) == 1
    assert (batches_seen(non_empty(40).one), batches_seen(non_empty(40).other)) == (2, 1)
    davis = nx.davis_southern_women_graph()
    pair = real_hub(davis)
    assert nx.is_isomorphic(pair.one, davis)
    with pytest.raises(BadInput, match="the same graph twice"):
        real_hub(nx.empty_graph(4))


@pytest.mark.parametrize("name", SEEN)
def test_batches_that_count_are_seen_in_the_edge_count(pairs, name):
    """Means of 20 draws: where it is smallest, the gap is 5 edges and over nine standard errors."""
    rng = np.random.default_rng(0)
    counts = [
        np.array([PrivDPR()(graph, rng).number_of_edges() for _ in range(20)])
        for graph in (pairs[name].one, pairs[name].other)
    ]
    error = np.sqrt(sum(side.var() / 20 for side in counts))
    assert counts[0].mean() - counts[1].mean() > 5 * error
