"""What masking does to the target's own features: public."""

from __future__ import annotations

import numpy as np

from core.backbone.gcn import GCNWeights
from core.graph import Nodes
from core.universe import Universe


def masked_rows(nodes: Nodes, weights: GCNWeights, universe: Universe) -> np.ndarray:
    """`z_v(S_F) = z_v - Σ_{d ∈ S_F} x_vd W1[d]` of each mask set, nF x h float64; one row where masks are inert."""
    whole, parts = mask_parts(nodes, weights, universe)
    if universe.arm.inert:
        return whole[None]
    return whole - np.vstack([parts, np.zeros_like(whole)])[universe.feature_subsets].sum(axis=1)


def mask_parts(nodes: Nodes, weights: GCNWeights, universe: Universe) -> tuple[np.ndarray, np.ndarray]:
    """`z_v` (h), and `x_vd W1[d]` of each candidate feature (kF x h): what its mask takes away, inert or not."""
    start, stop = nodes.x.indptr[universe.target : universe.target + 2]
    dims, values = nodes.x.indices[start:stop], nodes.x.data[start:stop]
    chosen = values[np.searchsorted(dims, universe.feature_dims)]
    return values @ weights.w1[dims], chosen[:, None] * weights.w1[universe.feature_dims]
