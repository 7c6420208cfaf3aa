"""Forward passes over many edited copies of the subgraph around one target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.backbone.module import FrozenModule, edge_index
from core.graph import Graph
from core.progress import Progress, Stop, tracked
from core.threads import single_threaded

COPY_ELEMENTS = 1 << 20  # of nodes and messages x features in a pass: 8 MiB of float64, measured fastest


@dataclass(frozen=True, eq=False)
class Induced:
    """The subgraph on all nodes within some steps of a target; private if the graph is.

    `rows`: n, ascending. `place`: of the target among them. `links`: 2 x m int64, source over
    destination as places among `rows`, both directions of each edge, sorted by destination.
    """

    rows: np.ndarray
    place: int
    links: torch.Tensor

    def kept(self, pairs: np.ndarray, cut: np.ndarray) -> torch.Tensor:
        """Which links each copy keeps, k x m bool. `pairs`: e x 2 rows; `cut`: k x e bool, what it goes without.

        A pair that is no edge in here, or not in here at all, is no link and cuts none.
        """
        links = np.sort(self.rows[self.links.numpy()], axis=0)
        link, pair = np.nonzero((links[:, :, None] == np.sort(pairs, axis=1).T[:, None]).all(axis=0))
        keep = np.ones((len(cut), links.shape[1]), dtype=bool)
        keep[:, link] = ~cut[:, pair]
        return torch.from_numpy(keep)


def induced(graph: Graph, target: int, hops: int) -> Induced:
    """The subgraph on all nodes within `hops` steps of `target`."""
    inside = np.zeros(graph.n, dtype=bool)
    inside[target] = True
    frontier = np.array([target])
    for _ in range(hops):
        reached = np.unique(graph.adjacency[frontier].indices)
        frontier = reached[~inside[reached]]
        if not len(frontier):
            break
        inside[frontier] = True
    rows = np.flatnonzero(inside)
    adjacency = graph.adjacency[rows][:, rows]
    adjacency.sort_indices()
    return Induced(rows, int(np.searchsorted(rows, target)), edge_index(adjacency))


def edited_logits(
    weights: FrozenModule,
    near: Induced,
    x: np.ndarray,
    own: np.ndarray,
    keep: torch.Tensor,
    elements: int = COPY_ELEMENTS,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> np.ndarray:
    """Logits of the target in each edited copy of its subgraph, k x j x C.

    `x`: n x F features of the subgraph; `own`: j x F, what stands in the target's row; `keep`: k x m
    bool, the links that remain. Copies lie side by side in one pass, as many as `elements` allow;
    `progress` counts passes. Raises `Cancelled` on request.
    """
    n, f = x.shape
    links = near.links.shape[1]
    jobs = len(keep) * len(own)
    at_once = min(jobs, max(1, elements // (max(f, 1) * (n + links))))
    copies = torch.from_numpy(x).repeat(at_once, 1)
    rows = torch.from_numpy(own)
    shifted = near.links[:, None] + (torch.arange(at_once) * n)[:, None]
    result = []
    with single_threaded(copies.numel()):
        for start in tracked(range(0, jobs, at_once), progress, cancelled):
            job = torch.arange(start, min(start + at_once, jobs))
            edits, used = job // len(own), len(job)
            copies.view(at_once, n, f)[:used, near.place] = rows[job % len(own)]
            logits = weights.forward(copies[: used * n], shifted[:, :used][:, keep[edits]])
            result.append(logits.reshape(used, n, -1)[:, near.place].copy())
    return np.concatenate(result).reshape(len(keep), len(own), -1)
