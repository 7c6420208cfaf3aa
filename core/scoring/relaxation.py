"""A proof for most edge subsets that no mask set flips with them, so that they needn't be scored.

Over the masks of one target `z_v(S_F)` lies in a box, `low <= m <= high` for each hidden unit, in which
`ReLU(offset + m)` lies between two lines: the chord above, and below it 0 or `offset + m` itself. With them
the logit of a class less that of the clean class is at most linear in `m`, and `m = z_v - Σ_{d ∈ S_F} p_d`, so
its largest value takes the few masks that raise it most (linear relaxation as in CROWN, Zhang et al. 2018).
Nothing here depends on the number of mask sets.
"""

from __future__ import annotations

import numpy as np

from core.backbone.gcn import GCNWeights
from core.scoring.sets import Sets


def bounds(
    sets: Sets,
    weights: GCNWeights,
    whole: np.ndarray,
    parts: np.ndarray,
    most: int,
    original: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Upper bound over all mask sets of the lead of any other class over the clean one, for each set (R); and a scale.

    The scale (R) times half the machine epsilon bounds the rounding of a logit that is summed term by term.

    `whole`: B x h, `z_v` unmasked. `parts`: B x k x h, what each mask takes from it, 0 where there is none.
    `most`: masks in a set. `original`: B, the clean class. `-inf` where there is but one class.
    """
    h = whole.shape[1]
    low, high = box(whole, parts, most)
    each = lines(sets.offset, low[sets.sender], high[sets.sender]) * sets.weight[:, None, None]
    chord, chord_at_0, below, below_at_0 = (sets.kept @ each.reshape(len(each), 4 * h)).reshape(-1, 4, h).swapaxes(0, 1)

    terms = np.abs(sets.offset) + np.maximum(np.abs(low), np.abs(high))[sets.sender]
    size = (terms @ np.abs(weights.w2).max(axis=1)) * sets.weight
    scale = (h + np.diff(sets.kept.indptr)) * (sets.kept @ size + np.abs(weights.b2).max())

    lead = np.empty(len(sets.owner))
    for label in np.unique(original):
        rows = np.flatnonzero(original[sets.owner] == label)
        rise = np.delete(weights.w2 - weights.w2[:, [label]], label, axis=1)
        if not rise.shape[1]:
            lead[rows] = -np.inf
            continue
        up, down = np.maximum(rise, 0.0), np.minimum(rise, 0.0)
        at_0 = chord_at_0[rows] @ up + below_at_0[rows] @ down + np.delete(weights.b2 - weights.b2[label], label)
        slope = chord[rows, :, None] * up + below[rows, :, None] * down
        owner = sets.owner[rows]
        taken = np.sort(-parts[owner] @ slope, axis=1)[:, max(0, parts.shape[1] - most) :]
        best = at_0 + (whole[owner, None] @ slope)[:, 0] + np.maximum(taken, 0.0).sum(axis=1)
        lead[rows] = best.max(axis=1)
    return lead, scale


def box(whole: np.ndarray, parts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest `z_v(S_F)` of each hidden unit over the mask sets, `... x h`; `parts`: `... x k x h`."""
    ordered = np.sort(parts, axis=-2)
    low = whole - np.maximum(ordered[..., max(0, ordered.shape[-2] - most) :, :], 0.0).sum(axis=-2)
    return low, whole - np.minimum(ordered[..., :most, :], 0.0).sum(axis=-2)


def lines(offset: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Slope and height at `m = 0` of the chord of `ReLU(offset + m)` over the box and of a line below it.

    `... x 4 x h`; all three broadcast to `... x h`.
    """
    left, right = np.maximum(offset + low, 0.0), np.maximum(offset + high, 0.0)
    width = np.broadcast_to(high - low, left.shape)
    chord = np.divide(right - left, width, out=(left > 0).astype(np.float64), where=width > 0)
    below = (chord > 0.5).astype(np.float64)
    return np.stack([chord, right - chord * high, below, below * offset], axis=-2)
