from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets import load
from core.errors import BadInput, Cancelled
from core.graph import PrivateGraph, PublicGraph
from core.metrics import measure
from core.prior.guided import Guide
from core.prior.prior import PriorKind, PriorRule, uniform
from core.prior.scenarios import PublicModel
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
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


GUIDED = Settings(prior=PriorRule(PriorKind.GUIDED))


def by_hand(study, target, rho, epsilon, settings, seed=0):
    """The same figures, and the valid rate of the public alone, with a snapshot cut first and everything built anew."""
    graph, weights = study.dataset.graph, study.backbone.weights
    snapshot = simulate(graph, seed).prefix(rho)
    universe = build_universe(graph.nodes, snapshot, weights, target, settings.limits, settings.arm)
    scores = GCNScorer(graph, weights).score(universe)
    utility = evaluate(scores, settings.utility)
    guide = Guide(universe, PublicModel(graph.nodes, snapshot, weights, rho).scenarios(universe))
    penalty = settings.prior.size_penalty
    if settings.prior.kind is PriorKind.GUIDED:
        prior = guide.prior(epsilon, settings.utility, penalty)
    else:
        prior = uniform(universe, penalty)
    release = measure(release_distribution(universe, utility, prior, epsilon, settings.mechanism), scores)
    return release, guide.prior(0.0, UtilityConfig()).mass[scores.flips].sum()


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(arm=Arm.INERT_MASKS),
        Settings(mechanism=Mechanism.PF),
        Settings(utility=UtilityConfig(soft=True)),
        Settings(prior=PriorRule(size_penalty=0.8)),
        GUIDED,
        replace(GUIDED, mechanism=Mechanism.PF, arm=Arm.INERT_MASKS),
        replace(GUIDED, utility=UtilityConfig(soft=True, sensitivity="paper")),
        Settings(prior=PriorRule(PriorKind.GUIDED, 0.8), limits=Limits(k_edges=2)),
        Settings(arm=Arm.TWO_HOP),
        replace(GUIDED, arm=Arm.TWO_HOP_INERT_MASKS, utility=UtilityConfig(soft=True), limits=Limits(k_edges=6)),
    ],
    ids=[
        "default",
        "inert",
        "pf",
        "soft",
        "brief",
        "guided",
        "guided pf",
        "guided soft",
        "guided brief",
        "two-hop",
        "guided two-hop",
    ],
)
def test_slicing_equals_building_at_that_rho(karate, rho, settings):
    for target in (0, 8, 9, 30):
        found = karate.inspect(target, rho, 1.5, settings)
        expected, alone = by_hand(karate, target, rho, 1.5, settings)
        for name in ("valid", "ceiling", "targeted", "empty", "size", "regret", "collision"):
            assert getattr(found.metrics, name) == pytest.approx(getattr(expected, name), abs=1e-12)
        assert found.public_only.valid == pytest.approx(alone, abs=1e-12)


def test_ceiling_and_universe_grow_with_rho(karate):
    for target in range(34):
        rows = [karate.inspect(target, rho, 1.0) for rho in (0.0, 0.25, 0.5, 0.75, 1.0)]
        for small, large in itertools.pairwise(rows):
            assert small.metrics.ceiling <= large.metrics.ceiling
            assert small.universe.shape[0] <= large.universe.shape[0]


