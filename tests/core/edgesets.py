"""Every set of a few private edges of a small graph, with every mask set, by dense forwards."""

from __future__ import annotations

import itertools

import numpy as np

from core.backbone.gcn import GCNWeights
from core.graph import PrivateGraph
from core.universe import Universe
from tests.core.smallgraphs import dense_logits

Edges = tuple[tuple[int, int], ...]


def masked_features(x: np.ndarray, universe: Universe) -> list[np.ndarray]:
    """The feature matrix under each mask set of `universe`."""
    matrices = []
    for subset in universe.feature_subsets:
        masked = x.copy()
        if not universe.arm.inert:
            masked[universe.target, universe.feature_dims[subset[subset >= 0]]] = 0.0
        matrices.append(masked)
    return matrices


def logits_of_every_set(
    graph: PrivateGraph, weights: GCNWeights, universe: Universe, most: int
) -> dict[Edges, np.ndarray]:
    """Logits (nF x C) of the target without each set of at most `most` edges of the whole graph."""
    edges = [tuple(edge) for edge in graph.edges.tolist()]
    matrices = masked_features(graph.nodes.x.toarray(), universe)
    return {
        gone: np.array(
            [dense_logits(x, [e for e in edges if e not in gone], weights)[universe.target] for x in matrices]
        )
        for size in range(most + 1)
        for gone in itertools.combinations(edges, size)
    }
