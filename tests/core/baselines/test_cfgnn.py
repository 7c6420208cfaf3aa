"""CF-GNNExplainer: live gradients, predictions of the deleted graph itself, and nothing below the true minimum."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.baselines.cfgnn import (
    CFGNNExplainer,
    CFGNNOverUniverse,
    Descent,
    counterfactual_loss,
    public_universe,
    smallest_counterfactual,
    straight_through,
)
from core.baselines.field import Field, reach
from core.baselines.optimum import Optimum
from core.errors import BadInput
from core.universe import Arm
from tests.core.baselines.small import SETTINGS, after, flips, make_case, make_study
from tests.core.foreign import PlainGCN, definition
from tests.core.smallgraphs import dense_logits

RNG = np.random.default_rng(0)
SEEDS = (0, 1, 3)
QUICK = Descent(iterations=120, beta=0.01)
SHORT = Descent(iterations=60, rate=0.2, beta=0.01)


def explained(method, study, rho: float = 0.8, settings=SETTINGS):
    explain = method.session(study, 1.0, rho, settings, RNG)
    return [explain(target) for target in range(study.dataset.nodes.n)]


@functools.cache
def fewest_deletions(seed: int) -> list[int | None]:
    """Fewest edges, of all in the graph of `small(seed)`, whose deletion changes each node's class: by trying all."""
    study = small(seed)
    graph, x = study.dataset.graph, study.dataset.graph.nodes.x.toarray()
    before = dense_logits(x, graph.edges, study.backbone.weights).argmax(axis=1)
    least: list[int | None] = [None] * graph.n
    for size in range(1, graph.m + 1):
        for chosen in itertools.combinations(range(graph.m), size):
            kept = np.delete(graph.edges, list(chosen), axis=0)
            for node in np.flatnonzero(dense_logits(x, kept, study.backbone.weights).argmax(axis=1) != before):
                least[node] = least[node] or size
    return least


@functools.cache
def small(seed: int):
    return make_study(seed, n=7, density=0.45)


@functools.cache
def deletions(seed: int):
    return explained(CFGNNExplainer(QUICK), small(seed))


