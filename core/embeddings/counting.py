"""Homomorphism counts and densities, by contracting copies of the adjacency with one index a pattern vertex.

`hom(F, G) = Σ_φ Π_{ab in E(F)} A_{φ(a)φ(b)}` over all maps φ of the vertices of F into those of G, and
`t(F, G) = hom(F, G) / n^m`. opt_einsum picks the order; the largest intermediate has as many indices as the
contraction is wide, at best the treewidth of F (Markov & Shi 2008). Trees and cycles take their fast paths, and what is
in several components is a product.

What is exact: every entry of every intermediate is a whole number of at most n^m, so float64 results are exact as long
as n^m <= 2^53, for instance n = 90, m = 8. Beyond, `rounding` bounds the relative error; `hom_exact` counts in Python's
integers, slowly, whatever the size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.embeddings.fastpaths import Cycles, Trees
from core.embeddings.patterns import Pattern
from core.errors import BadInput
from core.graph import Graph

UNIT = 2.0**-53
EXACT = 2**53
LARGEST = 2 * 10**8  # entries of an intermediate, 1.6 GB
MOST_DP = 10  # edges up to which dynamic programming finds the best order in some ten milliseconds
DENSE_SHARE = 0.05  # of entries that aren't 0, above which powers are cheaper dense


@dataclass(frozen=True)
class Plan:
    """How a connected pattern is contracted on n nodes; public.

    `equation`, `path`: as opt_einsum reads them. `width`: most indices of an intermediate (of the result of a step).
    `operations`: multiplications and additions. `summands`: Σ over steps of how many products one entry adds up.
    """

    equation: str
    path: tuple[tuple[int, ...], ...]
    width: int
    operations: float
    summands: float


@functools.lru_cache(maxsize=4096)
def plan(pattern: Pattern, n: int) -> Plan:
    """The contraction of a pattern with an edge; raises `BadInput` when an intermediate would not fit in memory."""
    import opt_einsum

    index = [opt_einsum.get_symbol(vertex) for vertex in range(pattern.vertices)]
    equation = ",".join(index[a] + index[b] for a, b in pattern.edges) + "->"
    shapes = [(n, n)] * pattern.size
    optimize = "dp" if pattern.size <= MOST_DP else "greedy"
    path, info = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=optimize)
    width, summands = 0, 0.0
    for step in info.contraction_list:
        inputs, output = step[2].split("->")
        width = max(width, len(output))
        summands += float(n) ** (len(set(inputs) - {","}) - len(output))
    if float(n) ** width > LARGEST:
        raise BadInput(
            f"pattern {pattern.name}: found a contraction of {n}^{width} entries, expected at most {LARGEST:,}; take "
            "patterns of smaller treewidth"
        )
    return Plan(equation, tuple(map(tuple, path)), width, float(info.opt_cost), summands)


def contract(pattern: Pattern, adjacency: Any) -> Any:
    """hom(F, G) of a connected pattern with an edge by its plan, for a dense n x n array or tensor of any dtype."""
    import opt_einsum

    made = plan(pattern, int(adjacency.shape[-1]))
    if adjacency.ndim == 3:
        equation = ",".join("Z" + part for part in made.equation[:-2].split(",")) + "->Z"
        return opt_einsum.contract(equation, *[adjacency] * pattern.size, optimize=made.path)
    return opt_einsum.contract(made.equation, *[adjacency] * pattern.size, optimize=made.path)


def counts(patterns: Sequence[Pattern], adjacency: Any) -> np.ndarray:
    """hom(F, G) of each pattern, d float64; for a stack of B graphs, B x d.

    `adjacency`: SciPy sparse n x n, or a dense float64 array or tensor, n x n or B x n x n, on any device.
    """
    return _counts(patterns, adjacency).astype(np.float64)


def hom_exact(pattern: Pattern, adjacency: np.ndarray) -> int:
    """hom(F, G) in Python's integers, n x n zeros and ones: exact at any size, some hundred times slower."""
    return int(_counts([pattern], np.asarray(adjacency).astype(int).astype(object))[0])


def densities(patterns: Sequence[Pattern], graph: Graph, device: str = "cpu") -> np.ndarray:
    """t(F, G) of each pattern, d float64; private where the graph is. Raises `BadInput` for a missing device."""
    return normalised(patterns, counts(patterns, adjacency_of(graph, device)), graph.n)


def normalised(patterns: Sequence[Pattern], homs: np.ndarray, n: int) -> np.ndarray:
    """Densities of counts, over `n` to the number of vertices."""
    return homs / np.array([float(n) ** pattern.vertices for pattern in patterns])


def adjacency_of(graph: Graph, device: str = "cpu") -> Any:
    """What the graph is counted on: SciPy sparse on the CPU where it is sparse, else a dense array or tensor."""
    if device == "cpu":
        sparse = graph.adjacency
        return sparse if sparse.nnz <= DENSE_SHARE * graph.n**2 else sparse.toarray()
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("device: found cuda without a CUDA device, expected cpu")
    return torch.as_tensor(graph.adjacency.toarray(), dtype=torch.float64, device=device)


def rounding(pattern: Pattern, n: int) -> float:
    """Bound on the relative error of a computed t(F, G), whatever the graph on n nodes: public.

    A sum of K non-negative floats in any order errs by a factor (1 + u)^(K-1) at most and a product by one more,
    u = 2^-53; factors of all steps multiply (Higham 2002, ch. 3). Only the last three, of the division, are left where
    n^m <= 2^53.
    """
    steps = 3.0
    if n**pattern.vertices > EXACT:
        steps += sum(_summands(pattern.part(vertices), n) + 1 for vertices in pattern.components)
    return math.expm1(1.01 * steps * UNIT)


def _summands(part: Pattern, n: int) -> float:
    """Roundings, one after the other, of the count of a connected part."""
    if part.vertices == 1:
        return 0.0
    if part.tree:
        return part.size * (n + 2.0) + n
    if part.cycle:
        return (part.vertices - 2) * (n + 1.0) + float(n) ** 2 + 1
    made = plan(part, n)
    return made.summands + len(made.path)


def _counts(patterns: Sequence[Pattern], adjacency: Any) -> np.ndarray:
    trees, cycles = Trees(adjacency), Cycles(adjacency)
    dense = None
    found = []
    for pattern in patterns:
        product: Any = 1.0
        for vertices in pattern.components:
            part = pattern.part(vertices)
            if part.tree:
                value = trees.count(part)
            elif part.cycle:
                value = cycles.count(part.vertices)
            else:
                dense = _dense(adjacency) if dense is None else dense
                value = contract(part, dense)
            product = product * value
        found.append(product.cpu().numpy() if hasattr(product, "cpu") else np.asarray(product))
    return np.stack(found, axis=-1)


def _dense(adjacency: Any) -> Any:
    return adjacency.toarray() if hasattr(adjacency, "toarray") else adjacency
