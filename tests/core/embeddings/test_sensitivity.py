"""Bounds against every neighbour of every small graph, with and without a degree bound, projected, and smooth."""

from __future__ import annotations

import numpy as np
import pytest

from core.embeddings.counting import counts, densities
from core.embeddings.domain import Domain, OverBound
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, Pattern, clique, cycle, path, star
from core.embeddings.samplers import PatternClass, sample
from core.embeddings.sensitivity import bound, count_bound, l2, largest_density, smooth_bounds
from core.errors import BadInput
from tests.core.embeddings.brute import all_matrices, edges_of, neighbour_codes

N = 5
PATTERNS = (
    *sample(PatternClass.parse("full"), 12, 2), path(3), star(3), cycle(4), cycle(6), clique(4),
    Pattern(3, ((0, 1),)), Pattern(4, ((0, 1), (2, 3))), Pattern(5, ((0, 1), (0, 2), (1, 2), (3, 4))), Pattern(2, ()),
)  # fmt: skip


@pytest.fixture(scope="module")
def every():
    matrices = all_matrices(N)
    pairs = np.array(list(neighbour_codes(N)))
    return matrices, counts(PATTERNS, matrices), matrices.sum(axis=2).max(axis=1).astype(int), pairs


def test_no_neighbour_moves_a_count_by_more_than_its_bound(every):
    _, homs, degree, pairs = every
    change = np.abs(homs[pairs[:, 1]] - homs[pairs[:, 0]])
    for most in (1, 2, 3, 4):
        inside = degree[pairs].max(axis=1) <= most
        allowed = [count_bound(pattern, N, most) for pattern in PATTERNS]
        assert (change[inside] <= allowed).all()
        assert (homs[degree <= most] <= [largest_density(p, Domain(N, most)) * N**p.vertices for p in PATTERNS]).all()


def test_the_bound_is_the_paper_s_and_is_reached_by_edges():
    assert bound(cycle(4), Domain(10)) * 100 == 8
    assert float(bound(cycle(4), Domain(10, 5))) == pytest.approx(2 * 4 / 100 * (5 / 10) ** 2)
    assert bound(EDGE, Domain(10, 5)) * 100 == 2
    assert bound(cycle(4), Domain(10, 5, OverBound.PROJECT)) == 3 * bound(cycle(4), Domain(10, 5))
    assert l2([bound(EDGE, Domain(10)), bound(cycle(4), Domain(10))]) == pytest.approx(np.hypot(0.02, 0.08))
    one, other = (densities([EDGE], bare_graph(10, edges)) for edges in (np.empty((0, 2)), np.array([[0, 1]])))
    assert abs(one - other)[0] == pytest.approx(float(bound(EDGE, Domain(10))))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_neighbour_moves_a_projected_density_by_more_than_its_bound(every, most):
    matrices, _, _, pairs = every
    domain = Domain(N, most, OverBound.PROJECT)
    graphs = [domain.admit(bare_graph(N, edges_of(matrix))) for matrix in matrices]
    kept = np.stack([graph.adjacency.toarray() for graph in graphs])
    found = counts(PATTERNS, kept) / [N**pattern.vertices for pattern in PATTERNS]
    change = np.abs(found[pairs[:, 1]] - found[pairs[:, 0]])
    assert (change <= np.array([float(bound(pattern, domain)) for pattern in PATTERNS]) * (1 + 1e-12)).all()


@pytest.mark.parametrize("beta", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("most", [2, None])
def test_the_smooth_bound_is_smooth_and_above_the_exact_smooth_sensitivity(every, beta, most):
    """Exact: `max_G' e^(-β d(G, G')) LS(G')` over all 1,024 graphs, LS over all neighbours, within the domain."""
    _, homs, degree, pairs = every
    domain = Domain(N, most)
    inside = degree <= (N - 1 if most is None else most)
    densities_ = homs / [N**pattern.vertices for pattern in PATTERNS]
    local = np.zeros_like(densities_)
    both = pairs[inside[pairs].all(axis=1)]
    change = np.abs(densities_[both[:, 1]] - densities_[both[:, 0]])
    for end in (0, 1):
        np.maximum.at(local, both[:, end], change)
    codes = np.arange(len(homs))
    apart = np.bitwise_count(codes[:, None] ^ codes[None, inside])
    claimed = np.stack([smooth_bounds(PATTERNS, domain, d, beta) for d in degree])
    for place in range(len(PATTERNS)):
        exact = (np.exp(-beta * apart) * local[inside, place]).max(axis=1)
        assert (claimed[inside, place] >= exact[inside] * (1 - 1e-12)).all()
    one, other = claimed[both[:, 0]], claimed[both[:, 1]]
    slack = 1 + 1e-12
    assert (one <= np.exp(beta) * other * slack).all()
    assert (other <= np.exp(beta) * one * slack).all()
    assert (claimed <= [float(bound(p, Domain(N, N - 1 if most is None else most))) * slack for p in PATTERNS]).all()


def test_the_smooth_maximum_is_over_all_distances():
    domain = Domain(500, 80)
    for beta in (0.01, 0.05, 0.3, 2.0):
        for pattern in (cycle(6), star(4), Pattern(5, ((0, 1), (0, 2), (1, 2), (3, 4)))):
            power = pattern.vertices - len(pattern.components) - 1
            steps = np.arange(500)
            base = 2 * pattern.size / 500**2 * (np.minimum(10 + steps + 1, 80) / 500) ** power
            assert smooth_bounds([pattern], domain, 10, beta)[0] == pytest.approx((np.exp(-beta * steps) * base).max())


def test_smooth_and_projected_is_refused():
    with pytest.raises(BadInput, match="refuses"):
        smooth_bounds([EDGE], Domain(9, 3, OverBound.PROJECT), 2, 0.1)
