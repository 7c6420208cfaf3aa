"""Graph-level releases against their dense definitions, exactly where the outcomes can be listed.

Statistical tests use fixed seeds; under other seeds each would raise a false alarm once in 10,000.
"""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from scipy import sparse, stats

from core.errors import BadInput
from core.graph import Nodes, PrivateGraph
from core.placement.calibration import Calibration, analytic_sigma
from core.placement.mechanisms import Gaussian, GraphMechanism, Laplace, RandomizedResponse, graph_release
from tests.core.placement.test_pairs import FALSE_ALARM, make_graph

RELEASES = [Gaussian(), Laplace(), RandomizedResponse()]


def bare_graph(n: int, m: int) -> PrivateGraph:
    """A random graph of any size whose nodes bear one empty feature."""
    rng = np.random.default_rng(0)
    nodes = Nodes(tuple(map(str, range(n))), sparse.csr_array((n, 1)), ("a",), ("x", "y"))
    ends = np.sort(rng.integers(n, size=(m + m // 10 + 10, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    return PrivateGraph(nodes, rng.permutation(ends)[:m])


def dense_gaussian(graph: PrivateGraph, release: Gaussian, epsilon: float, rng: np.random.Generator) -> set:
    """The definition word for word: a noised N x N matrix, averaged with its transpose, top pairs."""
    noised = graph.adjacency.toarray() + rng.normal(scale=release.sigma(epsilon), size=(graph.n, graph.n))
    scores = (noised + noised.T) / 2
    pairs = list(itertools.combinations(range(graph.n), 2))
    count = round(graph.m + rng.laplace(scale=1 / (release.count_share * epsilon)))
    pairs.sort(key=lambda pair: -scores[pair])
    return set(pairs[: max(count, 0)])


def test_gaussian_release_matches_the_dense_matrix():
    graph, release, runs = make_graph(7, 8), Gaussian(count_share=0.5), 2000
    edges = set(map(tuple, graph.edges.tolist()))
    tables = np.zeros((2, 22, 9))
    for run in range(runs):
        rng = np.random.default_rng([8, run])
        for row, drawn in enumerate(
            (
                set(map(tuple, release.release(graph, 6.0, rng).edges.tolist())),
                dense_gaussian(graph, release, 6.0, rng),
            )
        ):
            tables[row, len(drawn), len(drawn & edges)] += 1
    table = tables.reshape(2, -1)
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    assert table.shape[1] > 10
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


@pytest.mark.parametrize("release", [Gaussian(), Laplace()], ids=["gaussian", "laplace"])
def test_the_edge_count_has_rounded_laplace_noise(release):
    graph, epsilon, runs = make_graph(10, 20), 10.0, 2000
    rng = np.random.default_rng(9)
    shift = np.array([release.release(graph, epsilon, rng).m - 20 for _ in range(runs)])
    law = stats.laplace(scale=1 / (0.1 * epsilon))
    bins = np.arange(-4, 5)
    expected = np.diff(law.cdf(np.append(bins - 0.5, bins[-1] + 0.5)))
    expected[0] += law.cdf(bins[0] - 0.5)
    expected[-1] += law.sf(bins[-1] + 0.5)
    observed = [(np.clip(shift, -4, 4) == value).sum() for value in bins]
    assert stats.chisquare(observed, expected * runs).pvalue > FALSE_ALARM


def outcome_probability(flip: float, truth: frozenset, outcome: frozenset) -> float:
    changed = len(truth ^ outcome)
    return flip**changed * (1 - flip) ** (6 - changed)


def every_graph_on_four_nodes() -> list[frozenset]:
    pairs = list(itertools.combinations(range(4), 2))
    return [frozenset(chosen) for k in range(7) for chosen in itertools.combinations(pairs, k)]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 8.0])
def test_randomized_response_ratio_between_neighbours_is_exactly_e_to_epsilon(epsilon):
    flip = RandomizedResponse().flip(epsilon)
    graphs = every_graph_on_four_nodes()
    assert len(graphs) == 64
    worst = 0.0
    for truth in graphs:
        chances = [outcome_probability(flip, truth, outcome) for outcome in graphs]
        assert sum(chances) == pytest.approx(1, abs=1e-12)
        for pair in itertools.combinations(range(4), 2):
            other = [outcome_probability(flip, truth ^ {pair}, outcome) for outcome in graphs]
            worst = max(worst, *(p / q for p, q in zip(chances, other, strict=True)))
    assert worst == pytest.approx(math.exp(epsilon), rel=1e-12)


def test_randomized_response_draws_every_graph_with_its_exact_probability():
    graph, rng, runs = make_graph(4, 3), np.random.default_rng(10), 15_000
    release = RandomizedResponse()
    truth = frozenset(map(tuple, graph.edges.tolist()))
    counts = dict.fromkeys(every_graph_on_four_nodes(), 0)
    for _ in range(runs):
        counts[frozenset(map(tuple, release.release(graph, 1.0, rng).edges.tolist()))] += 1
    expected = [runs * outcome_probability(1 / (1 + math.e), truth, outcome) for outcome in counts]
    assert min(expected) > 5
    assert stats.chisquare(list(counts.values()), expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0])
