"""The deletion sets of many targets at once, and the messages that each of them sums.

A message is a hidden state on its way to the target, `weight ReLU(offset + z_v(S_F)) W2` (notation of
`messages`): the target's own under a set, that of a neighbour for a number of removed edges, or that of a
neighbour which removed ends are tied to (a triangle). The logits of a set are the sum of a few of them.
The messages of all targets stand in one list; nothing is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from core.graph import Graph, pair_keys
from core.universe import Universe, subsets


@dataclass(frozen=True, eq=False)
class States:
    """A graph as the frozen GCN sees it, without intervention; private if the graph is.

    `hidden`: N x h float64, `z = X W1`. `first`: N x h, `Σ_w z_w / sqrt(d_u d_w)` over `N(u) ∪ {u}`.
    `bias`: h, `b1`.
    """

    graph: Graph
    hidden: np.ndarray
    first: np.ndarray
    bias: np.ndarray

    @cached_property
    def degree(self) -> np.ndarray:
        """`d_u`, degree + 1, N float64."""
        return self.graph.degree + 1.0

    @cached_property
    def _keys(self) -> np.ndarray:
        return np.append(pair_keys(self.graph.edges, self.graph.n), np.iinfo(np.int64).max)

    def tied(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Whether each pair `(u, w)` is an edge, k bool; the graph's keys are made once, not at each call."""
        wanted = np.minimum(u, w) * np.int64(self.graph.n) + np.maximum(u, w)
        return self._keys[np.searchsorted(self._keys, wanted)] == wanted


