from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from core.audit.claims import Claim, Pair, Relation, as_networkx
from core.errors import BadInput
from tests.core.smallgraphs import make_case

PATH = nx.path_graph(4)


def changed(add=(), drop=(), without=None, **attributes):
    graph = PATH.copy()
    graph.add_edges_from(add)
    graph.remove_edges_from(drop)
    if without is not None:
        graph.remove_node(without)
    nx.set_node_attributes(graph, attributes, "colour")
    return graph


FITTING = {
    Relation.EDGE: [changed(add=[(0, 2)]), changed(drop=[(1, 2)])],
    Relation.EDGE_REPLACE: [changed(add=[(0, 3)], drop=[(0, 1)]), changed(add=[(0, 2)], drop=[(2, 3)])],
    Relation.NODE_BOUNDED: [
        changed(drop=[(0, 1), (1, 2)]), changed(drop=[(1, 2)]), changed(add=[(1, 3)], drop=[(0, 1)]),
    ],
    Relation.NODE_UNBOUNDED: [changed(without=0), changed(without=1)],
}  # fmt: skip
UNFIT = {
    Relation.EDGE: [PATH, changed(add=[(0, 2), (0, 3)]), changed(add=[(0, 3)], drop=[(0, 1)]), changed(without=0)],
    Relation.EDGE_REPLACE: [PATH, changed(drop=[(0, 1)]), changed(add=[(0, 2), (0, 3)], drop=[(0, 1)])],
    Relation.NODE_BOUNDED: [PATH, changed(drop=[(0, 1), (2, 3)]), changed(without=3)],
    Relation.NODE_UNBOUNDED: [PATH, changed(drop=[(0, 1)]), changed(add=[(0, 3)], without=1), nx.path_graph(2)],
}


@pytest.mark.parametrize(("relation", "other"), [(r, g) for r, graphs in FITTING.items() for g in graphs])
def test_neighbours_are_taken_in_either_order(relation, other):
    assert Pair("p", PATH, other, relation).relation is relation
    Pair("p", other, PATH, relation)


@pytest.mark.parametrize(("relation", "other"), [(r, g) for r, graphs in UNFIT.items() for g in graphs])
def test_what_are_no_neighbours_is_refused_in_either_order(relation, other):
    for pair in ((PATH, other), (other, PATH)):
        with pytest.raises(BadInput, match=f"pair p: found .*, expected neighbours by relation {relation}: "):
            Pair("p", *pair, relation)


@pytest.mark.parametrize("relation", FITTING)
def test_attributes_are_public_and_must_agree(relation):
    other = FITTING[relation][0].copy()
    other.nodes[3]["colour"] = "red"
    with pytest.raises(BadInput, match="found nodes whose attributes differ"):
        Pair("p", PATH, other, relation)


def test_private_graphs_are_compared_by_id():
    case = make_case(3)
    other = case.graph.toggled(0, 1)
    assert Pair("p", case.graph, other, Relation.EDGE)
    with pytest.raises(BadInput, match=r"found \d edges added and \d removed, expected"):
        Pair("p", case.graph, other.toggled(2, 3), Relation.EDGE)
    assert Pair("p", case.graph, other.toggled(0, 3), Relation.NODE_BOUNDED)
    with pytest.raises(BadInput, match="nodes whose attributes differ"):
        Pair("p", case.graph, make_case(4).graph, Relation.EDGE)


@pytest.mark.parametrize("graph", [nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1)]), "path"])
def test_other_kinds_of_graphs_are_refused(graph):
    with pytest.raises(BadInput, match="expected two undirected simple graphs"):
        Pair("p", graph, PATH, Relation.EDGE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2, 3], [1, 2]), ([1, 2, 3], [2, 3]), ([1, 2, 3], [1, 3]), ([1, 2, 3], [1, 5, 3]), ([1], []),
        ([1, 1, 1], [1, 1]), (np.eye(3), np.eye(3)[:2]), (((1, 0),), ((0, 1),)), ([2, 2], [2, 3]),
    ],
)  # fmt: skip
def test_one_record_may_differ(one, other):
    assert Pair("p", one, other, Relation.RECORD)
    assert Pair("p", other, one, Relation.RECORD)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ([1, 2], [1, 2], "the same records twice"),
        ([1, 2, 3], [1], "3 records against 1"),
        ([1, 2, 3], [1, 3, 2], "more than one record"),
        ([1, 2, 3], [3, 2], "more than one record"),
        ([], [], "the same records twice"),
        ("abc", "abd", "a str in the place of a list"),
        ({1: 2}, [1], "a dict in the place of a list"),
    ],
)
def test_more_or_fewer_records_are_refused(one, other, found):
    with pytest.raises(BadInput, match=found):
        Pair("p", one, other, Relation.RECORD)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (math.nan, 0), (-1, 0), (1, -0.1), (1, 1), (1, math.nan)])
def test_a_bad_claim_is_refused(epsilon, delta):
    with pytest.raises(BadInput, match="claimed"):
        Claim(epsilon, Relation.EDGE, delta)


def test_names_of_relations():
    assert Claim(1, "edge").relation is Relation.EDGE
    with pytest.raises(BadInput, match="relation: found 'row', expected one of: edge, edge-replace, node-bounded"):
        Claim(1, "row")


def test_a_private_graph_becomes_one_on_its_rows():
    graph = make_case(5).graph
    made = as_networkx(graph)
    assert sorted(made) == list(range(graph.n))
    assert sorted(map(sorted, made.edges)) == graph.edges.tolist()
    assert as_networkx(made) is made
