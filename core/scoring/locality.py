"""Whether a foreign backbone may be scored on induced subgraphs: tried before it is used, on edited graphs too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.backbone.module import FrozenModule, edge_index
from core.errors import UnsupportedBackbone
from core.graph import Graph, Nodes, PublicGraph
from core.scoring.induced import edited_logits, induced

TARGETS = 16
EDITED = 4
CUTS, MASKS = 2, 3
SEED = 20261201


def check_locality(weights: FrozenModule, graph: Graph, clean: np.ndarray) -> None:
    """Raise `UnsupportedBackbone` unless the scorer's copies of subgraphs get the logits of full-graph passes.

    Tried at targets from the smallest degree to the largest, on the graph as it is and with edges at the
    target and near it deleted and features masked, and the same on a long public graph made of the nodes'
    features, since a small graph lies within reach whole and would hide a module that pools over it. `clean`:
    N x C logits of `graph`. A pass is evidence, not proof: modules that look far only at times can't be told.
    """
    stretched = _stretched(graph.nodes, weights.layers)
    for place, known in ((stretched, weights.logits(stretched)), (graph, clean)):
        _check(weights, place, known)


def _check(weights: FrozenModule, graph: Graph, clean: np.ndarray) -> None:
    if not weights.agree(weights.logits(graph), clean):
        raise UnsupportedBackbone(f"backbone {weights.name}: two passes over one graph differ; switch its noise off")
    rng = np.random.default_rng(SEED)
    targets = _targets(graph, rng)
    edited = set(targets[np.linspace(0, len(targets) - 1, EDITED).round().astype(np.int64)].tolist())
    for target in targets.tolist():
        near = induced(graph, target, weights.layers + 1)
        x = graph.nodes.x[near.rows].toarray()
        neighbours = graph.neighbours(target)
        ends = rng.permutation(neighbours)[:CUTS]
        links = near.rows[near.links.numpy()].T
        gone = np.concatenate([np.stack([np.full(len(ends), target), ends], axis=1), rng.permutation(links)[:CUTS]])
        nonzero = np.flatnonzero(x[near.place])
        own = np.stack([x[near.place]] * 2)
        own[1, rng.permutation(nonzero)[:MASKS]] = 0.0
        cut = np.stack([np.zeros(len(gone), dtype=bool), np.ones(len(gone), dtype=bool)])
        logits = edited_logits(weights, near, x, own, near.kept(gone, cut))
        right = weights.agree(logits[0, 0], clean[target])
        if target in edited and right:
            full = [_full_pass(weights, graph, target, gone, row) for row in own]
            right = weights.agree(logits[1], np.stack(full))
        if not right:
            raise UnsupportedBackbone(
                f"backbone {weights.name}: logits depend on more than the declared {weights.layers} layers around a "
                "node; declare more, or remove what spans the graph: pooling, batch statistics, row numbers"
            )


def _full_pass(weights: FrozenModule, graph: Graph, target: int, gone: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Logits of the target on the whole graph without the pairs `gone` and with the features `own`, C."""
    kept = graph.edges[~(graph.edges[:, None] == np.sort(gone, axis=1)).all(axis=2).any(axis=1)]
    x = graph.nodes.x.toarray()
    x[target] = own
    return weights.forward(torch.from_numpy(x), edge_index(replace(graph, edges=kept).adjacency))[target]


def _targets(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """Rows spread evenly over the degrees, ascending in degree, ties in random order."""
    order = rng.permutation(graph.n)
    order = order[np.argsort(graph.degree[order], kind="stable")]
    return order[np.unique(np.linspace(0, graph.n - 1, TARGETS).round().astype(np.int64))]


def _stretched(nodes: Nodes, layers: int) -> PublicGraph:
    """A path many times longer than the module looks, with triangles, branches and isolated nodes: public."""
    rng = np.random.default_rng(SEED)
    length = 12 * (layers + 2)
    steps = np.stack([np.arange(length - 1), np.arange(1, length)], axis=1)
    jumps = np.stack([np.arange(0, length - 2, 3), np.arange(2, length, 3)], axis=1)
    leaves = np.stack([np.arange(0, length, 2), length + np.arange(0, length, 2) // 2], axis=1)
    n = length + len(leaves) + 2
    rows = rng.integers(nodes.n, size=n)
    ids = tuple(str(row) for row in range(n))
    return PublicGraph(
        Nodes(ids, nodes.x[rows], nodes.feature_names, nodes.classes), np.concatenate([steps, jumps, leaves])
    )
