"""The attack in closed form against simulated likelihoods, the bound of (ε, δ), and no noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from core.embeddings.attack import attack, simulated_success
from core.embeddings.domain import Domain
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, TRIANGLE, cycle
from core.embeddings.plan import noise_plan
from core.errors import BadInput
from tests.core.embeddings.brute import edges_of, random_matrix

N = 10
GRAPH = bare_graph(N, edges_of(random_matrix(N, 0.5, np.random.default_rng(0))))
PAIRS = list(itertools.combinations(range(N), 2))


def test_success_is_the_normal_law_s_and_within_epsilon():
    plan = noise_plan((EDGE,), Domain(N), 2.0, 1e-3)
    report = attack(plan, GRAPH, PAIRS)
    assert report.worst == pytest.approx(ndtr(math.sqrt(2 * plan.cost.rho) / 2), rel=1e-6)
    assert report.mean == pytest.approx(report.worst)
    assert 0.5 < report.worst <= report.bound == 1 - (1 - 1e-3) / (1 + math.exp(2.0))
    assert (report.bare, report.pairs) == (1.0, len(PAIRS))
    assert report.advantage == pytest.approx(2 * report.mean - 1)


def test_simulated_likelihoods_agree():
    """40,000 draws; 5 standard errors."""
    plan = noise_plan((EDGE, TRIANGLE, cycle(4)), Domain(N), 6.0, 1e-3)
    report = attack(plan, GRAPH, [(0, 1)])
    seen = simulated_success(plan, GRAPH, (0, 1), 20_000, np.random.default_rng(1))
    assert abs(seen - report.mean) < 5 * 0.5 / math.sqrt(40_000)
    smooth = noise_plan((EDGE, TRIANGLE, cycle(4)), Domain(N), 6.0, 1e-3, smooth=True)
    assert simulated_success(smooth, GRAPH, (0, 1), 20_000, np.random.default_rng(1)) <= report.bound


def test_what_moves_no_density_is_not_seen_without_noise_either():
    plan = noise_plan((TRIANGLE,), Domain(4), 1.0, 1e-3)
    path = bare_graph(4, np.array([[0, 1], [1, 2]]))
    report = attack(plan, path, [(2, 3)])
    assert (report.bare, report.mean) == (0.5, 0.5)
    assert attack(plan, path, [(0, 2)]).bare == 1.0


def test_pairs_outside_the_domain_are_left_out():
    plan = noise_plan((EDGE,), Domain(4, 2), 1.0, 1e-3)
    path = bare_graph(4, np.array([[0, 1], [1, 2]]))
    assert attack(plan, path, [(0, 1), (1, 3)]).pairs == 1
    with pytest.raises(BadInput, match="none with both graphs in the domain"):
        attack(plan, path, [(1, 3)])
    with pytest.raises(BadInput, match="smooth"):
        attack(noise_plan((EDGE,), Domain(4), 1.0, 1e-3, smooth=True), path, [(0, 1)])
