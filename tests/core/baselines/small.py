"""Small studies for the baselines, and what an intervention does by deleting, masking and a dense forward."""

from __future__ import annotations

import numpy as np

from core.backbone.train import Backbone
from core.datasets.dataset import Dataset, Split
from core.graph import PrivateGraph
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Limits
from tests.core.smallgraphs import Case, dense_logits, make_case

LIMITS = Limits(k_edges=4, k_features=3, max_edges=2, max_features=2)
SETTINGS = Settings(limits=LIMITS)


def make_study(seed: int, n: int = 9, density: float = 0.45, graph: PrivateGraph | None = None) -> Study:
    """A study of a random small graph, or of another one on its nodes, whose snapshot holds edges and non-edges."""
    case = make_case(seed, n, density)
    labels = np.random.default_rng(0).integers(3, size=n)
    split = Split(np.array([0, 1]), np.array([2, 3]), np.arange(4, n))
    dataset = Dataset("small", "Small", graph or case.graph, labels, split, "made here", snapshot=case.snapshot)
    return Study(dataset, Backbone(case.weights, float("nan"), float("nan")))


def after(graph: PrivateGraph, weights, target: int, pairs: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Logits of `target` by the definition of an intervention."""
    gone = set(map(tuple, np.sort(pairs, axis=1).tolist()))
    x = graph.nodes.x.toarray()
    x[target, features] = 0.0
    return dense_logits(x, [edge for edge in graph.edges.tolist() if tuple(edge) not in gone], weights)[target]


def flips(study: Study, target: int, pairs: np.ndarray, features: np.ndarray) -> bool:
    """Whether an intervention changes the class of `target` on the study's graph."""
    graph, weights = study.dataset.graph, study.backbone.weights
    nothing = np.empty((0, 2), dtype=int), np.empty(0, dtype=int)
    before = after(graph, weights, target, *nothing).argmax()
    return bool(after(graph, weights, target, pairs, features).argmax() != before)


__all__ = ["LIMITS", "SETTINGS", "Case", "after", "flips", "make_case", "make_study"]
