"""The re-implemented data flow of PrivDPR, part by part, against its description."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from core.audit.privdpr.mechanism import PrivDPR, StoredGraph, _categorical, _Learning
from core.errors import BadInput


def pair_loss(stored, score, heads, tails, damping):
    """Mean PageRank residual of the pairs, as published, up to a constant."""
    out, into = stored.out_degree[heads], stored.in_degree[tails]
    residual = score[heads] / out - score[tails] / (into * damping)
    first = into * damping**2 * residual**2
    return (first + 2 * damping * (1 - damping) / stored.n * residual).mean()


def test_ties_are_stored_from_the_earlier_node_to_the_later():
    graph = nx.Graph()
    graph.add_nodes_from("dbca")
    graph.add_edges_from(["ab", "bd", "cd", "ac"])
    stored = StoredGraph.of(graph)
    ends = [stored.ends[s : s + k].tolist() for s, k in zip(stored.start, stored.out_degree, strict=True)]
    assert ends == [[1, 2], [3], [3], []]
    assert stored.in_degree.tolist() == [0, 1, 1, 2]
    assert (StoredGraph.of(nx.empty_graph(3)).out_degree == 0).all()


def test_walks_follow_stored_ties_and_stop_where_none_leads_on():
    graph = nx.gnp_random_graph(40, 0.08, seed=3)
    directed = nx.DiGraph([tuple(sorted(edge)) for edge in graph.edges])
    directed.add_nodes_from(graph)
    stored, mechanism = StoredGraph.of(graph), PrivDPR()
    heads, tails = mechanism._walked(stored, np.arange(16), np.random.default_rng(0))
    assert 0 < len(heads) <= 16 * 2 * 16
    for head, tail in zip(heads.tolist(), tails.tolist(), strict=True):
        assert tail in nx.descendants(directed, head)
    longest = nx.dag_longest_path_length(directed)
    assert np.bincount(heads).max() <= 2 * longest
    assert set(heads.tolist()) == {node for node in range(16) if directed.out_degree[node]}


def test_first_steps_are_drawn_evenly():
    """Chi-square over 4 ends of 20,000 walks: a correct walk fails with probability 1e-6."""
    stored = StoredGraph.of(nx.star_graph(4))
    mechanism = PrivDPR(walks=20_000, steps=1)
    heads, tails = mechanism._walked(stored, np.array([0]), np.random.default_rng(0))
    assert (heads == 0).all()
    assert chisquare(np.bincount(tails, minlength=5)[1:]).pvalue > 1e-6


def test_the_draw_has_the_law_of_the_largest_entry_under_gumbel_noise():
    """Chi-square of either way to draw against the softmax, 40,000 draws: fails with probability 2e-6 if correct."""
    rng = np.random.default_rng(1)
    logits = np.array([0.0, 1.0, -2.0, 0.5])
    expected = np.exp(logits) / np.exp(logits).sum() * 40_000
    ours = np.bincount(_categorical(np.tile(logits, (40_000, 1)), rng), minlength=4)
    gumbel = np.bincount(((logits + rng.gumbel(size=(40_000, 4))) / 0.5).argmax(axis=1), minlength=4)
    for counts in (ours, gumbel):
        assert chisquare(counts, expected).pvalue > 1e-6


def test_slopes_are_those_of_the_pagerank_loss():
    rng = np.random.default_rng(2)
    stored, mechanism = StoredGraph.of(nx.gnp_random_graph(20, 0.3, seed=1)), PrivDPR()
    heads, tails = mechanism._walked(stored, np.arange(16), rng)
    score = rng.uniform(0.1, 0.9, size=20)
    slope = _Learning(mechanism, 20, rng)._residual_slope(stored, score, heads, tails)
    for v in range(20):
        step = np.eye(20)[v] * 1e-6
        ends = [pair_loss(stored, score + sign * step, heads, tails, mechanism.damping) for sign in (1, -1)]
        assert slope[v] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def learnt(epsilon, rounds=3):
    """What one run has learnt after some rounds, from the same seed whatever ε is."""
    rng = np.random.default_rng(3)
    stored = StoredGraph.of(nx.gnp_random_graph(32, 0.3, seed=1))
    mechanism = PrivDPR(epsilon=epsilon)
    learning = _Learning(mechanism, 32, rng)
    for _ in range(rounds):
        learning.step(stored, *mechanism._walked(stored, np.arange(16), rng))
    return learning


def test_noise_goes_onto_the_embeddings_and_onto_nothing_else():
    """One step: embeddings move with the noise, the weights of the score by the bare gradient, whatever ε is."""
    weak, strong = learnt(1e9, 1), learnt(0.1, 1)
    assert not np.allclose(weak.embedding, strong.embedding, atol=1e-4)
    assert (weak._weight == strong._weight).all() and weak._bias == strong._bias


def test_noise_has_the_published_scale():
    """σ = clip sqrt(2 ln(1.25 T / δ)) / ε with T rounds."""
    learning = _Learning(PrivDPR(epsilon=0.5), 40, np.random.default_rng(0))
    assert learning._noise == pytest.approx(5 * np.sqrt(2 * np.log(1.25 * 2 / 1e-5)) / 0.5)


def test_every_node_draws_once_after_each_batch_that_found_a_tie():
    """Two of four batches have a tie to follow; a draw of oneself, one in thirty at most, is dropped."""
    graph = nx.empty_graph(70)
    graph.add_edges_from([(3, 69), (40, 66), (64, 65)])  # rows 64 on start no walk
    scores = PrivDPR().scores(StoredGraph.of(graph), np.random.default_rng(0))
    assert (scores == scores.T).all() and not scores.diagonal().any()
    assert 0.85 * 2 * 70 < scores.sum() / 2 <= 2 * 70


@pytest.mark.parametrize("ties", [[], [(16, 17), (17, 18)]], ids=["no tie at all", "ties beyond the last whole batch"])
def test_no_tie_seen_means_no_edge_out(ties):
    graph = nx.empty_graph(20)
    graph.add_edges_from(ties)
    for seed in range(5):
        released = PrivDPR()(graph, np.random.default_rng(seed))
        assert released.number_of_nodes() == 20 and not released.number_of_edges()


def test_each_node_first_draws_one_edge_by_its_scores():
    scores = np.zeros((6, 6))
    for u, v in ((0, 1), (2, 3), (3, 4)):
        scores[u, v] = scores[v, u] = 1.0
    for seed in range(20):
        edges = set(map(tuple, PrivDPR().edges(scores, np.random.default_rng(seed)).tolist()))
        assert edges == {(0, 1), (2, 3), (3, 4)}  # the ends of a path have no choice, node 5 none at all


def test_edges_are_added_up_to_a_share_of_the_pairs_with_a_score():
    """600 nodes: 179,700 pairs, all but one with a score, so round(179,699 / 250) = 719 edges."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.integers(1, 4, size=(600, 600)), k=1).astype(float)
    upper[0, 1] = 0
    edges = PrivDPR().edges(upper + upper.T, rng)
    assert len(edges) == 719
    assert len({tuple(edge) for edge in edges.tolist()}) == 719
    assert (edges[:, 0] < edges[:, 1]).all()
    assert (upper[tuple(edges.T)] > 0).all()


def test_edges_that_stand_already_are_not_drawn_again():
    """Each node takes its only heavy tie; all 419 edges that are added are others, however light."""
    scores = np.ones((600, 600)) - np.eye(600)
    scores[np.arange(600), np.arange(600) ^ 1] = 1e9
    edges = PrivDPR().edges(scores, np.random.default_rng(0))
    assert len({tuple(edge) for edge in edges.tolist()}) == len(edges) == round(179_700 / 250)
    assert {(2 * k, 2 * k + 1) for k in range(300)} <= set(map(tuple, edges.tolist()))


def test_a_release_keeps_the_nodes_and_is_made_of_its_seed():
    graph = nx.relabel_nodes(nx.karate_club_graph(), str)
    one, again, other = (PrivDPR()(graph, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert list(one) == list(graph)
    assert set(one.edges) == set(again.edges) != set(other.edges)
    assert not list(nx.selfloop_edges(one))


def test_a_bad_budget_is_refused():
    for epsilon, delta in ((0.0, 1e-5), (float("nan"), 1e-5), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(BadInput):
            PrivDPR(epsilon, delta)
