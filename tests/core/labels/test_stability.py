"""Votes and the two facts that the guarantee rests on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.labels import subsample
from core.labels.classifier import filter_for
from core.labels.csbm import Recipe, load_csbm
from core.labels.plan import Plan
from core.labels.stability import count, node_rows, tally
from core.labels.subsample import seeded_words
from tests.core.labels.tiny import Table, tiny_graph


def votes_of(names: list[int]):
    return count(np.array(names, dtype=np.int64)[:, None])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.data())
def test_moving_t_votes_moves_the_difference_by_at_most_2t_and_a_larger_lead_keeps_the_first(names, data):
    moved = data.draw(st.integers(0, len(names)))
    places = data.draw(st.permutations(range(len(names))))[:moved]
    other = list(names)
    for place in places:
        other[place] = data.draw(st.integers(0, 4))
    one, two = votes_of(names), votes_of(other)
    assert abs(one.difference - two.difference) <= 2 * moved
    if one.difference > 2 * moved:
        assert (one.labels == two.labels).all()


def test_counts_by_hand():
    found = count(np.array([[1, 0], [0, 1], [1, 0], [0, 1], [2, 2]]))
    assert (found.labels.tolist(), found.first, found.second, found.vectors) == ([0, 1], 2, 2, 3)
    alone = count(np.array([[3, 3]] * 4))
    assert (alone.first, alone.second, alone.difference) == (4, 0, 4)


def test_the_tally_counts_edges_and_halts_above_the_cap():
    graph = tiny_graph(3, [(0, 1), (1, 2)])
    classifier = Table(3, lambda edges: [len(edges), 0, 0])
    bits = np.array([[1, 0], [1, 1], [1, 0], [0, 0]], dtype=bool)  # edge (0, 1) in three subgraphs, (1, 2) in one
    words = np.where(bits, 0, 2**32 - 1).astype(np.uint32).ravel()
    plan = Plan(Fraction("0.375"), 4, Fraction(1), Fraction("0.1"))
    assert plan.cap == 3
    found = tally(graph, classifier, plan, lambda size: words[:size], np.arange(3))
    assert (found.most, found.halted, found.votes.first, found.votes.labels.tolist()) == (3, False, 2, [1, 0, 0])
    assert found.frequency.tolist() == [[0.25, 0.5, 0.25], [1, 0, 0], [1, 0, 0]]
    thinner = Plan(Fraction("0.25"), 4, Fraction(1), Fraction("0.1"))
    halted = tally(graph, classifier, thinner, lambda size: words[:size], np.arange(3))
    assert halted.halted
    assert halted.release_probability == 0.0
    assert not halted.released(10**9)


def test_a_batch_changes_nothing(monkeypatch):
    dataset = load_csbm(Recipe(nodes=30, degree=8, gap=2, margin=0))
    plan = Plan(Fraction("0.2"), 60, Fraction(8), Fraction("0.01"))
    whole = tally(
        dataset.graph, filter_for(dataset, 1, -0.2), plan, seeded_words(np.random.default_rng(0)), np.arange(30)
    )
    monkeypatch.setattr(subsample, "AT_ONCE", 1000)
    parts = tally(
        dataset.graph, filter_for(dataset, 1, -0.2), plan, seeded_words(np.random.default_rng(0)), np.arange(30)
    )
    assert (whole.most, whole.votes.first, whole.votes.vectors) == (parts.most, parts.votes.first, parts.votes.vectors)
    assert (whole.frequency == parts.frequency).all()


def test_fewer_nodes_agree_at_least_as_often():
    dataset = load_csbm(Recipe(nodes=30, degree=8, gap=2, margin=0))
    plan = Plan(Fraction("0.2"), 60, Fraction(8), Fraction("0.01"))
    classifier = filter_for(dataset, 1, -0.2)
    firsts = [
        tally(dataset.graph, classifier, plan, seeded_words(np.random.default_rng(0)), np.arange(size)).votes.first
        for size in (30, 10, 3, 1)
    ]
    assert firsts == sorted(firsts)
    assert firsts[0] < firsts[-1]


@pytest.mark.parametrize("rows", [[], [1, 1], [-1], [5], [[1]]])
def test_bad_rows_are_refused(rows):
    with pytest.raises(BadInput, match="nodes: found"):
        node_rows(rows, 5)


def test_a_classifier_of_other_nodes_is_refused():
    plan = Plan(Fraction("0.2"), 6, Fraction(8), Fraction("0.01"))
    with pytest.raises(BadInput, match="one for 4 nodes, the graph has 3"):
        tally(
            tiny_graph(3, []),
            Table(4, lambda edges: [0] * 4),
            plan,
            seeded_words(np.random.default_rng(0)),
            np.arange(3),
        )