def test_noise_levels_leave_the_count_its_share(epsilon):
    assert Gaussian().sigma(epsilon) == pytest.approx(analytic_sigma(0.9 * epsilon, 1e-5, math.sqrt(2)), rel=1e-12)
    assert Gaussian(count_share=0.25).sigma(epsilon) == pytest.approx(
        analytic_sigma(0.75 * epsilon, 1e-5, math.sqrt(2)), rel=1e-12
    )
    assert Laplace().scale(epsilon) == pytest.approx(1 / (0.9 * epsilon))
    assert RandomizedResponse().flip(epsilon) == pytest.approx(1 / (1 + math.exp(epsilon)))
    for release in RELEASES[:2]:
        assert release.parameters(epsilon)["count_epsilon"] == pytest.approx(0.1 * epsilon)


def test_the_classical_calibration_is_certified_only_where_it_is_proven():
    release = Gaussian(calibration=Calibration.CLASSICAL)
    assert release.parameters(1.0)["certified"] is True
    assert release.parameters(8.0)["certified"] is False
    assert all(mechanism.parameters(8.0)["certified"] is True for mechanism in RELEASES)
    assert [mechanism.parameters(8.0)["delta"] for mechanism in RELEASES] == [1e-5, 0.0, 0.0]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.kind.value)
def test_noise_falls_as_epsilon_grows(release):
    graph = make_graph(30, 60)
    kept = []
    for epsilon in (0.1, 3.0, 200.0):
        noised = release.release(graph, epsilon, np.random.default_rng(11))
        assert noised.nodes is graph.nodes
        kept.append(graph.contains(noised.edges).sum() / max(noised.m, 1))
    assert kept == sorted(kept)
    assert kept[-1] == 1
    assert noised.digest == graph.digest


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.kind.value)
def test_the_generator_alone_decides_the_draw(release):
    graph = make_graph(20, 40)
    first, again, other = (release.release(graph, 2.0, np.random.default_rng(seed)).digest for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.kind.value)
@pytest.mark.parametrize("edges", [0, 1, 2, 3])
def test_three_nodes_are_enough(release, edges):
    for seed in range(20):
        assert 0 <= release.release(make_graph(3, edges), 0.5, np.random.default_rng(seed)).m <= 3


@pytest.mark.parametrize("release", RELEASES[:2], ids=["gaussian", "laplace"])
def test_memory_is_that_of_the_edges_and_not_of_all_pairs(release):
    graph = bare_graph(15_000, 161_000)
    assert graph.m == 161_000
    tracemalloc.start()
    noised = release.release(graph, 1.0, np.random.default_rng(12))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert noised.m == pytest.approx(161_000, abs=300)
    assert peak < 64 * 2**20  # all pairs in single precision are 429 MiB


@pytest.mark.parametrize(("release", "epsilon"), [(RandomizedResponse(), 1.0), (Laplace(), 1e-6), (Gaussian(), 1e-6)])
def test_a_release_that_would_not_fit_is_refused_without_naming_the_edges(release, epsilon):
    messages = set()
    for m in (100, 3000):
        with pytest.raises(BadInput, match=r"raise epsilon or take a smaller graph") as caught:
            release.release(bare_graph(15_000, m), epsilon, np.random.default_rng(13))
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert "30,253," in messages.pop() or release.kind is not GraphMechanism.RR


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.kind.value)
@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1"])
def test_bad_epsilon_is_refused(release, epsilon):
    with pytest.raises(BadInput, match="epsilon"):
        release.release(make_graph(4, 2), epsilon, np.random.default_rng(0))


def test_bad_settings_are_refused():
    with pytest.raises(BadInput, match=r"'noise'.*gaussian, laplace, rr"):
        GraphMechanism.parse("noise")
    with pytest.raises(BadInput, match="share of epsilon"):
        Laplace(count_share=1.0)
    with pytest.raises(BadInput, match="share of epsilon"):
        Gaussian(count_share=0.0)
    with pytest.raises(BadInput, match="delta"):
        Gaussian(delta=0.0)


def test_a_kind_names_its_mechanism():
    assert [type(graph_release(kind)) for kind in GraphMechanism] == [Gaussian, Laplace, RandomizedResponse]
