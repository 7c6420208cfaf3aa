"""Statistics of a graph, by NetworkX where it has one; NaN where one is undefined."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from core.audit.claims import as_networkx

if TYPE_CHECKING:
    import networkx as nx

DENSE = 1_000  # nodes up to which spectra are computed whole
PIVOTS = 200  # sources of an estimated betweenness on larger graphs


def edge_count(graph: nx.Graph) -> float:
    """Number of edges."""
    return as_networkx(graph).number_of_edges()


def max_degree(graph: nx.Graph) -> float:
    """Largest degree; NaN without nodes."""
    return max(_degrees(graph), default=math.nan)


def degree_variance(graph: nx.Graph) -> float:
    """Variance of the degrees; NaN without nodes."""
    degrees = _degrees(graph)
    return float(np.var(degrees)) if degrees else math.nan


def isolated_nodes(graph: nx.Graph) -> float:
    """Number of nodes without an edge."""
    return _degrees(graph).count(0)


def triangles(graph: nx.Graph) -> float:
    """Number of triangles."""
    import networkx as nx

    return sum(nx.triangles(as_networkx(graph)).values()) // 3


def transitivity(graph: nx.Graph) -> float:
    """Share of paths of length two that close; 0 without one, as NetworkX has it."""
    import networkx as nx

    return nx.transitivity(as_networkx(graph))


def assortativity(graph: nx.Graph) -> float:
    """Degree assortativity; NaN where the degrees at the edges' ends are all the same."""
    import networkx as nx

    graph = as_networkx(graph)
    if len({graph.degree[node] for edge in graph.edges for node in edge}) < 2:
        return math.nan
    return nx.degree_assortativity_coefficient(graph)


def components(graph: nx.Graph) -> float:
    """Number of connected components."""
    import networkx as nx

    return nx.number_connected_components(as_networkx(graph))


def largest_component(graph: nx.Graph) -> float:
    """Number of nodes of the largest connected component."""
    import networkx as nx

    return max(map(len, nx.connected_components(as_networkx(graph))), default=0)


def mean_path(graph: nx.Graph) -> float:
    """Mean shortest path between two nodes of the largest component; NaN where it is a single node."""
    import networkx as nx

    core = _core(graph)
    return nx.average_shortest_path_length(core) if len(core) > 1 else math.nan


def diameter(graph: nx.Graph) -> float:
    """Diameter of the largest component; NaN without nodes."""
    import networkx as nx

    core = _core(graph)
    return nx.diameter(core) if len(core) else math.nan


def max_pagerank(graph: nx.Graph) -> float:
    """Largest PageRank at damping 0.85; NaN without nodes or where it doesn't converge."""
    import networkx as nx

    try:
        return max(nx.pagerank(as_networkx(graph)).values(), default=math.nan)
    except nx.PowerIterationFailedConvergence:
        return math.nan


def max_betweenness(graph: nx.Graph) -> float:
    """Largest betweenness; from `PIVOTS` fixed sources on larger graphs. NaN without nodes."""
    import networkx as nx

    graph = as_networkx(graph)
    found = nx.betweenness_centrality(graph, k=PIVOTS if len(graph) > DENSE else None, seed=0)
    return max(found.values(), default=math.nan)


def spectral_radius(graph: nx.Graph) -> float:
    """Largest eigenvalue of the adjacency; NaN without nodes."""
    import networkx as nx

    graph = as_networkx(graph)
    if not len(graph):
        return math.nan
    if len(graph) > DENSE:
        from scipy.sparse.linalg import eigsh

        start = np.ones(len(graph))
        return float(eigsh(nx.to_scipy_sparse_array(graph, dtype=float), k=1, v0=start, return_eigenvectors=False)[0])
    return float(np.linalg.eigvalsh(nx.to_numpy_array(graph))[-1])


def algebraic_connectivity(graph: nx.Graph) -> float:
    """Second smallest eigenvalue of the Laplacian, 0 for a disconnected graph; NaN below two nodes."""
    import networkx as nx

    graph = as_networkx(graph)
    if len(graph) < 2:
        return math.nan
    if not nx.is_connected(graph):
        return 0.0
    if len(graph) > DENSE:
        return float(nx.algebraic_connectivity(graph, method="lanczos", seed=0))
    return float(nx.laplacian_spectrum(graph)[1])


def _degrees(graph: nx.Graph) -> list[int]:
    return [degree for _, degree in as_networkx(graph).degree]


def _core(graph: nx.Graph) -> nx.Graph:
    import networkx as nx

    graph = as_networkx(graph)
    return graph.subgraph(max(nx.connected_components(graph), key=len, default=()))
