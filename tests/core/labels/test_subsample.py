"""Subgraphs: how often an edge is kept, and what a batch may not change."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.labels import subsample
from core.labels.plan import Plan
from core.labels.subsample import seeded_words, subsamples, system_words


def plan(p_s: str, m: int) -> Plan:
    return Plan(Fraction(p_s), m, Fraction(1), Fraction("0.01"))


@pytest.mark.parametrize("words", [system_words, seeded_words(np.random.default_rng(3))], ids=["system", "seeded"])
@pytest.mark.parametrize("p_s", ["0.03", "1/2", "0.9"])
def test_each_edge_is_kept_with_its_chance(words, p_s):
    kept = np.concatenate(list(subsamples(500, plan(p_s, 400), words)))
    assert kept.shape == (400, 500)
    p = float(Fraction(p_s))
    # 5 standard errors: falsely red once in 1.7 million runs; two halves of the rows and of the columns alike
    for part in (kept, kept[:200], kept[:, ::2], kept[::2] & kept[1::2]):
        chance = p * p if part.shape == (200, 500) and part is not kept and (part <= kept[::2]).all() else p
        assert abs(part.mean() - chance) < 5 * np.sqrt(chance / part.size)


def test_every_edge_is_kept_at_one():
    assert all(batch.all() for batch in subsamples(7, plan("1", 9), system_words))


def test_the_chance_is_never_above_p_s():
    limit = 2**32 * Fraction("0.07")
    words = np.array([int(limit) - 1, int(limit), int(limit) + 1], dtype=np.uint32)
    (kept,) = subsamples(3, plan("0.07", 1), lambda count: words[:count])
    assert kept.tolist() == [[True, False, False]]
    assert limit.denominator != 1


def test_batches_cover_all_subgraphs(monkeypatch):
    whole = np.concatenate(list(subsamples(11, plan("0.3", 50), seeded_words(np.random.default_rng(1)))))
    monkeypatch.setattr(subsample, "AT_ONCE", 100)
    parts = list(subsamples(11, plan("0.3", 50), seeded_words(np.random.default_rng(1)), per_subgraph=9))
    assert [len(part) for part in parts] == [5] * 10
    assert (np.concatenate(parts) == whole).all()


def test_a_graph_without_edges_has_subgraphs_too():
    assert sum(len(batch) for batch in subsamples(0, plan("0.3", 50), system_words)) == 50
