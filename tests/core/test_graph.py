from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core.errors import BadInput
from core.graph import Graph, Nodes, PrivateGraph, PublicGraph, canonical_pairs
from tests.core.smallgraphs import make_case, make_nodes


@given(seed=st.integers(0, 10_000), density=st.floats(0, 1), kind=st.sampled_from([PrivateGraph, PublicGraph]))
def test_agrees_with_networkx(seed, density, kind):
    given_graph = make_case(seed, density=density).graph
    graph = kind(given_graph.nodes, given_graph.edges)
    other = nx.Graph()
    other.add_nodes_from(range(graph.n))
    other.add_edges_from(graph.edges.tolist())
    assert graph.m == other.number_of_edges()
    assert graph.degree.tolist() == [other.degree(v) for v in range(graph.n)]
    assert all(graph.neighbours(v).tolist() == sorted(other.neighbors(v)) for v in range(graph.n))
    everything = np.array([[u, v] for u in range(graph.n) for v in range(u + 1, graph.n)])
    assert graph.contains(everything).tolist() == [other.has_edge(*pair) for pair in everything.tolist()]


@given(seed=st.integers(0, 10_000), u=st.integers(0, 8), v=st.integers(0, 8))
def test_toggle_changes_one_pair_and_back(seed, u, v):
    graph = make_case(seed).graph
    if u == v:
        with pytest.raises(BadInput, match="itself"):
            graph.toggled(u, v)
        return
    other = graph.toggled(u, v)
    difference = set(map(tuple, graph.edges)) ^ set(map(tuple, other.edges))
    assert difference == {(min(u, v), max(u, v))}
    assert graph.digest != other.digest
    assert other.toggled(v, u).digest == graph.digest


def test_printing_a_graph_does_not_print_its_edges():
    one, other = make_case(1).graph, make_case(1).graph.toggled(0, 1)
    assert repr(one) == repr(other) == "PrivateGraph(9 nodes, private edges)"


def test_public_and_private_graphs_are_never_taken_for_each_other():
    """Type checking keeps a private graph out of whatever asks for a public one, and nothing compares equal."""
    case = make_case(1)
    private, public = case.graph, PublicGraph(case.graph.nodes, case.graph.edges)
    assert isinstance(private, Graph) and isinstance(public, Graph)
    assert not isinstance(private, PublicGraph)
    assert not isinstance(public, PrivateGraph)
    assert private != public
    assert not {"toggled", "with_edges", "digest"} & set(dir(public))


def test_neighbours_of_a_private_graph_are_private():
    graph = make_case(1).graph
    for other in (graph.toggled(0, 1), graph.with_edges(graph.edges[1:])):
        assert type(other) is PrivateGraph
        assert repr(other) == repr(graph)


@pytest.mark.parametrize("kind", [PrivateGraph, PublicGraph])
def test_edges_of_a_graph_are_sorted_and_fixed(kind):
    nodes = make_nodes(np.random.default_rng(0), 4)
    graph = kind(nodes, np.array([[3, 1], [2, 0], [1, 0]]))
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 3]]
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[0, 0] = 2


def test_digest_does_not_depend_on_the_order_of_edges():
    graph = make_case(1).graph
    assert PrivateGraph(graph.nodes, graph.edges[::-1, ::-1]).digest == graph.digest


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (np.array([[0, 9]]), "outside 0..4"),
        (np.array([[-1, 2]]), "outside 0..4"),
        (np.array([[2, 2]]), "itself"),
        (np.array([[0.5, 1.0]]), "whole numbers"),
        (np.array([0, 1]), "k x 2"),
    ],
)
def test_bad_pairs_are_refused(pairs, message):
    with pytest.raises(BadInput, match=message):
        canonical_pairs(pairs, 5)


@pytest.mark.parametrize("kind", [PrivateGraph, PublicGraph])
def test_repeated_edges_are_refused(kind):
    nodes = make_nodes(np.random.default_rng(0), 4)
    with pytest.raises(BadInput, match="1 repeated"):
        kind(nodes, np.array([[0, 1], [1, 0]]))


@pytest.mark.parametrize(
    ("ids", "x", "names", "message"),
    [
        (("a", "a"), np.eye(2), ("f", "g"), "1 distinct ids"),
        (("a",), np.eye(2), ("f", "g"), "for 2 feature rows"),
        (("a", "b"), np.eye(2), ("f",), "1 feature names for 2"),
        (("a", "b"), np.array([[1, np.nan], [0, 1]]), ("f", "g"), "not finite"),
        ((), np.zeros((0, 2)), ("f", "g"), "at least one"),
    ],
)
def test_bad_nodes_are_refused(ids, x, names, message):
    with pytest.raises(BadInput, match=message):
        Nodes(ids, sparse.csr_array(x), names, ("c",))


def test_unknown_node_id_names_what_was_found():
    with pytest.raises(BadInput, match=r"'zoe'.*such as 'n0'"):
        make_nodes(np.random.default_rng(0), 4).row("zoe")
