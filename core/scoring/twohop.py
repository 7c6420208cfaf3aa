"""Logits of every candidate of a universe with pairs away from the target, for the two-layer GCN.

A deletion `(u, w)` away from the target `v` lowers `d_u` and `d_w`. That changes the hidden states of
`u`, of `w` and of all that are tied to either, and the weights with which `u` and `w` reach `v`: all of
it in messages of neighbours of `v`. The logits of a set `R = S_E ∩ E` are therefore the total over all
neighbours for `r = |R at v|`, less the messages of those that `R` cuts off or disturbs, plus those of the
disturbed ones as they are after `R`. Notation as in `messages`; with `δ_x` the degrees that `R` takes
from `x` and `d'_x = d_x - δ_x`, a kept neighbour `u` has

`a'_u sqrt(d'_u) = Σ_{w ∈ N(u) \\ v} z_w/sqrt(d_w) + z_u/sqrt(d'_u) + Σ_w κ_w z_w + b1 sqrt(d'_u)`,

where `κ_w = -1/sqrt(d_w)` if `R` cuts `(u, w)`, else `1/sqrt(d'_w) - 1/sqrt(d_w)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch.nn import functional

from core.graph import Graph
from core.scoring import deletions
from core.scoring.deletions import Deletions, distinct_sets
from core.scoring.messages import CROWDED_ELEMENTS, CandidateLogits, Surroundings
from core.universe import Universe

CUT = -1


@dataclass(frozen=True, eq=False)
class Disturbances:
    """The messages that change, each listed once.

    A stand is a neighbour's message before the deletion: `stand_place`, `stand_removed` (s, the neighbour
    and `|R at v|`); `left_set`, `left_stand`: l, which sets do without which. A case is a disturbed
    neighbour's message after it: `case_place`, `case_removed`, `case_lost` (c, the neighbour's own lost
    degrees) and `case_states` (c x T, of `TwoHopDeletions.states`); `entry_set`, `entry_case`: e, which
    sets have which.
    """

    stand_place: np.ndarray
    stand_removed: np.ndarray
    left_set: np.ndarray
    left_stand: np.ndarray
    case_place: np.ndarray
    case_removed: np.ndarray
    case_lost: np.ndarray
    case_states: np.ndarray
    entry_set: np.ndarray
    entry_case: np.ndarray


@dataclass(frozen=True, eq=False)
class TwoHopDeletions:
    """The distinct sets `R = S_E ∩ E` over the edge subsets of one universe; private if the graph is.

    `neighbours`: deg rows of the target's neighbours. `exists`: kE bool, which candidate pairs are edges;
    `members`: nR x kX bool, over those that are. `inverse`: nE, which set an edge subset amounts to.
    `touched`: T rows, the ends of existing pairs other than the target; `ends`: kX x 2, each pair's places
    among them, -1 for the target; `place`: T, their places among the neighbours, -1 for none. `tied`:
    T x deg bool, which neighbours are tied to which touched node.
    """

    neighbours: np.ndarray
    exists: np.ndarray
    members: np.ndarray
    inverse: np.ndarray
    touched: np.ndarray
    ends: np.ndarray
    place: np.ndarray
    tied: np.ndarray

    @cached_property
    def removed(self) -> np.ndarray:
        """Edges at the target in each set, nR int64."""
        return self.members[:, (self.ends < 0).any(axis=1)].sum(axis=1)

    @cached_property
    def dropped(self) -> np.ndarray:
        """Degrees that each set takes from each touched node, nR x T int64."""
        at_end = (self.ends[:, :, None] == np.arange(len(self.touched))).any(axis=1)
        return self.members.astype(np.int64) @ at_end.astype(np.int64)

    @cached_property
    def lost(self) -> np.ndarray:
        """The same for each neighbour, nR x deg int64."""
        lost = np.zeros((len(self.members), self.tied.shape[1]), dtype=np.int64)
        near = self.place >= 0
        lost[:, self.place[near]] = self.dropped[:, near]
        return lost

    @cached_property
    def gone(self) -> np.ndarray:
        """Which neighbours each set cuts off, nR x deg bool."""
        gone = np.zeros((len(self.members), self.tied.shape[1]), dtype=bool)
        own = (self.ends < 0).any(axis=1)
        gone[:, self.place[self.ends[own].max(axis=1)]] = self.members[:, own]
        return gone

    @cached_property
    def disturbed(self) -> np.ndarray:
        """Which kept neighbours have another message than before, the change of `d_v` apart, nR x deg bool."""
        tied = self.dropped.astype(np.float32) @ self.tied.astype(np.float32) > 0
        return (tied | (self.lost > 0)) & ~self.gone

    def states(self, sets: np.ndarray, places: np.ndarray) -> np.ndarray:
        """What set `sets[i]` does to the touched nodes tied to neighbour `places[i]`: degrees lost, or `CUT`, n x T."""
        states = self.dropped[sets] * self.tied[:, places].T
        for pair, ends in enumerate(self.ends):
            if ends.min() < 0:
                continue
            cutting = self.members[sets, pair]
            for one, other in (ends, ends[::-1]):
                states[cutting & (places == self.place[one]), other] = CUT
        return states

    def listed(self) -> Disturbances | None:
        """All messages that change; None where summing all neighbours anew is cheaper."""
        if self.disturbed.sum() > deletions.CROWDED_ENTRIES * len(self.members):
            return None
        left_set, left_place = np.nonzero(self.disturbed | self.gone)
        stands, left_stand = _distinct(np.column_stack([left_place, self.removed[left_set]]))
        sets, places = np.nonzero(self.disturbed)
        known = np.column_stack([places, self.removed[sets], self.lost[sets, places], self.states(sets, places)])
        cases, entry_case = _distinct(known)
        stand_place, stand_removed = stands.T
        case_place, case_removed, case_lost = cases[:, :3].T
        return Disturbances(
            stand_place,
            stand_removed,
            left_set,
            left_stand,
            case_place,
            case_removed,
            case_lost,
            cases[:, 3:],
            sets,
            entry_case,
        )


@dataclass(frozen=True, eq=False)
class Touched:
    """The touched nodes of B graphs: `hidden`: T x h, `z_w`; `degree`: B x T, `d_w` as a neighbour's sum counts it."""

    hidden: torch.Tensor
    degree: torch.Tensor


