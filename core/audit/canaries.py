"""Canaries: pairs of neighbouring graphs, and the context that the changed edge or node stands in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from core import checks
from core.audit.claims import Pair, Relation, as_networkx
from core.errors import BadInput
from core.graph import PrivateGraph

if TYPE_CHECKING:
    import networkx as nx

TRIES = 1_000
PIVOTS = 200
EXACT = 2_000  # nodes up to which centralities take every source


class Context(StrEnum):
    """What is measured of the place of an edge or a node."""

    DEGREE = "degree"
    DENSITY = "density"
    CENTRALITY = "centrality"
    TRIANGLES = "triangles"

    @classmethod
    def parse(cls, value: str) -> Context:
        """Return the context of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "canary context")


def star(leaves: int, relation: Relation = Relation.NODE_BOUNDED) -> Pair:
    """A star against the same nodes with its centre (node 0) isolated; with one ray less at the edge level.

    Unbounded: with the centre gone. Raises `BadInput` for edge replacement, and fewer than one leaf.
    """
    import networkx as nx

    whole = nx.star_graph(checks.count(leaves, "leaves", 1, 1_000_000))
    match relation:
        case Relation.NODE_BOUNDED:
            return Pair(f"star {leaves}", whole, without_edges(whole, list(whole.edges)), relation)
        case Relation.NODE_UNBOUNDED:
            return without_node(whole, 0, f"star {leaves}")
        case Relation.EDGE:
            return without_edge(whole, (0, leaves), f"star {leaves}")
    raise BadInput.choice(
        "relation of a star", relation, [Relation.EDGE, Relation.NODE_BOUNDED, Relation.NODE_UNBOUNDED]
    )


def embedded(
    nodes: int, density: float, leaves: int, rng: np.random.Generator, connected: bool = False,
    relation: Relation = Relation.NODE_BOUNDED,
) -> Pair:  # fmt: skip
    """A centre (node `nodes`) with `leaves` neighbours in an Erdős-Rényi graph, against what is left without them.

    Node bounded: the centre isolated, or with one neighbour left where both graphs have to be connected. Edge:
    one of its edges missing. Unbounded: the centre gone. `connected`: the random graph is drawn until it is.
    Raises `BadInput` for a centre with more neighbours than nodes, and a density at which none comes out connected.
    """
    import networkx as nx

    checks.count(nodes, "nodes", 2, 1_000_000)
    checks.count(leaves, "leaves", 2 if connected else 1, nodes)
    if not 0 <= density <= 1:
        raise BadInput.number("density", density, "a share between 0 and 1")
    base = nx.gnp_random_graph(nodes, density, seed=int(rng.integers(2**31)))
    for _ in range(TRIES):
        if not connected or nx.is_connected(base):
            break
        base = nx.gnp_random_graph(nodes, density, seed=int(rng.integers(2**31)))
    else:
        raise BadInput.number("density", density, f"one at which {nodes} random nodes are ever connected; raise it")
    ends = [int(leaf) for leaf in rng.choice(nodes, size=leaves, replace=False)]
    base.add_node(nodes)
    base.add_edges_from((nodes, leaf) for leaf in ends)
    name = f"{leaves} leaves in G({nodes}, {density:g}){', connected' if connected else ''}"
    match relation:
        case Relation.NODE_BOUNDED:
            gone = [(nodes, leaf) for leaf in ends[1 if connected else 0 :]]
            return Pair(name, base, without_edges(base, gone), relation)
        case Relation.NODE_UNBOUNDED:
            return without_node(base, nodes, name)
        case Relation.EDGE:
            return without_edge(base, (nodes, ends[0]), name)
    raise BadInput.choice("relation here", relation, [Relation.EDGE, Relation.NODE_BOUNDED, Relation.NODE_UNBOUNDED])


def hub(graph: Any, left: int = 0) -> Pair:
    """A graph against itself with the node of largest degree cut off, but for `left` of its edges (node bounded).

    Raises `BadInput` when the hub has no more edges than that.
    """
    plain = as_networkx(graph)
    centre = max(plain, key=lambda node: plain.degree[node])
    gone = sorted(plain.edges(centre), key=lambda edge: plain.degree[edge[1]])[: plain.degree[centre] - left]
    if not gone:
        raise BadInput(f"hub: found {plain.degree[centre]} edges at the node of largest degree, expected over {left}")
    return Pair(f"hub {_name(graph, centre)}", graph, without_edges(graph, gone), Relation.NODE_BOUNDED)


