"""Where the nodes of an ego graph stand: radial, deterministic, the target in the centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph import PrivateGraph, canonical_pairs

FIRST_RADIUS, SECOND_RADIUS = 1.0, 1.62
DRAWN_SECOND = 48


@dataclass(frozen=True, eq=False)
class EgoLayout:
    """Nodes around one target, `k` of them, the target first, and the context ties to draw.

    `rows`: k int64. `x`, `y`, `angle`: k float64. `ring`: k int64 in {0, 1, 2}. `ties`: t x 2
    indices into `rows`, private edges that don't touch the target. `hidden`: two-hop nodes not drawn.
    """

    rows: np.ndarray
    x: np.ndarray
    y: np.ndarray
    angle: np.ndarray
    ring: np.ndarray
    ties: np.ndarray
    hidden: int

    def only(self, kept: np.ndarray) -> EgoLayout:
        """The same places for a part of the nodes (k bool); the target always stays."""
        kept = kept | (self.ring == 0)
        index = np.cumsum(kept) - 1
        ties = self.ties[kept[self.ties].all(axis=1)]
        return EgoLayout(
            self.rows[kept], self.x[kept], self.y[kept], self.angle[kept], self.ring[kept], index[ties], self.hidden
        )

    def place(self, row: int) -> int:
        """Index of a node in `rows`; raises `KeyError` when it isn't drawn."""
        found = np.flatnonzero(self.rows == row)
        if not len(found):
            raise KeyError(row)
        return int(found[0])

    def places(self, pairs: np.ndarray) -> np.ndarray:
        """Indices in `rows` of the pairs (k x 2 rows) of which both ends are drawn, k' x 2."""
        order = np.argsort(self.rows)
        drawn = pairs[np.isin(pairs, self.rows).all(axis=1)]
        return order[np.searchsorted(self.rows, drawn, sorter=order)]


def ego_layout(
    graph: PrivateGraph,
    target: int,
    pairs: np.ndarray,
    positions: np.ndarray | None = None,
    second: int = DRAWN_SECOND,
) -> EgoLayout:
    """Lay out the target, its neighbours and the ends of public `pairs` (k x 2), then some two-hop nodes.

    The ring is ordered by the direction in which `positions` (N x 2) shows each node, else by row, and
    turned to fit them best. A first-ring node's sector grows with the two-hop nodes drawn behind it. Of a
    pair away from the target, the end that is not in the ring stands behind the one that is.
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    own = (pairs == target).any(axis=1)
    first = np.union1d(graph.neighbours(target), pairs[own].sum(axis=1) - target)
    first = _ordered(first, target, positions)
    behind, hidden = _second_ring(graph, target, first, pairs[~own], second)
    weight = 1.0 + np.array([len(children) for children in behind])
    stops = 2 * np.pi * np.cumsum(weight) / weight.sum() if len(first) else np.empty(0)
    width = 2 * np.pi * weight / weight.sum() if len(first) else np.empty(0)
    angles = stops - width / 2
    angles = angles + _turn(angles, first, target, positions)
    outer_rows, outer_angles = [], []
    for centre, span, children in zip(angles, width, behind, strict=True):
        steps = (np.arange(len(children)) + 0.5) / max(len(children), 1) - 0.5
        outer_rows.extend(children)
        outer_angles.extend(centre + 0.86 * span * steps)
    rows = np.concatenate([[target], first, np.array(outer_rows, dtype=np.int64)]).astype(np.int64)
    angle = np.concatenate([[0.0], angles, np.array(outer_angles, dtype=np.float64)])
    ring = np.repeat([0, 1, 2], [1, len(first), len(outer_rows)])
    radius = np.array([0.0, FIRST_RADIUS, SECOND_RADIUS])[ring]
    return EgoLayout(
        rows, radius * np.cos(angle), radius * np.sin(angle), angle, ring, _ties(graph, target, rows), hidden
    )


def _ordered(rows: np.ndarray, target: int, positions: np.ndarray | None) -> np.ndarray:
    if positions is None:
        return rows
    return rows[np.lexsort((rows, _direction(rows, target, positions)))]


def _direction(rows: np.ndarray, target: int, positions: np.ndarray) -> np.ndarray:
    offset = positions[rows] - positions[target]
    return np.arctan2(offset[:, 1], offset[:, 0])


def _turn(angles: np.ndarray, rows: np.ndarray, target: int, positions: np.ndarray | None) -> float:
    """Rotation that brings the ring closest to the stored directions (circular mean); upright without them."""
    if not len(rows):
        return 0.0
    if positions is None:
        return float(np.pi / 2 - angles[0])
    return float(np.angle(np.exp(1j * (_direction(rows, target, positions) - angles)).sum()))


def _second_ring(
    graph: PrivateGraph, target: int, first: np.ndarray, pairs: np.ndarray, most: int
) -> tuple[list[list[int]], int]:
    """Nodes behind each first-ring node, each listed once, and how many two-hop nodes are left out.

    The outer ends of public `pairs`, then two-hop nodes dealt out in turn while there are fewer than `most`.
    """
    seen = {target, *first.tolist()}
    waiting = [[w for w in graph.neighbours(u).tolist() if w not in seen] for u in first.tolist()]
    reached = {w for each in waiting for w in each}
    chosen: list[list[int]] = [[] for _ in waiting]
    sector = {u: place for place, u in enumerate(first.tolist())}
    for u, w in np.concatenate([pairs, pairs[:, ::-1]]).tolist():
        if u in sector and w not in seen:
            chosen[sector[u]].append(w)
            seen.add(w)
    room = max(most - sum(map(len, chosen)), 0)
    while room and any(waiting):
        for mine, queue in zip(chosen, waiting, strict=True):
            while queue and queue[0] in seen:
                queue.pop(0)
            if queue and room:
                mine.append(queue.pop(0))
                seen.add(mine[-1])
                room -= 1
    return chosen, len(reached - seen)


def _ties(graph: PrivateGraph, target: int, rows: np.ndarray) -> np.ndarray:
    """Private edges among the drawn nodes that don't touch the target, as indices into `rows`."""
    block = graph.adjacency[rows][:, rows].tocoo()
    u, v = block.row.astype(np.int64), block.col.astype(np.int64)
    kept = (u < v) & (u > 0)
    return canonical_pairs(np.stack([u[kept], v[kept]], axis=1), len(rows))
