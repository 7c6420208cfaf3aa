"""Universes with pairs away from the target: every candidate against dense forwards of the whole edited graph."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from core.graph import PrivateGraph, PublicGraph
from core.scoring import deletions
from core.scoring.factorised import GCNScorer
from core.scoring.twohop import two_hop_deletions
from core.snapshot import Snapshot, simulate
from core.universe import Arm, Limits, build_universe
from tests.core.scoring.test_factorised import Reference, reference_logits
from tests.core.smallgraphs import Case, brute_force_logits, make_case

TWO_HOP = [Arm.TWO_HOP, Arm.TWO_HOP_INERT_MASKS]
LIMITS = Limits(k_edges=7, k_features=2, max_edges=2, max_features=1)
DENSITIES = [0.0, 0.15, 0.4, 0.8, 1.0]


def universe_of(case, target, limits=LIMITS, arm=Arm.TWO_HOP):
    return build_universe(case.graph.nodes, case.snapshot, case.weights, target, limits, arm)


def check(case, universe):
    expected = brute_force_logits(case, universe)
    scorer = GCNScorer(case.graph, case.weights)
    assert np.abs(scorer.logits(universe) - expected).max() < 1e-9
    scores = scorer.score(universe)
    ordered = np.sort(expected, axis=2)
    clear = ordered[..., -1] - ordered[..., -2] > 1e-9
    assert (scores.predicted == expected.argmax(axis=2))[clear].all()
    assert scores.exists.tolist() == [tuple(p) in set(map(tuple, case.graph.edges)) for p in universe.edge_pairs]


@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    density=st.sampled_from(DENSITIES),
    disclosed=st.sampled_from([0.1, 0.25, 0.5]),
    arm=st.sampled_from(TWO_HOP),
)
def test_equals_brute_force(seed, target, density, disclosed, arm):
    """Few pairs are public, so that some lie away from the target; edges and no-ops, near it and far from it."""
    case = make_case(seed, density=density, disclosed=disclosed)
    check(case, universe_of(case, target, arm=arm))


@pytest.mark.parametrize("crowded", [0, 10**9], ids=["anew", "listed"])
@given(seed=st.integers(0, 10_000), target=st.integers(0, 6), density=st.sampled_from([0.4, 0.8, 1.0]))
def test_three_deletions_that_share_ends_and_triangles(crowded, seed, target, density):
    """Both ways to treat disturbed neighbours: every set's total anew, and corrections of one total."""
    case = make_case(seed, n=7, density=density, disclosed=0.35)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deletions, "CROWDED_ENTRIES", crowded)
        check(case, universe_of(case, target, Limits(7, 1, 3, 1)))


def drawn(n, edges, public, seed=0):
    """A case with these edges, of which the target 0 knows these public pairs, in this order."""
    case = make_case(seed, n=n)
    return Case(
        PrivateGraph(case.graph.nodes, np.array(edges)), Snapshot(np.array(public), n, simulated=False), case.weights
    )


SHAPES = {
    "a path": [(0, 1), (1, 2), (2, 3)],
    "a triangle at the target": [(0, 1), (0, 2), (1, 2)],
    "two tied neighbours and a common one": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
    "a far end tied to another neighbour": [(0, 1), (0, 2), (1, 3), (2, 3)],
    "a public neighbour that is none": [(0, 2), (1, 3), (1, 2)],
    "a component of its own": [(0, 4), (1, 2), (2, 3)],
    "a target that ends isolated": [(0, 1), (1, 2)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_by_hand(shape):
    for first in ([(0, 1)], [(0, 1), (0, 2)], [(0, 1), (0, 2), (0, 3)]):
        far = [pair for pair in itertools.combinations(range(1, 5), 2) if set(pair) & {w for _, w in first}]
        case = drawn(6, SHAPES[shape], [*far, *first])
        universe = universe_of(case, 0, Limits(12, 2, 2, 1))
        assert len(universe.edge_pairs) == len(first) + len(far)
        check(case, universe)


@pytest.mark.parametrize("pair", [(1, 2), (2, 3), (3, 4)], ids=["near and near", "near and far", "far and far"])
def test_one_pair_alone_reaches_the_target_through_degrees_and_common_neighbours(pair):
    """`(2, 3)`: `2` weighs more at the target, `1` hears more of `2`. `(3, 4)`: `1` hears more of `3` and `4`."""
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4)]
    case = drawn(6, edges, [(0, 1), (0, 2), (0, 3), pair])
    universe = universe_of(case, 0)
    assert tuple(universe.edge_pairs[-1]) == pair
    moved = GCNScorer(case.graph, case.weights).logits(universe)[:, 0]
    alone = [i for i in range(universe.shape[0]) if [tuple(p) for p in universe.members(i, 0)[0].tolist()] == [pair]]
    assert np.abs(moved[alone[0]] - moved[0]).max() > 1e-6
    check(case, universe)


