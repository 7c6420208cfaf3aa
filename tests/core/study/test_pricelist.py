"""Streamed prices against those of one target at a time."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.backbone.module import freeze, measured_module
from core.datasets import load
from core.errors import Cancelled
from core.metrics import measure, measure_cells
from core.prior.prior import PriorKind, PriorRule
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.release.tally import FIGURES
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.factorised import GCNScorer
from core.study.plan import EPSILONS, RHOS
from core.study.pricelist import price_list
from core.study.pricing import target_prices
from core.study.settings import Settings
from core.study.study import Study
from core.threads import single_threaded
from core.universe import Arm, Limits
from core.utility import UtilityConfig
from tests.core.foreign import PlainGCN


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with single_threaded(0):
        yield


@pytest.fixture(scope="module")
def karate():
    return Study(load("karate"))


def price_targets(study, targets, epsilons=EPSILONS, settings=None, memory=None):
    return np.stack(list(target_prices(study, targets, RHOS, epsilons, settings or Settings(), memory)))


def one_at_a_time(study, targets, settings, epsilons=EPSILONS):
    """The same figures from the cells of each target, each rho, each ε by itself."""
    each = [
        [[measure_cells(study.cells(int(v), rho, eps, settings), [eps]) for eps in epsilons] for rho in RHOS]
        for v in targets
    ]
    figures = [[[[eps[name][0] for name in FIGURES] for eps in rho] for rho in target] for target in each]
    return np.array(figures).transpose(0, 3, 1, 2)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(prior=PriorRule(size_penalty=0.8)),
        Settings(arm=Arm.EDGE_ONLY),
        Settings(arm=Arm.FEATURE_ONLY, utility=UtilityConfig(sensitivity="paper")),
        Settings(arm=Arm.INERT_MASKS, limits=Limits(8, 3, 3, 1)),
        Settings(utility=UtilityConfig(soft=True), limits=Limits(6, 4, 2, 2)),
        Settings(arm=Arm.TWO_HOP, limits=Limits(6, 4, 2, 2)),
    ],
    ids=["default", "brief", "edges", "features", "inert", "soft", "two-hop"],
)
@pytest.mark.parametrize("memory", [None, 200_000])
def test_streamed_figures_equal_those_of_one_target_at_a_time(karate, settings, memory):
    targets = np.r_[33, 0, 11, 5:20]
    found = price_targets(karate, targets, settings=settings, memory=memory)
    assert np.abs(found - one_at_a_time(karate, targets, settings)).max() < 1e-12


def test_guided_figures_too(karate):
    settings = Settings(prior=PriorRule(PriorKind.GUIDED), limits=Limits(4, 3))
    expected = one_at_a_time(karate, [8, 30], settings, (0.5, 2.0))
    assert (
        np.abs(price_targets(karate, np.array([8, 30]), epsilons=(0.5, 2.0), settings=settings) - expected).max()
        < 1e-12
    )


@pytest.mark.parametrize(
    "settings",
    [
        Settings(limits=Limits(4, 3)),
        Settings(limits=Limits(4, 3), prior=PriorRule(size_penalty=0.8), arm=Arm.INERT_MASKS),
        Settings(limits=Limits(4, 3, 2, 2), utility=UtilityConfig("0.6", "0.3", "0.1", soft=True)),
        Settings(limits=Limits(4, 3), prior=PriorRule(PriorKind.GUIDED)),
    ],
    ids=["default", "brief", "soft", "guided"],
)
def test_permute_and_flip_is_priced_as_its_distribution_says(karate, settings):
    """Against `measure` of every single distribution, and unlike the exponential mechanism's figures."""
    settings = replace(settings, mechanism=Mechanism.PF)
    targets, epsilons = np.array([8, 30, 2]), (0.5, 4.0)
    found = price_targets(karate, targets, epsilons=epsilons, settings=settings)
    for (t, v), (i, rho), (j, epsilon) in itertools.product(enumerate(targets), enumerate(RHOS), enumerate(epsilons)):
        scores, utility, prior = karate.evaluated(int(v), rho, epsilon, settings)
        metrics = measure(release_distribution(scores.universe, utility, prior, epsilon, Mechanism.PF), scores)
        assert found[t, :, i, j] == pytest.approx([getattr(metrics, name) for name in FIGURES], abs=1e-12)
    other = price_targets(karate, targets, epsilons=epsilons, settings=replace(settings, mechanism=Mechanism.EM))
    valid = FIGURES.index("valid")
    assert np.abs(found - other)[:, valid].max() > 1e-3
    if settings.prior == PriorRule():
        assert (found[:, valid] >= other[:, valid] - 1e-12).all()  # never the worse of the two, flips being worth most


def test_cora_figures_equal_those_of_one_target_at_a_time(cora, cora_backbone):
    study = Study(cora, cora_backbone)
    targets = np.r_[np.arange(0, 2700, 60), int(cora.graph.degree.argmax())]
    found = price_targets(study, targets)
    assert np.abs(found - one_at_a_time(study, targets, Settings())).max() < 1e-12


def test_a_population_may_be_split_among_workers(karate):
    """A list of prices is the mean of its targets' figures, however these were shared out, in a study built anew."""
    targets = np.arange(34)
    parts = [price_targets(Study(karate.dataset, karate.backbone), part) for part in np.array_split(targets, 3)]
    whole = price_targets(karate, targets)
    assert np.abs(np.concatenate(parts) - whole).max() < 1e-12
    assert (whole == price_targets(karate, targets)).all()
    table = price_list(karate, targets, seeds=(0,), public_only=False)
    means = whole.mean(axis=0).reshape(len(FIGURES), -1)
    for name, expected in zip(FIGURES, means, strict=True):
        assert table[name].to_numpy() == pytest.approx(expected, abs=1e-12)


def test_a_uniform_list_scores_no_target_by_itself_and_remembers_none(karate, monkeypatch):
    study = Study(karate.dataset, karate.backbone)
    expected = price_list(study, np.arange(34), seeds=(0,), public_only=False)
    monkeypatch.setattr(GCNScorer, "score", None)
    again = price_list(study, np.arange(34), seeds=(0,), public_only=False)
    pd.testing.assert_frame_equal(expected, again)
    assert not study._scores


def test_a_streamed_list_can_be_cancelled_between_tasks(karate, monkeypatch):
    monkeypatch.setattr("core.study.sheet.STREAMED", 8)
    seen = []
    asked = iter([False] * 3 + [True])
    with pytest.raises(Cancelled, match="after 24 of 34"):
        price_list(
            karate, np.arange(34), seeds=(0,), public_only=False,
            progress=lambda *step: seen.append(step), cancelled=asked.__next__,
        )  # fmt: skip
    assert seen == [(0, 34), (8, 34), (16, 34)]


def test_a_slow_backbone_is_scored_once_for_lists_at_several_rho(karate, monkeypatch):
    """The screen asks for one rho after the other; forward passes over a target's candidates are remembered."""
    module = freeze(PlainGCN(karate.backbone.weights), karate.dataset.nodes)
    study = Study(karate.dataset, measured_module(karate.dataset, module))
    scored, score = [], BlackBoxScorer.score
    monkeypatch.setattr(BlackBoxScorer, "score", lambda self, *a, **k: scored.append(a) or score(self, *a, **k))
    for rho in (0.5, 1.0):
        price_list(study, np.array([2, 8]), (rho,), seeds=(0,), public_only=False)
    assert len(scored) == 2
