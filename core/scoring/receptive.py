"""The private edges that a target's logits depend on, and what deleting any few of them changes.

Notation as in `factorised`: `d_u` is degree + 1, `z_u = x_u W1`. After deleting the set R and masking
S_F, a node `u` that `v` still sees sends `ReLU(p_u) W2 / (d_u sqrt(d_v))`, where

    p_u = sqrt(d_u) a_u = Σ_{w ∈ N(u) ∪ u} z_w / sqrt(d_w) + sqrt(d_u) b1        (degrees and N(u) after R).

Masks only move the term `z_v(S_F) / sqrt(d_v)`; the rest of `p_u` is its fixed part. An edge that
stays clear of `v` changes it at the few `u` that are tied to one of its ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from core.backbone.gcn import GCNWeights
from core.graph import Graph, pair_keys
from core.scoring.masks import masked_rows
from core.universe import Universe

MAX_TIES = 1 << 18  # pairs of an edge and a node whose message it changes: 64 MiB a table at 32 hidden units
BLOCK_SETS = 256
BLOCK_ELEMENTS = 1 << 16  # of rows x masks x hidden: 512 KiB of float64 stays in cache


def largest_leads(logits: np.ndarray, original: int) -> np.ndarray:
    """Largest `logit_c - logit_original` over the mask sets, n x nF x C -> n x C; -inf for `original`."""
    leads = (logits - logits[..., [original]]).max(axis=1)
    leads[:, original] = -np.inf
    return leads


class ReceptiveField:
    """Edges with an end within distance two of the target, under one frozen GCN (private).

    `degree`: of the target. `edges`: nX x 2 rows, the `degree` edges at the target first, then
    those between smaller degrees before others. `complete`: False where edges were left out at the
    end of that order to keep to `MAX_TIES`.
    """

    def __init__(self, graph: Graph, weights: GCNWeights, universe: Universe) -> None:
        target = universe.target
        neighbours = graph.neighbours(target)
        near = np.concatenate([[target], neighbours])
        self.degree = len(neighbours)
        incident = np.sort(np.stack([np.full(self.degree, target), neighbours], axis=1), axis=1)
        self.edges = np.concatenate([incident, _edges_clear_of(target, graph, near)])

        rows = np.union1d(near, self.edges)
        self._rows, self._ends = np.searchsorted(rows, near), np.searchsorted(rows, self.edges)
        loops = sparse.csr_array((np.ones(len(near)), (np.arange(len(near)), self._rows)), shape=(len(near), len(rows)))
        links = graph.adjacency[near][:, rows] + loops
        ties = (links[:, self._ends[:, 0]] + links[:, self._ends[:, 1]]).T.tocsr()
        kept = max(self.degree, int(np.searchsorted(ties.indptr, MAX_TIES, side="right")) - 1)
        self.complete = kept >= len(self.edges)
        self.edges, self._ends = self.edges[:kept], self._ends[:kept]
        self._ties = ties[:kept].astype(bool).toarray()

        self._d = graph.degree[rows] + 1.0
        self._b1, self._w2, self._b2 = weights.b1, weights.w2, weights.b2
        self._z = graph.nodes.x[rows] @ weights.w1
        self._masked = masked_rows(graph.nodes, weights, universe)
        self._z[self._rows[0]] = 0.0
        self._fixed = links @ (self._z / np.sqrt(self._d)[:, None])
        self._fixed += np.sqrt(self._d[self._rows])[:, None] * self._b1
        self._links = links.astype(bool).toarray()

    def changes(self, incident: np.ndarray, sets: np.ndarray) -> np.ndarray:
        """What deleting `sets` (n x m) adds to the target's logits once `incident` (r) are gone, n x nF x C.

        Both index `edges`, the former from `degree` on, the latter below it.
        """
        tied = self._ties[sets].any(axis=1)
        tied[:, 1 + incident] = False
        row, place = np.nonzero(tied)
        before = np.tile(incident, (len(row), 1))
        after = np.concatenate([before, sets[row]], axis=1)
        result = np.zeros((len(sets), len(self._masked), self._w2.shape[1]))
        if len(row):
            change = self._messages(place, after, len(incident)) - self._messages(place, before, len(incident))
            present, starts = np.unique(row, return_index=True)
            result[present] = np.add.reduceat(change, starts, axis=0)
        return result

    def gain_bounds(self, original: int, removed: int, others: int) -> np.ndarray:
        """Most that deleting one more edge adds to `logit_c - logit_original`, nX x C.

        Holds for every mask set after deleting any `others` edges or fewer, `removed` of them at the
        target. ReLU is monotone and 1-Lipschitz, so a hidden unit moves no further than `p_u` does
        and to the same side; where `u` itself loses an edge, its message is also divided by
        `d_u - 1` in the place of `d_u`. Of an edge at the target, which counts among the `removed`,
        only the part that its far end's lower degree has in other messages is bounded.
        """
        if not len(self.edges):
            return np.zeros((0, self._w2.shape[1]))
        edge, place = np.nonzero(self._ties)
        own = (self._ends[edge] == self._rows[place, None]).any(axis=1)
        low, high = self._intervals(edge, place, others)
        by_place = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[by_place], np.arange(len(self._rows)))
        up = others * np.maximum(np.maximum.reduceat(high[by_place], starts), 0.0)
        down = -others * np.minimum(np.minimum.reduceat(low[by_place], starts), 0.0)
        direction = self._w2 - self._w2[:, [original]]
        gain, loss = np.maximum(direction, 0.0), np.maximum(-direction, 0.0)

        d_target, d_near = self.degree + 1.0 - removed, self._d[self._rows]
        elsewhere = max(others - removed, 0)
        highest = (self._fixed + self._masked.max(axis=0) / np.sqrt(d_target) + up)[place]
        rise = np.maximum(np.minimum(high, highest + high), 0.0)
        fall = np.maximum(np.minimum(-low, highest), 0.0)
        divisor = np.where(place == 0, d_target, np.maximum(d_near[place] - elsewhere - own, 2.0))
        bound = (rise @ gain + fall @ loss) / divisor[:, None]

        bound[own & (edge < self.degree)] = 0.0
        inner = own & (edge >= self.degree)
        u = place[inner]
        d_most, d_least = d_near[u, None], np.maximum(d_near[u, None] - elsewhere, 3.0)
        leads = np.concatenate([largest_leads(block, original) for block in self._untouched(removed)])
        lead = leads[u] * d_most * np.sqrt(d_target) + (up @ gain + down @ loss)[u]
        bound[inner] += np.maximum(lead / (d_most * (d_most - 1.0)), lead / (d_least * (d_least - 1.0)))
        if removed:  # `u` itself may be cut off, and then nothing changes
            bound = np.maximum(bound, 0.0)
        return np.add.reduceat(bound, np.searchsorted(edge, np.arange(len(self.edges)))) / np.sqrt(d_target)

    def lead_bounds(self, original: int, sets: np.ndarray) -> np.ndarray:
        """Most that `logit_c - logit_original` can be without `sets` (n x r, below `degree`), n x C.

        Exact where no removed neighbour is tied to another neighbour: `gain_bounds` bounds such ties.
        """
        removed = sets.shape[1]
        result = self.gain_bounds(original, removed, removed - 1)[sets].sum(axis=1)
        used, member = np.unique(sets, return_inverse=True)
        lost = self._messages(1 + used, np.empty((len(used), 0), dtype=np.int64), removed)
        rest = self._b2 - self._messages(np.zeros(1, dtype=np.int64), np.empty((1, 0), dtype=np.int64), removed)[0]
        for messages in self._untouched(removed):
            rest += messages.sum(axis=0)
        for start in range(0, len(sets), BLOCK_SETS):
            block = slice(start, start + BLOCK_SETS)
            logits = rest + self._messages(np.zeros(len(sets[block]), dtype=np.int64), sets[block], removed)
            for column in member.reshape(sets.shape)[block].T:
                logits -= lost[column]
            result[block] += largest_leads(logits, original)
        return result

    def _untouched(self, removed: int) -> Iterator[np.ndarray]:
        """Messages of the target and its neighbours, in blocks, but for `d_v` less by `removed`."""
        for start in range(0, len(self._rows), BLOCK_SETS):
            place = np.arange(start, min(start + BLOCK_SETS, len(self._rows)))
            yield self._messages(place, np.empty((len(place), 0), dtype=np.int64), removed)

    def _messages(self, place: np.ndarray, members: np.ndarray, removed: int) -> np.ndarray:
        """Messages of the nodes `near[place]` (k) without the edges `members` (k x m), k x nF x C."""
        fixed, degree = self._state(place, members)
        d_target = self.degree + 1.0 - removed
        shift = self._masked / np.sqrt(d_target)
        result = np.empty((len(place), len(shift), self._w2.shape[1]))
        size = max(1, BLOCK_ELEMENTS // shift.size)
        for start in range(0, len(place), size):
            state = fixed[start : start + size, None] + shift
            result[start : start + size] = np.maximum(state, 0.0, out=state) @ self._w2
        return result / (degree * np.sqrt(d_target))[:, None, None]

    def _state(self, place: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fixed part of `p_u` (k x h) and `d_u` (k) after deleting `members` one after the other."""
        u = self._rows[place]
        fixed, degree = self._fixed[place], self._d[u]
        ends = self._ends[members]
        for i in range(members.shape[1]):
            own = (ends[:, i] == u[:, None]).any(axis=1)
            for side in (0, 1):
                x = ends[:, i, side]
                at_x = (ends[:, :i] == x[:, None, None]).any(axis=2)
                cut = (at_x & (ends[:, :i] == u[:, None, None]).any(axis=2)).any(axis=1) & (x != u)
                d = self._d[x] - at_x.sum(axis=1)
                kept = np.where(self._links[place, x] & ~cut, _gain(d), 0.0)
                change = np.where(own & (x != u), -1.0 / np.sqrt(d), kept)
                fixed += change[:, None] * self._z[x]
            fixed += (np.sqrt(degree - own) - np.sqrt(degree))[:, None] * self._b1
            degree -= own
        return fixed, degree

    def _intervals(self, edge: np.ndarray, place: np.ndarray, others: int) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest change of `p_u` by deleting one more edge after `others` at most, k x h each.

        The change is `z_x` times a number monotone in `d_x`, which lies between `d_x - others` and `d_x`.
        """
        u = self._rows[place]
        own = (self._ends[edge] == u[:, None]).any(axis=1)
        degree = self._d[u]
        lowered = np.maximum(degree - others, 2.0)
        ends = np.stack([own * (np.sqrt(d - 1.0) - np.sqrt(d)) for d in (lowered, degree)])[:, :, None] * self._b1
        low, high = ends.min(axis=0), ends.max(axis=0)
        for x in self._ends[edge].T:
            d = self._d[x]
            lowered = np.maximum(d - others, 2.0)
            tied = self._links[place, x]
            least = np.where(tied, _gain(d), 0.0) if others == 0 else np.zeros(len(x))
            leaves = own & (x != u)
            first = np.where(leaves, -1.0 / np.sqrt(lowered), least)
            last = np.where(leaves, -1.0 / np.sqrt(d), np.where(tied, _gain(lowered), 0.0))
            ends = np.stack([first, last])[:, :, None] * self._z[x]
            low += ends.min(axis=0)
            high += ends.max(axis=0)
        return low, high


def _gain(d: np.ndarray) -> np.ndarray:
    """What a node's weight in the messages of its neighbours grows by as it loses an edge."""
    return 1.0 / np.sqrt(d - 1.0) - 1.0 / np.sqrt(d)


def _edges_clear_of(target: int, graph: Graph, near: np.ndarray) -> np.ndarray:
    """Edges with an end among `near` or its neighbours, not at the target, k x 2, small degrees first."""
    ball = np.union1d(near, graph.adjacency[near].indices)
    links = graph.adjacency[ball].tocoo()
    pairs = np.sort(np.stack([ball[links.coords[0]], links.coords[1]], axis=1).astype(np.int64), axis=1)
    keys = np.unique(pair_keys(pairs[(pairs != target).all(axis=1)], graph.n))
    pairs = np.stack([keys // graph.n, keys % graph.n], axis=1)
    return pairs[np.argsort(graph.degree[pairs].min(axis=1), kind="stable")]
