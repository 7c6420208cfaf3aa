"""Counts that need no general contraction: trees by message passing, cycles by traces of powers.

The adjacency is a SciPy sparse matrix, a NumPy array or a torch tensor (any device), n x n; arrays and tensors may be
stacks, B x n x n, and counts are then B long. All entries are 0 or 1 and float64: sums and products of non-negative
numbers, so relative errors only add up (`core.embeddings.counting.rounding`).
"""

from __future__ import annotations

from typing import Any

from core.embeddings.patterns import Pattern

Shape = tuple["Shape", ...]  # a rooted tree: the sorted shapes of its branches


class Trees:
    """Homomorphism counts of trees into one graph, O(m M) each for M edges; branches that trees share are counted once.

    `x_r(v)` counts the maps of a tree rooted at r that send r to v: the product over its branches c of `(A x_c)(v)`.
    A star is the sum of powers of degrees.
    """

    def __init__(self, adjacency: Any) -> None:
        self._adjacency = adjacency
        self._towards: dict[Shape, Any] = {}  # A x_c for a branch of that shape

    def count(self, tree: Pattern) -> Any:
        """hom(F, G) of a tree, a scalar or B of them."""
        root = max(range(tree.vertices), key=lambda vertex: len(tree.neighbours[vertex]))
        return self._maps(_shape(tree, root, None)).sum(-1)

    def _maps(self, shape: Shape) -> Any:
        product = self._ones()
        for branch in shape:
            if branch not in self._towards:
                self._towards[branch] = _times(self._adjacency, self._maps(branch))
            product = product * self._towards[branch]
        return product

    def _ones(self) -> Any:
        some = self._adjacency
        if hasattr(some, "new_ones"):
            return some.new_ones(some.shape[:-1])
        import numpy as np

        return np.ones(some.shape[:-1], dtype=some.dtype)


class Cycles:
    """Homomorphism counts of cycles into one graph: hom(C_k, G) = tr A^k = Σ λ^k, by powers of A up to k/2.

    `tr A^(a+b) = Σ_uv (A^a)_uv (A^b)_uv`, since powers of a symmetric matrix are symmetric. Powers of a sparse matrix
    stay sparse while the graph is.
    """

    def __init__(self, adjacency: Any) -> None:
        self._powers = [adjacency]

    def count(self, length: int) -> Any:
        """tr A^length, a scalar or B of them."""
        half = length // 2
        while len(self._powers) < length - half:
            self._powers.append(self._powers[-1] @ self._powers[0])
        one, other = self._powers[half - 1], self._powers[length - half - 1]
        if hasattr(one, "tocsr"):
            return one.multiply(other).sum()
        return (one * other).sum((-2, -1))


def _shape(tree: Pattern, vertex: int, parent: int | None) -> Shape:
    return tuple(sorted(_shape(tree, other, vertex) for other in tree.neighbours[vertex] if other != parent))


def _times(adjacency: Any, vector: Any) -> Any:
    if vector.ndim == 1:
        return adjacency @ vector
    return (adjacency @ vector[..., None])[..., 0]
