"""The two-layer GCN at one target as a function of gates on edges and features: what gradients run through.

Notation of `core.scoring.factorised`. A gate of 1 keeps an edge or a feature, 0 removes it, and what
lies between weighs it: `A_uw` becomes `g_uw A_uw`, degrees follow (`d_u = 1 + Σ_w g_uw A_uw`), and the
target's hidden row is `z_v - Σ_d (1 - g_d) x_vd W1[d]`. At gates of 0 and 1 the logits are exactly
`f(G ⊖ S)[v]`.
"""

from __future__ import annotations

import numpy as np
import torch

from core.backbone.gcn import GCNWeights
from core.errors import UnsupportedBackbone
from core.graph import Graph, pair_keys
from core.scoring.factorised import GCNScorer
from core.study.study import Study


class Field:
    """Logits of `target` under gates on `pairs` (k x 2) and `dims` (s); private if the graph is.

    `exists`: k bool, which pairs are edges; a gate on another one changes nothing and has gradient 0.
    With `inert`, gates on features change nothing either. Cost and memory don't depend on N.
    """

    def __init__(
        self, graph: Graph, weights: GCNWeights, target: int, pairs: np.ndarray, dims: np.ndarray, inert: bool = False
    ) -> None:
        pairs = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        self.exists = graph.contains(pairs)
        near = np.concatenate([[target], graph.neighbours(target)])
        links = graph.adjacency[near].tocoo()
        senders = np.concatenate([links.coords[1].astype(np.int64), near])
        receivers = np.concatenate([links.coords[0], np.arange(len(near))])
        rows, source = np.unique(senders, return_inverse=True)

        gates = _Gates(pairs[self.exists], np.flatnonzero(self.exists), graph.n, len(pairs))
        self._near = torch.from_numpy(np.searchsorted(rows, near))
        self._source, self._receiver = torch.from_numpy(source), torch.from_numpy(receivers.astype(np.int64))
        self._gate = torch.from_numpy(gates.of(near[receivers], senders))
        self._arm = torch.from_numpy(gates.of(np.full(len(near), target), near))
        ends = pairs[self.exists].ravel()
        seen = np.isin(ends, rows)
        self._end = torch.from_numpy(np.searchsorted(rows, ends[seen]))
        self._end_gate = torch.from_numpy(np.repeat(gates.places, 2)[seen])

        x = graph.nodes.x
        hidden = np.asarray(x[rows] @ weights.w1)
        values = x[[target]].toarray()[0][dims]
        self._degree = torch.from_numpy(graph.degree[rows] + 1.0)
        self._hidden = torch.from_numpy(hidden)
        self._parts = torch.from_numpy(values[:, None] * weights.w1[dims] * (not inert))
        self._own = torch.from_numpy((rows == target).astype(np.float64))[:, None]
        self._b1, self._w2, self._b2 = (torch.tensor(part) for part in (weights.b1, weights.w2, weights.b2))

    def logits(self, edges: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        """Logits (C) at these gates (k and s, float64 in [0, 1])."""
        gates = torch.cat([edges, edges.new_ones(1)])
        degree = self._degree.index_add(0, self._end, edges[self._end_gate] - 1.0)
        scale = degree.rsqrt()
        hidden = self._hidden - self._own * ((1.0 - features) @ self._parts)
        sent = hidden[self._source] * (gates[self._gate] * scale[self._source])[:, None]
        summed = hidden.new_zeros((len(self._near), hidden.shape[1])).index_add(0, self._receiver, sent)
        received = torch.relu(summed * scale[self._near, None] + self._b1)
        weight = gates[self._arm] * scale[self._near] * scale[self._near[0]]
        return (weight @ received) @ self._w2 + self._b2

    def kept(self, edges: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Logits (C float64) when gates are these truth values (k and s bool)."""
        with torch.no_grad():
            return self.logits(torch.from_numpy(edges.astype(float)), torch.from_numpy(features.astype(float))).numpy()


class _Gates:
    """Which gate an edge has; `count`, that of no gate, for all others."""

    def __init__(self, pairs: np.ndarray, places: np.ndarray, n: int, count: int) -> None:
        keys = pair_keys(pairs, n)
        order = np.argsort(keys)
        self.places = places
        self._keys, self._sorted, self._n, self._count = keys[order], places[order], n, count

    def of(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Gate of each pair `(u, w)`, int64."""
        found = np.full(len(u), self._count, dtype=np.int64)
        if len(self._keys):
            wanted = pair_keys(np.sort(np.stack([u, w], axis=1), axis=1), self._n)
            place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            hit = self._keys[place] == wanted
            found[hit] = self._sorted[place[hit]]
        return found


def reach(graph: Graph, target: int) -> np.ndarray:
    """The edges that the target's logits depend on, k x 2: those with an end at most two steps away.

    One from distance two to distance three still changes a degree that is seen.
    """
    near = np.concatenate([[target], graph.neighbours(target)])
    ball = np.union1d(near, graph.adjacency[near].indices)
    links = graph.adjacency[ball].tocoo()
    pairs = np.sort(np.stack([ball[links.coords[0]], links.coords[1]], axis=1).astype(np.int64), axis=1)
    keys = np.unique(pair_keys(pairs, graph.n))
    return np.stack([keys // graph.n, keys % graph.n], axis=1)


def gcn_of(study: Study, name: str) -> GCNScorer:
    """The study's scorer where its backbone has gradients here; raises `UnsupportedBackbone` for a foreign one."""
    if isinstance(study.scorer, GCNScorer):
        return study.scorer
    raise UnsupportedBackbone(
        f"{name}: found backbone {study.scorer.weights.name}, expected the two-layer GCN, whose gradients it follows; "
        "leave this method out"
    )