def two_hop_deletions(graph: Graph, universe: Universe) -> TwoHopDeletions:
    """Resolve the edge subsets of `universe` on `graph`."""
    neighbours = graph.neighbours(universe.target)
    exists = graph.contains(universe.edge_pairs)
    pairs = universe.edge_pairs[exists]
    touched = np.setdiff1d(pairs, [universe.target])
    place = np.searchsorted(neighbours, touched)
    tied = np.zeros((len(touched), len(neighbours)), dtype=bool)
    for i, row in enumerate(touched):
        tied[i] = np.isin(neighbours, graph.neighbours(int(row)), assume_unique=True)
    return TwoHopDeletions(
        neighbours,
        exists,
        *distinct_sets(universe, exists),
        touched,
        np.where(pairs == universe.target, -1, np.searchsorted(touched, pairs)),
        np.where(np.isin(touched, neighbours), place, -1),
        tied,
    )


def any_deletions(graph: Graph, universe: Universe) -> Deletions | TwoHopDeletions:
    """Resolve the edge subsets of `universe` on `graph` as simply as its pairs allow."""
    return deletions.deletions(graph, universe) if universe.incident else two_hop_deletions(graph, universe)


class TwoHopLogits(CandidateLogits):
    """The same arithmetic where candidate pairs lie away from the target too."""

    def two_hop_logits(
        self, near: Surroundings, far: Touched, resolved: TwoHopDeletions, masked: torch.Tensor
    ) -> torch.Tensor:
        """Logits of each distinct deletion set and mask set, B x nR x (nF or 1) x C; `masked`: as in `logits`."""
        removed = self._index(resolved.removed)
        steps = torch.arange(int(resolved.removed.max()) + 1, device=self.device, dtype=self.dtype)
        d_left = near.target_degree[:, None] - steps
        d_set = d_left[:, removed][..., None]
        d_kept = near.degree[:, None] - self._tensor(resolved.lost)
        kept = near.present[:, None] * self._tensor(~resolved.gone)
        own = (kept * torch.rsqrt(d_kept)) @ near.hidden
        offset = own * torch.sqrt(d_set) + self._b1 * d_set
        logits = self._messages(offset, 1.0 / d_set[..., 0].square(), masked).add_(self._b2)

        listed = resolved.listed()
        if listed is None:
            deg = resolved.tied.shape[1]
            size = max(1, CROWDED_ELEMENTS // (near.offset[..., 0].numel() * len(masked[0]) + masked.numel()))
            for start in range(0, len(removed), size):
                part = slice(start, start + size)
                sets = np.arange(len(removed))[part]
                states = resolved.states(np.repeat(sets, deg), np.tile(np.arange(deg), len(sets)))
                state = self._after(near, far, d_kept[:, part], states.reshape(len(sets), deg, -1))
                root = torch.sqrt(d_kept[:, part] * d_set[:, part])
                logits[:, part] += self._totals(state * root[..., None], kept[:, part] / root.square(), masked)
            return logits

        roots = torch.sqrt(near.degree[:, None] * d_left[..., None])
        place, before = self._index(listed.stand_place), self._index(listed.stand_removed)
        root = roots[:, before, place]
        case, after = self._index(listed.case_place), self._index(listed.case_removed)
        d_case = near.degree[:, case] - self._tensor(listed.case_lost)
        state = self._after(near, far, d_case, listed.case_states, case)
        root_case = torch.sqrt(d_case * d_left[:, after])
        terms = [
            self._totals(near.offset[:, None] * roots[..., None], near.present[:, None] / roots.square(), masked),
            self._messages(near.offset[:, place] * root[..., None], 1.0 / root.square(), masked),
            self._messages(state * root_case[..., None], 1.0 / root_case.square(), masked),
        ]
        lacking = torch.zeros((len(removed), len(place)), dtype=self.dtype, device=self.device)
        lacking[self._index(listed.left_set), self._index(listed.left_stand)] = -1.0
        having = torch.zeros((len(removed), len(case)), dtype=self.dtype, device=self.device)
        having[self._index(listed.entry_set), self._index(listed.entry_case)] = 1.0
        parts = torch.cat([functional.one_hot(removed, len(steps)).to(self.dtype), lacking, having], dim=1)
        return logits.add_((parts @ torch.cat(terms, dim=1).flatten(2)).view_as(logits))

    def _after(
        self,
        near: Surroundings,
        far: Touched,
        degree: torch.Tensor,
        states: np.ndarray,
        place: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """`a'_u` without the target's part, as `Surroundings.offset` has `a_u`: B x ... x h.

        `degree`: B x ..., `d'_u`; `states`: ... x T. Neighbours are those in `place`, or all of them.
        """
        d_old, hidden, offset = near.degree, near.hidden, near.offset
        if place is not None:
            d_old, hidden, offset = d_old[:, place], hidden[:, place], offset[:, place]
        else:
            d_old, hidden, offset = d_old[:, None], hidden[:, None], offset[:, None]
        lost = self._tensor(states)
        far_degree = far.degree.reshape(len(far.degree), *[1] * (lost.dim() - 1), lost.shape[-1])
        whole = torch.rsqrt(far_degree)
        change = torch.where(lost == CUT, -whole, torch.rsqrt(far_degree - lost.clamp(min=0)) - whole) @ far.hidden
        change = change + hidden * (torch.rsqrt(degree) - torch.rsqrt(d_old))[..., None]
        return ((offset - self._b1) * torch.sqrt(d_old)[..., None] + change) / torch.sqrt(degree)[..., None] + self._b1


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, and which of them each row is."""
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    return distinct, place.ravel()
