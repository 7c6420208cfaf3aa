"""What masking does to the target's own features: public."""

from __future__ import annotations

import numpy as np

from core.backbone.gcn import GCNWeights
from core.graph import Nodes
from core.universe import Arm, Universe


def masked_rows(nodes: Nodes, weights: GCNWeights, universe: Universe) -> np.ndarray:
    """`z_v(S_F) = z_v - Σ_{d ∈ S_F} x_vd W1[d]` of each mask set, nF x h float64; one row where masks are inert."""
    start, stop = nodes.x.indptr[universe.target : universe.target + 2]
    dims, values = nodes.x.indices[start:stop], nodes.x.data[start:stop]
    whole = values @ weights.w1[dims]
    if universe.arm is Arm.INERT_MASKS:
        return whole[None]
    chosen = values[np.searchsorted(dims, universe.feature_dims)]
    parts = np.vstack([chosen[:, None] * weights.w1[universe.feature_dims], np.zeros_like(whole)])
    return whole - parts[universe.feature_subsets].sum(axis=1)
