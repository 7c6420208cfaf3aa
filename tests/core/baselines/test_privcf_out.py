"""PrivCF-out: the noise of the assumption it makes, on logits that are really optimised, and what is selected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.baselines.cfgnn import Descent, public_universe
from core.baselines.privcf_out import PrivCFOut, mask_logits
from core.baselines.selection import select
from core.errors import BadInput
from core.placement.calibration import Calibration
from core.scoring.factorised import GCNScorer
from tests.core.baselines.small import SETTINGS, flips, make_study
from tests.core.baselines.test_field import weighted_logits
from tests.core.placement.test_calibration import hockey_stick
from tests.core.smallgraphs import Case

QUICK = Descent(iterations=60, rate=0.2, beta=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_the_noise_is_that_of_a_sensitivity_of_1(epsilon):
    sigma = PrivCFOut().sigma(epsilon)
    assert float(hockey_stick(sigma, epsilon, 1.0)) == pytest.approx(1e-5, rel=1e-7)
    classical = PrivCFOut(calibration=Calibration.CLASSICAL)
    assert classical.sigma(epsilon) == pytest.approx(math.sqrt(2 * math.log(125_000)) / epsilon)


def test_it_is_not_certified_and_says_why():
    stated = PrivCFOut().guarantee(8.0, SETTINGS)
    assert not stated.certified
    assert (stated.epsilon, stated.delta) == (8.0, 1e-5)
    assert "assumed" in stated.reason


@pytest.mark.parametrize("target", [0, 4, 8])
def test_the_mask_is_optimised_for_the_stated_loss(target):
    """Its loss by dense matrices falls far below that of the start, and the same graph gives the same logits."""
    study = make_study(2)
    scorer = study.scorer
    universe = public_universe(study, 0.8, SETTINGS, target)
    logits = mask_logits(scorer, universe, QUICK)
    case = Case(study.dataset.graph, study.snapshot, study.backbone.weights)

    def loss(at: np.ndarray) -> float:
        gates, split = 1 / (1 + np.exp(-at)), len(universe.edge_pairs)
        out = weighted_logits(case, target, universe.edge_pairs, universe.feature_dims, gates[:split], gates[split:])
        original = int(scorer.clean[target].argmax())
        return out[original] - np.log(np.exp(out).sum()) + QUICK.beta * (1 - gates).sum()

    start = np.full(len(logits), QUICK.start)
    assert loss(logits) < loss(start) - 0.05
    assert (logits == mask_logits(GCNScorer(case.graph, case.weights), universe, QUICK)).all()
    absent = ~case.graph.contains(universe.edge_pairs)
    assert (logits[: len(absent)][absent] > QUICK.start).all()


def test_a_release_is_the_selection_from_the_noised_logits():
    class Ones:
        def standard_normal(self, size):
            return np.linspace(-1.0, 1.0, size)

    study, method = make_study(2), PrivCFOut(descent=QUICK)
    explain = method.session(study, 0.1, 0.8, SETTINGS, Ones())
    silent = []
    for target in range(9):
        universe = public_universe(study, 0.8, SETTINGS, target)
        logits = mask_logits(study.scorer, universe, QUICK)
        noised = logits + method.sigma(0.1) * np.linspace(-1.0, 1.0, len(logits))
        pairs, features = select(noised, universe)
        finding = explain(target)
        assert finding.pairs.tolist() == pairs.tolist()
        assert finding.features.tolist() == features.tolist()
        assert finding.valid == flips(study, target, pairs, features)
        silent.append(select(logits, universe)[1].tolist() == features.tolist())
    assert not all(silent)


def test_selection_takes_the_lowest_negative_logits_within_the_limits():
    universe = public_universe(make_study(0), 1.0, SETTINGS, 3)
    assert (len(universe.edge_pairs), len(universe.feature_dims)) == (4, 3)
    for logits, edges, masks in (
        ([-1.0, -3.0, 2.0, -2.0, -0.1, 0.0, 5.0], [1, 3], [0]),
        ([1.0, 3.0, 2.0, 2.0, -0.3, -0.1, -0.2], [], [0, 2]),
        ([-1.0, 3.0, 2.0, 2.0, 0.0, 0.0, 0.0], [0], []),
    ):
        pairs, features = select(np.array(logits), universe)
        assert pairs.tolist() == universe.edge_pairs[edges].tolist()
        assert features.tolist() == universe.feature_dims[masks].tolist()


def test_a_bad_delta_is_refused():
    with pytest.raises(BadInput, match="delta"):
        PrivCFOut(delta=1.0)
