"""Definitions written out: every map, every graph, every neighbour. Nothing of `core.embeddings` is used to count."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from core.embeddings.patterns import Pattern


def brute_hom(pattern: Pattern, adjacency: np.ndarray) -> int:
    """Maps that send edges to edges, counted one by one."""
    return sum(
        all(adjacency[image[a], image[b]] for a, b in pattern.edges)
        for image in itertools.product(range(len(adjacency)), repeat=pattern.vertices)
    )


def random_matrix(n: int, density: float, rng: np.random.Generator) -> np.ndarray:
    upper = np.triu(rng.random((n, n)) < density, 1).astype(np.float64)
    return upper + upper.T


def edges_of(matrix: np.ndarray) -> np.ndarray:
    return np.argwhere(np.triu(matrix)).astype(np.int64)


def all_matrices(n: int) -> np.ndarray:
    """Every labelled graph on n nodes, 2^(n(n-1)/2) x n x n; bit k of the row says whether the k-th pair is tied."""
    pairs = list(itertools.combinations(range(n), 2))
    found = np.zeros((1 << len(pairs), n, n))
    for code in range(1 << len(pairs)):
        for k, (u, v) in enumerate(pairs):
            found[code, u, v] = found[code, v, u] = code >> k & 1
    return found


def neighbour_codes(n: int) -> Iterator[tuple[int, int]]:
    """Rows of `all_matrices` that differ in one edge."""
    pairs = n * (n - 1) // 2
    for code in range(1 << pairs):
        for k in range(pairs):
            if not code >> k & 1:
                yield code, code | 1 << k