@pytest.mark.parametrize("settings", [Settings(), GUIDED], ids=["uniform", "guided"])
def test_moving_sliders_scores_once(karate, monkeypatch, settings):
    scored, models = [], []
    score, build = GCNScorer.score, PublicModel.__init__
    monkeypatch.setattr(
        GCNScorer, "score", lambda self, *a, **k: scored.append(type(self.graph)) or score(self, *a, **k)
    )
    monkeypatch.setattr(PublicModel, "__init__", lambda self, *a, **k: models.append(1) or build(self, *a, **k))
    study = Study(karate.dataset, karate.backbone)
    for rho, epsilon in itertools.product((0.1, 0.5, 1.0), (0.1, 1.0, 8.0)):
        study.inspect(5, rho, epsilon, settings)
    assert scored.count(PrivateGraph) == 1
    assert scored.count(PublicGraph) == len(models) == 3
    study.inspect(6, 0.5, 1.0, settings)
    assert (scored.count(PrivateGraph), scored.count(PublicGraph), len(models)) == (2, 4, 3)
    study.inspect(5, 0.5, 1.0, replace(settings, limits=Limits(k_edges=3)))
    assert (scored.count(PrivateGraph), scored.count(PublicGraph), len(models)) == (3, 5, 3)


def test_two_hop_candidates_are_those_of_what_is_public_and_scored_once_for_each_rho(karate, monkeypatch):
    """A larger rho brings pairs at the target that drive pairs away from it out: no slice of the whole."""
    scored = []
    score = GCNScorer.score
    monkeypatch.setattr(
        GCNScorer, "score", lambda self, *a, **k: scored.append(type(self.graph)) or score(self, *a, **k)
    )
    study, settings = Study(karate.dataset, karate.backbone), Settings(arm=Arm.TWO_HOP, limits=Limits(k_edges=6))
    rhos = [round(0.1 * step, 1) for step in range(11)]
    outside = 0
    for target in (0, 9, 30):
        whole = {tuple(pair) for pair in study.scores(target, 1.0, settings).universe.edge_pairs.tolist()}
        for rho in rhos:
            expected = build_universe(
                karate.dataset.nodes,
                karate.snapshot.prefix(rho),
                karate.backbone.weights,
                target,
                settings.limits,
                settings.arm,
            )
            found = study.scores(target, rho, settings)
            assert found.universe.digest == expected.digest
            assert (found.predicted == score(study.scorer, expected).predicted).all()
            assert not study.ready(target, rho, settings)
            study.inspect(target, rho, 1.0, settings)
            assert study.ready(target, rho, settings)
            outside += len({tuple(pair) for pair in found.universe.edge_pairs.tolist()} - whole)
    assert outside > 0
    assert scored.count(PrivateGraph) == 3 * len(rhos)


def test_cache_is_bounded_and_never_mixes_graphs(karate, monkeypatch):
    monkeypatch.setattr(module, "CACHED_TARGETS", 3)
    monkeypatch.setattr(module, "CACHED_MODELS", 2)
    study = Study(karate.dataset, karate.backbone)
    for target in range(10):
        study.inspect(target, target / 10, 1.0)
    assert (len(study._scores), len(study._guides), len(study._models)) == (3, 3, 2)
    other = Study(replace(karate.dataset, graph=karate.dataset.graph.toggled(0, 33)), karate.backbone)
    assert other.inspect(0, 1.0, 1.0).degree == karate.inspect(0, 1.0, 1.0).degree + 1


def test_a_guide_is_remembered_for_what_it_depends_on_and_nothing_else(karate):
    base = karate.guide(30, 0.6, Settings())
    same = [
        Settings(mechanism=Mechanism.PF),
        Settings(utility=UtilityConfig(soft=True, sensitivity="paper")),
        Settings(prior=PriorRule(PriorKind.GUIDED, 3.0)),
    ]
    assert all(karate.guide(30, 0.6, settings) is base for settings in same)
    others = {
        "target": karate.guide(18, 0.6, Settings()),
        "rho": karate.guide(30, 0.5, Settings()),
        "limits": karate.guide(30, 0.6, Settings(limits=Limits(k_edges=2))),
        "arm": karate.guide(30, 0.6, Settings(arm=Arm.INERT_MASKS)),
        "seed": karate.with_seed(1).guide(30, 0.6, Settings()),
    }
    masses = {what: guide.prior(1.0, UtilityConfig()).mass for what, guide in {"base": base, **others}.items()}
    for one, other in itertools.combinations(masses, 2):
        assert not np.array_equal(masses[one], masses[other]), (one, other)
    assert karate.guide(30, 0.6, Settings()) is base


