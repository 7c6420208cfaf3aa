from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.handmade import make_scores


def test_the_empty_candidate_never_flips():
    scores = make_scores(np.random.default_rng(0), 3, 3)
    predicted = scores.predicted.copy()
    predicted[0, 0] = scores.runner_up
    tied = replace(scores, predicted=predicted)
    assert not tied.flips[0, 0]
    assert (tied.flips.ravel()[1:] == scores.flips.ravel()[1:]).all()


@given(seed=st.integers(0, 1000))
def test_existing_counts_the_private_edges_of_each_subset(seed):
    scores = make_scores(np.random.default_rng(seed), 4, 2)
    for row, count in zip(scores.universe.edge_subsets, scores.existing, strict=True):
        assert count == sum(scores.exists[k] for k in row if k >= 0)


@given(seed=st.integers(0, 1000))
def test_runner_up_and_margin_come_from_the_clean_logits(seed):
    scores = make_scores(np.random.default_rng(seed), 2, 2, classes=4)
    p = np.exp(scores.clean) / np.exp(scores.clean).sum()
    first, second = np.argsort(-p)[:2]
    assert (scores.original, scores.runner_up) == (first, second)
    assert scores.clean_margin == pytest.approx(p[first] - p[second])
