"""Many graphs with a class each: what graph classification learns from."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.embeddings.counting import densities
from core.embeddings.patterns import Pattern
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph


@functools.lru_cache(maxsize=64)
def bare_nodes(n: int) -> Nodes:
    """`n` nodes named 0, 1, ... without features."""
    return Nodes(tuple(map(str, range(n))), sparse.csr_array((n, 0)), (), ())


def bare_graph(n: int, edges: np.ndarray) -> PrivateGraph:
    """A private graph on bare nodes; `edges` M x 2."""
    return PrivateGraph(bare_nodes(n), np.asarray(edges, dtype=np.int64).reshape(-1, 2))


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Private graphs and their public classes.

    `labels`: B int64, places in `classes`. Raises `BadInput` where they don't fit.
    """

    name: str
    graphs: tuple[PrivateGraph, ...]
    labels: np.ndarray
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels, dtype=np.int64)
        if labels.shape != (len(self.graphs),) or not len(labels):
            raise BadInput(
                f"graphs of {self.name}: found {len(self.graphs)} with {labels.size} labels, expected one each"
            )
        if labels.min() < 0 or labels.max() >= len(self.classes):
            raise BadInput(
                f"labels of {self.name}: found {labels.min()}..{labels.max()} of {len(self.classes)} classes"
            )
        object.__setattr__(self, "labels", labels)

    @property
    def degrees(self) -> np.ndarray:
        """The largest degree of each graph, B int64; private."""
        return np.array([int(graph.degree.max()) for graph in self.graphs])

    def densities(self, patterns: Sequence[Pattern]) -> np.ndarray:
        """t(F, G) of each pattern in each graph, B x d float64; private."""
        return np.stack([densities(patterns, graph) for graph in self.graphs])

    def replaced(self, graphs: Sequence[PrivateGraph]) -> GraphSet:
        """Other graphs of the same classes, in the same order."""
        return GraphSet(self.name, tuple(graphs), self.labels, self.classes)
