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

    `resolved` must list its triangles (not be `crowded`). The largest logit counts, a tie is no flip.
    """
    n_sets, steps = len(resolved.members), int(resolved.removed.max()) + 1
    h, c = weights.w2.shape
    size = 4 * h * (steps * (near.degree.shape[1] + 1) + n_sets + len(resolved.case_place)) + n_sets * h * c
    size = max(1, BLOCK_ELEMENTS // size)
    parts = [
        _Block(*(getattr(near, part.name)[start : start + size].numpy() for part in fields(near)), resolved, weights, masks)
        for start in range(0, len(near.degree), size)
    ]
    return np.concatenate([part.flips() for part in parts])
