"""RR and DPRR: distribution of one pair, expected degrees, and the exact ratio of one edge's reports."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from core.embeddings.baselines import Baseline, DegreePreserving
from core.embeddings.graphset import bare_graph
from core.embeddings.sbm import BlockClass
from core.errors import BadInput

DRAWS = 3_000


def test_dprr_keeps_degrees_and_rr_does_not():
    """On a sparse graph at ε = 2: RR grows a degree of 8 to 40, DPRR keeps it. Within 5 standard errors."""
    graph = BlockClass("sparse", 1, 0.03, 0.0).draw(300, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    kept = np.mean([Baseline.DPRR.release(graph, 2.0, rng).m for _ in range(40)])
    spread = np.mean([Baseline.RR.release(graph, 2.0, rng).m for _ in range(40)])
    assert kept == pytest.approx(graph.m, rel=0.15)
    assert spread == pytest.approx(graph.m + expit(-2.0) * (300 * 299 / 2 - 2 * graph.m), rel=0.02)


def test_rr_reports_a_pair_with_the_odds_of_epsilon():
    """Share of draws that hold the one edge, and one non-edge; 5 standard errors, false-alarm rate below 1e-6 each."""
    graph = bare_graph(4, np.array([[0, 1]]))
    rng = np.random.default_rng(2)
    seen = np.array([Baseline.RR.release(graph, 1.0, rng).contains(np.array([[0, 1], [2, 3]])) for _ in range(DRAWS)])
    chance = np.array([expit(1.0), expit(-1.0)])
    assert (np.abs(seen.mean(axis=0) - chance) < 5 * np.sqrt(chance * (1 - chance) / DRAWS)).all()


def test_dprr_keeps_a_pair_with_the_rr_chance_times_that_of_its_larger_end():
    """Degrees are exact in the limit of a large share of a large ε: `q = d / (d (1 - 2f) + (n - 1) f)` for end 1."""
    graph = bare_graph(4, np.array([[0, 1], [1, 2]]))
    method = DegreePreserving(degree_share=0.999)
    epsilon = 2_000.0
    flip = expit(-(epsilon - 0.999 * epsilon))
    keep = 2 / (2 * (1 - 2 * flip) + 3 * flip)
    rng = np.random.default_rng(3)
    seen = np.mean([method.release(graph, epsilon, rng).contains(np.array([[0, 1]]))[0] for _ in range(DRAWS)])
    chance = min(keep, 1.0) * (1 - flip)
    assert abs(seen - chance) < 5 * math.sqrt(chance * (1 - chance) / DRAWS)


def test_noisy_degrees_pay_for_both_ends_of_an_edge():
    """20,000 degrees of 0 at ε = 0.5 against Laplace noise of scale 2/ε; false-alarm rate 1e-4."""
    empty = bare_graph(20_000, np.empty((0, 2)))
    noise = DegreePreserving().noisy_degrees(empty, 0.5, np.random.default_rng(4))
    assert stats.kstest(noise, "laplace", (0, 4)).pvalue > 1e-4


def test_settings_are_checked():
    with pytest.raises(BadInput, match="share"):
        DegreePreserving(1.0)
    for baseline in Baseline:
        with pytest.raises(BadInput, match="epsilon"):
            baseline.release(bare_graph(4, np.array([[0, 1]])), 0.0, np.random.default_rng(0))
