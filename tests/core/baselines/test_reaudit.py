"""The re-audit: neighbours that reach the target, moves that are recomputed, figures by their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.baselines.cfgnn import Descent, public_universe
from core.baselines.field import reach
from core.baselines.privcf_out import PrivCFOut, mask_logits
from core.baselines.reaudit import Move, Reaudit, near_pairs, reaudit
from core.errors import BadInput, Cancelled
from tests.core.baselines.small import SETTINGS, make_study
from tests.core.foreign import long_case
from tests.core.placement.test_calibration import hockey_stick

QUICK = PrivCFOut(descent=Descent(iterations=40, rate=0.3, beta=0.01))


def made(moves: list[Move]) -> Reaudit:
    return Reaudit(8.0, 1e-5, PrivCFOut().sigma(8.0), 0.5, tuple(moves))


def test_every_move_is_that_of_two_optimisations_from_scratch():
    study = make_study(1)
    found = reaudit(study, [3, 5], 8.0, 0.8, SETTINGS, QUICK, pairs=6)
    assert len(found.moves) == 12
    for move in found.moves:
        universe = public_universe(study, 0.8, SETTINGS, move.target)
        other = study.dataset.graph.toggled(*move.pair)
        logits = [mask_logits(study.scorer.on(g), universe, QUICK.descent) for g in (study.dataset.graph, other)]
        change = logits[0] - logits[1]
        assert move.existed == (other.m < study.dataset.graph.m)
        assert move.distance == pytest.approx(math.sqrt((change**2).sum()))
        assert move.entry == pytest.approx(np.abs(change).max())
        assert move.jump == (((logits[0] < 0) != (logits[1] < 0)).any())
    assert {move.existed for move in found.moves} == {True, False}
    assert found.sensitivity > 1


def test_figures_are_those_of_the_moves():
    moves = [Move(0, (0, 1), True, 0.0, 0.0, False), Move(0, (1, 2), False, 3.0, 2.0, True),
             Move(4, (0, 1), True, 5.0, 4.0, True)]  # fmt: skip
    found = made(moves)
    assert found.jumps == pytest.approx(2 / 3)
    assert (found.sensitivity, found.jump_sensitivity) == (5.0, 4.0)
    assert float(hockey_stick(found.sigma, found.implied_epsilon, 5.0)) == pytest.approx(1e-5, rel=1e-6)
    assert float(hockey_stick(found.sigma, found.jump_epsilon, 4.0)) == pytest.approx(1e-5, rel=1e-6)
    figures = found.to_json()
    assert (figures["targets"], figures["pairs"], figures["moved"]) == (2, 3, pytest.approx(2 / 3))
    still = made(moves[:1])
    assert (still.jump_sensitivity, still.jump_epsilon, still.implied_epsilon, still.entry_auc) == (None, None, 0, 0.5)


def test_the_auc_is_the_chance_to_order_two_noised_entries():
    """A million pairs of draws; false alarm one in 10,000 at four standard errors."""
    found = made([Move(0, (0, 1), True, 2.0, 0.7, True)])
    rng = np.random.default_rng(0)
    here, there = rng.normal(0.7, found.sigma, 1_000_000), rng.normal(0.0, found.sigma, 1_000_000)
    assert (here > there).mean() == pytest.approx(found.entry_auc, abs=4 * 0.5 / 1000)


def test_pairs_are_distinct_and_reach_the_target():
    graph = long_case(0).graph
    for target in (5, 20):
        edges = set(map(tuple, reach(graph, target).tolist()))
        near = {node for edge in edges for node in edge}
        pairs = near_pairs(graph, target, 10, np.random.default_rng(0))
        assert len(set(pairs)) == len(pairs) == 10
        present = [pair for pair in pairs if graph.contains(np.array([pair]))[0]]
        assert len(present) == 5
        assert set(present) <= edges
        assert all(u < w and near & {u, w} for u, w in pairs)


def test_bad_arguments_are_refused_and_a_stop_is_heard():
    study = make_study(1)
    for change, match in (({"epsilon": 0.0}, "epsilon"), ({"pairs": 0}, "pairs"), ({"targets": []}, "no pair"),
                          ({"targets": [9]}, "target row"), ({"rho": 2.0}, "rho")):  # fmt: skip
        given = {"targets": [0], "epsilon": 1.0, "rho": 0.5, "settings": SETTINGS, "method": QUICK, **change}
        with pytest.raises(BadInput, match=match):
            reaudit(study, **given)
    with pytest.raises(Cancelled):
        reaudit(study, [0], 1.0, settings=SETTINGS, method=QUICK, cancelled=lambda: True)