def test_the_binarised_mask_has_the_gradient_of_its_sigmoid():
    logits = torch.tensor([-2.0, -0.1, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    gates = straight_through(logits)
    assert gates.tolist() == [0.0, 0.0, 1.0, 1.0]
    gates.sum().backward()
    s = 1 / (1 + np.exp(-logits.detach().numpy()))
    assert logits.grad.numpy() == pytest.approx(s * (1 - s), rel=1e-12)


@pytest.mark.parametrize("limit", range(5))
def test_a_limited_mask_removes_the_lowest_only(limit):
    logits = torch.tensor([-1.0, 2.0, -3.0, -2.0], dtype=torch.float64)
    removed = np.flatnonzero(straight_through(logits, limit).numpy() < 0.5)
    assert removed.tolist() == sorted([2, 3, 0][:limit])


@pytest.mark.parametrize("changed", [False, True])
def test_the_size_term_always_has_a_gradient_and_the_prediction_loss_until_the_class_changes(changed):
    case = make_case(3)
    edges = torch.full((case.graph.m,), 1.0, dtype=torch.float64, requires_grad=True)
    field = Field(case.graph, case.weights, 4, case.graph.edges, np.empty(0, dtype=int))
    kept = straight_through(edges)
    logits = field.logits(kept, torch.empty(0, dtype=torch.float64))
    original = int(logits.argmax()) if not changed else int(logits.argmin())
    loss, predicted = counterfactual_loss(logits, kept, torch.empty(0, dtype=torch.float64), original, 0.25)
    assert (predicted != original) == changed
    (gradient,) = torch.autograd.grad(loss, edges)
    slope = 0.25 * torch.sigmoid(torch.tensor(1.0)) * (1 - torch.sigmoid(torch.tensor(1.0)))
    size_alone = np.full(case.graph.m, -float(slope))
    if changed:
        assert gradient.numpy() == pytest.approx(size_alone, rel=1e-6)
    else:
        assert (np.abs(gradient.numpy() - size_alone) > 1e-6).any()


def test_every_step_predicts_the_deleted_graph_itself(monkeypatch):
    """What the loss sees is the dense forward of the graph without the closed gates, at all steps of the descent."""
    import core.baselines.cfgnn as module

    case, seen = make_case(5), []
    whole = module.counterfactual_loss

    def watched(logits, kept, shown, original, beta):
        seen.append((kept.detach().numpy().copy(), logits.detach().numpy().copy()))
        return whole(logits, kept, shown, original, beta)

    monkeypatch.setattr(module, "counterfactual_loss", watched)
    pairs, target = reach(case.graph, 1), 1
    field = Field(case.graph, case.weights, target, pairs, np.empty(0, dtype=int))
    original = int(after(case.graph, case.weights, target, pairs[:0], np.empty(0, dtype=int)).argmax())
    smallest_counterfactual(field, 0, original, Descent(iterations=80))
    masks = {tuple(kept) for kept, _ in seen}
    assert len(seen) == 80
    assert len(masks) > 2
    for kept, logits in seen:
        assert set(np.unique(kept)) <= {0.0, 1.0}
        expected = after(case.graph, case.weights, target, pairs[kept == 0.0], np.empty(0, dtype=int))
        assert np.abs(logits - expected).max() < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_what_it_finds_flips_the_full_graph_and_is_never_below_the_minimum(seed):
    study = small(seed)
    graph, module = study.dataset.graph, PlainGCN(study.backbone.weights)
    before = definition(module, graph.nodes.x.toarray(), graph.edges.tolist()).argmax(axis=1)
    within = set(map(tuple, graph.edges.tolist()))
    for finding, least in zip(deletions(seed), fewest_deletions(seed), strict=True):
        if not finding.found:
            assert finding.size is None
            continue
        pairs = set(map(tuple, finding.pairs.tolist()))
        assert pairs <= within
        kept = [list(edge) for edge in within - pairs]
        assert definition(module, graph.nodes.x.toarray(), kept)[finding.target].argmax() != before[finding.target]
        assert not len(finding.features)
        assert finding.size == len(pairs) >= least


def test_it_finds_nearly_all_that_can_be_found_and_half_of_them_smallest():
    """Over a few small graphs; a descent on dead gradients finds nothing at all."""
    rows = [pair for seed in SEEDS for pair in zip(deletions(seed), fewest_deletions(seed), strict=True)]
    possible = sum(least is not None for _, least in rows)
    found = sum(finding.found for finding, _ in rows)
    smallest = sum(finding.size == least for finding, least in rows if finding.found)
    assert possible >= 8
    assert found >= 0.7 * possible
    assert smallest >= 0.5 * found


@pytest.mark.parametrize("arm", [Arm.FULL, Arm.EDGE_ONLY, Arm.INERT_MASKS])
@pytest.mark.parametrize("seed", [1])
def test_over_the_universe_it_names_a_candidate_that_flips(seed, arm):
    settings = replace(SETTINGS, arm=arm)
    study = make_study(seed)
    exact = explained(Optimum(), study, settings=settings)
    for finding, best in zip(explained(CFGNNOverUniverse(SHORT), study, settings=settings), exact, strict=True):
        if not finding.found:
            continue
        universe = public_universe(study, 0.8, settings, finding.target)
        assert set(map(tuple, finding.pairs.tolist())) <= set(map(tuple, universe.edge_pairs.tolist()))
        assert set(finding.features.tolist()) <= set(universe.feature_dims.tolist())
        assert len(finding.pairs) <= settings.limits.max_edges
        assert len(finding.features) <= settings.limits.max_features
        assert best.found
        acting = finding.features[: 0 if arm.inert else None]
        assert flips(study, finding.target, finding.pairs, acting)
        scores = study.scores(finding.target, 0.8, settings)
        assert finding.size >= scores.universe.sizes[scores.flips].min()
        assert study.dataset.graph.contains(finding.pairs).all()


def test_over_the_universe_it_finds_most_of_what_the_optimum_finds():
    rows = [
        (finding.found, best.found)
        for seed in range(2)
        for finding, best in zip(
            explained(CFGNNOverUniverse(SHORT), make_study(seed)), explained(Optimum(), make_study(seed)), strict=True
        )
    ]
    found, possible = (sum(column) for column in zip(*rows, strict=True))
    assert possible >= 10
    assert found >= 0.8 * possible


@pytest.mark.parametrize("change", [{"iterations": 0}, {"rate": 0.0}, {"beta": -1.0}, {"start": float("nan")}])
def test_a_bad_descent_is_refused(change):
    with pytest.raises(BadInput, match=next(iter(change))):
        Descent(**change)
