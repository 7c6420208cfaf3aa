"""Witnesses: numbers that tell outputs apart. Any plain function of an output is one; these are ready-made.

NaN says that a statistic is undefined on an output, such as the assortativity of a graph without edges, and is a
value like any other (`core.audit.selection`). Functions are a module's own, so that they can be sent to processes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.audit import statistics
from core.audit.claims import as_networkx
from core.audit.sampling import Witness
from core.errors import BadInput

if TYPE_CHECKING:
    import networkx as nx

BATTERY: tuple[Witness, ...] = (
    Witness("edge count", statistics.edge_count),
    Witness("maximum degree", statistics.max_degree),
    Witness("degree variance", statistics.degree_variance),
    Witness("isolated nodes", statistics.isolated_nodes),
    Witness("triangles", statistics.triangles),
    Witness("transitivity", statistics.transitivity),
    Witness("assortativity", statistics.assortativity),
    Witness("components", statistics.components),
    Witness("largest component", statistics.largest_component),
    Witness("mean shortest path", statistics.mean_path),
    Witness("diameter", statistics.diameter),
    Witness("maximum PageRank", statistics.max_pagerank),
    Witness("maximum betweenness", statistics.max_betweenness),
    Witness("spectral radius", statistics.spectral_radius),
    Witness("algebraic connectivity", statistics.algebraic_connectivity),
)


def battery(names: Iterable[str] | None = None) -> tuple[Witness, ...]:
    """Graph witnesses by name, all unless given; raises `BadInput` with the allowed names."""
    known = {witness.name: witness for witness in BATTERY}
    wanted = list(known) if names is None else list(names)
    for name in wanted:
        if name not in known:
            raise BadInput.choice("witness", name, known)
    return tuple(known[name] for name in wanted)


@dataclass(frozen=True)
class HasEdge:
    """1 where the output graph has the edge, else 0."""

    u: Hashable
    v: Hashable

    def __call__(self, graph: nx.Graph) -> float:
        return float(as_networkx(graph).has_edge(self.u, self.v))


@dataclass(frozen=True)
class Degree:
    """Degree of one node in the output graph; NaN where it has no such node."""

    node: Hashable

    def __call__(self, graph: nx.Graph) -> float:
        graph = as_networkx(graph)
        return float(graph.degree[self.node]) if self.node in graph else math.nan


@dataclass(frozen=True)
class Coordinate:
    """One entry of an output vector, the output itself where that is a number; NaN beyond its end."""

    place: int

    def __call__(self, output: Any) -> float:
        flat = np.ravel(output)
        return float(flat[self.place]) if self.place < len(flat) else math.nan

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: flat[:, self.place] if self.place < flat.shape[1] else math.nan, self)


@dataclass(frozen=True)
class Difference:
    """One entry of an output vector less another one."""

    place: int
    less: int

    def __call__(self, output: Any) -> float:
        flat = np.ravel(output)
        return float(flat[self.place] - flat[self.less])

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: flat[:, self.place] - flat[:, self.less], self)


@dataclass(frozen=True)
class Sum:
    """Sum of the entries of an output vector."""

    def __call__(self, output: Any) -> float:
        return float(np.sum(output))

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: flat.sum(axis=1), self)


@dataclass(frozen=True)
class Norm:
    """Norm of an output vector, of order 1, 2, or infinity."""

    order: float = 2

    def __call__(self, output: Any) -> float:
        return float(np.linalg.norm(np.ravel(output), self.order))

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: np.linalg.norm(flat, self.order, axis=1), self)


@dataclass(frozen=True)
class Least:
    """Smallest of some entries of an output vector: high only where all of them are."""

    places: tuple[int, ...]

    def __call__(self, output: Any) -> float:
        return float(np.ravel(output)[list(self.places)].min())

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: flat[:, list(self.places)].min(axis=1), self)


@dataclass(frozen=True)
class Code:
    """A vector of whole numbers below `base` as one number: the outcome's name."""

    base: int

    def __call__(self, output: Any) -> float:
        flat = np.ravel(output)
        return float(flat @ self.base ** np.arange(len(flat)))

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: flat @ self.base ** np.arange(flat.shape[1]), self)


@dataclass(frozen=True)
class LabelCount:
    """How often a label stands in an output of labels."""

    label: Any

    def __call__(self, output: Any) -> float:
        return float(sum(bool(found == self.label) for found in np.ravel(output)))

    def many(self, outputs: Any) -> np.ndarray:
        """The same of many outputs at once, n."""
        return _flat(outputs, lambda flat: (flat == self.label).sum(axis=1), self)


@dataclass(frozen=True)
class Membership:
    """1 where an item is in the output collection, else 0."""

    item: Any

    def __call__(self, output: Any) -> float:
        return float(self.item in output)


@dataclass(frozen=True)
class Outcome:
    """The output itself as a name, where there are few: a number as it is, the rest by 52 bits of a hash of `repr`."""

    def __call__(self, output: Any) -> float:
        if isinstance(output, int | float | np.integer | np.floating) and abs(float(output)) < 2**53:
            return float(output)
        return float(int(hashlib.sha256(repr(output).encode()).hexdigest()[:13], 16))


def vector_witnesses(size: int) -> tuple[Witness, ...]:
    """Every coordinate, the sum and the norms of a vector of that size."""
    entries = [Witness(f"coordinate {place}", Coordinate(place)) for place in range(size)]
    if size == 1:
        return tuple(entries)
    norms = [Witness(f"norm {name}", Norm(order)) for name, order in (("1", 1), ("2", 2), ("inf", math.inf))]
    return (*entries, Witness("sum", Sum()), *norms)


OUTCOME = Witness("outcome", Outcome(), finite=True)


def _flat(outputs: Any, statistic: Callable[[np.ndarray], Any], one: Callable[[Any], float]) -> np.ndarray:
    """A statistic of the rows of outputs as one array; of each output by itself where they don't make an array."""
    if isinstance(outputs, np.ndarray):
        return np.broadcast_to(statistic(outputs.reshape(len(outputs), -1)), len(outputs))
    return np.array([one(output) for output in outputs])