@pytest.mark.parametrize("rho", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("arm", Arm)
def test_guide_and_scores_speak_of_the_same_candidates(karate, rho, arm):
    settings = Settings(arm=arm)
    for target in (0, 9, 30):
        assert (
            karate.guide(target, rho, settings).universe.digest == karate.scores(target, rho, settings).universe.digest
        )


def test_the_base_measure_of_neighbouring_graphs_is_one_and_the_same(karate):
    graph = karate.dataset.graph
    for u, w in ((9, 33), (9, 0), (30, 8), (31, 33)):
        changed = replace(karate.dataset, graph=graph.toggled(u, w), snapshot=karate.snapshot)
        neighbour = Study(changed, karate.backbone)
        for target, settings in itertools.product((9, 30), (GUIDED, Settings(prior=PriorRule(PriorKind.GUIDED, 1.0)))):
            here, there = (study.inspect(target, 0.6, 2.0, settings) for study in (karate, neighbour))
            assert np.array_equal(here.distribution.prior.mass, there.distribution.prior.mass)
    assert neighbour.margins.tolist() != karate.margins.tolist()


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        GUIDED,
        Settings(prior=PriorRule(PriorKind.GUIDED, 1.0), arm=Arm.EDGE_ONLY),
        replace(GUIDED, utility=UtilityConfig(soft=True, sensitivity="paper")),
    ],
    ids=["uniform", "guided", "guided edges", "guided soft"],
)
def test_inspection_follows_from_prior_and_utility(karate, settings):
    for target, epsilon in itertools.product((9, 30), (0.1, 1.0, 8.0)):
        found = karate.inspect(target, 0.6, epsilon, settings)
        prior = found.distribution.prior.mass
        bound = 1.0 if settings.utility.sensitivity == "paper" else 0.96
        weight = prior * np.exp(epsilon * found.distribution.utility.fractions / (2 * bound))
        probability = weight / weight.sum()
        assert np.abs(found.distribution.probability - probability).max() < 1e-12
        public = karate.guide(target, 0.6, settings).prior(0.0, UtilityConfig()).mass
        flips, sizes = found.scores.flips, found.universe.sizes
        kinds = (found.metrics, probability), (found.prior_alone, prior), (found.public_only, public)
        for metrics, mass in kinds:
            assert metrics.valid == pytest.approx(mass[flips].sum(), abs=1e-12)
            assert metrics.empty == pytest.approx(mass[0, 0], abs=1e-12)
            assert metrics.size == pytest.approx((mass * sizes).sum(), abs=1e-12)
            assert metrics.collision == pytest.approx((mass**2).sum(), abs=1e-12)
            assert metrics.ceiling == float(flips.any())
        assert found.metrics.retention == (pytest.approx(found.metrics.valid) if flips.any() else None)


def test_public_only_is_one_figure_whatever_is_released(karate):
    seen = [
        karate.inspect(30, 0.6, epsilon, Settings(mechanism=mechanism, prior=PriorRule(kind, penalty))).public_only
        for kind, penalty, epsilon, mechanism in itertools.product(PriorKind, (0.0, 2.0), (0.1, 1.0, 8.0), Mechanism)
    ]
    assert 0 < seen[0].valid < 1
    assert all(metrics == seen[0] for metrics in seen)
    assert karate.inspect(30, 0.4, 1.0).public_only != seen[0]


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


