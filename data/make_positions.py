"""Lay out the data sets whose picture takes minutes to compute, once: python data/make_positions.py [NAME ...].

Writes `data/positions/<name>.npz` with `positions` (N x 2 float32 in the unit square, row order of
the data set) and `digest`, the digest of the nodes they belong to. The layout pulls on private
edges, so the files of real private data would be owner-only.
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np

from core import datasets
from core.datasets.positions import positions_file
from core.graph import PrivateGraph

NAMES = ("cora", "lastfm")
SEED = 0
ITERATIONS = 100


def layout(graph: PrivateGraph) -> np.ndarray:
    """Return a force layout (NetworkX, energy method) in the unit square, N x 2 float32.

    Far components would shrink the rest to a dot, so a distance r from the median point becomes
    `log(1 + r / s)`, s the median distance.
    """
    picture = nx.empty_graph(graph.n)
    picture.add_edges_from(graph.edges.tolist())
    placed = nx.spring_layout(picture, seed=SEED, method="energy", iterations=ITERATIONS)
    points = np.array([placed[row] for row in range(graph.n)])
    points -= np.median(points, axis=0)
    reach = np.maximum(np.hypot(*points.T), 1e-12)[:, None]
    points *= np.log1p(reach / np.median(reach)) / reach
    low, high = points.min(axis=0), points.max(axis=0)
    centred = (points - (low + high) / 2) / (high - low).max()
    return np.clip(centred + 0.5, 0.0, 1.0).astype(np.float32)


def main(names: list[str]) -> None:
    """Lay out each named data set and write its file."""
    for name in names or NAMES:
        dataset = datasets.load(name)
        path = positions_file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, positions=layout(dataset.graph), digest=np.array(dataset.nodes.digest))
        print(f"{path}: {dataset.nodes.n} nodes")


if __name__ == "__main__":
    main(sys.argv[1:])
