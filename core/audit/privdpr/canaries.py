"""Six pairs of neighbours that the PrivDPR mechanism tells apart (graph-DP auditing, section 5.1; node bounded).

The mechanism draws for every node once after each batch of 16 nodes that has a tie to follow, and ties are
followed from the earlier node to the later. So the edges of one late node decide how many batches count: it is
joined to nodes that have no later neighbour else. The pairs differ in that node's edges alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.audit.claims import Pair, Relation
from core.errors import BadInput

if TYPE_CHECKING:
    import networkx as nx

BATCH = 16
CORE, DENSITY = 48, 0.9  # of the Erdős-Rényi graph in B and D
LEAVES = 96
SEED = 20250720


def canaries() -> list[Pair]:
    """The star, constructions A to D, and the hub of a real network."""
    return [star(), non_empty(), in_random_graph(), connected(), connected_in_random_graph(), real_hub()]


def star(leaves: int = LEAVES) -> Pair:
    """A star against its nodes with the centre, which comes first, isolated: no tie is left."""
    return _pair("star", leaves + 1, [], [(0, leaf) for leaf in range(1, leaves + 1)])


def non_empty(leaves: int = LEAVES) -> Pair:
    """A: neither graph is empty. A star whose centre comes last, beside a single tie that stays."""
    return _pair("A: not empty", leaves + 1, [(0, 1)], [(leaf, leaves) for leaf in range(2, leaves)])


def in_random_graph(core: int = CORE, density: float = DENSITY, leaves: int = LEAVES) -> Pair:
    """B: a star in an Erdős-Rényi graph that has over nine times as many ties, beside its nodes."""
    kept = _random_ties(core, density)
    centre = core + leaves
    return _pair("B: in G(n, p)", centre + 1, kept, [(leaf, centre) for leaf in range(core, centre)])


def connected(leaves: int = LEAVES) -> Pair:
    """C: both graphs are connected. The first node is tied to all others, the last to all or to the first only."""
    last = leaves + 1
    kept = [(0, node) for node in range(1, last + 1)]
    return _pair("C: connected", last + 1, kept, [(node, last) for node in range(1, last)])


def connected_in_random_graph(core: int = CORE, density: float = DENSITY, leaves: int = LEAVES) -> Pair:
    """D: both at once. Each leaf hangs on a node of a connected Erdős-Rényi graph, the last node on its first."""
    rng = np.random.default_rng(SEED)
    last = core + leaves
    kept = [*_random_ties(core, density), (0, last)]
    kept += [(int(rng.integers(core)), leaf) for leaf in range(core, last)]
    return _pair("D: connected, in G(n, p)", last + 1, kept, [(leaf, last) for leaf in range(core, last)])


def real_hub(graph: nx.Graph | None = None) -> Pair:
    """A real network against itself with its node of largest degree isolated: Zachary's karate club unless given.

    Its nodes are put in an order that the auditor is free to choose, since the claim holds for each: first a
    set that every tie away from the hub has an end in, then the others, the hub last.
    """
    import networkx as nx

    graph = nx.karate_club_graph() if graph is None else graph
    hub = max(graph, key=lambda node: graph.degree[node])
    rest = graph.subgraph(node for node in graph if node != hub)
    free = max((set(nx.maximal_independent_set(rest, seed=seed)) for seed in range(100)), key=len)
    order = [*sorted(set(rest) - free), *sorted(free), hub]
    place = {node: row for row, node in enumerate(order)}
    ties = [(min(place[u], place[v]), max(place[u], place[v])) for u, v in graph.edges]
    last = len(order) - 1
    return _pair(
        "hub of a real network", len(order), [tie for tie in ties if tie[1] != last],
        [tie for tie in ties if tie[1] == last],
    )  # fmt: skip


def batches_seen(graph: nx.Graph, batch: int = BATCH) -> int:
    """How many batches of nodes have a tie to follow: all that the number of draws depends on."""
    order = {node: row for row, node in enumerate(graph)}
    starts = {min(order[u], order[v]) // batch for u, v in graph.edges}
    return len(starts & set(range(len(order) // batch)))


def _pair(name: str, n: int, kept: list[tuple[int, int]], changed: list[tuple[int, int]]) -> Pair:
    """Two graphs on 0..n-1: the first with all ties, the second without those that changed."""
    import networkx as nx

    graphs = [nx.empty_graph(n), nx.empty_graph(n)]
    graphs[0].add_edges_from(kept + changed)
    graphs[1].add_edges_from(kept)
    return Pair(name, graphs[0], graphs[1], Relation.NODE_BOUNDED)


def _random_ties(n: int, density: float) -> list[tuple[int, int]]:
    """Ties of a connected Erdős-Rényi graph, the first that a fixed seed draws."""
    import networkx as nx

    for seed in range(SEED, SEED + 1_000):
        graph = nx.gnp_random_graph(n, density, seed=seed)
        if nx.is_connected(graph):
            return list(graph.edges)
    raise BadInput.number("density", density, f"one at which {n} random nodes are connected; raise it")