@dataclass(frozen=True, eq=False)
class Sets:
    """All distinct sets `R = S_E ∩ E` of B targets, one target after the other, and their messages.

    `start`: B + 1, where each target's sets begin. `owner`: R, the target of each set. `kept`: sparse
    R x m of ones, the messages that a set sums. `offset`: m x h float64, `weight`: m, `sender`: m, the
    target of each message. `exists`: of each target, kE bool. `inverse`: of each target, nE, which of its
    sets an edge subset amounts to. Sets of one target are in the order of `subsets` over its existing pairs.
    """

    start: np.ndarray
    owner: np.ndarray
    kept: sparse.csr_array
    offset: np.ndarray
    weight: np.ndarray
    sender: np.ndarray
    exists: list[np.ndarray]
    inverse: list[np.ndarray]

    def summed(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The messages that some sets sum (k), and which set sums which, R x k of ones."""
        count = np.diff(self.kept.indptr)[rows]
        columns = self.kept.indices[spans(self.kept.indptr[rows], count)]
        place = np.zeros(len(self.weight), dtype=np.int64)
        place[columns] = 1
        messages = np.flatnonzero(place)
        place[messages] = np.arange(len(messages))
        kept = np.zeros((len(rows), len(messages)))
        kept[np.repeat(np.arange(len(rows)), count), place[columns]] = 1.0
        return messages, kept


def deletion_sets(states: States, universes: Sequence[Universe]) -> Sets:
    """Resolve universes whose pairs all touch their target and that combine equally many of them."""
    near = _Near(states, np.array([universe.target for universe in universes], dtype=np.int64))
    most = universes[0].edge_subsets.shape[1]
    asked = np.array([len(universe.edge_pairs) for universe in universes])
    pairs = np.concatenate([universe.edge_pairs for universe in universes])
    asker = np.repeat(np.arange(len(universes)), asked)
    exists = states.tied(*pairs.T)
    end_owner = asker[exists]
    ends = (pairs.sum(axis=1) - near.target[asker])[exists]
    found = np.bincount(end_owner, minlength=len(universes))
    end_start = _starts(found)

    tables = [subsets(int(k), most) for k in found]
    owner = np.repeat(np.arange(len(universes)), [len(table) for table in tables])
    local = np.concatenate(tables)
    member = np.where(local >= 0, local + end_start[owner, None], -1)
    removed = (member >= 0).sum(axis=1)
    slot = near.slots(end_owner, ends)

    # The plain messages of a target: every neighbour for every number of removed edges.
    steps = np.minimum(found, most) + 1
    stand_owner = np.repeat(np.arange(len(universes)), steps)
    stand_removed = spans(np.zeros_like(steps), steps)
    plain_start = len(owner) + _starts(near.count[stand_owner])
    plain = spans(near.start[stand_owner], near.count[stand_owner])
    plain_removed = np.repeat(stand_removed, near.count[stand_owner])

    # What each set sums, a place for every neighbour: the plain message unless it is removed or disturbed.
    place_start = _starts(near.count[owner])
    step = _starts(steps)[owner] + removed
    message = spans(plain_start[step], near.count[owner])
    row, j = np.nonzero(member >= 0)
    message[place_start[row] + slot[member[row, j]] - near.start[owner[row]]] = -1

    tie_end, tie = near.ties(states, end_owner, ends)
    tie_count = np.bincount(tie_end, minlength=len(ends))
    touched = np.repeat(row, tie_count[member[row, j]])
    touching = np.repeat(member[row, j], tie_count[member[row, j]])
    neighbour = tie[spans(_starts(tie_count)[member[row, j]], tie_count[member[row, j]])]
    disturbed = place_start[touched] + neighbour - near.start[owner[touched]]
    stays = message[disturbed] >= 0
    cases = _Cases.of(disturbed[stays], neighbour[stays], removed[touched[stays]], touching[stays], len(ends))
    message[cases.place] = len(owner) + len(plain) + cases.case

    gain = states.hidden[ends] * (1 / np.sqrt(states.degree[ends] - 1) - 1 / np.sqrt(states.degree[ends]))[:, None]
    shift = (cases.touching @ gain) / np.sqrt(near.degree[cases.neighbour])[:, None]
    sender = np.concatenate([plain, cases.neighbour])
    base = np.concatenate([near.offset[plain], near.offset[cases.neighbour] + shift])
    left = near.target_degree[near.owner[sender]] - np.concatenate([plain_removed, cases.removed])
    root = np.sqrt(near.degree[sender] * left)
    own, own_weight = near.own(owner, slot, member, removed)

    there = message >= 0
    filled = 1 + np.bincount(np.repeat(np.arange(len(owner)), near.count[owner])[there], minlength=len(owner))
    columns = np.empty(filled.sum(), dtype=np.int64)
    first = _starts(filled)
    others = np.ones(len(columns), dtype=bool)
    others[first] = False
    columns[first], columns[others] = np.arange(len(owner)), message[there]
    kept = sparse.csr_array(
        (np.ones(len(columns)), columns, np.append(first, len(columns))), shape=(len(owner), len(own) + len(sender))
    )
    return Sets(
        np.searchsorted(owner, np.arange(len(universes) + 1)),
        owner,
        kept,
        np.concatenate([own, base * root[:, None]]),
        np.concatenate([own_weight, 1 / root**2]),
        np.concatenate([owner, near.owner[sender]]),
        np.split(exists, np.cumsum(asked)[:-1]),
        [
            _inverse(universe, there, most)
            for universe, there in zip(universes, np.split(exists, np.cumsum(asked)[:-1]), strict=True)
        ],
    )


class _Near:
    """The neighbours of B targets, one target after the other.

    `start`, `count`: B; `owner`, `rows`, `degree`: t; `offset`: t x h, the hidden state of a neighbour
    without what the target adds to it.
    """

    def __init__(self, states: States, target: np.ndarray) -> None:
        adjacency = states.graph.adjacency
        self.target = target
        self.count = states.graph.degree[target]
        self.start = _starts(self.count)
        self.owner = np.repeat(np.arange(len(target)), self.count)
        self.rows = adjacency.indices[spans(adjacency.indptr[target], self.count)].astype(np.int64)
        self.degree = states.degree[self.rows]
        self.target_degree = states.degree[target]
        scale = np.sqrt(self.degree * self.target_degree[self.owner])
        back = states.hidden[target[self.owner]] / scale[:, None]
        self.offset = states.first[self.rows] - back + states.bias
        self._own = states.hidden[self.rows] / np.sqrt(self.degree)[:, None]
        self._bias = states.bias
        self._n = states.graph.n

    def slots(self, owner: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Where each end stands among all neighbours."""
        return np.searchsorted(self.owner * self._n + self.rows, owner * self._n + ends)

    def ties(self, states: States, owner: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which end is tied to which neighbour of its target: end and place among all neighbours, by end."""
        end = np.repeat(np.arange(len(ends)), self.count[owner])
        place = spans(self.start[owner], self.count[owner])
        tied = states.tied(ends[end], self.rows[place])
        return end[tied], place[tied]

    def own(
        self, owner: np.ndarray, slot: np.ndarray, member: np.ndarray, removed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Offset (R x h) and weight (R) of the target's own message under each set."""
        ends = np.append(self.start, len(self.rows))
        ones = np.ones(len(self.rows))
        total = sparse.csr_array((ones, np.arange(len(ones)), ends), shape=(len(self.target), len(ones))) @ self._own
        lost = np.zeros((len(owner), self._own.shape[1]))
        for column in member.T:
            there = column >= 0
            lost[there] += self._own[slot[column[there]]]
        left = (self.target_degree[owner] - removed)[:, None]
        return (total[owner] - lost) * np.sqrt(left) + self._bias * left, 1 / left[:, 0] ** 2


@dataclass(frozen=True, eq=False)
class _Cases:
    """Distinct disturbances: a kept neighbour, how many edges are removed, and which removed ends it is tied to.

    `place`, `case`: where one stands among what the sets sum. `neighbour`, `removed`: c. `touching`: c x ends.
    """

    place: np.ndarray
    case: np.ndarray
    neighbour: np.ndarray
    removed: np.ndarray
    touching: sparse.csr_array

    @classmethod
    def of(
        cls, place: np.ndarray, neighbour: np.ndarray, removed: np.ndarray, touching: np.ndarray, ends: int
    ) -> _Cases:
        """From one entry for each (set, neighbour, tied removed end)."""
        order = np.lexsort((touching, place))
        group = np.flatnonzero(np.diff(place[order], prepend=-1))
        size = np.diff(np.append(group, len(order)))
        which = np.full((len(group), int(size.max(initial=0))), -1)
        which[np.repeat(np.arange(len(group)), size), spans(np.zeros_like(size), size)] = touching[order]
        first = order[group]
        keys = np.column_stack([neighbour[first], removed[first], which])
        sort = np.lexsort(keys.T)
        new = np.ones(len(sort), dtype=bool)
        new[1:] = (keys[sort[1:]] != keys[sort[:-1]]).any(axis=1)
        case = np.empty(len(sort), dtype=np.int64)
        case[sort] = np.cumsum(new) - 1
        kinds = keys[sort[new]]
        row, j = np.nonzero(kinds[:, 2:] >= 0)
        matrix = sparse.csr_array((np.ones(len(row)), (row, kinds[row, 2 + j])), shape=(len(kinds), ends))
        return cls(place[first], case, kinds[:, 0], kinds[:, 1], matrix)


def spans(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """`start, start + 1, ...`, `count` of each, one after the other."""
    return np.arange(count.sum()) + np.repeat(start - _starts(count), count)


def _starts(count: np.ndarray) -> np.ndarray:
    return np.cumsum(count) - count


def _inverse(universe: Universe, exists: np.ndarray, most: int) -> np.ndarray:
    """Which set over the existing pairs each edge subset amounts to, nE."""
    if exists.all():
        return np.arange(universe.shape[0])
    renumbered = np.append(np.where(exists, np.cumsum(exists) - 1, -1), -1)
    members = np.sort(renumbered[universe.edge_subsets], axis=1)
    table = np.sort(subsets(int(exists.sum()), most), axis=1)
    base = len(exists) + 1
    powers = base ** np.arange(most)
    keys = (table + 1) @ powers
    order = np.argsort(keys)
    return order[np.searchsorted(keys[order], (members + 1) @ powers)]
