"""Classes of random graphs that trees can't tell apart and cycles can.

A stochastic block model of k equal blocks with edge probability `p + a (k - 1)` inside a block and `p - a` across gives
every node the same expected degree, about n p, whatever k and a: every tree has the density p^(m-1) in the limit, so
trees see nothing but chance. The limit has the eigenvalues p (once) and a (k - 1 times), so the cycle of length m has
the density `p^m + (k - 1) a^m`. Finite graphs differ in trees too, by terms of order 1/n: degrees vary a little less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import checks
from core.embeddings.graphset import GraphSet, bare_graph
from core.errors import BadInput
from core.graph import PrivateGraph


@dataclass(frozen=True)
class BlockClass:
    """Graphs of `blocks` equal blocks, mean edge probability `density` and second eigenvalue `strength`.

    Inside a block `density + strength (blocks - 1)`, across `density - strength`; one block is an Erdős–Rényi graph.
    As n grows, `t(C_m) -> density^m + (blocks - 1) strength^m` and `t(T) -> density^e(T)` for trees.
    Raises `BadInput` for probabilities outside [0, 1].
    """

    name: str
    blocks: int
    density: float
    strength: float

    def __post_init__(self) -> None:
        checks.count(self.blocks, "blocks", 1, 1_000)
        if not (0 <= self.across <= 1 and 0 <= self.inside <= 1):
            raise BadInput.number(
                f"strength of class {self.name}", self.strength, "one that leaves probabilities from 0 to 1"
            )

    @property
    def inside(self) -> float:
        """Edge probability within a block."""
        return self.density + self.strength * (self.blocks - 1)

    @property
    def across(self) -> float:
        """Edge probability between blocks."""
        return self.density - self.strength

    def draw(self, n: int, rng: np.random.Generator) -> PrivateGraph:
        """One graph on `n` nodes, blocks of equal size up to rounding."""
        block = np.arange(n) * self.blocks // n
        u, v = np.triu_indices(n, 1)
        chance = np.where(block[u] == block[v], self.inside, self.across) if self.blocks > 1 else self.density
        kept = rng.random(len(u)) < chance
        return bare_graph(n, np.column_stack([u[kept], v[kept]]))


CYCLE_CLASSES = (BlockClass("one block", 1, 0.5, 0.0), BlockClass("two blocks", 2, 0.5, 0.25))


def block_graphs(classes: tuple[BlockClass, ...], each: int, n: int, seed: int) -> GraphSet:
    """`each` graphs on `n` nodes of each class, the same for one seed."""
    checks.count(each, "graphs of each class", 1, 100_000)
    checks.count(n, "nodes of each graph", 2, 20_000)
    rng = np.random.default_rng(seed)
    graphs = tuple(kind.draw(n, rng) for kind in classes for _ in range(each))
    labels = np.repeat(np.arange(len(classes)), each)
    return GraphSet("block models", graphs, labels, tuple(kind.name for kind in classes))
