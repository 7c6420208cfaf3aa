"""Features computed from the private edges: on request only, since they void the guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from core.datasets.dataset import STRUCTURE, Dataset
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph

WARNING = (
    "structural features are functions of the private edges: whoever sees them learns about the edges, and no "
    "privacy guarantee holds for a release from this data set"
)


def with_structure(dataset: Dataset) -> Dataset:
    """Return `dataset` with three more features: log degree, log mean degree of the neighbours, clustering.

    With `d_v` the degree and `t_v` the triangles at `v`: `ln(1 + d_v)`, `ln(1 + mean of d_u over the
    neighbours u)` and `2 t_v / (d_v (d_v - 1))`, each 0 where undefined. `structural` of the result
    is true and its report, if any, warns. Raises `BadInput` for a data set that has them.
    """
    if dataset.structural:
        raise BadInput(f"data set {dataset.name}: found structural features, expected none yet; load it without")
    graph, degree = dataset.graph, dataset.graph.degree.astype(np.float64)
    around = np.divide(graph.adjacency @ degree, degree, out=np.zeros(graph.n), where=degree > 0)
    pairs = degree * (degree - 1.0)
    clustering = np.divide(2.0 * _triangles(graph), pairs, out=np.zeros(graph.n), where=pairs > 0)
    columns = {"log degree": np.log1p(degree), "log degree of neighbours": np.log1p(around), "clustering": clustering}
    names = (*dataset.nodes.feature_names, *(f"{STRUCTURE}{name}" for name in columns))
    x = sparse.hstack([dataset.nodes.x, sparse.csr_array(np.stack(list(columns.values()), axis=1))], format="csr")
    nodes = Nodes(dataset.nodes.ids, x, names, dataset.nodes.classes)
    report = dataset.report and replace(dataset.report, notes=(*dataset.report.notes, WARNING))
    return replace(dataset, graph=PrivateGraph(nodes, graph.edges), report=report)


def _triangles(graph: PrivateGraph) -> np.ndarray:
    """Triangles at each node, N float64: `((A A) ∘ A) 1 / 2`, in blocks of rows to bound the memory."""
    found = np.zeros(graph.n)
    adjacency = graph.adjacency
    for start in range(0, graph.n, 4096):
        rows = adjacency[start : start + 4096]
        found[start : start + 4096] = (rows @ adjacency).multiply(rows).sum(axis=1) / 2.0
    return found
