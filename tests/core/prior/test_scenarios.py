"""Every scenario against dense forwards and sums written out edge by edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.backbone.gcn import GCNWeights
from core.datasets import load
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph, PublicGraph
from core.prior.completion import HiddenTies, Trust
from core.prior.scenarios import COMPLETIONS, SEED, PublicModel
from core.scoring import deletions
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot, simulate
from core.universe import Arm, Limits, build_universe
from tests.core.smallgraphs import Case, brute_force_logits, dense_logits, make_case

LIMITS = Limits(k_edges=5, k_features=4, max_edges=2, max_features=2)


@dataclass(frozen=True)
class Public:
    """What a public model is given, and what follows from it by the definition."""

    nodes: Nodes
    snapshot: Snapshot
    weights: GCNWeights
    rho: float

    @property
    def hidden(self):
        return round(len(self.snapshot) / self.rho) - len(self.snapshot) if self.rho else 0

    @property
    def z(self):
        return self.nodes.x.toarray() @ self.weights.w1

    def universe(self, target, arm=Arm.FULL):
        return build_universe(self.nodes, self.snapshot, self.weights, target, LIMITS, arm)

    def scenarios(self, universe, completions=COMPLETIONS):
        return PublicModel(self.nodes, self.snapshot, self.weights, self.rho, completions).scenarios(universe)

    def completions(self, target, times):
        """The completions that the model draws: same generator, ties of a snapshot scored by a dense forward."""
        graph = PublicGraph(self.nodes, self.snapshot.pairs)
        logits = dense_logits(self.nodes.x.toarray(), self.snapshot.pairs, self.weights)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        ties = HiddenTies(graph, self.hidden, p / p.sum(axis=1, keepdims=True), self.z)
        rng = np.random.default_rng([SEED, target])
        for trust in Trust:
            drawn = ties.around(target, graph.neighbours(target), trust, times, rng)
            for k in range(times):
                here = drawn.place == k
                yield drawn.rows[here], drawn.hidden[here], drawn.ties[here], drawn.sums[here]


def make_public(seed, rho=0.6, n=9, disclosed=0.3):
    case = make_case(seed, n=n, disclosed=disclosed)
    return Public(case.graph.nodes, case.snapshot, case.weights, rho)


def logits_in(public, universe, completion):
    """Logits of each candidate in one completion, neighbour by neighbour.

    `d` is exact at the target and its neighbours: snapshot, hidden ties and itself. Two hops away a
    node counts with its mean degree `deg + 1 + λ`, and a tie drawn there brings its own term in `sums`.
    A removed end gains `z (1/sqrt(d - 1) - 1/sqrt(d))` in the snapshot's neighbours that it is tied to; where
    pairs lie away from the target, every end that loses ties has its mean degree less those there.
    """
    target, weights, z = universe.target, public.weights, public.z
    known = [set() for _ in range(public.nodes.n)]
    for u, w in public.snapshot.pairs.tolist():
        known[u].add(w)
        known[w].add(u)
    size = np.array([len(near) + 1 for near in known])
    mean_degree = size + 2 * public.hidden * size / size.sum()
    rows, hidden, ties, sums = completion
    d = {u: size[u] + t + h for u, t, h in zip(rows.tolist(), ties, hidden, strict=True)}

    masked = [public.nodes.x.toarray()[target] for _ in range(universe.shape[1])]
    if not universe.arm.inert:
        for j, x in enumerate(masked):
            x[universe.members(0, j)[1]] = 0
    mine = np.array(masked) @ weights.w1

    result = []
    for i in range(universe.shape[0]):
        gone = [set(pair) for pair in universe.members(i, 0)[0].tolist()]
        removed = set().union(*(pair for pair in gone if target in pair)) - {target}
        lost = {w: sum(w in pair for pair in gone) for w in range(public.nodes.n)}
        d_target = len(known[target]) + 1 + hidden.sum() - len(removed)
        own, total = mine / d_target + weights.b1, weights.b2
        for u, fresh, more in zip(rows.tolist(), hidden, sums, strict=True):
            if u in removed:
                continue
            d_u = d[u] - (0 if fresh else lost[u])
            near = z[u] / np.sqrt(d_u) + more
            for w in known[u] - {target}:
                if fresh or universe.incident:
                    near = near + z[w] / np.sqrt(mean_degree[w])
                elif {u, w} not in gone:
                    near = near + z[w] / np.sqrt(mean_degree[w] - lost[w])
                if universe.incident and w in removed and not fresh:
                    near = near + z[w] * (1 / np.sqrt(d[w] - 1) - 1 / np.sqrt(d[w]))
            state = near / np.sqrt(d_u) + mine / np.sqrt(d_u * d_target) + weights.b1
            total = total + np.maximum(state, 0) @ weights.w2 / np.sqrt(d_u * d_target)
            own = own + z[u] / np.sqrt(d_u * d_target)
        result.append(total + np.maximum(own, 0) @ weights.w2 / d_target)
    return np.array(result)


def flips_of(logits, rounding=1e-9):
    """Flips against the candidate without intervention, and which of them rounding may turn."""
    ordered = np.sort(logits, axis=2)
    close = ordered[..., -1] - ordered[..., -2] < rounding
    flips = logits.argmax(axis=2) != logits[0, 0].argmax()
    return flips, close | close[0, 0]


def check_completions(public, universe, times):
    """All are compared but those that rounding may turn; in single precision that leaves three digits to spare."""
    single = not universe.incident or deletions.CROWDED_ENTRIES == 0
    found = public.scenarios(universe, times)
    assert found.shape == (3 * times + 2, *universe.shape)
    assert found.dtype == bool
    for flips, completion in zip(found, public.completions(universe.target, times), strict=False):
        expected, close = flips_of(logits_in(public, universe, completion), 1e-3 if single else 1e-9)
        assert (flips == expected)[~close].all()
    return found[:-2]


@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    disclosed=st.sampled_from([0.03, 0.3, 0.8]),
    rho=st.sampled_from([0.2, 0.6, 0.9]),
    arm=st.sampled_from(list(Arm)),
)
def test_completions_equal_their_definition(seed, target, disclosed, rho, arm):
    public = make_public(seed, rho, disclosed=disclosed)
    if public.hidden:
        check_completions(public, public.universe(target, arm), times=2)


@pytest.mark.parametrize(("arm", "disclosed"), [(Arm.FULL, 0.8), (Arm.TWO_HOP, 0.3)])
@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), target=st.integers(0, 8))
def test_completions_equal_their_definition_with_many_triangles(arm, disclosed, seed, target):
    """The other way to treat triangles: every set's total anew in the place of corrections."""
    public = make_public(seed, disclosed=disclosed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deletions, "CROWDED_ENTRIES", 0)
        check_completions(public, public.universe(target, arm), times=2)


