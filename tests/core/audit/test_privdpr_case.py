"""The certified auditor on the mechanism: edge count rejects its claim, other witnesses stay silent."""

from __future__ import annotations

import os

import networkx as nx
import pytest

from core.audit.claims import Pair, Relation
from core.audit.privdpr.canaries import batches_seen, non_empty, real_hub, star
from core.audit.privdpr.case import WITNESSES, audit_privdpr
from core.errors import BadInput


def found(results):
    return {(result.pair, result.witness): result for result in results}


def test_edge_count_rejects_the_claim_and_maximum_pagerank_does_not():
    """Small canaries at ε = 1. The probabilities of the chosen events differ by factors of 30 and more."""
    pairs = [star(31), non_empty(47), real_hub()]
    results = found(
        audit_privdpr(1.0, pairs=pairs, witnesses=("edge count", "maximum PageRank"), select=150, evaluate=400)
    )
    for pair in pairs:
        assert results[pair.name, "edge count"].rejected
    for pair in pairs[1:]:
        assert not results[pair.name, "maximum PageRank"].rejected


def test_a_pair_that_leaves_the_batches_as_they_are_is_not_told_apart():
    """Half the ties of a late node are gone, no batch loses its last: what is learnt drowns in the noise."""
    base = nx.gnp_random_graph(33, 0.3, seed=1)
    one = nx.empty_graph(33)
    one.add_edges_from(base.edges)
    one.add_edges_from((node, 32) for node in range(32))
    other = one.copy()
    other.remove_edges_from([(node, 32) for node in range(0, 32, 2)])
    assert batches_seen(one) == batches_seen(other) == 2
    pair = Pair("same batches", one, other, Relation.NODE_BOUNDED)
    results = audit_privdpr(1.0, pairs=[pair], witnesses=("edge count", "maximum degree"), select=150, evaluate=400)
    assert not any(result.rejected for result in results)


def test_pairs_of_another_relation_are_refused():
    graph = nx.path_graph(20)
    other = graph.copy()
    other.remove_edge(0, 1)
    with pytest.raises(BadInput, match="relation"):
        audit_privdpr(pairs=[Pair("edge", graph, other, Relation.EDGE)], select=2, evaluate=1)


@pytest.mark.slow
@pytest.mark.skipif("PRIVCFS_FULL" not in os.environ, reason="PRIVCFS_FULL is not set: takes minutes")
def test_all_six_pairs_reject_the_claim_by_edge_count_and_each_keeps_a_silent_witness():
    results = found(audit_privdpr(seed=1, workers=2))
    pairs = {pair for pair, _ in results}
    assert len(pairs) == 6
    for pair in pairs:
        assert results[pair, "edge count"].rejected
        assert not all(results[pair, witness].rejected for witness in WITNESSES)
    assert not results["B: in G(n, p)", "maximum PageRank"].rejected
    assert not results["hub of a real network", "maximum degree"].rejected
