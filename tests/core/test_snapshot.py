from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.snapshot import Snapshot, simulate
from tests.core.smallgraphs import make_case


@given(seed=st.integers(0, 10_000), low=st.floats(0, 1), high=st.floats(0, 1))
def test_snapshots_are_nested_in_rho(seed, low, high):
    low, high = sorted((low, high))
    graph = make_case(seed).graph
    snapshot = simulate(graph, seed)
    small, large = snapshot.prefix(low), snapshot.prefix(high)
    assert len(small) == round(low * graph.m)
    assert (large.pairs[: len(small)] == small.pairs).all()


@given(seed=st.integers(0, 10_000))
def test_simulated_snapshot_is_a_seeded_permutation_of_the_edges(seed):
    graph = make_case(seed).graph
    snapshot = simulate(graph, seed)
    assert snapshot.simulated
    assert sorted(map(tuple, snapshot.pairs)) == sorted(map(tuple, graph.edges))
    assert snapshot.digest == simulate(graph, seed).digest


def test_seeds_differ():
    graph = make_case(0).graph
    assert simulate(graph, 0).digest != simulate(graph, 1).digest


@given(seed=st.integers(0, 10_000), v=st.integers(0, 8))
def test_incident_pairs_keep_disclosure_order(seed, v):
    snapshot = make_case(seed).snapshot
    expected = [place for place, pair in enumerate(snapshot.pairs.tolist()) if v in pair]
    assert snapshot.incident(v).tolist() == expected


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("nan"), "half", True])
def test_bad_strength_is_refused(rho):
    with pytest.raises(BadInput, match="share between 0 and 1"):
        make_case(0).snapshot.stop(rho)


def test_repeated_pairs_are_refused():
    with pytest.raises(BadInput, match="1 repeated"):
        Snapshot(np.array([[0, 1], [1, 0]]), 3, simulated=False)
