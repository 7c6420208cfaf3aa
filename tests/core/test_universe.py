"""The universe is public: two neighbouring private graphs get the same candidates in the same order."""

from __future__ import annotations

import inspect
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import universe as module
from core.errors import BadInput
from core.snapshot import Snapshot
from core.universe import Arm, Limits, build_universe, edge_candidates, subsets
from tests.core.smallgraphs import make_case

LIMITS = Limits(k_edges=4, k_features=3, max_edges=2, max_features=2)


@given(k=st.integers(0, 7), most=st.integers(0, 3))
def test_subsets_are_all_small_subsets_once(k, most):
    table = subsets(k, most)
    members = [tuple(sorted(row[row >= 0].tolist())) for row in table]
    expected = {c for size in range(most + 1) for c in itertools.combinations(range(k), size)}
    assert len(members) == len(set(members))
    assert set(members) == expected
    assert members[0] == ()
    assert (subsets(max(k - 1, 0), most) == table[: len(subsets(max(k - 1, 0), most))]).all()


def test_default_size_is_that_of_the_paper():
    case = make_case(0, n=30, density=0.5)
    assert len(subsets(12, 2)) * len(subsets(12, 3)) == 79 * 299 == 23_621
    built = build_universe(case.graph.nodes, case.snapshot, case.weights, 0)
    assert built.size <= 23_621
    assert Limits().k_max == 5
    assert Limits().most_candidates == 23_621


def digests_over_neighbours(build, case, target):
    """Universe digests over all graphs that differ from the case's in one pair, the case's first."""
    n = case.graph.n
    graphs = [case.graph, *(case.graph.toggled(u, v) for u, v in itertools.combinations(range(n), 2))]
    return [build(graph, case, target).digest for graph in graphs]


def public_build(arm):
    def build(graph, case, target):
        return build_universe(graph.nodes, case.snapshot, case.weights, target, LIMITS, arm)

    return build


def build_without_non_edges(graph, case, target):
    kept = case.snapshot.pairs[graph.contains(case.snapshot.pairs)]
    return build_universe(graph.nodes, Snapshot(kept, graph.n, simulated=False), case.weights, target, LIMITS)


def build_around_private_neighbours(graph, case, target):
    """Two-hop pairs of the target's neighbours in the private graph in the place of the public ones."""
    honest = build_universe(graph.nodes, case.snapshot, case.weights, target, LIMITS, Arm.TWO_HOP)
    near = set(graph.neighbours(target).tolist())
    own = [pair for pair in case.snapshot.pairs.tolist() if target in pair]
    far = [pair for pair in case.snapshot.pairs.tolist() if target not in pair and near & set(pair)]
    pairs = np.array([*own, *far])[:8]
    return replace(honest, edge_pairs=pairs, edge_subsets=subsets(len(pairs), LIMITS.max_edges))


@pytest.mark.parametrize("arm", Arm)
@given(seed=st.integers(0, 10_000), target=st.integers(0, 8), disclosed=st.sampled_from([0.15, 0.6]))
def test_neighbouring_graphs_have_the_same_universe(arm, seed, target, disclosed):
    assert len(set(digests_over_neighbours(public_build(arm), make_case(seed, disclosed=disclosed), target))) == 1


@pytest.mark.parametrize("leaky", [build_without_non_edges, build_around_private_neighbours])
def test_a_universe_that_reads_private_edges_is_caught(leaky):
    cases = [make_case(seed, disclosed=0.3) for seed in range(5)]
    assert all(len(set(digests_over_neighbours(leaky, case, 0))) > 1 for case in cases)


def test_no_public_builder_takes_a_private_graph():
    for name, function in inspect.getmembers(module, inspect.isfunction):
        annotations = " ".join(str(value) for value in function.__annotations__.values())
        assert "PrivateGraph" not in annotations and "Dataset" not in annotations, name


@given(seed=st.integers(0, 10_000), target=st.integers(0, 8))
def test_candidates_follow_their_definitions(seed, target):
    case = make_case(seed)
    built = build_universe(case.graph.nodes, case.snapshot, case.weights, target, LIMITS)
    incident = [pair for pair in case.snapshot.pairs.tolist() if target in pair]
    assert built.edge_pairs.tolist() == incident[: LIMITS.k_edges]
    x = case.graph.nodes.x.toarray()[target]
    influence = {d: abs(x[d]) * math.hypot(*case.weights.w1[d]) for d in np.flatnonzero(x)}
    expected = sorted(influence, key=lambda d: (-influence[d], d))
    assert built.feature_dims.tolist() == expected[: LIMITS.k_features]


