"""A study under a foreign backbone: the same figures as under our own when the model is the same."""

from __future__ import annotations

import numpy as np
import pytest

from core.backbone.module import freeze, measured_module
from core.datasets import load
from core.errors import UnsupportedBackbone
from core.placement.diagnosis import diagnose
from core.prior.prior import PriorKind, PriorRule
from core.scoring.blackbox import BlackBoxScorer
from core.study.dump import dump
from core.study.losschain import loss_chain
from core.study.pricelist import price_list
from core.study.settings import Settings
from core.study.study import Study
from tests.core.foreign import PlainGCN

TARGETS = np.array([2, 8, 30])


@pytest.fixture(scope="module")
def own() -> Study:
    return Study(load("karate"))


@pytest.fixture(scope="module")
def foreign(own) -> Study:
    """The same two-layer GCN, as a PyG module that the project knows nothing of."""
    module = freeze(PlainGCN(own.backbone.weights), own.dataset.nodes)
    return Study(own.dataset, measured_module(own.dataset, module))


def test_it_is_scored_as_a_black_box(foreign, own):
    assert isinstance(foreign.scorer, BlackBoxScorer)
    assert (foreign.backbone.accuracy, foreign.backbone.majority) == (own.backbone.accuracy, own.backbone.majority)
    assert np.abs(foreign.margins - own.margins).max() < 1e-9


def test_uniform_releases_are_those_of_the_built_in_gcn(foreign, own):
    for target in TARGETS.tolist():
        a, b = foreign.inspect(target, 0.6, 2.0), own.inspect(target, 0.6, 2.0)
        assert a.universe.digest == b.universe.digest
        assert (a.scores.predicted == b.scores.predicted).all()
        assert a.metrics == b.metrics


def test_its_guided_prior_knows_the_snapshot_only(foreign, own):
    """At rho = 1 nothing is hidden, and the built-in GCN's prior has that one guess too."""
    guided = Settings(prior=PriorRule(PriorKind.GUIDED))
    for target in TARGETS.tolist():
        a, b = foreign.inspect(target, 1.0, 2.0, guided), own.inspect(target, 1.0, 2.0, guided)
        assert np.abs(a.distribution.prior.mass - b.distribution.prior.mass).max() < 1e-9
        assert a.public_only.valid == pytest.approx(b.public_only.valid, abs=1e-9)
    assert len(foreign.guide(2, 0.5).flips) == 3


def test_price_list_and_other_seeds_keep_the_backbone(foreign, own):
    a, b = (price_list(study, TARGETS, (0.5,), (1.0,), (0, 1), public_only=False) for study in (foreign, own))
    assert a[["valid", "ceiling", "collision"]].to_numpy() == pytest.approx(b[["valid", "ceiling", "collision"]])
    assert foreign.with_seed(5).backbone is foreign.backbone


def test_placement_noises_the_graph_under_it(foreign, own):
    a, b = (diagnose(study, TARGETS, 4.0, draws=2) for study in (foreign, own))
    assert a.to_json() == b.to_json()


def test_a_dump_leaves_its_weights_out(foreign, tmp_path):
    dump(foreign, foreign.inspect(2, 0.6, 2.0), tmp_path / "dump.npz")
    found = np.load(tmp_path / "dump.npz")
    assert {"x", "edges", "predicted", "probability"} <= found.keys()
    assert not {"W1", "W2", "W1x"} & found.keys()


def test_the_loss_chain_says_that_it_needs_the_gcn(foreign):
    with pytest.raises(UnsupportedBackbone, match="found backbone PlainGCN, expected the two-layer GCN"):
        loss_chain(foreign, TARGETS, 0.5, 2.0)
