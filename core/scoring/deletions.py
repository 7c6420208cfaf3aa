"""Which edges each edge subset really removes, and the triangles that this disturbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.universe import Universe

CROWDED_ENTRIES = 16  # per set, where summing all neighbours anew becomes cheaper than correcting some


class Ties(Protocol):
    """A graph as far as deletions at one target need it."""

    def neighbours(self, v: int) -> np.ndarray:
        """Rows of the neighbours of `v`, ascending."""


@dataclass(frozen=True, eq=False)
class Deletions:
    """The distinct sets `R = S_E ∩ E` over the edge subsets of one universe; private if the graph is.

    `neighbours`: deg rows of the target's neighbours. `exists`: kE bool, which candidate pairs are
    edges (the others are no-ops); `slots`: kX, the place of each existing pair's far end among the
    neighbours. `members`: nR x kX bool. `inverse`: nE, which set an edge subset amounts to. `tied`:
    kX x deg bool, which neighbours are tied to which candidate end.
    A triangle entry stands for a set R and a neighbour it keeps that is tied to a removed end:
    `entry_set` (t), `entry_case` (t, into the distinct cases); a case is `case_place` (c, the
    neighbour), `case_removed` (c, |R|) and `case_touching` (c x kX bool, the ends tied to it).
    `crowded`: there are so many of them that they are not listed.
    """

    neighbours: np.ndarray
    exists: np.ndarray
    slots: np.ndarray
    members: np.ndarray
    inverse: np.ndarray
    tied: np.ndarray
    crowded: bool
    entry_set: np.ndarray
    entry_case: np.ndarray
    case_place: np.ndarray
    case_removed: np.ndarray
    case_touching: np.ndarray

    @property
    def removed(self) -> np.ndarray:
        """r = |R| of each set, nR int64."""
        return self.members.sum(axis=1)


def deletions(graph: Ties, universe: Universe) -> Deletions:
    """Resolve the edge subsets of `universe` on `graph`."""
    target, pairs = universe.target, universe.edge_pairs
    neighbours = graph.neighbours(target)
    ends = pairs.sum(axis=1) - target
    exists = np.isin(ends, neighbours, assume_unique=True)
    ends = ends[exists]
    slots = np.searchsorted(neighbours, ends)

    members, inverse = distinct_sets(universe, exists)
    tied = np.zeros((len(ends), len(neighbours)), dtype=bool)
    for i, end in enumerate(ends):
        tied[i] = np.isin(neighbours, graph.neighbours(int(end)), assume_unique=True)
    gone = np.zeros((len(members), len(neighbours)), dtype=bool)
    set_row, member = np.nonzero(members)
    gone[set_row, slots[member]] = True
    disturbed = (members.astype(np.float32) @ tied.astype(np.float32) > 0) & ~gone
    crowded = int(disturbed.sum()) > CROWDED_ENTRIES * len(members)
    entry_set, place = np.nonzero(disturbed & (not crowded))
    touching = members[entry_set] & tied[:, place].T
    removed = members.sum(axis=1)[entry_set]
    cases, entry_case = np.unique(np.column_stack([place, removed, touching]), axis=0, return_inverse=True)
    return Deletions(
        neighbours,
        exists,
        slots,
        members,
        inverse,
        tied,
        crowded,
        entry_set,
        entry_case.ravel(),
        cases[:, 0],
        cases[:, 1],
        cases[:, 2:].astype(bool),
    )


def distinct_sets(universe: Universe, exists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct sets `R = S_E ∩ E` (nR x kX bool), and which of them each edge subset amounts to (nE)."""
    chosen = np.zeros((universe.shape[0], len(exists)), dtype=bool)
    rows, columns = np.nonzero(universe.edge_subsets >= 0)
    chosen[rows, universe.edge_subsets[rows, columns]] = True
    if exists.all():
        return chosen, np.arange(len(chosen))
    members, inverse = np.unique(chosen[:, exists], axis=0, return_inverse=True)
    return members, inverse.ravel()
