"""Guesses at what surrounds a target once the hidden pairs are added: random completions, all public."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import sparse

from core.graph import PublicGraph


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
        self._root = np.sqrt(weight + 1 + self.expected)
        affinity = probabilities[graph.edges[:, 0]].T @ probabilities[graph.edges[:, 1]]
        modal = np.zeros_like(probabilities)
        modal[np.arange(graph.n), probabilities.argmax(axis=1)] = 1.0
        self._memberships = {Trust.SAMPLED: probabilities, Trust.MODAL: modal, Trust.NONE: np.ones((graph.n, 1))}
        self._partners = {
            trust: _Partners(weight, member, affinity + affinity.T if trust is not Trust.NONE else np.ones((1, 1)))
            for trust, member in self._memberships.items()
        }

    def around(
        self, target: int, neighbours: np.ndarray, trust: Trust, times: int, rng: np.random.Generator
    ) -> Completion:
        """Complete the surroundings of `target` `times` over; `neighbours`: its neighbours in the snapshot."""
        partners, n = self._partners[trust], len(self._root)
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
        links = sparse.csr_array((1 / self._root[ends], (tied, ends)), shape=(len(rows), n))
        return Completion(
            place[order],
            rows,
            order >= times * len(neighbours),
            np.bincount(tied, minlength=len(rows)).astype(np.float64),
            links @ self._features,
        )

    def _classes(self, rows: np.ndarray, trust: Trust, rng: np.random.Generator) -> np.ndarray:
        """A class for each row: the sampled, the modal or the only one."""
        if trust is not Trust.SAMPLED:
            return self._memberships[trust][rows].argmax(axis=1)
        ladder = self._probabilities[rows].cumsum(axis=1)
        return _rung(ladder, rng)


class _Partners:
    """Draws partners: their class by affinity, then the node within the class by weight."""

    def __init__(self, weight: np.ndarray, membership: np.ndarray, affinity: np.ndarray) -> None:
        self._n, classes = membership.shape
        self._ends = (weight[:, None] * membership).T.ravel().cumsum()
        bounds = np.concatenate([[0.0], self._ends[self._n - 1 :: self._n]])
        self._low, self._width = bounds[:-1], np.diff(bounds)
        present = self._width > 0
        affinity = np.where((affinity * present).sum(axis=1, keepdims=True) > 0, affinity, np.ones((classes, classes)))
        self._ladder = (affinity * present).cumsum(axis=1)

    def draw(self, classes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Partners for owners of the given classes (k), and the partners' classes."""
        theirs = _rung(self._ladder[classes], rng)
        points = self._low[theirs] + rng.random(len(classes)) * self._width[theirs]
        places = np.searchsorted(self._ends, points, side="right")
        return np.clip(places - theirs * self._n, 0, self._n - 1), theirs


def _rung(ladder: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One step of each ladder of running sums (k x C), by the height of the steps."""
    heights = rng.random((len(ladder), 1)) * ladder[:, -1:]
    return np.minimum((ladder <= heights).sum(axis=1), ladder.shape[1] - 1)
