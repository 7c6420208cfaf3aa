"""The ego layout: deterministic, complete where it promises to be, and steady while ρ moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import Dataset
from core.snapshot import Snapshot
from core.universe import edge_candidates
from explorer.ego import ego_view, ever_candidates, layout_of
from explorer.layout import FIRST_RADIUS, SECOND_RADIUS, ego_layout
from explorer.state import Desk
from tests.core.smallgraphs import make_case

NONE = np.empty((0, 2), dtype=np.int64)


@pytest.mark.parametrize("target", [0, 5, 16, 33])
def test_layout_is_deterministic_and_radial(karate: Dataset, target: int) -> None:
    one, two = (ego_layout(karate.graph, target, NONE, karate.positions) for _ in range(2))
    for field in ("rows", "x", "y", "ring", "ties"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
    assert (one.x[0], one.y[0], one.rows[0]) == (0, 0, target)
    radius = np.array([0.0, FIRST_RADIUS, SECOND_RADIUS])[one.ring]
    np.testing.assert_allclose(np.hypot(one.x, one.y), radius, atol=1e-12)


def test_first_ring_holds_neighbours_and_public_ends_once(karate: Dataset) -> None:
    neighbours = karate.graph.neighbours(16)
    stranger = next(v for v in range(34) if v != 16 and v not in neighbours)
    pairs = np.array([[16, neighbours[0]], [stranger, 16]])
    layout = ego_layout(karate.graph, 16, pairs)
    assert sorted(layout.rows[layout.ring == 1]) == sorted({*neighbours.tolist(), stranger})
    assert len(set(layout.rows.tolist())) == len(layout.rows)


def test_second_ring_is_bounded_and_the_rest_counted(karate: Dataset) -> None:
    full = ego_layout(karate.graph, 16, NONE, second=1000)
    short = ego_layout(karate.graph, 16, NONE, second=3)
    assert full.hidden == 0
    assert (short.ring == 2).sum() == 3
    assert short.hidden == (full.ring == 2).sum() - 3


def test_ties_are_private_edges_away_from_the_target(karate: Dataset) -> None:
    layout = ego_layout(karate.graph, 0, NONE)
    pairs = np.sort(layout.rows[layout.ties], axis=1)
    assert len(pairs)
    assert karate.graph.contains(pairs).all()
    assert not (pairs == 0).any()


def test_ring_follows_stored_directions(karate: Dataset) -> None:
    angle = np.random.default_rng(1).permutation(34) * 2 * np.pi / 34
    positions = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    positions[0] = 0.5
    layout = ego_layout(karate.graph, 0, NONE, positions, second=0)
    shown = layout.rows[layout.ring == 1]
    stored = np.arctan2(*(positions[shown] - positions[0]).T[::-1])
    drawn = layout.angle[layout.ring == 1]
    assert np.array_equal(
        np.argsort(np.mod(stored - stored[0], 2 * np.pi)), np.argsort(np.mod(drawn - drawn[0], 2 * np.pi))
    )
    assert abs(np.angle(np.exp(1j * (stored - drawn)).sum())) < 1e-9


def test_isolated_target_stands_alone(karate: Dataset) -> None:
    lonely = karate.graph.with_edges(karate.graph.edges[~(karate.graph.edges == 11).any(axis=1)])
    layout = ego_layout(lonely, 11, NONE)
    assert layout.rows.tolist() == [11]
    with pytest.raises(KeyError):
        layout.place(0)


def test_nodes_stay_put_while_rho_moves(desk: Desk) -> None:
    places = []
    for rho in (0.1, 0.5, 1.0):
        assert desk.choose(rho=rho)
        places.append(layout_of(desk.study, desk.inspection))
    for later in places[1:]:
        np.testing.assert_array_equal(later.rows, places[0].rows)
        np.testing.assert_array_equal(later.x, places[0].x)


@given(seed=st.integers(0, 10_000), k=st.integers(0, 8))
def test_every_two_hop_candidate_of_any_rho_is_known_beforehand(seed: int, k: int) -> None:
    snapshot = make_case(seed).snapshot
    for target in range(3):
        prefixes = [Snapshot(snapshot.pairs[:stop], 9, simulated=False) for stop in range(len(snapshot) + 1)]
        listed = {tuple(pair) for part in prefixes for pair in edge_candidates(part, target, k, two_hop=True).tolist()}
        expected = [pair for pair in snapshot.pairs.tolist() if tuple(pair) in listed]
        assert ever_candidates(snapshot, target, k).tolist() == expected


def test_nodes_stay_put_while_rho_moves_in_a_two_hop_arm(desk: Desk) -> None:
    layouts = []
    for rho in (0.1, 0.4, 0.7, 1.0):
        assert desk.choose(target=9, rho=rho, arm="two-hop", k_edges=6)
        layouts.append(layout_of(desk.study, desk.inspection))
        pairs = desk.inspection.universe.edge_pairs
        assert len(layouts[-1].places(pairs)) == len(pairs)
    for later in layouts[1:]:
        np.testing.assert_array_equal(later.rows, layouts[0].rows)


def test_the_outer_end_of_a_public_pair_stands_behind_its_neighbour(karate: Dataset) -> None:
    """It comes before the private two-hop nodes, whether it is one of them or none."""
    near = karate.graph.neighbours(16)
    private = next(w for w in karate.graph.neighbours(int(near[0])) if w != 16 and w not in near)
    stranger = next(w for w in range(34) if w not in {16, *near} and w not in karate.graph.neighbours(int(near[1])))
    pairs = np.array([[16, near[0]], [16, near[1]], [near[0], private], [stranger, near[1]]])
    full, short = (ego_layout(karate.graph, 16, pairs, second=second) for second in (1000, 0))
    assert set(short.rows[short.ring == 2].tolist()) == {private, stranger}
    assert full.hidden == 0
    reached = {w for u in near for w in karate.graph.neighbours(int(u)).tolist()} - {16, *near.tolist()}
    assert short.hidden == len(reached - {private, stranger})
    for inner, outer in ((near[0], private), (near[1], stranger)):
        turned = short.angle[short.place(outer)] - short.angle[short.place(int(inner))]
        assert np.cos(turned) == pytest.approx(1.0)


def test_kinds_of_ties_split_the_neighbourhood(desk: Desk) -> None:
    assert desk.choose(rho=0.6, target=0)
    view = ego_view(desk.study, desk.inspection, layout_of(desk.study, desk.inspection))
    private, public = (
        {int(row) for row in view.layout.rows[view.ties[kind]].ravel() if row} for kind in ("private", "public")
    )
    assert private | public == set(desk.dataset.graph.neighbours(0).tolist())
    assert not private & public
    assert public == {int(w) for u, w in desk.inspection.universe.edge_pairs}
    assert not len(view.ties["absent"])