def test_pairs_away_from_the_target_are_among_the_candidates_here():
    """So that the tests above see them, and completions that differ over them."""
    away, differ = 0, 0
    for target in range(9):
        public = make_public(1)
        universe = public.universe(target, Arm.TWO_HOP)
        far = np.flatnonzero((universe.edge_pairs != target).all(axis=1))
        away += len(far)
        flips = check_completions(public, universe, times=3)
        alone = np.isin(universe.edge_subsets, [-1, *far]).all(axis=1) & (universe.edge_sizes > 0)
        differ += flips[:, alone].any(axis=0).any() and not flips[:, alone].all(axis=0).all()
    assert away > 9
    assert differ > 3


def test_completions_disagree_with_each_other_and_with_the_snapshot():
    """So that the comparison above has something to tell apart."""
    public = make_public(1)
    differ = 0
    for target in range(9):
        universe = public.universe(target)
        flips = check_completions(public, universe, times=3)
        snapshot = Public(public.nodes, public.snapshot, public.weights, 1.0).scenarios(universe)[0]
        differ += (flips != snapshot).any() and (flips != flips[0]).any()
    assert differ >= 5


@given(
    seed=st.integers(0, 10_000),
    target=st.integers(0, 8),
    rho=st.sampled_from([0.0, 1.0]),
    arm=st.sampled_from(list(Arm)),
)
def test_with_nothing_hidden_the_snapshot_itself_is_the_scenario(seed, target, rho, arm):
    public = make_public(seed, rho)
    universe = public.universe(target, arm)
    graph = PublicGraph(public.nodes, public.snapshot.pairs)
    found = public.scenarios(universe)
    assert len(found) == 3
    assert (found[0] == GCNScorer(graph, public.weights).score(universe).flips).all()
    case = Case(PrivateGraph(public.nodes, public.snapshot.pairs), public.snapshot, public.weights)
    expected, close = flips_of(brute_force_logits(case, universe))
    assert (found[0] == expected)[~close].all()


@given(seed=st.integers(0, 10_000), target=st.integers(0, 8), rho=st.sampled_from([0.4, 1.0]))
def test_boundary_scenarios_are_the_signs_of_the_public_margin(seed, target, rho):
    public = make_public(seed, rho)
    universe = public.universe(target)
    case = Case(PrivateGraph(public.nodes, public.snapshot.pairs), public.snapshot, public.weights)
    logits = brute_force_logits(case, universe)
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    original = p[0, 0].argmax()
    margin = p[..., original] - np.delete(p, original, axis=2).max(axis=2)
    lowered, raised = public.scenarios(universe)[-2:]
    clear = np.abs(margin - margin[0, 0]) > 1e-8
    assert (lowered == (margin < margin[0, 0]))[clear].all()
    assert (raised == (margin > margin[0, 0]))[clear].all()
    assert not (lowered | raised)[np.abs(margin - margin[0, 0]) < 1e-11].any()