def cut_off(graph: Any, node: Hashable, name: str = "") -> Pair:
    """A graph against itself with a node's edges gone (node bounded); a node is a row number in a `PrivateGraph`."""
    gone = list(as_networkx(graph).edges(node))
    return Pair(name or f"node {_name(graph, node)}", graph, without_edges(graph, gone), Relation.NODE_BOUNDED)


def without_node(graph: nx.Graph, node: Hashable, name: str = "") -> Pair:
    """A graph of NetworkX against itself without a node (node unbounded)."""
    rest = graph.copy()
    rest.remove_node(node)
    return Pair(name or f"node {node}", graph, rest, Relation.NODE_UNBOUNDED)


def without_edge(graph: Any, edge: tuple[Hashable, Hashable], name: str = "") -> Pair:
    """A graph against itself without an edge (edge level); ends are row numbers in a `PrivateGraph`."""
    title = name or f"edge {_name(graph, edge[0])} - {_name(graph, edge[1])}"
    return Pair(title, graph, without_edges(graph, [edge]), Relation.EDGE)


def moved_edge(graph: Any, edge: tuple[Hashable, Hashable], to: tuple[Hashable, Hashable], name: str = "") -> Pair:
    """A graph against itself with an edge moved to a pair that had none (edge replace)."""
    title = name or f"edge {_name(graph, edge[0])} - {_name(graph, edge[1])} moved"
    return Pair(title, graph, without_edges(graph, [edge], [to]), Relation.EDGE_REPLACE)


def without_edges(graph: Any, gone: Iterable[tuple[Any, Any]], new: Iterable[tuple[Any, Any]] = ()) -> Any:
    """The graph on the same nodes without some edges, and with some others; of the same kind."""
    if isinstance(graph, PrivateGraph):
        dropped = {frozenset(edge) for edge in gone}
        edges = [edge for edge in graph.edges.tolist() if frozenset(edge) not in dropped] + [list(edge) for edge in new]
        return graph.with_edges(np.array(edges, dtype=np.int64).reshape(-1, 2))
    rest = graph.copy()
    rest.remove_edges_from(list(gone))
    rest.add_edges_from(new)
    return rest


def node_scores(graph: Any, context: Context) -> dict[Any, float]:
    """Degree, local clustering, betweenness or triangle count of every node (row numbers in a `PrivateGraph`)."""
    import networkx as nx

    plain = as_networkx(graph)
    measures: dict[Context, Callable[[], dict[Any, float]]] = {
        Context.DEGREE: lambda: dict(plain.degree),
        Context.DENSITY: lambda: nx.clustering(plain),
        Context.CENTRALITY: lambda: nx.betweenness_centrality(plain, k=_pivots(plain), seed=0),
        Context.TRIANGLES: lambda: nx.triangles(plain),
    }
    return measures[context]()


def edge_scores(graph: Any, context: Context) -> dict[tuple[Any, Any], float]:
    """The same of every edge: degrees of its ends summed, density around them, edge betweenness, triangles on it."""
    import networkx as nx

    plain = as_networkx(graph)
    if context is Context.CENTRALITY:
        return nx.edge_betweenness_centrality(plain, k=_pivots(plain), seed=0)
    if context is Context.DEGREE:
        return {(u, v): plain.degree[u] + plain.degree[v] for u, v in plain.edges}
    if context is Context.TRIANGLES:
        return {(u, v): len(set(plain[u]) & set(plain[v])) for u, v in plain.edges}
    return {(u, v): nx.density(plain.subgraph({u, v, *plain[u], *plain[v]})) for u, v in plain.edges}


def spread(scores: dict[Any, float], count: int) -> list[Any]:
    """`count` members, fewer where there are fewer, from the lowest to the highest score, at even steps of rank."""
    ordered = sorted(scores, key=lambda member: (scores[member], repr(member)))
    places = np.unique(np.linspace(0, len(ordered) - 1, min(count, len(ordered))).round().astype(int))
    return [ordered[place] for place in places]


def _pivots(graph: nx.Graph) -> int | None:
    return PIVOTS if len(graph) > EXACT else None


def _name(graph: Any, node: Any) -> str:
    return graph.nodes.ids[node] if isinstance(graph, PrivateGraph) else str(node)
