"""The loss chain against its definition, each stage by dense forwards over plain sets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from core.backbone.gcn import GCNWeights
from core.backbone.train import Backbone
from core.datasets.dataset import Dataset, Split
from core.errors import BadInput, Cancelled
from core.prior.prior import PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.snapshot import simulate
from core.study.losschain import loss_chain
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from core.utility import UtilityConfig
from tests.core.edgesets import logits_of_every_set
from tests.core.smallgraphs import Case, brute_force_logits, make_case

LIMITS = Limits(k_edges=2, k_features=2, max_edges=2, max_features=1)
SETTINGS = Settings(limits=LIMITS, utility=UtilityConfig(sensitivity="paper"))
TARGETS = np.array([0, 2, 3, 5, 8])


def make_study(case: Case, real: bool = False) -> Study:
    none = np.empty(0, dtype=np.int64)
    dataset = Dataset(
        name="small",
        title="A small graph",
        graph=case.graph,
        labels=np.zeros(case.graph.n, dtype=np.int64),
        split=Split(none, none, none),
        source="made for a test",
        snapshot=case.snapshot if real else None,
    )
    return Study(dataset, Backbone(case.weights, float("nan"), float("nan")))


def sparse_case(seed: int) -> Case:
    """Few edges, so that all sets can be tried, and biases that let most targets be flipped with effort."""
    case = make_case(seed, n=9, density=0.28, disclosed=0.8)
    w = case.weights
    return Case(case.graph, case.snapshot, GCNWeights(w.w1, w.b1, w.w2, 2.0 * w.b2))


def stages_by_definition(
    case: Case, snapshots, target: int, rho: float, epsilon: float, settings: Settings
) -> np.ndarray:
    """Four rates of one target; a candidate's worth is 0.7 + 0.2 (1 - s / k_max) + 0.1 plausibility."""
    arguments = case.graph.nodes, snapshots[0], case.weights, target, settings.limits, settings.arm
    dense = logits_of_every_set(case.graph, case.weights, build_universe(*arguments), settings.limits.max_edges)
    original = dense[()][0].argmax()
    unrestricted = any((logits.argmax(axis=1) != original).any() for logits in dense.values())
    rest = []
    for snapshot in snapshots:
        flips = {}
        weight = {}
        for strength in (1.0, rho):
            arguments = case.graph.nodes, snapshot.prefix(strength), case.weights, target
            universe = build_universe(*arguments, settings.limits, settings.arm)
            flips[strength] = brute_force_logits(case, universe).argmax(axis=2) != original
        for i, j in np.ndindex(universe.shape):
            pairs, dims = universe.members(i, j)
            size = len(pairs) + len(dims)
            utility = 0.2 if size == 0 else 0.0
            if flips[rho][i, j]:
                plausible = case.graph.contains(pairs).mean() if len(pairs) else 0.0
                utility = 0.7 + 0.2 * (1 - size / settings.limits.k_max) + 0.1 * plausible
            weight[i, j] = math.exp(epsilon * utility / 2)
        valid = sum(w for place, w in weight.items() if flips[rho][place]) / sum(weight.values())
        rest.append([flips[1.0].any(), flips[rho].any(), valid])
    return np.concatenate([[unrestricted], np.mean(rest, axis=0)])


@pytest.mark.parametrize("seed", [1, 5, 34])
@pytest.mark.parametrize("arm", [Arm.FULL, Arm.INERT_MASKS])
def test_equals_the_definition(seed, arm):
    case = sparse_case(seed)
    settings = Settings(limits=LIMITS, utility=SETTINGS.utility, arm=arm)
    chain = loss_chain(make_study(case), TARGETS, 0.4, 6.0, seeds=(0, 3), settings=settings)
    snapshots = [simulate(case.graph, draw) for draw in (0, 3)]
    stages = [stages_by_definition(case, snapshots, int(v), 0.4, 6.0, settings) for v in TARGETS]
    found = [chain.unrestricted, chain.support, chain.prior, chain.sampled]
    assert found == pytest.approx(np.mean(stages, axis=0), abs=1e-12)
    assert (chain.targets, chain.seeds, chain.rho, chain.epsilon) == (5, 2, 0.4, 6.0)
    assert chain.not_exhaustive == 0
    assert found == sorted(found, reverse=True)
    assert list(chain.steps) == ["support", "prior", "noise"]
    assert list(chain.steps.values()) == pytest.approx(np.diff(found))


def test_the_definition_tells_the_stages_apart():
    """The cases above would hide a stage computed as its neighbour, were the four rates ever equal."""
    chains = [
        loss_chain(make_study(sparse_case(seed)), TARGETS, 0.4, 6.0, (0, 3), Settings(limits=LIMITS, arm=arm))
        for seed in (1, 5, 34)
        for arm in (Arm.FULL, Arm.INERT_MASKS)
    ]
    for step in ("support", "prior", "noise"):
        assert any(chain.steps[step] < -0.05 for chain in chains), step


