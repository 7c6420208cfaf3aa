"""The factorised scorer against dense forwards and against PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv

from core.errors import BadInput
from core.scoring import deletions
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot, simulate
from core.universe import Arm, Limits, build_universe
from tests.core.smallgraphs import brute_force_logits, make_case

LIMITS = Limits(k_edges=5, k_features=4, max_edges=2, max_features=2)


@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    density=st.sampled_from([0.0, 0.15, 0.4, 0.8, 1.0]),
    arm=st.sampled_from(list(Arm)),
)
def test_equals_brute_force_with_no_op_pairs_and_triangles(seed, target, density, arm):
    case = make_case(seed, density=density)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS, arm)
    expected = brute_force_logits(case, universe)
    scorer = GCNScorer(case.graph, case.weights)
    assert np.abs(scorer.logits(universe) - expected).max() < 1e-12
    scores = scorer.score(universe)
    assert (scores.predicted == expected.argmax(axis=2)).all()
    assert scores.exists.tolist() == [tuple(p) in set(map(tuple, case.graph.edges)) for p in universe.edge_pairs]


@pytest.mark.parametrize("crowded", [0, 10**9], ids=["anew", "corrected"])
@given(seed=st.integers(0, 10_000), target=st.integers(0, 8), disclosed=st.sampled_from([0.5, 1.0]))
def test_three_deletions_that_share_triangles(crowded, seed, target, disclosed):
    """Both ways to treat triangles: every set's total anew, and corrections of one total."""
    case = make_case(seed, density=0.8, disclosed=disclosed)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, target, Limits(6, 1, 3, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deletions, "CROWDED_ENTRIES", crowded)
        logits = GCNScorer(case.graph, case.weights).logits(universe)
    assert np.abs(logits - brute_force_logits(case, universe)).max() < 1e-12


@given(seed=st.integers(0, 10_000), target=st.integers(0, 8))
def test_margins_are_probability_margins_of_the_clean_class(seed, target):
    case = make_case(seed)
    universe = build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS)
    scores = GCNScorer(case.graph, case.weights).score(universe)
    exponential = np.exp(brute_force_logits(case, universe))
    p = exponential / exponential.sum(axis=2, keepdims=True)
    mine = p[..., scores.original]
    rest = np.delete(p, scores.original, axis=2).max(axis=2)
    assert np.abs(scores.margin - (mine - rest)).max() < 1e-12
    assert scores.clean_margin == pytest.approx(scores.margin[0, 0], abs=1e-12)
    assert ((scores.margin < 0) == scores.flips)[np.abs(scores.margin) > 1e-9].all()


@given(seed=st.integers(0, 10_000), target=st.integers(0, 8), k=st.integers(0, 6))
def test_fewer_pairs_are_a_slice(seed, target, k):
    case = make_case(seed)
    whole = GCNScorer(case.graph, case.weights).score(
        build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS)
    )
    places = case.snapshot.incident(target)[:k]
    shorter = Snapshot(case.snapshot.pairs[: (places.max() + 1 if len(places) else 0)], case.graph.n, simulated=False)
    universe = build_universe(case.graph.nodes, shorter, case.weights, target, LIMITS)
    again = GCNScorer(case.graph, case.weights).score(universe)
    sliced = whole.with_pairs(len(universe.edge_pairs))
    assert sliced.universe.digest == universe.digest
    assert (sliced.predicted == again.predicted).all()
    assert np.abs(sliced.margin - again.margin).max() < 1e-12
    assert (sliced.existing == again.existing).all()


class Reference(torch.nn.Module):
    """Two GCNConv layers of PyTorch Geometric under given weights, float64."""

    def __init__(self, weights):
        super().__init__()
        self.first = GCNConv(*weights.w1.shape).double()
        self.second = GCNConv(*weights.w2.shape).double()
        for layer, w, b in ((self.first, weights.w1, weights.b1), (self.second, weights.w2, weights.b2)):
            layer.lin.weight.data = torch.tensor(w.T.copy())
            layer.bias.data = torch.tensor(b)

    @torch.no_grad()
    def forward(self, x, edge_index):
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


def reference_logits(reference, x, edges, target, pairs, dims):
    gone = {tuple(pair) for pair in pairs.tolist()}
    kept = edges[[tuple(edge) not in gone for edge in edges.tolist()]]
    masked = x.clone()
    masked[target, dims] = 0.0
    edge_index = torch.tensor(np.concatenate([kept, kept[:, ::-1]]).T.copy())
    return reference(masked, edge_index)[target].numpy()


def test_equals_pyg_full_graph_forward_on_cora(cora, cora_backbone):
    """Sampled candidates of the hub and of targets in triangles; `benchmarks/exactness.py` takes all."""
    rng = np.random.default_rng(0)
    graph, weights = cora.graph, cora_backbone.weights
    scorer, snapshot, reference = GCNScorer(graph, weights), simulate(graph, 0), Reference(weights)
    x = torch.tensor(cora.nodes.x.toarray())
    clustered = [v for v in range(graph.n) if graph.degree[v] >= 4 and _triangles(graph, v) >= 3]
    for target in [int(graph.degree.argmax()), *rng.choice(clustered, 3)]:
        universe = build_universe(cora.nodes, snapshot, weights, int(target))
        logits = scorer.logits(universe)
        for i, j in zip(
            rng.integers(universe.shape[0], size=12), rng.integers(universe.shape[1], size=12), strict=True
        ):
            expected = reference_logits(reference, x, graph.edges, int(target), *universe.members(i, j))
            assert np.abs(logits[i, j] - expected).max() < 1e-9


def _triangles(graph, v):
    near = set(graph.neighbours(v).tolist())
    return sum(len(near & set(graph.neighbours(u).tolist())) for u in near) // 2


def test_refuses_a_universe_of_a_larger_graph():
    small, large = make_case(0, n=5), make_case(0, n=9)
    universe = build_universe(large.graph.nodes, large.snapshot, large.weights, 8, LIMITS)
    with pytest.raises(BadInput, match="another graph"):
        GCNScorer(small.graph, small.weights).score(universe)


@pytest.mark.cuda
def test_cuda_equals_cpu():
    case = make_case(3, n=40, density=0.2)
    for target in range(40):
        universe = build_universe(case.graph.nodes, case.snapshot, case.weights, target)
        cpu = GCNScorer(case.graph, case.weights).logits(universe)
        assert np.abs(GCNScorer(case.graph, case.weights, device="cuda").logits(universe) - cpu).max() < 1e-9
