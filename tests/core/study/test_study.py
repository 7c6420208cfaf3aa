from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.datasets import load
from core.errors import BadInput, Cancelled
from core.metrics import measure
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.release.prior import uniform
from core.scoring.factorised import GCNScorer
from core.snapshot import simulate
from core.study import study as module
from core.study.populations import Population, population
from core.study.pricelist import price_list
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from core.utility import UtilityConfig, evaluate


@pytest.fixture(scope="module")
def karate():
    return Study(load("karate"))


@pytest.fixture(scope="module")
def cora_study(cora, cora_backbone):
    return Study(cora, cora_backbone)


def by_hand(study, target, rho, epsilon, settings, seed=0):
    """The same figures with a snapshot cut first and everything built anew."""
    graph, weights = study.dataset.graph, study.backbone.weights
    snapshot = simulate(graph, seed).prefix(rho)
    universe = build_universe(graph.nodes, snapshot, weights, target, settings.limits, settings.arm)
    scores = GCNScorer(graph, weights).score(universe)
    utility = evaluate(scores, settings.utility)
    return measure(release_distribution(universe, utility, uniform(universe), epsilon, settings.mechanism), scores)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(arm=Arm.INERT_MASKS),
        Settings(mechanism=Mechanism.PF),
        Settings(utility=UtilityConfig(soft=True)),
    ],
    ids=["default", "inert", "pf", "soft"],
)
def test_slicing_equals_building_at_that_rho(karate, rho, settings):
    for target in (0, 8, 9, 30):
        found = karate.inspect(target, rho, 1.5, settings).metrics
        expected = by_hand(karate, target, rho, 1.5, settings)
        for name in ("valid", "ceiling", "targeted", "empty", "size", "regret", "collision"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)


def test_ceiling_and_universe_grow_with_rho(karate):
    for target in range(34):
        rows = [karate.inspect(target, rho, 1.0) for rho in (0.0, 0.25, 0.5, 0.75, 1.0)]
        for small, large in itertools.pairwise(rows):
            assert small.metrics.ceiling <= large.metrics.ceiling
            assert small.universe.shape[0] <= large.universe.shape[0]


def test_moving_sliders_scores_once(karate, monkeypatch):
    calls = []
    original = GCNScorer.score
    monkeypatch.setattr(GCNScorer, "score", lambda self, *a, **k: calls.append(1) or original(self, *a, **k))
    study = Study(karate.dataset, karate.backbone)
    for rho, epsilon in itertools.product((0.1, 0.5, 1.0), (0.1, 1.0, 8.0)):
        study.inspect(5, rho, epsilon)
    assert len(calls) == 1
    study.inspect(5, 0.5, 1.0, Settings(limits=Limits(k_edges=3)))
    assert len(calls) == 2


def test_cache_is_bounded_and_never_mixes_graphs(karate, monkeypatch):
    monkeypatch.setattr(module, "CACHED_TARGETS", 3)
    study = Study(karate.dataset, karate.backbone)
    for target in range(10):
        study.inspect(target, 0.5, 1.0)
    assert len(study._scores) == 3
    other = Study(replace(karate.dataset, graph=karate.dataset.graph.toggled(0, 33)), karate.backbone)
    assert other.inspect(0, 1.0, 1.0).degree == karate.inspect(0, 1.0, 1.0).degree + 1


def test_public_only_is_the_prior_itself(karate):
    found = karate.inspect(9, 0.6, 3.0)
    assert found.public_only.valid == pytest.approx(found.scores.flips.mean())
    assert found.public_only.collision == pytest.approx(1 / found.universe.size)


def test_candidates_are_the_most_likely_in_order(karate):
    found = karate.inspect(9, 0.6, 3.0)
    flat = found.distribution.probability.ravel()
    listed = found.candidates(6)
    assert [c.probability for c in listed] == sorted(flat.tolist(), reverse=True)[:6]
    places = [c.index[0] * found.universe.shape[1] + c.index[1] for c in listed]
    assert len(set(places)) == 6
    for candidate, place in zip(listed, places, strict=True):
        assert candidate.probability == flat[place]
    tied = [p for c, p in zip(listed, places, strict=True) if c.probability == listed[-1].probability]
    assert tied == sorted(tied)
    assert len(found.candidates(10**6)) == found.universe.size