@pytest.mark.parametrize("arm", Arm)
def test_a_target_without_any_public_pair(arm):
    """It has hidden neighbours or none; with edges alone to choose from, ∅ is all there is."""
    public = make_public(3, rho=0.5, disclosed=0.1)
    tied = set(public.snapshot.pairs.ravel().tolist())
    target = next(v for v in range(9) if v not in tied)
    universe = public.universe(target, arm)
    assert not len(universe.edge_pairs)
    assert {len(rows) for rows, *_ in public.completions(target, 8)} > {0}
    check_completions(public, universe, times=8)


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize("rho", [0.0, 0.4, 1.0])
def test_the_empty_candidate_flips_in_no_scenario(arm, rho):
    public = make_public(4, rho)
    for target in range(9):
        assert not public.scenarios(public.universe(target, arm))[:, 0, 0].any()


def test_inert_masks_change_nothing():
    public = make_public(5)
    for target in range(9):
        found = public.scenarios(public.universe(target, Arm.INERT_MASKS))
        assert (found == found[:, :, :1]).all()


def test_karate_club():
    """Its trained size of graph, with triangles: a hub, a bridge, a leaf and a node of the rim."""
    club = load("karate")
    rng = np.random.default_rng(0)
    weights = GCNWeights(*(rng.normal(size=shape) for shape in [(34, 8), (8,), (8, 2), (2,)]))
    public = Public(club.nodes, simulate(club.graph, 0).prefix(0.5), weights, 0.5)
    assert public.hidden == 39
    for target in (0, 8, 11, 33):
        check_completions(public, public.universe(target), times=2)


def test_the_same_public_objects_give_the_same_scenarios_in_any_order():
    public = make_public(6)
    model = PublicModel(public.nodes, public.snapshot, public.weights, public.rho)
    first = [model.scenarios(public.universe(target)) for target in range(9)]
    again = [public.scenarios(public.universe(target)) for target in reversed(range(9))][::-1]
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, again, strict=True))


@pytest.mark.parametrize(("rho", "hidden"), [(0.0, 0), (0.25, 33), (0.5, 11), (0.9, 1), (1.0, 0)])
def test_hidden_pairs_are_what_the_share_leaves(rho, hidden):
    public = make_public(7, rho)
    assert len(public.snapshot) == 11
    assert PublicModel(public.nodes, public.snapshot, public.weights, rho).hidden == hidden


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("nan"), "1", None, True])
def test_a_share_outside_its_range_is_refused(rho):
    public = make_public(8)
    with pytest.raises(BadInput, match="rho: found"):
        PublicModel(public.nodes, public.snapshot, public.weights, rho)


@pytest.mark.parametrize("completions", [0, 21, 2.0, True])
def test_a_number_of_completions_outside_its_range_is_refused(completions):
    public = make_public(8)
    with pytest.raises(BadInput, match="completions: found"):
        PublicModel(public.nodes, public.snapshot, public.weights, 0.5, completions)


def test_a_snapshot_of_other_nodes_is_refused():
    small, large = make_public(9, n=5), make_public(9, n=9)
    with pytest.raises(BadInput, match="one for 9 nodes, the graph has 5"):
        PublicModel(small.nodes, large.snapshot, small.weights, 0.5)


def test_a_universe_of_other_nodes_is_refused():
    small, large = make_public(9, n=5), make_public(9, n=9)
    with pytest.raises(BadInput, match="another graph"):
        small.scenarios(large.universe(8))


def test_every_node_tied_to_every_other_leaves_no_partner():
    """Whatever is hidden, the target's neighbours are all known already."""
    case = make_case(10, n=5, disclosed=1.0)
    public = Public(case.graph.nodes, case.snapshot, case.weights, 0.5)
    assert all(len(rows) == 4 for rows, *_ in public.completions(0, 8))
    check_completions(public, public.universe(0), times=8)


def test_a_model_shares_what_it_knows_of_all_nodes():
    """At a million nodes another array of hidden features would take hundreds of MiB for every rho asked."""
    public = make_public(11)
    model = PublicModel(public.nodes, public.snapshot, public.weights, public.rho)
    held = [*vars(model).values(), *vars(model._ties).values()]
    wide = [value for value in held if isinstance(value, np.ndarray) and value.shape == public.z.shape]
    assert len(wide) == 2
    assert all(value is model._known.states.hidden for value in wide)
    rows = np.array([3, 0, 3, 8])
    everywhere = model._known.graph.adjacency @ (public.z / model._root(np.arange(9))[:, None])
    assert model._sums(rows) == pytest.approx(everywhere[rows], rel=1e-12, abs=1e-14)
