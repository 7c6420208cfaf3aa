"""The degree bound: refused or projected, and what one edge does to a projection, on every graph of five nodes."""

from __future__ import annotations

import numpy as np
import pytest

from core.embeddings.domain import PROJECTED_STEPS, Domain, OverBound, projected
from core.embeddings.graphset import bare_graph
from core.errors import BadInput
from tests.core.embeddings.brute import all_matrices, edges_of, neighbour_codes


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_one_edge_changes_at_most_three_edges_of_a_projection(bound):
    kept = []
    for matrix in all_matrices(5):
        found = projected(edges_of(matrix), 5, bound)
        degrees = np.bincount(found.ravel(), minlength=5)
        assert degrees.max(initial=0) <= bound
        kept.append({tuple(edge) for edge in found.tolist()})
        if matrix.sum(axis=1).max() <= bound:
            assert len(found) == matrix.sum() / 2
    assert max(len(kept[one] ^ kept[other]) for one, other in neighbour_codes(5)) <= PROJECTED_STEPS


def test_three_is_reached():
    kept = [{tuple(edge) for edge in projected(edges_of(matrix), 5, 2).tolist()} for matrix in all_matrices(5)]
    assert max(len(kept[one] ^ kept[other]) for one, other in neighbour_codes(5)) == PROJECTED_STEPS


def test_a_graph_over_the_bound_is_refused_without_its_degree():
    star = bare_graph(9, np.array([[0, leaf] for leaf in range(1, 9)]))
    with pytest.raises(BadInput, match="over the public bound of 3") as refused:
        Domain(9, 3).admit(star)
    assert "8" not in str(refused.value)
    assert Domain(9, 8).admit(star) is star
    assert Domain(9).admit(star) is star
    assert Domain(9, 3, OverBound.PROJECT).admit(star).m == 3


def test_another_number_of_nodes_and_impossible_domains_are_refused():
    with pytest.raises(BadInput, match="found 3 nodes, expected the 4"):
        Domain(4).admit(bare_graph(3, np.array([[0, 1]])))
    with pytest.raises(BadInput, match="degree bound"):
        Domain(4, 4)
    with pytest.raises(BadInput, match="without a bound"):
        Domain(4, over=OverBound.PROJECT)
