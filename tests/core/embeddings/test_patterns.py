"""Patterns: structure, and treewidth against its definition over elimination orders."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from networkx.generators.atlas import graph_atlas_g

from core.embeddings.patterns import EDGE, TRIANGLE, Pattern, clique, cycle, path, star
from core.errors import BadInput


def eliminated_width(pattern: Pattern) -> int:
    """Least over all orders of the largest degree met while vertices are removed and their neighbours tied."""
    best = pattern.vertices
    for order in itertools.permutations(range(pattern.vertices)):
        graph = nx.Graph(pattern.edges)
        graph.add_nodes_from(range(pattern.vertices))
        width = 0
        for vertex in order:
            near = list(graph[vertex])
            width = max(width, len(near))
            graph.add_edges_from(itertools.combinations(near, 2))
            graph.remove_node(vertex)
        best = min(best, width)
    return best


def test_treewidth_is_the_best_elimination_order_on_all_graphs_of_five_vertices():
    for graph in graph_atlas_g():
        if 1 <= len(graph) <= 5:
            pattern = Pattern(len(graph), tuple(graph.edges))
            assert pattern.treewidth == eliminated_width(pattern), pattern.edges


@pytest.mark.parametrize(("pattern", "width"), [(path(9), 1), (star(5), 1), (cycle(30), 2), (clique(6), 5)])
def test_treewidth_of_known_families(pattern, width):
    assert pattern.treewidth == width


def test_families_have_their_shape():
    assert (path(4).size, star(4).size, cycle(4).size, clique(4).size) == (3, 4, 4, 6)
    assert path(4).tree and not path(4).star and star(4).star and star(4).tree
    assert cycle(3) == TRIANGLE == clique(3)
    assert cycle(5).cycle and not clique(4).cycle
    assert Pattern(4, ((0, 1), (2, 3))).components == ((0, 1), (2, 3))
    assert not Pattern(6, ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5))).cycle


def test_a_digest_is_of_the_structure():
    assert Pattern(2, ((1, 0),), "other name").digest == EDGE.digest
    assert len({EDGE.digest, TRIANGLE.digest, path(3).digest, Pattern(3, ((0, 1),)).digest}) == 4


@pytest.mark.parametrize("edges", [((0, 0),), ((0, 1), (1, 0)), ((0, 3),), ((-1, 0),)])
def test_what_is_no_simple_graph_is_refused(edges):
    with pytest.raises(BadInput, match="expected distinct pairs"):
        Pattern(3, edges)
