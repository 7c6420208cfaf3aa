"""Whether any few private edges and masks flip a target, against every set by dense forwards."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse

from core.backbone.gcn import GCNWeights
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph
from core.scoring.factorised import GCNScorer
from core.scoring.unrestricted import Unrestricted, unrestricted_flip
from core.snapshot import simulate
from core.study.populations import Population, population
from core.study.study import Study
from core.universe import Arm, Limits, Universe, build_universe
from tests.core.edgesets import Edges, logits_of_every_set
from tests.core.smallgraphs import Case, dense_logits, make_case, make_nodes

NUDGE = 1e-6
ACTING = [Arm.FULL, Arm.EDGE_ONLY, Arm.INERT_MASKS]


def make_universe(case: Case, target: int, most: int, arm: Arm = Arm.FULL, masks: int = 1) -> Universe:
    """Two snapshot pairs only: what an unrestricted search finds must not hang on them."""
    limits = Limits(k_edges=2, k_features=3, max_edges=most, max_features=masks)
    return build_universe(case.graph.nodes, case.snapshot, case.weights, target, limits, arm)


def with_bias(case: Case, shift: np.ndarray) -> GCNWeights:
    w = case.weights
    return GCNWeights(w.w1, w.b1, w.w2, w.b2 + shift)


def search(case: Case, universe: Universe, shift: np.ndarray) -> Unrestricted:
    return unrestricted_flip(GCNScorer(case.graph, with_bias(case, shift)), universe)


def best_set(dense: dict[Edges, np.ndarray], original: int, rival: int) -> tuple[float, Edges]:
    """The largest lead of `rival` over `original` in any set under any masks, and where it is."""
    return max(((logits[:, rival] - logits[:, original]).max(), gone) for gone, logits in dense.items())


def confirm(case: Case, universe: Universe, weights: GCNWeights, found: Unrestricted, original: int) -> None:
    """The witness is within the limits, made of private edges and allowed masks, and it flips."""
    assert found.edges is not None and found.features is not None
    assert len(found.edges) <= universe.limits.max_edges and len(found.features) <= universe.limits.max_features
    assert set(found.features.tolist()) <= set(universe.feature_dims.tolist())
    gone = {tuple(edge) for edge in found.edges.tolist()}
    assert len(gone) == len(found.edges)
    assert gone <= {tuple(edge) for edge in case.graph.edges.tolist()}
    kept = [edge for edge in case.graph.edges.tolist() if tuple(edge) not in gone]
    x = case.graph.nodes.x.toarray()
    if not universe.arm.inert:
        x[universe.target, found.features] = 0.0
    assert dense_logits(x, kept, weights)[universe.target].argmax() != original


@given(
    seed=st.integers(0, 100_000),
    n=st.integers(5, 10),
    target=st.integers(0, 4),
    density=st.sampled_from([0.1, 0.2, 0.3, 0.45]),
    most=st.integers(0, 3),
    arm=st.sampled_from(ACTING),
    original=st.integers(0, 2),
    rival=st.integers(0, 2),
)
@example(seed=58, n=8, target=0, density=0.2, most=2, arm=Arm.EDGE_ONLY, original=0, rival=1)  # neither edge alone
def test_finds_the_one_set_that_flips_and_no_other(seed, n, target, density, most, arm, original, rival):
    """Biases are set so that the best set of all flips by a hair, then misses by one."""
    case = make_case(seed, n=n, density=density)
    assume(case.graph.m <= (9 if most == 3 else 14) and original != rival)
    universe = make_universe(case, target, most, arm)
    dense = logits_of_every_set(case.graph, case.weights, universe, most)
    clean = dense[()][0]
    shift = np.full(3, -100.0)
    shift[original] = 0.0
    lead, _ = best_set(dense, original, rival)
    shift[rival] = -lead - NUDGE
    missed = search(case, universe, shift)
    assert not missed.flips and missed.exhaustive and missed.edges is None and missed.features is None
    assume(clean[rival] - clean[original] < lead - 2 * NUDGE)
    shift[rival] = -lead + NUDGE
    found = search(case, universe, shift)
    assert found.flips and found.exhaustive
    confirm(case, universe, with_bias(case, shift), found, original)


@given(
    seed=st.integers(0, 100_000),
    target=st.integers(0, 8),
    density=st.sampled_from([0.1, 0.2, 0.3]),
    scale=st.sampled_from([0.0, 1.0, 3.0]),
)
@example(seed=0, target=0, density=0.0, scale=0.0)
def test_agrees_with_every_set_under_any_biases(seed, target, density, scale):
    case = make_case(seed, density=density)
    assume(case.graph.m <= 14)
    universe = make_universe(case, target, 2)
    shift = scale * np.random.default_rng(seed).normal(size=3)
    dense = logits_of_every_set(case.graph, with_bias(case, shift), universe, 2)
    original = int(dense[()][0].argmax())
    found = search(case, universe, shift)
    assert found.exhaustive
    assert found.flips == any((logits.argmax(axis=1) != original).any() for logits in dense.values())
    if found.flips:
        confirm(case, universe, with_bias(case, shift), found, original)


TAIL = ((0, 1), (1, 2), (2, 3), (3, 4))


@pytest.mark.parametrize(
    ("edges", "wanted"),
    [
        (TAIL, ((2, 3),)),  # from distance 2 outwards: changes a degree that the target's neighbour sees
        (((0, 1), (1, 2), (1, 3), (2, 3)), ((2, 3),)),  # between two nodes at distance 2
        ((*TAIL, (0, 2)), ((1, 2),)),  # across a triangle
        ((*TAIL, (0, 5), (5, 6)), ((1, 2), (5, 6))),  # one beyond each of two neighbours
        (((0, 1), (1, 2), (2, 3), (2, 4)), ((2, 3), (2, 4))),  # two that share an end
        ((*TAIL, (0, 5)), ((0, 5), (1, 2))),  # one at the target and one that isn't
    ],
)
def test_a_set_of_each_shape_is_found_when_it_alone_flips(edges, wanted):
    for seed, original, rival in itertools.product(range(200), range(3), range(3)):
        case = make_case(seed, n=7)
        case = replace(case, graph=PrivateGraph(case.graph.nodes, np.array(edges)))
        universe = make_universe(case, 0, len(wanted), Arm.EDGE_ONLY)
        dense = logits_of_every_set(case.graph, case.weights, universe, len(wanted))
        lead, best = best_set(dense, original, rival)
        second = best_set({gone: x for gone, x in dense.items() if gone != best}, original, rival)[0]
        if best == wanted and lead - second > 1e-3:
            break
    else:
        pytest.fail(f"no seed makes {wanted} the best set")
    shift = np.full(3, -100.0)
    shift[original], shift[rival] = 0.0, -(lead + second) / 2
    found = search(case, universe, shift)
    assert found.flips
    assert sorted(map(tuple, found.edges.tolist())) == sorted(wanted)
    assert found.features.tolist() == []


def test_an_isolated_target_can_only_be_masked():
    rng = np.random.default_rng(0)
    case = make_case(0)
    graph = PrivateGraph(make_nodes(rng, 9, density=1.0), np.array([[1, 2], [2, 3]]))
    case = replace(case, graph=graph, snapshot=simulate(graph, 0))
    found = search(case, make_universe(case, 0, 2, Arm.EDGE_ONLY), np.zeros(3))
    assert not found.flips and found.exhaustive and found.checked == 1
    universe = make_universe(case, 0, 2)
    logits = logits_of_every_set(graph, case.weights, universe, 0)[()]
    leads = logits[:, 1] - logits[:, 0]
    assert leads.max() > leads[0]
    found = search(case, universe, np.array([0.0, -(leads[0] + leads.max()) / 2, -100.0]))
    assert found.flips and found.edges.shape == (0, 2) and len(found.features) == 1


def test_a_feature_only_search_deletes_no_edge():
    case = make_case(5)
    universe = make_universe(case, 0, 2, Arm.FEATURE_ONLY)
    assert unrestricted_flip(GCNScorer(case.graph, case.weights), universe).checked == 1


def test_refuses_a_target_of_another_graph():
    large, small = make_case(0, n=9), make_case(0, n=5)
    with pytest.raises(BadInput, match="target row"):
        unrestricted_flip(GCNScorer(small.graph, small.weights), make_universe(large, 7, 2))


@pytest.mark.parametrize(
    "name", ["unrestricted.MAX_INCIDENT_SETS", "unrestricted.MAX_OTHER_SETS", "receptive.MAX_TIES"]
)
def test_a_search_cut_short_says_so_and_claims_no_more_than_it_saw(monkeypatch, name):
    monkeypatch.setattr(f"core.scoring.{name}", 3)
    outcomes = set()
    for seed in range(120):
        case = make_case(seed, n=9, density=0.25)
        universe = make_universe(case, 0, 2)
        shift = np.random.default_rng(seed).normal(size=3)
        weights = with_bias(case, shift)
        dense = logits_of_every_set(case.graph, weights, universe, 2)
        original = int(dense[()][0].argmax())
        exists = any((logits.argmax(axis=1) != original).any() for logits in dense.values())
        found = search(case, universe, shift)
        if found.flips:
            assert exists and found.exhaustive
            confirm(case, universe, weights, found, original)
        elif found.exhaustive:
            assert not exists
        outcomes.add((found.flips, found.exhaustive))
    assert outcomes == {(True, True), (False, True), (False, False)}


def test_a_search_cut_short_at_its_last_step_says_so(monkeypatch):
    """Two twins: deleting the edge to either falls short by the same hair, and only one of them is tried."""
    case = make_case(0, n=4)
    x = case.graph.nodes.x.toarray()
    x[3] = x[2]
    names = case.graph.nodes.ids, case.graph.nodes.feature_names, case.graph.nodes.classes
    nodes = Nodes(names[0], sparse.csr_array(x), *names[1:])
    case = replace(case, graph=PrivateGraph(nodes, np.array([[0, 1], [1, 2], [1, 3]])))
    universe = make_universe(case, 0, 1, Arm.EDGE_ONLY)
    dense = logits_of_every_set(case.graph, case.weights, universe, 1)
    original, rival = next(
        (c, d) for c, d in itertools.permutations(range(3), 2) if best_set(dense, c, d)[1] in [((1, 2),), ((1, 3),)]
    )
    shift = np.full(3, -100.0)
    shift[original], shift[rival] = 0.0, -best_set(dense, original, rival)[0] - NUDGE
    whole = search(case, universe, shift)
    assert not whole.flips and whole.exhaustive
    monkeypatch.setattr("core.scoring.unrestricted.MAX_OTHER_SETS", 1)
    part = search(case, universe, shift)
    assert not part.flips and not part.exhaustive
    assert part.checked == whole.checked - 1


@pytest.fixture(scope="module")
def desk(cora, cora_backbone):
    return Study(cora, cora_backbone)


def full_logits(desk: Study, target: int, gone: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """The definition on Cora: mask, delete, and one full-graph forward."""
    graph = desk.dataset.graph
    x = graph.nodes.x.tolil(copy=True)
    x[target, dims] = 0.0
    nodes = Nodes(graph.nodes.ids, sparse.csr_array(x), graph.nodes.feature_names, graph.nodes.classes)
    listed = {tuple(edge) for edge in gone.tolist()}
    kept = np.array([edge for edge in graph.edges.tolist() if tuple(edge) not in listed])
    return desk.backbone.weights.logits(PrivateGraph(nodes, kept))[target]


@pytest.mark.parametrize("arm", [Arm.FULL, Arm.INERT_MASKS])
def test_witnesses_on_cora_flip_in_a_full_forward(desk, arm):
    clean = desk.scorer.clean
    nothing = np.empty(0, dtype=np.int64)
    targets = [*population(desk, Population.BORDERLINE), *population(desk, Population.RANDOM)]
    flipped = beyond = 0
    for target in map(int, targets):
        universe = desk.scores(target, 1.0).universe
        found = unrestricted_flip(desk.scorer, replace(universe, arm=arm))
        assert found.exhaustive
        if found.flips:
            dims = nothing if arm is Arm.INERT_MASKS else found.features
            logits = full_logits(desk, target, found.edges, dims)
            assert logits.argmax() != clean[target].argmax()
            flipped += 1
            beyond += bool(len(found.edges)) and not (found.edges == target).any(axis=1).all()
    assert 10 <= flipped < len(targets)
    assert beyond > 0 or arm is Arm.FULL


def test_sets_ruled_out_on_cora_do_not_flip_in_a_full_forward(desk):
    """Random sets about targets of which the search says that nothing flips them."""
    rng = np.random.default_rng(0)
    graph = desk.dataset.graph
    tried = 0
    for target in map(int, population(desk, Population.RANDOM)):
        universe = desk.scores(target, 1.0).universe
        if unrestricted_flip(desk.scorer, universe).flips:
            continue
        near = np.append(graph.neighbours(target), target)
        pool = graph.edges[np.isin(graph.edges, near).any(axis=1)]
        for _ in range(5):
            gone = pool[rng.choice(len(pool), size=min(2, len(pool)), replace=False)]
            mask = universe.feature_subsets[rng.integers(len(universe.feature_subsets))]
            logits = full_logits(desk, target, gone, universe.feature_dims[mask[mask >= 0]])
            assert logits.argmax() == desk.scorer.clean[target].argmax()
            tried += 1
    assert tried >= 20
