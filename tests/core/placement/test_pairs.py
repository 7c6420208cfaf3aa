"""Random pair sets against enumeration and integrals.

Statistical tests use fixed seeds; under other seeds each would raise a false alarm once in 10,000.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from core.graph import PrivateGraph, pair_keys
from core.placement.pairs import noisy_top, pair_total, random_non_edges, random_subset
from tests.core.smallgraphs import make_nodes

FALSE_ALARM = 1e-4


def make_graph(n: int, m: int, seed: int = 0) -> PrivateGraph:
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    return PrivateGraph(make_nodes(rng, n), rng.permutation(pairs)[:m])


@pytest.mark.parametrize(("pool", "size"), [(6, 2), (6, 3), (6, 5), (4, 4), (3, 0), (0, 0)])
def test_random_subset_makes_every_set_equally_likely(pool, size):
    rng = np.random.default_rng(1)
    sets = list(itertools.combinations(range(pool), size))
    counts = dict.fromkeys(sets, 0)
    for _ in range(200 * len(sets)):
        counts[tuple(random_subset(pool, size, rng).tolist())] += 1
    assert len(counts) == len(sets)
    assert len(sets) == 1 or stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_random_non_edges_are_uniform_over_the_pairs_without_an_edge():
    graph, rng = make_graph(7, 9), np.random.default_rng(2)
    absent = [p for p in itertools.combinations(range(7), 2) if p not in set(map(tuple, graph.edges.tolist()))]
    counts = dict.fromkeys(itertools.combinations(absent, 2), 0)
    for _ in range(4000):
        drawn = sorted(map(tuple, random_non_edges(graph, 2, rng).tolist()))
        counts[tuple(drawn)] += 1
    assert len(counts) == math.comb(12, 2)
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_all_non_edges_are_the_complement():
    for m in (0, 1, 20, 21):
        graph = make_graph(7, m)
        rest = random_non_edges(graph, 21 - m, np.random.default_rng(3))
        together = np.concatenate([graph.edges, rest])
        assert sorted(map(tuple, together.tolist())) == list(itertools.combinations(range(7), 2))


def test_pairs_of_a_large_node_set_stay_in_range():
    n = 300_000
    nodes = make_nodes(np.random.default_rng(0), n, features=1)
    graph = PrivateGraph(nodes, np.array([[0, 1], [17, 299_999], [299_998, 299_999]]))
    pairs = random_non_edges(graph, 50_000, np.random.default_rng(4))
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert pairs.min() >= 0
    assert pairs.max() < n
    assert len(np.unique(pair_keys(pairs, n))) == 50_000
    # The mean smaller end of a random pair is N/3, the larger one 2N/3.
    assert pairs.mean(axis=0) == pytest.approx([n / 3, 2 * n / 3], rel=0.01)


def kept_probability(edges: int, absent: int, m: int, law) -> np.ndarray:
    """P(j of the m largest values are edges), from the density of the m-th largest value."""

    def chance(count: int, above: int, x: float) -> float:
        if not 0 <= above <= count:
            return 0.0
        return math.comb(count, above) * law.sf(x) ** above * law.cdf(x) ** (count - above)

    def density(x: float, j: int) -> float:
        edge_last = edges * law.pdf(x - 1) * chance(edges - 1, j - 1, x - 1) * chance(absent, m - j, x)
        absent_last = absent * law.pdf(x) * chance(edges, j, x - 1) * chance(absent - 1, m - j - 1, x)
        return edge_last + absent_last

    limit = 40 * law.std()
    return np.array([integrate.quad(density, -limit, limit, (j,), limit=400, points=[0, 1])[0] for j in range(m + 1)])


@pytest.mark.parametrize("law", [stats.norm(scale=0.6), stats.laplace(scale=0.7)], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("m", [3, 6, 11])
def test_noisy_top_has_the_distribution_of_its_dense_definition(law, m):
    graph, rng, runs = make_graph(6, 5), np.random.default_rng(5), 3000
    edges = set(map(tuple, graph.edges.tolist()))
    kept = np.zeros(m + 1)
    seen = dict.fromkeys(itertools.combinations(range(6), 2), 0)
    for _ in range(runs):
        drawn = list(map(tuple, noisy_top(graph, m, law, rng).tolist()))
        assert len(set(drawn)) == m
        kept[len(edges.intersection(drawn))] += 1
        for pair in drawn:
            seen[pair] += 1
    expected = kept_probability(5, 10, m, law)
    assert expected.sum() == pytest.approx(1, abs=1e-6)
    common = expected * runs >= 5
    observed = np.append(kept[common], kept[~common].sum())
    wanted = np.append(expected[common], max(1 - expected[common].sum(), 1e-9)) * runs
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > FALSE_ALARM
    # Inclusions within a kind are negatively correlated, so the chi-square test errs on the quiet side.
    assert stats.chisquare([seen[p] for p in seen if p in edges]).pvalue > FALSE_ALARM
    assert stats.chisquare([seen[p] for p in seen if p not in edges]).pvalue > FALSE_ALARM


@pytest.mark.parametrize("edges", [0, 5, 15])
@pytest.mark.parametrize("m", [0, 15])
def test_noisy_top_at_its_ends(edges, m):
    graph = make_graph(6, edges)
    assert len(noisy_top(graph, m, stats.norm(), np.random.default_rng(6))) == m


def test_noise_of_scale_nought_keeps_the_edges():
    graph = make_graph(8, 10)
    drawn = noisy_top(graph, 10, stats.norm(scale=1e-6), np.random.default_rng(7))
    assert graph.with_edges(drawn).digest == graph.digest


def test_pair_total_counts_pairs():
    assert [pair_total(n) for n in (1, 2, 5)] == [0, 1, 10]