def test_a_real_snapshot_counts_once():
    case = sparse_case(29)
    chain = loss_chain(make_study(case, real=True), TARGETS, 0.5, 4.0, seeds=(0, 1, 2), settings=SETTINGS)
    stages = [stages_by_definition(case, [case.snapshot], int(v), 0.5, 4.0, SETTINGS) for v in TARGETS]
    assert chain.seeds == 1
    assert chain.unrestricted > chain.support > chain.prior > chain.sampled > 0.0
    assert [chain.unrestricted, chain.support, chain.prior, chain.sampled] == pytest.approx(np.mean(stages, axis=0))


def test_with_the_whole_snapshot_public_the_prior_costs_nothing():
    chain = loss_chain(make_study(sparse_case(1)), TARGETS, 1.0, 4.0, settings=SETTINGS)
    assert chain.steps["prior"] == 0.0
    assert chain.support > 0.0


def test_the_mechanism_of_the_settings_samples():
    study = make_study(sparse_case(1))
    em, pf = (
        loss_chain(study, TARGETS, 0.5, 6.0, settings=Settings(limits=LIMITS, mechanism=mechanism))
        for mechanism in (Mechanism.EM, Mechanism.PF)
    )
    assert (em.unrestricted, em.support, em.prior) == (pf.unrestricted, pf.support, pf.prior)
    assert pf.sampled > em.sampled + 1e-3


def test_the_prior_of_the_settings_moves_the_last_stage_alone():
    study, seeds = make_study(sparse_case(1)), (0, 3)
    guided = Settings(limits=LIMITS, prior=PriorRule(PriorKind.GUIDED, 0.5))
    before, after = (
        loss_chain(study, TARGETS, 0.4, 2.0, seeds, chosen) for chosen in (Settings(limits=LIMITS), guided)
    )
    assert (before.unrestricted, before.support, before.prior) == (after.unrestricted, after.support, after.prior)
    sampled = []
    for seed, target in itertools.product(seeds, TARGETS):
        found = study.with_seed(seed).inspect(int(target), 0.4, 2.0, guided)
        weight = found.distribution.prior.mass * np.exp(2.0 * found.distribution.utility.fractions / (2 * 14 / 15))
        sampled.append(weight[found.scores.flips].sum() / weight.sum())
    assert after.sampled == pytest.approx(np.mean(sampled), abs=1e-12)
    assert abs(after.sampled - before.sampled) > 1e-3


def test_a_search_cut_short_is_counted(monkeypatch):
    monkeypatch.setattr("core.scoring.unrestricted.MAX_OTHER_SETS", 0)
    study = make_study(sparse_case(5))
    settings = Settings(limits=LIMITS, arm=Arm.INERT_MASKS)
    short = loss_chain(study, TARGETS, 0.5, 6.0, settings=settings)
    monkeypatch.undo()
    whole = loss_chain(study, TARGETS, 0.5, 6.0, settings=settings)
    assert short.not_exhaustive > 0 == whole.not_exhaustive
    assert short.unrestricted <= whole.unrestricted <= short.unrestricted + short.not_exhaustive / len(TARGETS)
    assert (short.support, short.prior, short.sampled) == (whole.support, whole.prior, whole.sampled)


def test_reports_progress_and_stops_on_request():
    study = make_study(sparse_case(1))
    calls: list[tuple[int, int]] = []
    loss_chain(study, TARGETS, 0.5, 1.0, settings=SETTINGS, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(done, 5) for done in range(6)]
    with pytest.raises(Cancelled):
        loss_chain(study, TARGETS, 0.5, 1.0, settings=SETTINGS, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("targets", "rho", "epsilon", "seeds"),
    [([], 0.5, 1.0, (0,)), ([0], 0.5, 1.0, ()), ([0], 1.5, 1.0, (0,)), ([0], 0.5, 0.0, (0,)), ([99], 0.5, 1.0, (0,))],
)
def test_refuses_what_it_cannot_measure(targets, rho, epsilon, seeds):
    with pytest.raises(BadInput):
        loss_chain(make_study(sparse_case(1)), np.array(targets, dtype=np.int64), rho, epsilon, seeds)


def test_borderline_cora_pays_most_for_the_prior(cora, cora_backbone):
    """The shape that the paper reports for inert masks; on our split of Cora, so no figures of its own."""
    study = Study(cora, cora_backbone)
    settings = Settings(arm=Arm.INERT_MASKS, utility=UtilityConfig(sensitivity="paper"))
    chain = loss_chain(study, population(study, Population.BORDERLINE), 0.5, 8.0, settings=settings)
    assert chain.not_exhaustive == 0
    assert chain.unrestricted >= 0.8
    assert chain.steps["prior"] < chain.steps["noise"] < 0.0
