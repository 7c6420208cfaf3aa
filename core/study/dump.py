"""Everything an outside program needs to recompute one inspection (owner-only)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.backbone.gcn import GCNWeights
from core.files import whole_file
from core.study.inspection import Inspection
from core.study.study import Study

DENSE_ELEMENTS = 8_000_000


def dump(study: Study, inspection: Inspection, path: Path) -> None:
    """Write graph, weights, universe, outcome and distribution as an `.npz`, whole or not at all.

    Features are stored as `x` (N x F); above 8 million entries as `x_row` (F, the target's) and
    `W1x` (N x h, `X W1`). A foreign backbone's weights are left out. `utility` is in [0, 1]; subsets
    index `edge_pairs` and `feature_dims`. `base_measure` is the prior of this release, `public_only` the
    guided one at ε = 0 without a size penalty.
    Raises `BadInput` when the file can't be written.
    """
    universe, nodes, weights = inspection.universe, study.dataset.nodes, study.backbone.weights
    settings = inspection.settings
    public = study.guide(universe.target, inspection.rho, settings).prior(0.0, settings.utility)
    dense = nodes.n * nodes.n_features <= DENSE_ELEMENTS
    arrays = {"x": nodes.x.toarray()} if dense else {"x_row": nodes.x[[universe.target]].toarray()[0]}
    if isinstance(weights, GCNWeights):
        arrays |= {"W1": weights.w1, "b1": weights.b1, "W2": weights.w2, "b2": weights.b2}
        if not dense:
            arrays["W1x"] = weights.hidden_features(nodes)
    with whole_file(path) as stream:
        np.savez_compressed(
            stream,
            edges=study.dataset.graph.edges,
            **arrays,
            target=np.int64(universe.target),
            edge_pairs=universe.edge_pairs,
            feature_dims=universe.feature_dims,
            edge_subsets=universe.edge_subsets,
            feature_subsets=universe.feature_subsets,
            predicted=inspection.scores.predicted.astype(np.int64),
            utility=inspection.distribution.utility.fractions,
            base_measure=np.ascontiguousarray(inspection.distribution.prior.mass),
            public_only=public.mass,
            probability=inspection.distribution.probability,
        )
