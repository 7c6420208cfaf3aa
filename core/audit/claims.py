"""What an audit is held against: the claimed guarantee, and pairs of inputs that really are neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from core import checks
from core.errors import BadInput
from core.graph import PrivateGraph

if TYPE_CHECKING:
    import networkx as nx


class Relation(StrEnum):
    """When two inputs are neighbours."""

    EDGE = "edge"
    EDGE_REPLACE = "edge-replace"
    NODE_BOUNDED = "node-bounded"
    NODE_UNBOUNDED = "node-unbounded"
    RECORD = "record"

    @classmethod
    def parse(cls, value: str) -> Relation:
        """Return the relation of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "relation")

    @property
    def words(self) -> str:
        """What neighbours have to look like."""
        return WORDS[self]


WORDS = {
    Relation.EDGE: "the same nodes and exactly one edge added or removed",
    Relation.EDGE_REPLACE: "the same nodes and exactly one edge moved",
    Relation.NODE_BOUNDED: "the same nodes, and changed edges that all meet in one of them",
    Relation.NODE_UNBOUNDED: "one node added or removed with its edges, the rest as it was",
    Relation.RECORD: "one record added, removed or replaced",
}


@dataclass(frozen=True)
class Claim:
    """(ε, δ)-differential privacy under `relation`; `δ = 0` is the pure guarantee. Raises `BadInput`."""

    epsilon: float
    relation: Relation
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.epsilon(self.epsilon, "claimed epsilon"))
        object.__setattr__(self, "relation", Relation.parse(self.relation))
        if not (math.isfinite(self.delta) and 0 <= self.delta < 1):
            raise BadInput.number("claimed delta", self.delta, "a probability from 0 to below 1, for example 1e-5")


@dataclass(frozen=True, eq=False)
class Pair:
    """Two inputs that differ as `relation` allows: graphs (of NetworkX, or `PrivateGraph`), or sequences of records.

    A counterexample is one only between neighbours, so anything else is refused: raises `BadInput`.
    """

    name: str
    one: Any
    other: Any
    relation: Relation

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.parse(self.relation))
        differ = _records_differ if self.relation is Relation.RECORD else _graphs_differ
        if found := differ(self.one, self.other, self.relation):
            raise BadInput(
                f"pair {self.name}: found {found}, expected neighbours by relation {self.relation}: "
                f"{self.relation.words}"
            )


def _graphs_differ(one: Any, other: Any, relation: Relation) -> str | None:
    """What is wrong with a pair of graphs, or None."""
    first, second = (_Parts.of(graph, attributes=not _same_nodes(one, other)) for graph in (one, other))
    extra, missing = second.nodes.keys() - first.nodes.keys(), first.nodes.keys() - second.nodes.keys()
    if any(not _same(first.nodes[node], second.nodes[node]) for node in first.nodes.keys() & second.nodes.keys()):
        return "nodes whose attributes differ"
    if relation is Relation.NODE_UNBOUNDED:
        alone = extra | missing
        if len(alone) != 1:
            return f"{len(extra)} nodes added and {len(missing)} removed"
        changed = {edge for edge in first.edges ^ second.edges if not edge & alone}
        return "edges between the other nodes that differ" if changed else None
    if extra or missing:
        return "different nodes"
    added, removed = second.edges - first.edges, first.edges - second.edges
    found = f"{len(added)} edges added and {len(removed)} removed"
    if relation is Relation.EDGE:
        return None if len(added) + len(removed) == 1 else found
    if relation is Relation.EDGE_REPLACE:
        return None if len(added) == len(removed) == 1 else found
    if not added | removed:
        return "the same graph twice"
    return None if frozenset.intersection(*added, *removed) else f"{found}, without a common node"


@dataclass(frozen=True, eq=False)
class _Parts:
    """Nodes with their public attributes, and edges as sets of ends."""

    nodes: dict[Any, Any]
    edges: set[frozenset[Any]]

    @classmethod
    def of(cls, graph: Any, attributes: bool) -> _Parts:
        if isinstance(graph, PrivateGraph):
            ids = graph.nodes.ids
            rows = {ids[i]: graph.nodes.x[[i]].toarray() if attributes else None for i in range(graph.n)}
            return cls(rows, {frozenset((ids[u], ids[v])) for u, v in graph.edges.tolist()})
        if not hasattr(graph, "is_directed") or graph.is_directed() or graph.is_multigraph():
            raise BadInput(
                f"pair: found a {type(graph).__name__}, expected two undirected simple graphs, of NetworkX or this "
                "project's own"
            )
        return cls(dict(graph.nodes(data=True)), {frozenset(edge) for edge in graph.edges})


def _same_nodes(one: Any, other: Any) -> bool:
    """Whether two private graphs have the same nodes to the last feature, as neighbours made here always do."""
    both = isinstance(one, PrivateGraph) and isinstance(other, PrivateGraph)
    return both and one.nodes.digest == other.nodes.digest


def _records_differ(one: Any, other: Any, relation: Relation) -> str | None:
    """What is wrong with a pair of record sequences, or None."""
    for records in (one, other):
        if isinstance(records, str | bytes) or not isinstance(records, list | tuple | np.ndarray):
            return f"a {type(records).__name__} in the place of a list of records"
    small, large = sorted((one, other), key=len)
    start = 0
    while start < len(small) and _same(small[start], large[start]):
        start += 1
    rest = len(large) - start - 1  # records after the first difference in the longer one
    if len(large) - len(small) > 1:
        return f"{len(one)} records against {len(other)}"
    if start == len(large):
        return "the same records twice"
    if all(_same(a, b) for a, b in zip(small[len(small) - rest :], large[len(large) - rest :], strict=True)):
        return None
    return "more than one record that differs"


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


def as_networkx(graph: Any) -> nx.Graph:
    """A graph of NetworkX as it is, and a `PrivateGraph` as one on the row numbers of its nodes."""
    if not isinstance(graph, PrivateGraph):
        return graph
    import networkx as nx

    made = nx.Graph()
    made.add_nodes_from(range(graph.n))
    made.add_edges_from(graph.edges.tolist())
    return made