def test_populations_follow_their_definitions(cora_study):
    test = cora_study.dataset.split.test
    margins = cora_study.margins
    drawn = population(cora_study, Population.RANDOM)
    assert len(drawn) == len(set(drawn)) == 16
    assert set(drawn) <= set(test)
    assert (drawn == population(cora_study, Population.RANDOM)).all()
    assert (drawn != population(cora_study, Population.RANDOM, seed=1)).any()
    borderline = population(cora_study, Population.BORDERLINE)
    assert sorted(margins[borderline]) == sorted(margins[test])[:10]
    quartile = np.searchsorted(
        np.quantile(margins[test], [0.25, 0.5, 0.75]), margins[population(cora_study, Population.STRATIFIED)]
    )
    assert np.bincount(quartile).tolist() == [4, 4, 4, 4]
    assert len(population(cora_study, Population.ALL)) == 2708
    p = np.sort(cora_study.probabilities, axis=1)
    assert np.allclose(margins, p[:, -1] - p[:, -2])


def test_population_errors(karate):
    with pytest.raises(BadInput, match="random, stratified"):
        Population.parse("everyone")
    with pytest.raises(BadInput, match="no list of targets"):
        population(karate, Population.LISTED)
    empty = replace(karate.dataset, split=replace(karate.dataset.split, test=np.empty(0, dtype=np.int64)))
    with pytest.raises(BadInput, match="no test nodes"):
        population(Study(empty, karate.backbone), Population.RANDOM)


def test_price_list_averages_single_inspections(karate):
    targets, rhos, epsilons, seeds = np.array([8, 9, 30]), (0.3, 1.0), (0.5, 4.0), (0, 1, 2)
    table = price_list(karate, targets, rhos, epsilons, seeds)
    assert len(table) == 4
    for row in table.itertuples():
        found = np.array(
            [
                [
                    (m.ceiling, m.valid, m.targeted, m.empty, m.size, m.regret, m.collision)
                    for target in targets
                    for m in [by_hand(karate, int(target), row.rho, row.epsilon, Settings(), seed)]
                ]
                for seed in seeds
            ]
        )
        mean = found.mean(axis=(0, 1))
        assert (row.ceiling, row.valid, row.targeted, row.empty, row.size, row.regret, row.collision) == pytest.approx(
            mean
        )
        assert row.valid_std == pytest.approx(np.std(found[:, :, 1].mean(axis=1), ddof=1))
        assert row.retention == pytest.approx(mean[1] / mean[0])
        assert (row.seeds, row.targets) == (3, 3)


def test_price_list_columns_are_the_contract(karate):
    table = price_list(karate, np.array([1]), (0.5,), (1.0,), (0,))
    assert list(table.columns) == [
        "dataset", "population", "arm", "prior", "mechanism", "sensitivity", "rho", "epsilon", "seeds", "targets",
        "ceiling", "ceiling_std", "valid", "valid_std", "public_only", "targeted", "empty", "size", "regret",
        "collision", "retention",
    ]  # fmt: skip


def test_price_list_can_be_watched_and_cancelled(karate):
    seen = []
    price_list(karate, np.arange(3), (0.5,), (1.0,), (0, 1), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 6) for k in range(7)]
    with pytest.raises(Cancelled, match="after 2 of 6"):
        price_list(karate, np.arange(3), (0.5,), (1.0,), (0, 1), cancelled=iter([False, False, True]).__next__)


@pytest.mark.parametrize(
    ("targets", "rhos", "epsilons", "message"),
    [([], (0.5,), (1.0,), "nothing"), ([0], (1.5,), (1.0,), "rho"), ([0], (0.5,), (0.0,), "epsilon")],
)
def test_bad_price_lists_are_refused(karate, targets, rhos, epsilons, message):
    with pytest.raises(BadInput, match=message):
        price_list(karate, np.array(targets, dtype=int), rhos, epsilons, (0,))
