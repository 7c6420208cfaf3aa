"""Exact random sets of node pairs on large sparse graphs, never through an N x N matrix."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from core.graph import PrivateGraph


class NoiseLaw(Protocol):
    """A continuous distribution of the noise on one pair, such as a frozen one of SciPy."""

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        """Independent draws."""

    def isf(self, q: np.ndarray) -> np.ndarray:
        """The value that is exceeded with probability `q`."""


def pair_total(n: int) -> int:
    """Number of node pairs, `N (N - 1) / 2`."""
    return n * (n - 1) // 2


def random_subset(pool: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """`size` distinct members of 0..pool-1, every such set equally likely, ascending int64.

    Time and memory `O(size log size)` up to half the pool. Distinct values of independent draws are,
    given how many there are, a uniformly random set of that size; so is a random part of it.
    """
    if 2 * size > pool:
        return np.setdiff1d(np.arange(pool), random_subset(pool, pool - size, rng), assume_unique=True)
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        found = np.sort(np.concatenate([found, rng.integers(pool, size=2 * (size - len(found)))]))
        found = found[np.diff(found, prepend=-1) > 0]  # np.unique hashes, which is ten times slower here
    return np.delete(found, rng.choice(len(found), size=len(found) - size, replace=False, shuffle=False))


def random_non_edges(graph: PrivateGraph, size: int, rng: np.random.Generator) -> np.ndarray:
    """`size` distinct pairs without an edge, every such set equally likely (size x 2 int64)."""
    n = graph.n
    rows = np.arange(n, dtype=np.int64)
    starts = rows * (2 * n - rows - 1) // 2  # place of pair (u, u + 1) when pairs are listed by u, then v
    u, v = graph.edges.T
    edges = starts[u] + v - u - 1
    places = random_subset(pair_total(n) - graph.m, size, rng)
    places = places + np.searchsorted(edges - np.arange(graph.m), places, side="right")
    first = np.searchsorted(starts, places, side="right") - 1
    return np.stack([first, places - starts[first] + first + 1], axis=1)


def noisy_top(graph: PrivateGraph, m: int, law: NoiseLaw, rng: np.random.Generator) -> np.ndarray:
    """The `m` pairs of largest `A_uv + noise_uv`, noise independent over all N (N - 1) / 2 pairs (m x 2).

    Exact in distribution. Edges get their noise one by one. Of the K non-edges only the largest m
    values can matter: their survival probabilities are the smallest order statistics of K uniforms,
    `1 - exp(-Σ_{i<=k} E_i / (K - i + 1))` with independent standard exponentials E (Rényi 1953).
    Which non-edges bear the values that win is uniform, since their noise is exchangeable.
    """
    absent = pair_total(graph.n) - graph.m
    rivals = min(m, absent)
    hazard = np.cumsum(rng.standard_exponential(rivals) / (absent - np.arange(rivals)))
    values = np.concatenate([1 + law.rvs(size=graph.m, random_state=rng), law.isf(-np.expm1(-hazard))])
    winners = np.argsort(-values, kind="stable")[:m]
    kept = winners[winners < graph.m]
    return np.concatenate([graph.edges[kept], random_non_edges(graph, m - len(kept), rng)])
