"""Which candidates flip in many completions of the snapshot at once, nearly all by two linear bounds.

Over the mask sets of one target the logit of a class less that of the clean class lies between two functions
that are linear in `z_v(S_F) = z_v - Σ_{d ∈ S_F} p_d` (see `core.scoring.relaxation`). Both are sums over the
features that a set masks: one product tells them for all mask sets. Where the lower one is positive for some
class the candidate flips; where the upper one is negative for all it doesn't. What is left, a few in a
thousand, is scored message by message. Notation as in `core.scoring.messages`; all in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from core.backbone.gcn import GCNWeights
from core.scoring.deletions import Deletions
from core.scoring.messages import Surroundings
from core.scoring.relaxation import box, lines

BLOCK_ELEMENTS = 1 << 21  # of lines or slopes, 16 MiB of float64
MESSAGE_ELEMENTS = 1 << 17  # of hidden states scored one by one, 1 MiB
ROUNDING = 16  # machine epsilons, in units of the terms added up


@dataclass(frozen=True, eq=False)
class Masks:
    """What masking does to the target: `whole`: h, `z_v`; `parts`: k x h, `x_vd W1[d]`; `chosen`: nF x k of ones.

    `most`: masks in a set at most. Where masks are inert there are no features and one mask set.
    """

    whole: np.ndarray
    parts: np.ndarray
    chosen: np.ndarray
    most: int

    @classmethod
    def of(cls, whole: np.ndarray, parts: np.ndarray, subsets: np.ndarray, inert: bool) -> Masks:
        """From `masks.mask_parts` and the universe's feature subsets (nF x most, padded with -1)."""
        if inert:
            return cls(whole, parts[:0], np.zeros((1, 0)), 0)
        chosen = np.zeros((len(subsets), len(parts) + 1))
        chosen[np.arange(len(subsets))[:, None], subsets] = 1.0
        return cls(whole, parts, chosen[:, :-1], subsets.shape[1])


