"""Subgraphs in which each edge is kept with probability p_s, many at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import floor

import numpy as np

from core.labels.plan import Plan

BITS = 32
AT_ONCE = 1 << 22  # numbers that one batch may hold

Words = Callable[[int], np.ndarray]  # how many -> as many uniform uint32


def system_words(count: int) -> np.ndarray:
    """Uniform uint32 from the operating system's generator: for a release."""
    return np.frombuffer(os.urandom(4 * count), dtype=np.uint32)


def seeded_words(rng: np.random.Generator) -> Words:
    """Uniform uint32 from a seeded generator: for simulations."""
    return lambda count: rng.integers(0, 1 << BITS, size=count, dtype=np.uint32)


def subsamples(edges: int, plan: Plan, words: Words, per_subgraph: int = 0) -> Iterator[np.ndarray]:
    """Yield which of the `edges` each of the m subgraphs keeps, in batches of k x edges, bool.

    An edge is kept with probability `floor(2^32 p_s) / 2^32`: exactly that, and never above p_s, so the
    halting step's chance is at most `plan.overflow`. `per_subgraph`: numbers that the caller holds for each.
    """
    below = floor(plan.p_s * (1 << BITS))
    batch = max(1, AT_ONCE // max(1, edges + per_subgraph))
    for start in range(0, plan.m, batch):
        k = min(batch, plan.m - start)
        yield (words(k * edges) < below).reshape(k, edges)
