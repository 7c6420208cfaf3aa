from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
from scipy.stats import binom

from core.audit.canaries import Context
from core.audit.claims import Claim, Pair, Relation, as_networkx
from core.audit.sampling import Witness
from core.audit.search import canary_grid, search, synthetic_grid
from core.audit.witnesses import Coordinate, battery
from core.audit.zoo.choices import BitResponse
from core.errors import BadInput
from tests.core.smallgraphs import make_case

KARATE = nx.karate_club_graph()


@pytest.mark.parametrize("relation", [relation for relation in Relation if relation is not Relation.RECORD])
def test_a_grid_goes_through_the_contexts(relation):
    pairs = canary_grid(KARATE, relation, per=3)
    assert {pair.relation for pair in pairs} == {relation}
    assert 6 <= len(pairs) <= 12
    assert len({pair.name for pair in pairs}) == len(pairs)
    assert all(pair.one is KARATE for pair in pairs)
    for context in Context:
        assert any(context.value in pair.name for pair in pairs)


def test_a_grid_reaches_the_extremes():
    (low, *_, high) = canary_grid(KARATE, Relation.NODE_BOUNDED, per=4, contexts=(Context.DEGREE,))
    assert KARATE.number_of_edges() - low.other.number_of_edges() == 1
    assert KARATE.number_of_edges() - high.other.number_of_edges() == 17


def test_a_grid_in_a_private_graph():
    graph = make_case(2).graph
    pairs = canary_grid(graph, Relation.EDGE)
    assert all(pair.other.m == graph.m - 1 for pair in pairs)


@pytest.mark.parametrize("relation", [Relation.EDGE, Relation.NODE_BOUNDED, Relation.NODE_UNBOUNDED])
def test_a_synthetic_grid(relation):
    pairs = synthetic_grid(relation, np.random.default_rng(0), nodes=20, densities=(0.3,), leaves=(3, 10))
    assert len(pairs) == len({pair.name for pair in pairs}) == 6
    assert sum("connected" in pair.name for pair in pairs) == 2


def test_a_graph_without_edges_has_no_canary():
    with pytest.raises(BadInput, match="canary search: found nothing to change by relation edge"):
        canary_grid(nx.empty_graph(4), Relation.EDGE)


@dataclass(frozen=True)
class TrianglesLeak:
    """Noise enough for the edge count, next to none for the number of triangles."""

    def __call__(self, graph, rng):
        graph = as_networkx(graph)
        count = sum(nx.triangles(graph).values()) // 3
        return graph.number_of_edges() + rng.laplace(scale=4.0), count + rng.laplace(scale=4.0)


WITNESSES = (Witness("noisy edges", Coordinate(0)), Witness("noisy triangles", Coordinate(1)))


def test_the_canary_and_the_witness_that_show_most_are_found():
    """At edge level an edge in many triangles moves their number by 10: noise of scale 4 shows 2.5, one edge 0.25."""
    pairs = canary_grid(KARATE, Relation.EDGE, per=3, contexts=(Context.TRIANGLES,))
    found = search(
        TrianglesLeak(), pairs, Claim(1.0, Relation.EDGE), WITNESSES, keep=1, select=400, evaluate=1_500, seed=0
    )
    (best,) = found.results
    assert best.witness == "noisy triangles"
    assert "triangles 10" in best.pair
    assert best.rejected
    assert (best.tests, best.simultaneous, best.evaluated, best.selected) == (1, True, 1_500, 400)
    assert len(found.tried) == len(pairs) * 2
    scores = [one.score for one in found.tried]
    assert scores == sorted(scores, reverse=True)
    assert (found.tried[0].pair, found.tried[0].witness) == (best.pair, best.witness)


def test_only_pairs_of_kept_tests_are_evaluated():
    calls = []

    def release(graph, rng):
        calls.append(graph.number_of_edges())
        return TrianglesLeak()(graph, rng)

    pairs = canary_grid(KARATE, Relation.EDGE, per=3, contexts=(Context.TRIANGLES,))
    search(release, pairs, Claim(1.0, Relation.EDGE), WITNESSES, keep=1, select=50, evaluate=30, seed=0)
    assert len(calls) == len(pairs) * 2 * 50 + 2 * 30


@pytest.mark.parametrize("keep", [1, 3])
def test_a_search_over_many_tests_keeps_the_stated_rate(keep):
    """150 searches over 12 tests of a claim that holds with equality: beyond the limit by chance in 1 of 10^6."""
    pairs = [Pair(f"bit {k}", (1,), (0,), Relation.RECORD) for k in range(4)]
    witnesses = [Witness(f"copy {k}", Coordinate(0), finite=k == 1) for k in range(3)]
    wrong = 0
    for seed in range(150):
        found = search(
            BitResponse(1.0), pairs, Claim(1.0, Relation.RECORD), witnesses, keep=keep, select=40, evaluate=60,
            confidence=0.8, seed=seed,
        )  # fmt: skip
        assert len(found.results) == keep
        wrong += any(result.rejected for result in found.results)
    assert wrong <= binom.isf(1e-6, 150, 0.2)


def test_a_battery_works_on_a_synthetic_grid():
    pairs = synthetic_grid(Relation.NODE_BOUNDED, np.random.default_rng(0), nodes=8, densities=(0.4,), leaves=(4,))

    def release(graph, rng):
        return graph

    found = search(
        release, pairs, Claim(1.0, Relation.NODE_BOUNDED), battery(["edge count", "assortativity"]), keep=2, select=30,
        evaluate=60, seed=0,
    )  # fmt: skip
    assert all(result.rejected for result in found.results)
