from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.backbone.gcn import GCNWeights, softmax
from core.errors import UnsupportedBackbone
from tests.core.smallgraphs import dense_logits, make_case


@given(seed=st.integers(0, 10_000), density=st.sampled_from([0.0, 0.3, 1.0]))
def test_sparse_pass_equals_the_dense_definition(seed, density):
    case = make_case(seed, density=density)
    expected = dense_logits(case.graph.nodes.x.toarray(), case.graph.edges, case.weights)
    assert np.abs(case.weights.logits(case.graph) - expected).max() < 1e-12


def test_softmax_is_stable():
    assert np.allclose(softmax(np.array([1000.0, 1000.0])), [0.5, 0.5])
    assert softmax(np.array([[0.0, np.log(3.0)]]))[0] == pytest.approx([0.25, 0.75])


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(UnsupportedBackbone, match="expected"):
        GCNWeights(np.ones((3, 2)), np.ones(3), np.ones((2, 2)), np.ones(2))
    with pytest.raises(UnsupportedBackbone, match=r"w2.*not finite"):
        GCNWeights(np.ones((3, 2)), np.ones(2), np.full((2, 2), np.nan), np.ones(2))
    case = make_case(0)
    with pytest.raises(UnsupportedBackbone, match="found weights for 3 features and 2 classes, the graph has 6 and 3"):
        GCNWeights(np.ones((3, 2)), np.ones(2), np.ones((2, 2)), np.ones(2)).check(case.graph.nodes)


def test_digest_depends_on_every_array():
    case = make_case(0)
    w = case.weights
    changed = [
        GCNWeights(w.w1 + 1, w.b1, w.w2, w.b2),
        GCNWeights(w.w1, w.b1 + 1, w.w2, w.b2),
        GCNWeights(w.w1, w.b1, w.w2 + 1, w.b2),
        GCNWeights(w.w1, w.b1, w.w2, w.b2 + 1),
    ]
    assert len({w.digest, *(other.digest for other in changed)}) == 5
