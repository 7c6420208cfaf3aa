"""Counts against every map one by one, closed forms and NetworkX; float results against exact integers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.embeddings.counting import EXACT, adjacency_of, contract, counts, densities, hom_exact, plan, rounding
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, TRIANGLE, Pattern, clique, cycle, path, star
from core.embeddings.samplers import PatternClass, sample
from core.errors import BadInput
from tests.core.embeddings.brute import brute_hom, edges_of, random_matrix

MIXED = (
    Pattern(1, ()),
    Pattern(3, ((0, 1),)),
    Pattern(4, ((0, 1), (2, 3))),
    Pattern(5, ((0, 1), (0, 2), (1, 2), (3, 4))),
)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), density=st.floats(0, 1), n=st.integers(2, 5))
def test_counts_are_the_maps_counted_one_by_one(seed, density, n):
    matrix = random_matrix(n, density, np.random.default_rng(seed))
    patterns = [one for one in sample(PatternClass.parse("full"), 6, seed) if one.vertices <= 5]
    patterns += [*MIXED, star(3), cycle(5)]
    expected = [brute_hom(pattern, matrix) for pattern in patterns]
    assert counts(patterns, matrix).tolist() == expected
    assert counts(patterns, sparse.csr_array(matrix)).tolist() == expected
    assert counts(patterns, torch.tensor(matrix)).tolist() == expected
    assert [hom_exact(pattern, matrix) for pattern in patterns] == expected


def test_closed_forms():
    rng = np.random.default_rng(1)
    matrix = random_matrix(40, 0.3, rng)
    degree = matrix.sum(axis=1)
    eigenvalues = np.linalg.eigvalsh(matrix)
    walks = np.linalg.matrix_power(matrix, 4)
    assert counts([EDGE], matrix)[0] == matrix.sum()
    assert counts([path(5)], matrix)[0] == walks.sum()
    for leaves in (2, 3, 5):
        assert counts([star(leaves)], matrix)[0] == (degree**leaves).sum()
    for length in range(3, 12):
        assert counts([cycle(length)], matrix)[0] == pytest.approx((eigenvalues**length).sum(), rel=1e-9)
    assert counts([Pattern(7, ())], matrix)[0] == 40**7


def test_networkx_finds_the_same_triangles_and_cliques():
    graph = nx.gnp_random_graph(30, 0.4, seed=2)
    matrix = nx.to_numpy_array(graph)
    cliques = [one for one in nx.enumerate_all_cliques(graph) if len(one) == 4]
    assert counts([TRIANGLE], matrix)[0] == 6 * sum(nx.triangles(graph).values()) / 3
    assert counts([clique(4)], matrix)[0] == 24 * len(cliques)


@pytest.mark.parametrize("name", ["tree", "cycle"])
def test_fast_paths_agree_with_the_general_contraction(name):
    matrix = random_matrix(25, 0.4, np.random.default_rng(3))
    for pattern in sample(PatternClass.parse(name), 20, 0):
        assert counts([pattern], matrix)[0] == contract(pattern, matrix)


def test_a_stack_is_counted_graph_by_graph():
    rng = np.random.default_rng(4)
    stack = np.stack([random_matrix(9, density, rng) for density in (0.0, 0.3, 0.6, 1.0)])
    patterns = [*sample(PatternClass.parse("treewidth:3"), 12, 0), *MIXED]
    assert np.array_equal(counts(patterns, stack), [counts(patterns, matrix) for matrix in stack])
    assert np.array_equal(counts(patterns, torch.tensor(stack)), counts(patterns, stack))


def test_floats_stay_within_the_rounding_that_is_claimed_and_are_exact_below_2_to_53():
    matrix = random_matrix(60, 0.8, np.random.default_rng(5))
    beyond = 0
    for pattern in [*sample(PatternClass.parse("treewidth:2"), 9, 6), cycle(8), cycle(10), path(11), star(10)]:
        exact = hom_exact(pattern, matrix)
        found = counts([pattern], matrix)[0]
        if 60**pattern.vertices <= EXACT:
            assert found == exact
        else:
            beyond += 1
            assert abs(int(found) - exact) <= rounding(pattern, 60) * exact
    assert beyond >= 3
    assert rounding(EDGE, 60) < 1e-15 < rounding(cycle(10), 60) < 1e-11


def test_the_contraction_is_as_wide_as_the_tree_decomposition():
    for name in ("treewidth:2", "treewidth:3"):
        for pattern in sample(PatternClass.parse(name), 20, 1):
            assert plan(pattern, 50).width <= pattern.treewidth + (pattern.size > 10)


def test_what_does_not_fit_in_memory_is_refused():
    with pytest.raises(BadInput, match="take patterns of smaller treewidth"):
        plan(clique(6), 1000)


def test_densities_are_shares_of_all_maps_and_sparse_is_dense():
    rng = np.random.default_rng(6)
    patterns = [EDGE, TRIANGLE, path(4), cycle(7)]
    for density in (0.02, 0.6):
        matrix = random_matrix(60, density, rng)
        graph = bare_graph(60, edges_of(matrix))
        assert sparse.issparse(adjacency_of(graph)) == (density < 0.05)
        expected = [brute_or_trace(pattern, matrix) / 60**pattern.vertices for pattern in patterns]
        assert densities(patterns, graph) == pytest.approx(expected, rel=1e-12)


def brute_or_trace(pattern: Pattern, matrix: np.ndarray) -> float:
    if pattern.cycle:
        return float(np.trace(np.linalg.matrix_power(matrix, pattern.vertices)))
    return float(np.linalg.matrix_power(matrix, pattern.size).sum())


def test_a_missing_device_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(BadInput, match="expected cpu"):
        densities([EDGE], bare_graph(3, np.array([[0, 1]])), "cuda")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_counts_the_same():
    matrix = random_matrix(80, 0.5, np.random.default_rng(7))
    graph = bare_graph(80, edges_of(matrix))
    patterns = sample(PatternClass.parse("treewidth:3"), 20, 0)
    assert densities(patterns, graph, "cuda") == pytest.approx(densities(patterns, graph), rel=1e-12)
