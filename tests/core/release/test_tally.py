"""Counts by kind against the cells of one target at a time."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.metrics import measure_cells
from core.prior.prior import uniform
from core.release.cells import gather
from core.release.tally import FIGURES, Kinds, Tally
from core.snapshot import Snapshot
from core.universe import Arm, Limits
from core.utility import UtilityConfig, evaluate
from tests.core.handmade import make_scores

EPSILONS = [1e-3, 0.5, 8.0, 1e5]
ONE_HOP = [arm for arm in Arm if not arm.two_hop]
WEIGHTS = [
    UtilityConfig(),
    UtilityConfig(sensitivity="paper"),
    UtilityConfig(w_flip=Fraction(1), w_size=Fraction(0), w_plausible=Fraction(0)),
    UtilityConfig(w_flip=Fraction(0), w_size=Fraction(1), w_plausible=Fraction(0)),
]


@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(0, 0), (3, 0), (0, 3), (5, 4)]),
    limits=st.sampled_from([Limits(max_edges=2, max_features=2), Limits(max_edges=3, max_features=1), Limits(4, 4, 0)]),
    arm=st.sampled_from(ONE_HOP),
    config=st.sampled_from(WEIGHTS),
    penalty=st.sampled_from([0.0, 0.8, 20.0]),
    rate=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_figures_equal_those_of_sliced_cells(seed, shape, limits, arm, config, penalty, rate):
    rng = np.random.default_rng(seed)
    drawn = [make_scores(rng, *shape, limits, arm, rate) for _ in range(3)]
    pairs = np.array([[0, u + 1] for u in range(max(1, shape[0]))])
    others = np.array(list(itertools.combinations(range(1, 8), 2)))
    snapshot = Snapshot(np.concatenate([others[:4], pairs[:2], others[4:9], pairs[2:]]), 8, simulated=False)
    stops = [len(snapshot), 0, 5, 11, 5]
    tally = Tally(snapshot, limits, stops)
    for scores in drawn:
        tally.add(scores)
    counts = tally.take()
    figures = Kinds.of(config, limits, arm, penalty).figures(counts.reshape(-1, counts.shape[2]), EPSILONS)
    figures = figures.reshape(len(FIGURES), 3, len(stops), len(EPSILONS))
    for (i, scores), (j, stop) in itertools.product(enumerate(drawn), enumerate(stops)):
        sliced = scores.with_pairs(int(np.searchsorted(snapshot.incident(0), stop)))
        assert counts[i, j].sum() == sliced.universe.size
        cells = gather(sliced, evaluate(sliced, config), uniform(sliced.universe, penalty))
        expected = measure_cells(cells, EPSILONS)
        for name, found in zip(FIGURES, figures[:, i, j], strict=True):
            assert found == pytest.approx(expected[name], abs=1e-12), name


def test_a_tally_forgets_what_was_taken():
    limits = Limits(max_edges=2, max_features=2)
    snapshot = Snapshot(np.array([[0, 1], [0, 2]]), 3, simulated=False)
    first, second = (make_scores(np.random.default_rng(seed), 2, 2, limits) for seed in (0, 1))
    tally = Tally(snapshot, limits, [2])
    tally.add(first)
    tally.take()
    tally.add(second)
    alone = Tally(snapshot, limits, [2])
    alone.add(second)
    assert (tally.take() == alone.take()).all()


def test_bad_budgets_are_refused():
    kinds = Kinds.of(UtilityConfig(), Limits(), Arm.FULL)
    with pytest.raises(BadInput, match="epsilon"):
        kinds.figures(np.ones((1, len(kinds.values))), [0.0])