def two_hop_by_definition(snapshot, target, k):
    """Pairs at the target, then pairs at whoever shares a pair of this very snapshot with it."""
    pairs = [tuple(pair) for pair in snapshot.pairs.tolist()]
    near = {w for pair in pairs if target in pair for w in pair} - {target}
    own = [pair for pair in pairs if target in pair]
    return [*own, *(pair for pair in pairs if target not in pair and near & set(pair))][:k]


@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    rho=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    k=st.integers(0, 12),
)
def test_two_hop_candidates_follow_their_definition_at_every_strength(seed, target, rho, k):
    case = make_case(seed)
    snapshot = case.snapshot.prefix(rho)
    for arm in (Arm.TWO_HOP, Arm.TWO_HOP_INERT_MASKS):
        built = build_universe(case.graph.nodes, snapshot, case.weights, target, Limits(k, 2, 2, 1), arm)
        assert [tuple(pair) for pair in built.edge_pairs.tolist()] == two_hop_by_definition(snapshot, target, k)
        assert built.incident == all(target in pair for pair in built.edge_pairs.tolist())
    own = edge_candidates(snapshot, target, k)
    assert (built.edge_pairs[: len(own)] == own).all()


def test_a_shorter_snapshot_has_two_hop_candidates_that_no_slice_of_the_whole_has():
    """Of `(0, 1), (1, 2), (0, 3), (0, 4)` and room for 3 pairs, `(1, 2)` is out once `(0, 4)` is public."""
    snapshot = Snapshot(np.array([(0, 1), (1, 2), (0, 3), (0, 4)]), 5, simulated=False)
    at = {stop: edge_candidates(snapshot.prefix(stop / 4), 0, 3, two_hop=True).tolist() for stop in range(5)}
    assert at == {
        0: [],
        1: [[0, 1]],
        2: [[0, 1], [1, 2]],
        3: [[0, 1], [0, 3], [1, 2]],
        4: [[0, 1], [0, 3], [0, 4]],
    }


def test_a_pair_of_two_public_neighbours_is_listed_once():
    snapshot = Snapshot(np.array([(1, 2), (0, 2), (0, 1), (3, 4)]), 5, simulated=False)
    assert edge_candidates(snapshot, 0, 12, two_hop=True).tolist() == [[0, 2], [0, 1], [1, 2]]


def test_feature_ties_go_by_index():
    case = make_case(0)
    weights = type(case.weights)(np.ones_like(case.weights.w1), case.weights.b1, case.weights.w2, case.weights.b2)
    nodes = type(case.graph.nodes)(
        case.graph.nodes.ids,
        np.ones(case.graph.nodes.x.shape),
        case.graph.nodes.feature_names,
        case.graph.nodes.classes,
    )
    assert build_universe(nodes, case.snapshot, weights, 0, LIMITS).feature_dims.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arm", "edges", "features"),
    [
        (Arm.FULL, True, True),
        (Arm.INERT_MASKS, True, True),
        (Arm.EDGE_ONLY, True, False),
        (Arm.FEATURE_ONLY, False, True),
        (Arm.TWO_HOP, True, True),
        (Arm.TWO_HOP_INERT_MASKS, True, True),
    ],
)
def test_arms_restrict_the_universe(arm, edges, features):
    case = make_case(2, density=0.8)
    built = build_universe(case.graph.nodes, case.snapshot, case.weights, 0, LIMITS, arm)
    assert (built.shape[0] > 1, built.shape[1] > 1) == (edges, features)


def test_isolated_target_without_features_has_only_the_empty_candidate():
    case = make_case(0, density=0.0, disclosed=0.0)
    x = case.graph.nodes.x.toarray()
    x[0] = 0.0
    nodes = type(case.graph.nodes)(case.graph.nodes.ids, x, case.graph.nodes.feature_names, case.graph.nodes.classes)
    assert build_universe(nodes, case.snapshot, case.weights, 0).shape == (1, 1)


def test_what_each_arm_does():
    assert [arm.value for arm in Arm if arm.inert] == ["inert-masks", "two-hop-inert-masks"]
    assert [arm.value for arm in Arm if arm.two_hop] == ["two-hop", "two-hop-inert-masks"]


@pytest.mark.parametrize("target", [-1, 9, 1.0, "3", True])
def test_bad_target_is_refused(target):
    case = make_case(0)
    with pytest.raises(BadInput, match="target row"):
        build_universe(case.graph.nodes, case.snapshot, case.weights, target)


@pytest.mark.parametrize("limits", [(0, 0, 0, 0), (65, 1, 1, 1), (4, 4, 4, 1), (-1, 1, 1, 1), (64, 64, 3, 4)])
def test_bad_limits_are_refused(limits):
    with pytest.raises(BadInput):
        Limits(*limits)


def test_unknown_arm_lists_the_arms():
    with pytest.raises(BadInput, match="full, edge-only, feature-only, inert-masks"):
        Arm.parse("both")
