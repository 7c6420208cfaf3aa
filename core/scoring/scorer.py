"""Which scorer a backbone calls for: the factorised one for the two-layer GCN, the black box for any other."""

from __future__ import annotations

from core.backbone.gcn import GCNWeights
from core.backbone.module import FrozenModule
from core.graph import Graph
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.factorised import GCNScorer

Scorer = GCNScorer | BlackBoxScorer


def scorer_of(graph: Graph, weights: GCNWeights | FrozenModule) -> Scorer:
    """Scorer of `graph` under a frozen backbone; raises `UnsupportedBackbone` when the backbone can't be scored."""
    if isinstance(weights, FrozenModule):
        return BlackBoxScorer(graph, weights)
    return GCNScorer(graph, weights)
