"""The exact audit of a population, against brute force; broken releases must not pass it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from core.audit.exact import Comparison, compare
from core.audit.pairs import AuditPair, PairKind, Vicinity, population_pairs
from core.audit.population import (
    NeighbourReleases,
    PairRecord,
    PopulationAudit,
    audit_population,
    layers_of,
    opened,
)
from core.backbone.module import ModuleBackbone, freeze
from core.errors import BadInput, Cancelled
from core.prior.prior import PriorKind, PriorRule
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot, simulate
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from core.utility import Utility, UtilityConfig, evaluate
from tests.core.audit.small_study import make_study
from tests.core.foreign import PlainGCN
from tests.core.smallgraphs import brute_force_logits, make_case

LIMITS = Limits(k_edges=4, k_features=3, max_edges=2, max_features=1)
SETTINGS = Settings(limits=LIMITS, utility=UtilityConfig(sensitivity="paper"))
GUIDED = replace(SETTINGS, prior=PriorRule(PriorKind.GUIDED))
TARGETS = np.array([0, 3, 5])


@pytest.fixture(scope="module")
def case():
    """Logits centred over the nodes, so that targets stand near the boundary, where one edge matters."""
    made = make_case(1, density=0.3, disclosed=0.8)
    w = made.weights
    bare = replace(w, b2=np.zeros_like(w.b2))
    return replace(made, weights=replace(w, b2=-bare.logits(made.graph).mean(axis=0)))


def every_pair(case, targets=TARGETS):
    """All neighbours of a small graph at some targets."""
    pairs = []
    for target in targets.tolist():
        steps = Vicinity(case.graph, target).steps
        for u, w in itertools.combinations(range(case.graph.n), 2):
            edge = bool(case.graph.contains(np.array([[u, w]]))[0])
            pairs.append(AuditPair(target, (u, w), PairKind.NEAR, edge, int(min(steps[u], steps[w]))))
    return pairs


def released_by_definition(case, snapshot, target, epsilon):
    """P(S) ∝ exp(ε u / 2) with u = 0.7 + 0.2 (1 - s/3) + 0.1 plausibility for a flip, by dense forwards; and u."""
    universe = build_universe(case.graph.nodes, snapshot, case.weights, target, LIMITS)
    predicted = brute_force_logits(case, universe).argmax(axis=2)
    worth = {}
    for i, j in np.ndindex(universe.shape):
        pairs, dims = universe.members(i, j)
        size = len(pairs) + len(dims)
        if not size:
            worth[i, j] = 0.2
        elif predicted[i, j] != predicted[0, 0]:
            plausible = case.graph.contains(pairs).mean() if len(pairs) else 0.0
            worth[i, j] = 0.7 + 0.2 * (1 - size / 3) + 0.1 * plausible
        else:
            worth[i, j] = 0.0
    u = np.array(list(worth.values()))
    weight = np.exp(epsilon * u / 2)
    return weight / weight.sum(), u


def test_every_figure_of_every_neighbour_by_dense_forwards(case):
    study = make_study(case)
    audit = audit_population(study, every_pair(case), 0.7, 4.0, SETTINGS)
    public = case.snapshot.prefix(0.7)
    own = {v: released_by_definition(case, public, v, 4.0) for v in TARGETS.tolist()}
    assert len(audit.records) == 3 * 36
    moved = 0
    for record in audit.records:
        neighbour = replace(case, graph=case.graph.toggled(*record.asked.pair))
        (p, u), (q, w) = own[record.asked.target], released_by_definition(neighbour, public, record.asked.target, 4.0)
        found = record.found
        assert found.same_support
        assert found.delta_u == pytest.approx(np.abs(u - w).max(), abs=1e-12)
        assert found.ratio == pytest.approx(np.maximum(p / q, q / p).max(), rel=1e-12)
        assert found.advantage == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-12)
        assert found.identical == (np.abs(u - w).max() < 1e-12)
        beats = (p / q)[:, None] > (p / q)[None, :] * (1 + 1e-12)
        level = np.isclose((p / q)[:, None], (p / q)[None, :], rtol=1e-12)
        assert found.auc == pytest.approx((p[:, None] * q * (beats + level / 2)).sum(), abs=1e-9)
        moved += not found.identical
    assert 20 < moved < 108
    assert audit.passed
    assert audit.sensitivity == 1.0
    assert 1.0 < audit.summary().max_ratio <= audit.ratio_bound == math.exp(4.0)


@pytest.mark.parametrize(
    "settings",
    [
        GUIDED,
        replace(SETTINGS, mechanism=Mechanism.PF),
        replace(SETTINGS, utility=UtilityConfig(soft=True)),
        replace(SETTINGS, arm=Arm.INERT_MASKS),
        replace(GUIDED, arm=Arm.TWO_HOP, prior=PriorRule(PriorKind.GUIDED, 1.0)),
    ],
    ids=["guided", "pf", "soft", "inert", "two-hop guided brief"],
)
@pytest.mark.parametrize("real", [True, False], ids=["given", "simulated"])
def test_pairs_are_compared_as_if_each_graph_were_scored_anew(case, settings, real):
    """Both graphs of a pair get the same public snapshot, also where it was simulated from one of them."""
    study = make_study(case, real)
    pairs = every_pair(case)[::5]
    audit = audit_population(study, pairs, 0.6, 2.0, settings)
    public = (case.snapshot if real else simulate(case.graph, 0)).prefix(0.6)
    for record in audit.records:
        target = record.asked.target
        universe = build_universe(case.graph.nodes, public, case.weights, target, settings.limits, settings.arm)
        prior = study.prior(target, 0.6, 2.0, settings)
        both = [
            release_distribution(
                universe,
                evaluate(GCNScorer(graph, case.weights).score(universe), settings.utility),
                prior,
                2.0,
                settings.mechanism,
            )
            for graph in (case.graph, case.graph.toggled(*record.asked.pair))
        ]
        assert record.found == compare(*both)
    assert audit.passed
    assert audit.simulated is not real


def test_a_foreign_module_is_audited_as_the_built_in_gcn_is(case):
    """The same network as a module that is scored by forward passes."""
    study = make_study(case)
    module = freeze(PlainGCN(case.weights), case.graph.nodes)
    foreign = Study(study.dataset, ModuleBackbone(module, float("nan"), float("nan")))
    pairs = every_pair(case)[::9]
    found = audit_population(foreign, pairs, 0.6, 2.0, SETTINGS)
    assert found.records == audit_population(study, pairs, 0.6, 2.0, SETTINGS).records
    assert layers_of(foreign) == layers_of(study) == 2


def test_a_data_dependent_universe_is_caught(case):
    """Candidates are only those public pairs that are edges still: supports differ."""
    study = make_study(case)

    def leaky(target, toggled):
        graph = case.graph if toggled is None else case.graph.toggled(*toggled)
        kept = case.snapshot.pairs[graph.contains(case.snapshot.pairs)]
        seen = make_study(replace(case, graph=graph, snapshot=Snapshot(kept, graph.n, simulated=False)))
        return NeighbourReleases(seen, 1.0, 2.0, SETTINGS)(target, None)

    audit = audit_population(study, every_pair(case), 1.0, 2.0, SETTINGS, release=leaky)
    assert not audit.passed
    assert not audit.summary().same_supports
    assert {record.found.same_support for record in audit.violations} == {False}
    assert all(record.asked.edge or record.found.delta_u for record in audit.violations)


def test_an_understated_sensitivity_is_caught(case):
    honest = NeighbourReleases(make_study(case), 1.0, 6.0, SETTINGS)

    def greedy(target, toggled):
        found = honest(target, toggled)
        third = Utility(found.utility.values, found.utility.denominator, found.utility.denominator // 3)
        return release_distribution(found.universe, third, found.prior, 2.0)

    audit = audit_population(make_study(case), every_pair(case), 1.0, 2.0, SETTINGS, release=greedy)
    assert audit.sensitivity == pytest.approx(1 / 3, abs=0.01)
    assert any(record.found.delta_u > 0.5 for record in audit.violations)
    assert not audit.passed


def test_a_ratio_above_the_bound_is_caught_even_where_utilities_obey(case):
    """The mechanism spends three times the budget that it claims."""
    study = make_study(case)
    audit = audit_population(
        study, every_pair(case), 1.0, 1.0, SETTINGS, release=NeighbourReleases(study, 1.0, 3.0, SETTINGS)
    )
    assert audit.summary().max_delta_u <= audit.sensitivity
    assert {record.found.ratio > math.e for record in audit.violations} == {True}
    assert not audit.passed


def record(kind, edge, ratio, auc, identical=False, delta=0.5):
    return PairRecord(AuditPair(0, (1, 2), kind, edge, 0), Comparison(True, delta, ratio, identical, auc, auc - 0.5))


def test_summaries_by_hand():
    near, far = PairKind.NEAR, PairKind.ANYWHERE
    records = (
        record(near, True, 3.0, 0.6),
        record(near, False, 2.0, 0.8, delta=0.9),
        record(far, True, 1.0, 0.5, True, 0.0),
        record(far, False, 3.0, 0.7),
    )
    audit = PopulationAudit(0.5, 1.0, Settings(), True, 1.0, records)
    whole = audit.summary()
    assert (whole.pairs, whole.max_delta_u, whole.max_ratio, whole.identical) == (4, 0.9, 3.0, 0.25)
    assert (whole.auc_mean, whole.auc_worst) == (pytest.approx(0.65), 0.8)
    assert whole.advantage_worst == pytest.approx(0.3)
    assert audit.summary(near).auc_mean == pytest.approx(0.7)
    assert audit.summary(far, edge=True).identical == 1.0
    assert audit.worst is records[3]
    assert [r.found.ratio for r in audit.violations] == [3.0, 3.0]
    quiet = Comparison(True, 0.5, 1.0, False, 0.5, 0.0)
    for broken in (replace(quiet, same_support=False), replace(quiet, delta_u=1.01), replace(quiet, ratio=2.72)):
        assert replace(audit, records=(PairRecord(records[0].asked, quiet),)).passed
        assert not replace(audit, records=(PairRecord(records[0].asked, broken),)).passed
    empty = replace(audit, records=records[:1]).summary(far)
    assert empty.pairs == 0 and math.isnan(empty.max_ratio)


def test_the_worst_pair_opens_as_two_graphs(case):
    study = make_study(case)
    audit = audit_population(study, every_pair(case), 0.7, 4.0, SETTINGS)
    worst = audit.worst
    pair = opened(study, worst.asked, 0.7, 4.0, SETTINGS)
    one, other = (set(map(tuple, graph.edges.tolist())) for graph in pair.graphs)
    assert one ^ other == {worst.asked.pair}
    assert (worst.asked.pair in one) == worst.asked.edge
    assert pair.graphs[0] is case.graph
    assert compare(*pair.releases) == worst.found
    false, true = pair.roc()
    assert np.trapezoid(true, false) == pytest.approx(worst.found.auc)


def test_pairs_that_cannot_reach_the_target_change_nothing(cora, cora_backbone):
    study = Study(cora, cora_backbone)
    pairs = population_pairs(cora.graph, cora.split.test[:8], 24, np.random.default_rng(3))
    audit = audit_population(study, pairs, 0.5, 8.0)
    far = [record for record in audit.records if record.asked.distance is None]
    assert len(far) > 12
    assert all(record.found == Comparison(True, 0.0, 1.0, True, pytest.approx(0.5), 0.0) for record in far)
    assert not all(record.found.identical for record in audit.of(PairKind.NEAR))
    assert audit.passed


def test_progress_is_told_and_a_stop_is_obeyed(case):
    study, pairs, told = make_study(case), every_pair(case)[:6], []
    audit_population(study, pairs, 0.5, 1.0, SETTINGS, progress=lambda done, total: told.append((done, total)))
    assert told == [(k, 6) for k in range(7)]
    with pytest.raises(Cancelled):
        audit_population(study, pairs, 0.5, 1.0, SETTINGS, cancelled=lambda: True)
    with pytest.raises(BadInput, match="no pair"):
        audit_population(study, [], 0.5, 1.0, SETTINGS)
    for rho, epsilon in ((2.0, 1.0), (0.5, 0.0), (0.5, float("nan"))):
        with pytest.raises(BadInput):
            audit_population(study, pairs, rho, epsilon, SETTINGS)