def flips(near: Surroundings, resolved: Deletions, weights: GCNWeights, masks: Masks) -> np.ndarray:
    """Which candidate has another class than the empty one, B x nR x nF bool, in each of B graphs.

    `near`: float64, on the CPU. `resolved` lists its triangles (isn't `crowded`). A tie is no flip.
    """
    n_sets, steps = len(resolved.members), int(resolved.removed.max()) + 1
    h, c = weights.w2.shape
    messages = steps * near.degree.shape[1] + n_sets + len(resolved.case_place)
    size = max(1, BLOCK_ELEMENTS // (4 * h * messages + n_sets * (h * c + len(masks.chosen))))
    parts = [getattr(near, part.name).numpy() for part in fields(near)]
    blocks = (
        Surroundings(*(part[start : start + size] for part in parts)) for start in range(0, len(near.degree), size)
    )
    return np.concatenate([_Block(block, resolved, weights, masks).flips() for block in blocks])


class _Block:
    """The messages of every deletion set in some completions, B of them; here `near` holds NumPy arrays.

    `root`, `weight`: B x steps x deg; the neighbours' own offsets `offset`: B x deg x h. `own`: B x nR x h and
    `own_weight`: B x nR, of the target. `cases`: B x c x h, of disturbed neighbours.
    """

    def __init__(self, near: Surroundings, resolved: Deletions, weights: GCNWeights, masks: Masks) -> None:
        self._resolved, self._weights, self._masks = resolved, weights, masks
        members, removed, slots = resolved.members.astype(np.float64), resolved.removed, resolved.slots
        degree, self.offset = near.degree, near.offset
        left = near.target_degree[:, None] - np.arange(int(removed.max()) + 1)
        squared = degree[:, None] * left[..., None]
        self.root, self.weight = np.sqrt(squared), near.present[:, None] / squared

        sent = near.hidden / np.sqrt(degree)[..., None]
        d_set = left[:, removed, None]
        self.own = (sent.sum(axis=1, keepdims=True) - members @ sent[:, slots]) * np.sqrt(d_set) + weights.b1 * d_set
        self.own_weight = 1 / d_set[..., 0] ** 2

        ends = degree[:, slots]
        gain = near.hidden[:, slots] * (1 / np.sqrt(ends - 1) - 1 / np.sqrt(ends))[..., None]
        place = resolved.case_place
        shift = (resolved.case_touching.astype(np.float64) @ gain) / np.sqrt(degree[:, place])[..., None]
        self.cases = (self.offset[:, place] + shift) * self.root[:, resolved.case_removed, place][..., None]

    def flips(self) -> np.ndarray:
        """B x nR x nF bool."""
        masks, weights = self._masks, self._weights
        shape = (*self.own.shape[:2], len(masks.chosen))
        label = self._logits(np.arange(shape[0]) * shape[1], masks.whole[None]).argmax(axis=1)
        low, high = box(masks.whole, masks.parts, masks.most)
        chord, chord_at_0, below, below_at_0 = np.moveaxis(self._lines(low, high), 2, 0)
        doubt = self._doubt(np.maximum(np.abs(low), np.abs(high)))

        rise = weights.w2.T - weights.w2.T[label][:, None]
        start = weights.b2 - weights.b2[label][:, None]
        up, down = np.maximum(rise, 0.0), np.minimum(rise, 0.0)
        slope = chord[:, :, None] * up[:, None] + below[:, :, None] * down[:, None]
        at_0 = chord_at_0 @ up.swapaxes(1, 2) + below_at_0 @ down.swapaxes(1, 2) + start[:, None]
        whole, parts = slope @ masks.whole + at_0, slope @ masks.parts.T
        most = np.maximum(np.sort(-parts, axis=-1)[..., max(0, parts.shape[-1] - masks.most) :], 0.0).sum(axis=-1)
        lead = whole + most
        lead[np.arange(len(label)), :, label] = -np.inf

        graph, row, rival = np.nonzero(lead > -doubt[:, None, None])
        upper = whole[graph, row, rival, None] - parts[graph, row, rival] @ masks.chosen.T
        up, down = up[graph, rival], down[graph, rival]
        slope = chord[graph, row] * down + below[graph, row] * up
        at_0 = (chord_at_0[graph, row] * down + below_at_0[graph, row] * up).sum(axis=1) + start[graph, rival]
        lower = (slope @ masks.whole + at_0)[:, None] - slope @ masks.parts.T @ masks.chosen.T

        found = np.zeros((shape[0] * shape[1], shape[2]), dtype=bool)
        row = graph * shape[1] + row
        first = np.flatnonzero(np.diff(row, prepend=-1))
        if not len(first):
            return found.reshape(shape)
        row, doubt = row[first], doubt[graph, None]
        surely = np.logical_or.reduceat(lower > doubt, first, axis=0)
        found[row] = surely
        place, mask = np.nonzero(np.logical_or.reduceat(upper > -doubt, first, axis=0) & ~surely)
        logits = self._logits(row[place], (masks.whole - masks.chosen @ masks.parts)[mask])
        clean = np.take_along_axis(logits, label[row[place] // shape[1], None], axis=1)
        found[row[place], mask] = (logits > clean).any(axis=1)
        return found.reshape(shape)

    def _lines(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The lines about the sum of all messages of each set, B x nR x 4 x h: the total and what a set changes."""
        resolved, (size, steps) = self._resolved, self.root.shape[:2]
        removed, slots = resolved.removed, resolved.slots
        plain = lines(self.offset[:, None] * self.root[..., None], low, high)
        plain *= self.weight[..., None, None]
        own = lines(self.own, low, high)
        own *= self.own_weight[..., None, None]
        case = (slice(None), resolved.case_removed, resolved.case_place)
        terms = [
            plain.sum(axis=2),
            plain[:, 1:, slots].reshape(size, -1, *plain.shape[3:]),
            lines(self.cases, low, high) * self.weight[case][..., None, None] - plain[case],
        ]
        step = removed[:, None] == np.arange(steps)
        gone = step[:, 1:, None] & resolved.members[:, None]
        disturbed = np.zeros((len(removed), len(resolved.case_place)))
        disturbed[resolved.entry_set, resolved.entry_case] = 1.0
        share = np.concatenate([step, -gone.reshape(len(removed), -1).astype(np.float64), disturbed], axis=1)
        summed = share @ np.concatenate(terms, axis=1).reshape(size, share.shape[1], -1)
        return own + summed.reshape(own.shape)

    def _doubt(self, reach: np.ndarray) -> np.ndarray:
        """How far rounding may move a bound in each completion, B; `reach`: h, the largest `|z_v(S_F)|`."""
        w2 = np.abs(self._weights.w2).max(axis=1)
        case = (slice(None), self._resolved.case_removed, self._resolved.case_place)
        plain = ((np.abs(self.offset) @ w2)[:, None] * self.root + reach @ w2) * self.weight
        own = (np.abs(self.own) @ w2 + reach @ w2) * self.own_weight
        cases = (np.abs(self.cases) @ w2 + reach @ w2) * self.weight[case]
        size = plain.sum(axis=2).max(axis=1) + own.max(axis=1) + cases.sum(axis=1) + np.abs(self._weights.b2).max()
        return ROUNDING * np.finfo(np.float64).eps * (len(w2) + self.root.shape[2]) * size

    def _logits(self, row: np.ndarray, masked: np.ndarray) -> np.ndarray:
        """Logits of some candidates, n x C; `row`: n, ascending, counts the sets of all graphs; `masked`: n x h."""
        resolved = self._resolved
        deg, h = self.offset.shape[1:]
        gone = np.zeros((len(resolved.members), deg), dtype=bool)
        gone[:, resolved.slots] = resolved.members
        changed = np.full(gone.shape, -1)
        changed[resolved.entry_set, resolved.case_place[resolved.entry_case]] = resolved.entry_case
        masked = np.broadcast_to(masked, (len(row), h))
        logits = np.empty((len(row), self._weights.w2.shape[1]))
        size = max(1, MESSAGE_ELEMENTS // ((1 + deg) * h))
        for start in range(0, len(row), size):
            part = slice(start, start + size)
            rows, place = np.unique(row[part], return_inverse=True)
            graph, chosen = np.divmod(rows, len(gone))
            step = (graph, resolved.removed[chosen])
            offset = np.empty((len(rows), 1 + deg, h))
            offset[:, 0] = self.own[graph, chosen]
            offset[:, 1:] = self.offset[graph] * self.root[step][..., None]
            i, j = np.nonzero(changed[chosen] >= 0)
            offset[i, 1 + j] = self.cases[graph[i], changed[chosen[i], j]]
            weight = np.column_stack([self.own_weight[graph, chosen], self.weight[step] * ~gone[chosen]])
            state = offset[place]
            state += masked[part, None]  # in place: a fresh array of this size costs more than the sum
            np.maximum(state, 0.0, out=state)
            logits[part] = (weight[place, None] @ state)[:, 0] @ self._weights.w2 + self._weights.b2
        return logits
