"""Random small graphs with everything a release needs, and the dense definition of the GCN."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.backbone.gcn import GCNWeights
from core.graph import Nodes, PrivateGraph
from core.snapshot import Snapshot
from core.universe import Universe


@dataclass(frozen=True)
class Case:
    graph: PrivateGraph
    snapshot: Snapshot
    weights: GCNWeights


def make_nodes(rng: np.random.Generator, n: int, features: int = 6, classes: int = 3, density: float = 0.6) -> Nodes:
    x = (rng.random((n, features)) < density) * rng.uniform(0.2, 2.0, size=(n, features))
    names = tuple(f"f{i}" for i in range(features))
    return Nodes(tuple(f"n{i}" for i in range(n)), sparse.csr_array(x), names, tuple(f"c{i}" for i in range(classes)))


def make_case(seed: int, n: int = 9, density: float = 0.45, disclosed: float = 0.6) -> Case:
    """A graph and a snapshot over all its pairs, so that it holds edges and non-edges."""
    rng = np.random.default_rng(seed)
    nodes = make_nodes(rng, n)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    graph = PrivateGraph(nodes, pairs[rng.random(len(pairs)) < density])
    snapshot = Snapshot(rng.permutation(pairs)[: round(disclosed * len(pairs))], n, simulated=False)
    shapes = [(nodes.n_features, 5), (5,), (5, len(nodes.classes)), (len(nodes.classes),)]
    return Case(graph, snapshot, GCNWeights(*(rng.normal(size=shape) for shape in shapes)))


def dense_logits(x: np.ndarray, edges: np.ndarray, weights: GCNWeights) -> np.ndarray:
    """Logits of every node straight from the definition, with dense matrices."""
    a = np.eye(len(x))
    for u, w in edges:
        a[u, w] = a[w, u] = 1.0
    scale = np.diag(a.sum(axis=1) ** -0.5)
    a_hat = scale @ a @ scale
    return a_hat @ np.maximum(a_hat @ x @ weights.w1 + weights.b1, 0.0) @ weights.w2 + weights.b2


def brute_force_logits(case: Case, universe: Universe) -> np.ndarray:
    """Logits of every candidate, each by deleting, masking and a dense forward."""
    result = np.empty((*universe.shape, len(case.graph.nodes.classes)))
    for i, j in np.ndindex(universe.shape):
        pairs, dims = universe.members(i, j)
        gone = {tuple(pair) for pair in pairs.tolist()}
        kept = [edge for edge in case.graph.edges.tolist() if tuple(edge) not in gone]
        x = case.graph.nodes.x.toarray()
        if not universe.arm.inert:
            x[universe.target, dims] = 0.0
        result[i, j] = dense_logits(x, kept, case.weights)[universe.target]
    return result
