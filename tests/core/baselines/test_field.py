"""The gated forward against dense matrices, hard and soft, and its gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.baselines.field import Field, gcn_of, reach
from core.baselines.judge import predicted_after
from core.errors import UnsupportedBackbone
from core.graph import PrivateGraph
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.factorised import GCNScorer
from tests.core.baselines.small import after, make_case
from tests.core.foreign import PlainGCN


def parts(seed: int):
    """A graph, candidate pairs of which some are no edges, dimensions, and a generator."""
    case, rng = make_case(seed), np.random.default_rng(seed)
    pairs = case.snapshot.pairs[rng.permutation(len(case.snapshot))[:12]]
    return case, pairs, rng.permutation(6)[:3], rng


def weighted_logits(case, target: int, pairs, dims, edges, features) -> np.ndarray:
    """The definition with dense matrices: `A_uw` times its gate, degrees from the weighted rows."""
    a = case.graph.adjacency.toarray()
    for (u, w), gate in zip(pairs, edges, strict=True):
        a[u, w] *= gate
        a[w, u] *= gate
    x = case.graph.nodes.x.toarray()
    x[target, dims] *= features
    a = a + np.eye(len(a))
    scale = np.diag(a.sum(axis=1) ** -0.5)
    a_hat = scale @ a @ scale
    w = case.weights
    return (a_hat @ np.maximum(a_hat @ x @ w.w1 + w.b1, 0.0) @ w.w2 + w.b2)[target]


@pytest.mark.parametrize("seed", range(4))
def test_open_and_shut_gates_are_deletions_and_masks(seed):
    case, pairs, dims, rng = parts(seed)
    for target in range(9):
        field = Field(case.graph, case.weights, target, pairs, dims)
        for _ in range(4):
            edges, features = rng.random(len(pairs)) < 0.5, rng.random(len(dims)) < 0.5
            expected = after(case.graph, case.weights, target, pairs[~edges], dims[~features])
            assert np.abs(field.kept(edges, features) - expected).max() < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_soft_gates_weigh_edges_and_features(seed):
    case, pairs, dims, rng = parts(seed)
    for target in range(9):
        field = Field(case.graph, case.weights, target, pairs, dims)
        edges, features = rng.random(len(pairs)), rng.random(len(dims))
        expected = weighted_logits(case, target, pairs, dims, edges, features)
        found = field.logits(torch.tensor(edges), torch.tensor(features)).numpy()
        assert np.abs(found - expected).max() < 1e-12


@pytest.mark.parametrize("target", [0, 5])
def test_gradients_are_those_of_differences(target):
    case, pairs, dims, rng = parts(7)
    field = Field(case.graph, case.weights, target, pairs, dims)
    gates = torch.tensor(rng.uniform(0.1, 0.9, len(pairs) + len(dims)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda g: field.logits(g[: len(pairs)], g[len(pairs) :]), gates)
    field.logits(gates[: len(pairs)], gates[len(pairs) :])[0].backward()
    gradient = gates.grad.numpy()[: len(pairs)]
    assert not gradient[~field.exists].any()
    assert gradient[field.exists].any()
    assert 0 < field.exists.sum() < len(pairs)


def test_inert_masks_do_nothing():
    case, pairs, dims, _ = parts(1)
    field = Field(case.graph, case.weights, 2, pairs, dims, inert=True)
    everything = np.ones(len(pairs), dtype=bool)
    shut, whole = field.kept(everything, np.zeros(3, dtype=bool)), field.kept(everything, np.ones(3, dtype=bool))
    assert (shut == whole).all()
    acting = Field(case.graph, case.weights, 2, pairs, dims)
    assert (acting.kept(everything, np.zeros(3, dtype=bool)) != whole).any()


def test_reach_is_every_edge_that_matters_and_no_other():
    """On a tree-like graph with generic weights each edge within reach changes the logits."""
    nodes = make_case(0, n=9).graph.nodes
    weights = make_case(0).weights
    graph = PrivateGraph(nodes, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 6], [7, 8]]))
    x = np.empty(0, dtype=int)
    whole = after(graph, weights, 0, np.empty((0, 2), dtype=int), x)
    matters = [edge for edge in graph.edges.tolist() if (after(graph, weights, 0, np.array([edge]), x) != whole).any()]
    assert reach(graph, 0).tolist() == matters == [[0, 1], [0, 6], [1, 2], [2, 3]]


@pytest.mark.parametrize("seed", range(3))
def test_both_scorers_agree_on_any_set_of_deletions(seed):
    from core.backbone.module import freeze

    case, pairs, dims, rng = parts(seed)
    ours = GCNScorer(case.graph, case.weights)
    foreign = BlackBoxScorer(case.graph, freeze(PlainGCN(case.weights), case.graph.nodes))
    for target in range(9):
        own = pairs[(pairs == target).any(axis=1)]
        for inert in (False, True):
            chosen = own[rng.random(len(own)) < 0.7], dims[rng.random(len(dims)) < 0.7]
            expected = after(case.graph, case.weights, target, chosen[0], dims[:0] if inert else chosen[1]).argmax()
            assert predicted_after(ours, target, *chosen, inert) == expected
            assert predicted_after(foreign, target, *chosen, inert) == expected


def test_a_foreign_backbone_is_refused_in_one_line():
    from core.backbone.module import freeze, measured_module
    from core.study.study import Study
    from tests.core.baselines.small import make_study

    dataset = make_study(0).dataset
    module = freeze(PlainGCN(make_case(0).weights), dataset.nodes)
    with pytest.raises(UnsupportedBackbone, match="cf-gnnexplainer: found backbone PlainGCN") as caught:
        gcn_of(Study(dataset, measured_module(dataset, module)), "cf-gnnexplainer")
    assert "\n" not in str(caught.value)
