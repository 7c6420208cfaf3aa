"""From mask logits over the public universe to an intervention: post-processing of the logits alone."""

from __future__ import annotations

import numpy as np

from core.universe import Universe


def select(logits: np.ndarray, universe: Universe) -> tuple[np.ndarray, np.ndarray]:
    """Pairs to delete (r x 2) and dimensions to mask (s): negative logits, the lowest where the limits are reached.

    `logits`: kE + kF float64, one for each candidate pair, then for each candidate dimension.
    """
    split = len(universe.edge_pairs)
    chosen = [
        np.sort(order[part[order] < 0])
        for part, most in (
            (logits[:split], universe.limits.max_edges),
            (logits[split:], universe.limits.max_features),
        )
        for order in [np.argsort(part, kind="stable")[:most]]
    ]
    return universe.edge_pairs[chosen[0]], universe.feature_dims[chosen[1]]
