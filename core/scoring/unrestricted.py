"""Whether any few private edges of a target's receptive field, with any masks, flip its prediction."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from core import checks
from core.scoring.factorised import GCNScorer
from core.scoring.receptive import BLOCK_SETS, ReceptiveField, largest_leads
from core.universe import Arm, Universe

MAX_INCIDENT_SETS = 20_000  # sets of edges at the target, of each size: all pairs up to degree 200
MAX_OTHER_SETS = 20_000  # sets with other edges that the bounds don't rule out
CHANCES = 1 << 20  # sets x edges x classes weighed at a time: 8 MiB
TOLERANCE = 1e-9  # in logits, far above rounding

Witness = tuple[np.ndarray, int]  # indices of the field's edges, row of the mask set


@dataclass(frozen=True, eq=False)
class Unrestricted:
    """Whether a target can be flipped with no candidate universe and no privacy in the way (private).

    `flips`: whether a set that flips was found; if so it is certain. `exhaustive`: whether that settles
    the question; False when none was found among the sets that `MAX_INCIDENT_SETS`, `MAX_OTHER_SETS`
    and the field's `MAX_TIES` let through. `checked`: edge sets scored, each with every mask set.
    `edges`: r x 2 rows, and `features`: s dimensions, of the flipping set; None when there is none.
    """

    flips: bool
    exhaustive: bool
    checked: int
    edges: np.ndarray | None
    features: np.ndarray | None


def unrestricted_flip(scorer: GCNScorer, universe: Universe) -> Unrestricted:
    """Search all sets of `max_edges` private edges within reach and the mask sets of `universe`.

    An edge is within reach when one of its ends is at most two steps from the target. Branch and
    bound: a set is scored, with every mask set at once, unless bounds on what its last edges can add
    to a logit difference rule a flip out. The search ends at the first flip. Raises `BadInput` for a
    target that the graph doesn't have.
    """
    checks.count(universe.target, "target row", 0, scorer.graph.n - 1)
    return _Search(scorer, universe).run()


class _Search:
    def __init__(self, scorer: GCNScorer, universe: Universe) -> None:
        self.scorer = scorer
        self.universe = universe
        self.most = 0 if universe.arm is Arm.FEATURE_ONLY else universe.limits.max_edges
        self.field = ReceptiveField(scorer.graph, scorer.weights, universe)
        self.original = int(scorer.clean[universe.target].argmax())
        self.checked = 0
        self.room = MAX_OTHER_SETS
        self.exhaustive = self.field.complete

    def run(self) -> Unrestricted:
        witness = self._first_flip()
        if witness is None:
            return Unrestricted(False, self.exhaustive, self.checked, None, None)
        edges, mask = witness
        chosen = self.universe.feature_subsets[mask]
        features = self.universe.feature_dims[chosen[chosen >= 0]]
        return Unrestricted(True, True, self.checked, self.field.edges[edges], features)

    def _first_flip(self) -> Witness | None:
        """Sets at the target by size, then each of them with other edges."""
        scored = []
        order = np.arange(self.field.degree)
        for size in range(min(self.most, self.field.degree) + 1):
            sets = self._incident_sets(order, size)
            leads = np.full((len(sets), len(self.scorer.clean[0])), np.inf)
            if size > 1:
                leads = self.field.lead_bounds(self.original, sets)
            hopeful = self._hopeful(leads.max(axis=1))
            for start in range(0, len(hopeful), BLOCK_SETS):
                rows = hopeful[start : start + BLOCK_SETS]
                logits = self._incident_logits(sets[rows])
                self.checked += len(rows)
                if (witness := self._flip(sets[rows], logits)) is not None:
                    return witness
                leads[rows] = largest_leads(logits, self.original)
            if size == 1:
                order = np.argsort(-leads.max(axis=1), kind="stable")
            scored.append((sets, leads))
        if len(self.field.edges) == self.field.degree:
            return None
        for size, (sets, leads) in enumerate(scored[: self.most]):
            bounds = self.field.gain_bounds(self.original, size, self.most - 1)[self.field.degree :]
            branch = np.argsort(-bounds.max(axis=1), kind="stable")
            bounds = bounds[branch]
            reach = np.maximum(bounds.max(axis=0), 0.0) * (self.most - size)
            for i in self._hopeful((leads + reach).max(axis=1)):
                witness = self._grow(sets[i], leads[i], branch + self.field.degree, bounds, self.most - size)
                if witness is not None:
                    return witness
        return None

    def _incident_sets(self, order: np.ndarray, size: int) -> np.ndarray:
        """Sets of `size` edges at the target, of the first in `order` where all would be too many, n x size."""
        first = size
        while first < len(order) and math.comb(first + 1, size) <= MAX_INCIDENT_SETS:
            first += 1
        if first < len(order):
            self.exhaustive = False
        sets = list(itertools.combinations(order[:first].tolist(), size))
        return np.array(sets, dtype=np.int64).reshape(len(sets), size)

    def _incident_logits(self, sets: np.ndarray) -> np.ndarray:
        """Logits of the target without `sets` of its own edges (n x m), n x nF x C."""
        used, member = np.unique(sets, return_inverse=True)
        padded = np.full((len(sets), self.most), -1, dtype=np.int64)
        padded[:, : sets.shape[1]] = member.reshape(sets.shape)
        return self.scorer.logits(replace(self.universe, edge_pairs=self.field.edges[used], edge_subsets=padded))

    def _grow(
        self, incident: np.ndarray, leads: np.ndarray, branch: np.ndarray, bounds: np.ndarray, left: int
    ) -> Witness | None:
        """Add up to `left` edges of `branch` to `incident`; `bounds`: the most each can add to a lead."""
        if self.room == 0:
            self.exhaustive = False
            return None
        base = self._incident_logits(incident[None])[0]
        later = np.maximum(np.maximum.accumulate(bounds[::-1])[::-1], 0.0)
        later = np.concatenate([later[1:], np.zeros((1, later.shape[1]))])
        sets, leads = np.empty((1, 0), dtype=np.int64), leads[None]
        for size in range(1, left + 1):
            sets = self._children(sets, leads, bounds + (left - size) * later)
            if len(sets) > self.room:
                sets, self.exhaustive = sets[: self.room], False
            self.room -= len(sets)
            leads = np.empty((len(sets), bounds.shape[1]))
            for start in range(0, len(sets), BLOCK_SETS):
                block = slice(start, start + BLOCK_SETS)
                chosen = branch[sets[block]]
                logits = base + self.field.changes(incident, chosen)
                self.checked += len(chosen)
                members = np.concatenate([np.tile(incident, (len(chosen), 1)), chosen], axis=1)
                if (witness := self._flip(members, logits)) is not None:
                    return witness
                leads[block] = largest_leads(logits, self.original)
        return None

    def _children(self, sets: np.ndarray, leads: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """`sets` (n x m, places in the branch) each with one later edge that has a chance, best first."""
        alive = np.flatnonzero((leads + reach.max(axis=0) >= -TOLERANCE).any(axis=1))
        edges = np.flatnonzero((reach + leads[alive].max(axis=0, initial=-np.inf) >= -TOLERANCE).any(axis=1))
        found, promise = np.empty((0, sets.shape[1] + 1), dtype=np.int64), np.empty(0)
        size = max(1, CHANCES // max(1, reach[edges].size))
        for start in range(0, len(alive), size):
            rows = alive[start : start + size]
            chance = (reach[edges] + leads[rows, None]).max(axis=2)
            row, edge = np.nonzero((chance >= -TOLERANCE) & (edges > sets[rows].max(axis=1, initial=-1)[:, None]))
            found = np.concatenate([found, np.column_stack([sets[rows[row]], edges[edge]])])
            promise = np.concatenate([promise, chance[row, edge]])
            best = np.argsort(-promise, kind="stable")[: self.room + 1]
            found, promise = found[best], promise[best]
        return found

    def _hopeful(self, leads: np.ndarray) -> np.ndarray:
        """Which of these upper bounds of leads don't rule out a flip, most promising first."""
        return np.argsort(-leads, kind="stable")[: int((leads >= -TOLERANCE).sum())]

    def _flip(self, members: np.ndarray, logits: np.ndarray) -> Witness | None:
        places = np.argwhere(logits.argmax(axis=2) != self.original)
        return (members[places[0, 0]], int(places[0, 1])) if len(places) else None
