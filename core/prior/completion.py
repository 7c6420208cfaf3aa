"""Guesses at what surrounds a target once the hidden pairs are added: random completions, all public."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum

import numpy as np
from scipy import sparse

from core.graph import PublicGraph

BLOCK_PAIRS = 1 << 16
KEPT_SUMS = 1 << 20  # running sums over nodes and classes, 8 MiB


class Trust(Enum):
    """How far a completion believes the classes that the snapshot alone predicts.

    `SAMPLED`: a node's class is drawn from its public probabilities. `MODAL`: it is the most probable
    one. `NONE`: classes don't matter, partners are found by degree alone.
    """

    SAMPLED = "sampled"
    MODAL = "modal"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Completion:
    """A target's neighbours in several completions, one after the other, t rows in all.

    `place`: t, the completion of each row, ascending. `rows`: t; `hidden`: t bool, not a neighbour in
    the snapshot; within a completion these stand last, the others in the order of the snapshot graph.
    `ties`: t float64, ties of the row other than that to the target and those in the snapshot.
    `sums`: t x h, `Σ z_w / sqrt(d_w)` over these ties.
    """

    place: np.ndarray
    rows: np.ndarray
    hidden: np.ndarray
    ties: np.ndarray
    sums: np.ndarray

    @classmethod
    def joined(cls, parts: list[Completion], times: int) -> Completion:
        """Several of `times` completions each as one, in their order."""
        place = np.concatenate([part.place + i * times for i, part in enumerate(parts)])
        rest = [[getattr(part, name.name) for part in parts] for name in fields(cls)[1:]]
        return cls(place, *(np.concatenate(each) for each in rest))


class HiddenTies:
    """A degree-corrected block model (Karrer & Newman 2011) of the pairs that a snapshot leaves out.

    Node `u` has `Poisson(λ_u)` hidden ties, `λ_u = 2 hidden (deg_u + 1) / Σ(deg + 1)` with degrees in
    the snapshot. The class of a partner is drawn from the affinity `B` of the owner's class, the partner
    within it by `deg + 1`. `B`: how often the snapshot ties two classes, weighted by public
    class probabilities. Nothing here can read a private edge.

    `graph`: the snapshot's. `hidden`: number of pairs it leaves out. `probabilities`: N x C on `graph`.
    `features`: N x h, `X W1`.
    """

    def __init__(self, graph: PublicGraph, hidden: int, probabilities: np.ndarray, features: np.ndarray) -> None:
        weight = graph.degree + 1.0
        self.expected = 2 * hidden * weight / weight.sum()
        self._probabilities = probabilities
        self._features = features
        self._weight = weight
        self._modal = probabilities.argmax(axis=1)
        tied = _tied(graph, probabilities)
        anywhere = _Listed(weight, np.zeros(graph.n, dtype=np.int64), 1)
        self._partners = {
            Trust.SAMPLED: _Partners(_Spread(weight, probabilities), tied),
            Trust.MODAL: _Partners(_Listed(weight, self._modal, probabilities.shape[1]), tied),
            Trust.NONE: _Partners(anywhere, np.ones((1, 1))),
        }

    def around(
        self, target: int, neighbours: np.ndarray, trust: Trust, times: int, rng: np.random.Generator
    ) -> Completion:
        """Complete the surroundings of `target` `times` over; `neighbours`: its neighbours in the snapshot."""
        partners, n = self._partners[trust], len(self._weight)
        mine = self._classes(np.full(times, target), trust, rng)
        owner = np.repeat(np.arange(times), rng.poisson(self.expected[target], times))
        found, theirs = partners.draw(mine[owner], rng)
        _, first = np.unique(owner * n + found, return_index=True)
        first = first[(found[first] != target) & ~np.isin(found[first], neighbours)]

        place = np.concatenate([np.repeat(np.arange(times), len(neighbours)), owner[first]])
        order = np.argsort(place, kind="stable")
        rows = np.concatenate([np.tile(neighbours, times), found[first]])[order]
        known = self._classes(np.tile(neighbours, times), trust, rng)
        classes = np.concatenate([known, theirs[first]])[order]
        counts = rng.poisson(self.expected[rows])
        tied = np.repeat(np.arange(len(rows)), counts)
        ends, _ = partners.draw(classes[tied], rng)
        kept = (ends != target) & (ends != rows[tied])
        tied, ends = tied[kept], ends[kept]
        ties = np.bincount(tied, minlength=len(rows))
        start = np.concatenate([[0], ties.cumsum()])
        root = np.sqrt(self._weight[ends] + 1 + self.expected[ends])
        links = sparse.csr_array((1 / root, ends, start), shape=(len(rows), n))
        return Completion(
            place[order], rows, order >= times * len(neighbours), ties.astype(np.float64), links @ self._features
        )

    def _classes(self, rows: np.ndarray, trust: Trust, rng: np.random.Generator) -> np.ndarray:
        """A class for each row: the sampled, the modal or the only one."""
        if trust is Trust.NONE:
            return np.zeros_like(rows)
        return self._modal[rows] if trust is Trust.MODAL else _rung(self._probabilities[rows].cumsum(axis=1), rng)


def _tied(graph: PublicGraph, probabilities: np.ndarray) -> np.ndarray:
    """How often the snapshot ties two classes, C x C, each end counted by its class probabilities."""
    found = np.zeros((probabilities.shape[1],) * 2)
    for start in range(0, graph.m, BLOCK_PAIRS):
        u, v = graph.edges[start : start + BLOCK_PAIRS].T
        found += probabilities[u].T @ probabilities[v]
    return found + found.T


class _Listed:
    """Each node belongs to one class: weights summed up class by class, over its members in order."""

    def __init__(self, weight: np.ndarray, member: np.ndarray, classes: int) -> None:
        self._order = np.argsort(member, kind="stable")
        self._ends = weight[self._order].cumsum()
        self._start = np.searchsorted(member[self._order], np.arange(classes + 1))
        self.bounds = np.concatenate([[0.0], self._ends])[self._start]

    def nodes(self, points: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """The nodes at some heights of the running sum, which lie within these classes."""
        places = np.searchsorted(self._ends, points, side="right")
        last = len(self._order) - 1
        return np.where(places < self._start[classes + 1], self._order[np.minimum(places, last)], last)


class _Spread:
    """Each node belongs to every class in part: weights summed up class by class, over all nodes in order.

    Running sums are kept at the end of every block of nodes; within it they are summed again, in the same order.
    """

    def __init__(self, weight: np.ndarray, probabilities: np.ndarray) -> None:
        self._weight, self._probabilities = weight, probabilities
        n, classes = probabilities.shape
        self._block = -(-n * classes // KEPT_SUMS)
        last = np.minimum(np.arange(self._block, n + self._block, self._block), n)
        ends = np.empty((classes, len(last)))
        total = 0.0
        for label in range(classes):
            sums = np.concatenate([[total], weight * probabilities[:, label]]).cumsum()
            ends[label] = sums[last]
            total = sums[-1]
        self.bounds = np.concatenate([[0.0], ends[:, -1]])
        self._blocks, self._ends = len(last), ends.ravel()

    def nodes(self, points: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """The nodes at some heights of the running sum, which lie within these classes."""
        last = len(self._weight) - 1
        block = np.minimum(np.searchsorted(self._ends, points, side="right"), classes * self._blocks + self._blocks - 1)
        node = (block - classes * self._blocks) * self._block
        if self._block > 1:
            rows = node[:, None] + np.arange(self._block)
            inside = np.minimum(rows, last)
            steps = self._weight[inside] * self._probabilities[inside, classes[:, None]]
            before = np.where(block > 0, self._ends[block - 1], 0.0)
            sums = np.concatenate([before[:, None], steps], axis=1).cumsum(axis=1)[:, 1:]
            node = node + (sums <= points[:, None]).sum(axis=1)
        return np.minimum(node, last)


class _Partners:
    """Draws partners: their class by affinity, then the node within the class by weight."""

    def __init__(self, weights: _Listed | _Spread, affinity: np.ndarray) -> None:
        self._weights = weights
        self._low, self._width = weights.bounds[:-1], np.diff(weights.bounds)
        present = self._width > 0
        affinity = np.where((affinity * present).sum(axis=1, keepdims=True) > 0, affinity, np.ones_like(affinity))
        self._ladder = (affinity * present).cumsum(axis=1)

    def draw(self, classes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Partners for owners of the given classes (k), and the partners' classes."""
        theirs = _rung(self._ladder[classes], rng)
        points = self._low[theirs] + rng.random(len(classes)) * self._width[theirs]
        return self._weights.nodes(points, theirs), theirs


def _rung(ladder: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One step of each ladder of running sums (k x C), by the height of the steps."""
    heights = rng.random((len(ladder), 1)) * ladder[:, -1:]
    return np.minimum((ladder <= heights).sum(axis=1), ladder.shape[1] - 1)
