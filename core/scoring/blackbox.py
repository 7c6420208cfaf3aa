"""Exact scores of every candidate under any frozen module, by forward passes over induced subgraphs."""

from __future__ import annotations

import numpy as np
import torch

from core.backbone.gcn import softmax
from core.backbone.module import FrozenModule
from core.errors import BadInput
from core.graph import Graph
from core.progress import Progress, Stop
from core.scoring.deletions import Deletions
from core.scoring.factorised import spread
from core.scoring.induced import COPY_ELEMENTS, edited_logits, induced
from core.scoring.locality import check_locality
from core.scoring.scores import Scores
from core.scoring.twohop import TwoHopDeletions, any_deletions
from core.universe import Universe


class BlackBoxScorer:
    """Scores universes on one graph under any frozen module; what it says is private if the graph is.

    Of a module with L layers, a target's logits are those on the subgraph within L + 1 steps, where
    all degrees within L steps are right. Each distinct set of deletions and masks is one copy of it.
    Construction makes full-graph passes (`clean`: N x C logits) and raises `UnsupportedBackbone` for
    a module that looks further than it declares, unless `check` is off because the module was checked
    before. `elements` bounds the memory of a pass.
    """

    def __init__(self, graph: Graph, weights: FrozenModule, elements: int = COPY_ELEMENTS, check: bool = True) -> None:
        self.graph = graph
        self.weights = weights
        self.elements = elements
        self.clean = weights.logits(graph)
        if check:
            check_locality(weights, graph, self.clean)

    def on(self, graph: Graph) -> BlackBoxScorer:
        """The same module on another graph of the same nodes, such as a neighbour; it is not checked again."""
        if graph.nodes is not self.graph.nodes and graph.nodes.digest != self.graph.nodes.digest:
            raise BadInput("graph: found one of other nodes, expected those that the backbone was checked on")
        return BlackBoxScorer(graph, self.weights, self.elements, check=False)

    def score(
        self,
        universe: Universe,
        margins: bool = True,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> Scores:
        """Score every candidate; raises `BadInput` for a universe of another node set, `Cancelled` on request.

        Without `margins` their array is NaN, as the factorised scorer leaves it. `progress` counts passes.
        """
        resolved = self.resolve(universe)
        logits = self._distinct_logits(universe, resolved, progress, cancelled)
        clean = self.clean[universe.target]
        margin = _margins(logits, int(clean.argmax())) if margins else np.full((1, 1), np.nan)
        return Scores(
            universe,
            clean,
            spread(torch.from_numpy(logits.argmax(axis=2).astype(np.int16)), universe, resolved),
            resolved.exists,
            spread(torch.from_numpy(margin), universe, resolved),
        )

    def logits(self, universe: Universe) -> np.ndarray:
        """Logits `f(G ⊖ S)[v]` of every candidate, nE x nF x C."""
        resolved = self.resolve(universe)
        return spread(torch.from_numpy(self._distinct_logits(universe, resolved)), universe, resolved)

    def resolve(self, universe: Universe) -> Deletions | TwoHopDeletions:
        """What each edge subset deletes on this graph; raises `BadInput` for a universe of another node set."""
        n, f = self.graph.nodes.x.shape
        if universe.edge_pairs.max(initial=universe.target) >= n or universe.feature_dims.max(initial=-1) >= f:
            raise BadInput(f"universe: found one of another graph, expected rows below {n} and features below {f}")
        return any_deletions(self.graph, universe)

    def _distinct_logits(
        self,
        universe: Universe,
        resolved: Deletions | TwoHopDeletions,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> np.ndarray:
        """Logits of each distinct deletion set and mask set, nR x (nF or 1) x C."""
        near = induced(self.graph, universe.target, self.weights.layers + 1)
        x = self.graph.nodes.x[near.rows].toarray()
        keep = near.kept(universe.edge_pairs[resolved.exists], resolved.members)
        own = _own_rows(x[near.place], universe)
        return edited_logits(self.weights, near, x, own, keep, self.elements, progress, cancelled)


def _own_rows(row: np.ndarray, universe: Universe) -> np.ndarray:
    """The target's features (F) under each mask set, nF x F; one row where masks are inert."""
    if universe.arm.inert:
        return row[None]
    rows = np.tile(row, (universe.shape[1], 1))
    subset, member = np.nonzero(universe.feature_subsets >= 0)
    rows[subset, universe.feature_dims[universe.feature_subsets[subset, member]]] = 0.0
    return rows


def _margins(logits: np.ndarray, original: int) -> np.ndarray:
    """Probability of the clean class minus the largest other one, per candidate."""
    probabilities = softmax(logits)
    others = np.delete(probabilities, original, axis=2)
    return probabilities[..., original] - others.max(axis=2, initial=0.0)
