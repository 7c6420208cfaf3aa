"""Samplers: members of the class, all of them reached, the same for one seed."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from networkx.generators.atlas import graph_atlas_g
from scipy import stats

from core.embeddings.patterns import Pattern
from core.embeddings.samplers import Family, PatternClass, isomorphic, partial_k_tree, random_tree, sample
from core.errors import BadInput


@pytest.mark.parametrize("name", ["tree", "cycle", "treewidth:1", "treewidth:2", "treewidth:3", "full"])
def test_patterns_are_distinct_members_of_their_class(name):
    kind = PatternClass.parse(name)
    patterns = sample(kind, 25, seed=3)
    assert kind.name == name
    assert sample(kind, 25, seed=3) == patterns
    for place, pattern in enumerate(patterns):
        assert pattern.connected and 2 <= pattern.vertices <= kind.most_vertices
        assert not any(isomorphic(pattern, other) for other in patterns[:place])
        if name in ("tree", "treewidth:1"):
            assert pattern.tree
        if name == "cycle":
            assert pattern.cycle
        if kind.family is Family.TREEWIDTH:
            assert pattern.treewidth <= kind.width
    if name != "cycle":
        assert sample(kind, 25, seed=4) != patterns


def test_a_small_class_is_exhausted_and_no_more():
    """Six cycles of at most 8, all trees of at most 5 vertices (1 + 1 + 2 + 3)."""
    assert [pattern.vertices for pattern in sample(PatternClass(Family.CYCLE), 50, 0)] == [3, 4, 5, 6, 7, 8]
    assert len(sample(PatternClass(Family.TREE, most_vertices=5), 50, 0)) == 7


def test_full_support_reaches_every_connected_graph():
    """All 30 connected graphs on 2 to 5 vertices: 1 + 2 + 6 + 21."""
    found = sample(PatternClass(Family.FULL, growth=0.9, widening=0.8, most_vertices=5), 50, 1)
    assert len(found) == 30


@pytest.mark.filterwarnings("ignore:The hashes produced")  # of a change in NetworkX 3.5
def test_partial_two_trees_reach_every_connected_graph_of_treewidth_two():
    rng = np.random.default_rng(0)
    seen = {nx.weisfeiler_lehman_graph_hash(nx.Graph(partial_k_tree(5, 2, rng).edges)) for _ in range(1_500)}
    connected = [graph for graph in graph_atlas_g() if len(graph) == 5 and nx.is_connected(graph)]
    narrow = [graph for graph in connected if Pattern(5, tuple(graph.edges)).treewidth <= 2]
    wanted = {nx.weisfeiler_lehman_graph_hash(graph) for graph in narrow}
    assert seen == wanted


def test_labelled_trees_are_uniform():
    """16 trees on 4 vertices, 8,000 draws; false-alarm rate 1e-4."""
    rng = np.random.default_rng(5)
    seen = Counter(random_tree(4, rng).edges for _ in range(8_000))
    assert len(seen) == 16
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


@pytest.mark.parametrize("text", ["", "trees", "treewidth", "treewidth:0", "treewidth:9", "tree:2"])
def test_unknown_classes_are_refused(text):
    with pytest.raises(BadInput, match="expected one of: tree, cycle"):
        PatternClass.parse(text)


def test_chances_and_sizes_are_checked():
    for wrong in ({"growth": 1.0}, {"widening": 0.0}, {"most_vertices": 1}, {"width": 0}):
        with pytest.raises(BadInput):
            PatternClass(Family.FULL, **wrong)
    with pytest.raises(BadInput, match="cycle"):
        PatternClass(Family.CYCLE, most_vertices=2)