@example(seed=0, target=0)
@given(seed=st.integers(0, 10_000), target=st.integers(0, 8))
def test_pairs_at_the_target_alone_are_scored_as_ever(seed, target):
    """One-hop universes take either path to the same logits."""
    case = make_case(seed, density=0.6, disclosed=0.9)
    universe = universe_of(case, target, Limits(3, 2, 2, 1))
    scorer = GCNScorer(case.graph, case.weights)
    if not universe.incident:
        return
    near = scorer.logits(universe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(universe), "incident", False)
        assert np.abs(scorer.logits(universe) - near).max() < 1e-12


def test_a_public_graph_is_scored_alike():
    """The same arithmetic on the snapshot itself, where every pair exists."""
    case = make_case(3, density=0.6, disclosed=0.3)
    public = PublicGraph(case.graph.nodes, case.snapshot.pairs)
    for target in range(9):
        universe = universe_of(case, target)
        scorer = GCNScorer(public, case.weights)
        on_snapshot = Case(PrivateGraph(case.graph.nodes, case.snapshot.pairs), case.snapshot, case.weights)
        assert scorer.score(universe).exists.all()
        assert np.abs(scorer.logits(universe) - brute_force_logits(on_snapshot, universe)).max() < 1e-9


def test_no_op_pairs_share_one_set():
    """Of the four sets of edges, the two that cut the target off leave the same logits."""
    case = drawn(6, [(0, 1), (1, 2)], [(0, 1), (0, 3), (1, 2), (3, 4)])
    universe = universe_of(case, 0)
    resolved = two_hop_deletions(case.graph, universe)
    assert len(universe.edge_pairs) == 4
    assert len(resolved.members) == 4
    logits = GCNScorer(case.graph, case.weights).logits(universe)
    assert len(np.unique(logits[:, 0].round(12), axis=0)) == 3


def test_equals_pyg_full_graph_forward_on_cora(cora, cora_backbone):
    """Sampled candidates of targets with few public pairs of their own, a hub among them."""
    rng = np.random.default_rng(0)
    graph, weights = cora.graph, cora_backbone.weights
    scorer, snapshot = GCNScorer(graph, weights), simulate(graph, 0).prefix(0.05)
    reference, x = Reference(weights), torch.tensor(cora.nodes.x.toarray())
    away = 0
    for target in [int(graph.degree.argmax()), *rng.choice(np.flatnonzero(graph.degree >= 6), 5)]:
        universe = build_universe(cora.nodes, snapshot, weights, int(target), arm=Arm.TWO_HOP)
        logits = scorer.logits(universe)
        away += int((universe.edge_pairs != target).all(axis=1).sum())
        for i, j in zip(rng.integers(universe.shape[0], size=6), rng.integers(universe.shape[1], size=6), strict=True):
            expected = reference_logits(reference, x, graph.edges, int(target), *universe.members(i, j))
            assert np.abs(logits[i, j] - expected).max() < 1e-9
    assert away > 0


@pytest.mark.cuda
def test_cuda_equals_cpu():
    case = make_case(3, n=40, density=0.2, disclosed=0.1)
    for target in range(40):
        universe = universe_of(case, target, Limits())
        cpu = GCNScorer(case.graph, case.weights).logits(universe)
        assert np.abs(GCNScorer(case.graph, case.weights, device="cuda").logits(universe) - cpu).max() < 1e-9