@pytest.mark.parametrize("penalty", [0.0, 0.8])
def test_price_list_averages_single_inspections(karate, penalty):
    targets, rhos, epsilons, seeds = np.array([8, 9, 30]), (0.3, 1.0), (0.5, 4.0), (0, 1, 2)
    settings = Settings(prior=PriorRule(size_penalty=penalty))
    priors = [PriorKind.UNIFORM, PriorKind.GUIDED, PriorKind.UNIFORM]
    table = price_list(karate, targets, rhos, epsilons, seeds, settings, priors=priors)
    asked = list(itertools.product(rhos, epsilons, ("uniform", "guided")))
    assert list(table[["rho", "epsilon", "prior"]].itertuples(index=False, name=None)) == asked
    for row in table.itertuples():
        chosen = Settings(prior=PriorRule(PriorKind(row.prior), penalty))
        found = np.array(
            [
                [
                    (m.ceiling, m.valid, m.targeted, m.empty, m.size, m.regret, m.collision, alone)
                    for target in targets
                    for m, alone in [by_hand(karate, int(target), row.rho, row.epsilon, chosen, seed)]
                ]
                for seed in seeds
            ]
        )
        mean = found.mean(axis=(0, 1))
        said = (row.ceiling, row.valid, row.targeted, row.empty, row.size, row.regret, row.collision, row.public_only)
        assert said == pytest.approx(mean)
        assert row.valid_std == pytest.approx(np.std(found[:, :, 1].mean(axis=1), ddof=1))
        assert row.ceiling_std == pytest.approx(np.std(found[:, :, 0].mean(axis=1), ddof=1))
        assert row.retention == pytest.approx(mean[1] / mean[0])
        assert (row.seeds, row.targets) == (3, 3)
    assert table.groupby("rho")["public_only"].nunique().tolist() == [1, 1]
    assert (table["valid"][::2].to_numpy() != table["valid"][1::2].to_numpy()).all()


@pytest.mark.parametrize("kind", PriorKind)
def test_price_list_takes_the_prior_of_the_settings(karate, kind):
    settings = Settings(prior=PriorRule(kind, 1.0))
    arguments = karate, np.array([9, 30]), (0.6,), (0.5, 2.0), (0,)
    table = price_list(*arguments, settings)
    assert table["prior"].tolist() == [kind.value] * 2
    pd.testing.assert_frame_equal(
        table, price_list(*arguments, Settings(prior=PriorRule(PriorKind.UNIFORM, 1.0)), priors=[kind])
    )


def test_price_list_leaves_the_public_out_on_request(karate, monkeypatch):
    arguments = karate, np.array([9, 30]), (0.6,), (0.5, 2.0), (0,)
    whole = price_list(*arguments)
    monkeypatch.setattr(Study, "guide", None)
    without = price_list(*arguments, public_only=False)
    assert without["public_only"].isna().all()
    pd.testing.assert_frame_equal(without.drop(columns="public_only"), whole.drop(columns="public_only"))


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
    [([], (0.5,), (1.0,), "no target"), ([0], (1.5,), (1.0,), "rho"), ([0], (0.5,), (0.0,), "epsilon")],
)
def test_bad_price_lists_are_refused(karate, targets, rhos, epsilons, message):
    with pytest.raises(BadInput, match=message):
        price_list(karate, np.array(targets, dtype=int), rhos, epsilons, (0,))


def test_a_price_list_without_priors_is_refused(karate):
    with pytest.raises(BadInput, match="prior"):
        price_list(karate, np.array([0]), (0.5,), (1.0,), (0,), priors=[])


def test_the_owner_is_told_how_many_disclosed_pairs_are_ties_still():
    dataset = load(str(Path(__file__).parents[3] / "data" / "example"))
    study = Study(dataset)
    ties = {tuple(edge) for edge in dataset.graph.edges.tolist()}
    for rho in (0.0, 0.25, 0.5, 1.0):
        seen = study.inspect(0, rho, 1.0)
        public = [tuple(pair) for pair in dataset.snapshot.pairs[: round(rho * len(dataset.snapshot))].tolist()]
        assert (seen.disclosed, seen.disclosed_ties) == (len(public), len(ties & set(public)))
    assert seen.disclosed_ties < seen.disclosed
    assert seen.to_json()["snapshot_ties"] == seen.disclosed_ties
