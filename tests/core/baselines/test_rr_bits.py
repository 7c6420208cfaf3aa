"""Randomized response on the optimum's bits: its exact output distribution on every neighbour of small graphs.

Statistical tests use fixed seeds; under other seeds each would raise a false alarm once in 10,000.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from core.baselines.rr_bits import RRBits, changes, flip_probability, membership
from core.placement.explainer import best_flip
from core.study.settings import Settings
from core.universe import Limits
from tests.core.baselines.small import make_case, make_study

SMALL = Settings(limits=Limits(k_edges=4, k_features=2, max_edges=1, max_features=1))
EPSILON = 1.5
FALSE_ALARM = 1e-4
SEED = 3


def bits_on(graph, target: int, settings: Settings, seed: int = SEED):
    """The optimum's bits on one graph, and the public universe."""
    scores = make_study(seed, n=7, graph=graph).scores(target, 0.9, settings)
    return membership(scores.universe, best_flip(scores, settings.utility)), scores.universe


def outputs(bits: np.ndarray, flip: float) -> np.ndarray:
    """Probability of each of the 2^k reports."""
    reports = np.array(list(itertools.product([False, True], repeat=len(bits))))
    wrong = (reports != bits).sum(axis=1)
    return flip**wrong * (1 - flip) ** (len(bits) - wrong)


def worst_ratio(settings: Settings, split: float) -> tuple[float, int]:
    """Largest likelihood ratio over all neighbours of a small graph, each bit with ε/(split k), and most bits moved."""
    worst, moved = 0.0, 0
    graph = make_case(SEED, n=7).graph
    for target in range(7):
        here, universe = bits_on(graph, target, settings)
        flip = flip_probability(EPSILON / split, changes(universe))
        p = outputs(here, flip)
        for u, w in itertools.combinations(range(7), 2):
            there, other = bits_on(graph.toggled(u, w), target, settings)
            assert other.digest == universe.digest
            q = outputs(there, flip)
            worst = max(worst, (p / q).max(), (q / p).max())
            moved = max(moved, int((here != there).sum()))
    return worst, moved


def test_no_output_is_more_likely_on_a_neighbour_by_more_than_e_to_epsilon():
    worst, moved = worst_ratio(SMALL, 1.0)
    assert 1 < worst <= math.exp(EPSILON) * (1 + 1e-9)
    assert 2 <= moved <= 4


def test_half_the_split_breaks_the_bound():
    """Or the test above could not fail."""
    assert worst_ratio(SMALL, 0.5)[0] > math.exp(EPSILON)


def test_each_bit_has_its_share_of_epsilon():
    for epsilon, bits in ((1.5, 4), (8.0, 10)):
        flip = flip_probability(epsilon, bits)
        assert math.log((1 - flip) / flip) == pytest.approx(epsilon / bits, rel=1e-12)
    _, universe = bits_on(make_case(SEED, n=7).graph, 3, SMALL)
    assert changes(universe) == 2 + 2
    wide = Settings(limits=Limits(k_edges=4, k_features=2, max_edges=2, max_features=3))
    universe = bits_on(make_case(SEED, n=7).graph, 3, wide)[1]
    assert changes(universe) == len(universe.edge_pairs) + 2 == 6


def test_membership_is_the_optimum():
    study = make_study(1)
    for target in range(9):
        scores = study.scores(target, 0.9, SMALL)
        best, universe = best_flip(scores, SMALL.utility), scores.universe
        bits = membership(universe, best)
        pairs, dims = np.split(bits, [len(universe.edge_pairs)])
        wanted = (best.edges.tolist(), best.features.tolist()) if best else ([], [])
        assert universe.edge_pairs[pairs].tolist() == wanted[0]
        assert universe.feature_dims[dims].tolist() == wanted[1]


def test_sessions_draw_from_that_distribution():
    study, runs = make_study(SEED, n=7), 1500
    target = next(row for row in range(7) if bits_on(study.dataset.graph, row, SMALL)[0].any())
    bits, universe = bits_on(study.dataset.graph, target, SMALL)
    explain = RRBits().session(study, EPSILON, 0.9, SMALL, np.random.default_rng(0))
    counts = dict.fromkeys(itertools.product([False, True], repeat=len(bits)), 0)
    for _ in range(runs):
        finding = explain(target)
        edges = [pair in finding.pairs.tolist() for pair in universe.edge_pairs.tolist()]
        counts[(*edges, *np.isin(universe.feature_dims, finding.features).tolist())] += 1
    expected = outputs(bits, flip_probability(EPSILON, changes(universe))) * runs
    assert expected.min() > 5
    assert stats.chisquare(list(counts.values()), expected).pvalue > FALSE_ALARM


def test_certified_with_pure_epsilon():
    stated = RRBits().guarantee(2.0, SMALL)
    assert (stated.certified, stated.epsilon, stated.delta) == (True, 2.0, 0.0)
