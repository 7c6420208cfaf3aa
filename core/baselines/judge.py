"""What an intervention does to the private graph."""

from __future__ import annotations

import numpy as np

from core.baselines.field import Field
from core.baselines.method import NO_FEATURES, NO_PAIRS, Finding
from core.metrics import Metrics
from core.scoring.factorised import GCNScorer
from core.scoring.scorer import Scorer
from core.study.study import Study
from core.universe import Arm, Limits, Universe


def predicted_after(scorer: Scorer, target: int, pairs: np.ndarray, features: np.ndarray, inert: bool = False) -> int:
    """The class of `target` once `pairs` (r x 2) are deleted and `features` (s) masked; pairs absent are no-ops."""
    if isinstance(scorer, GCNScorer):
        field = Field(scorer.graph, scorer.weights, target, pairs, features, inert)
        return int(field.kept(np.zeros(len(pairs), dtype=bool), np.zeros(len(features), dtype=bool)).argmax())
    all_pairs, all_features = np.arange(len(pairs))[None], np.arange(len(features))[None]
    arm = Arm.INERT_MASKS if inert else Arm.FULL
    alone = Universe(target, pairs, features, all_pairs, all_features, Limits(), arm)
    return int(scorer.score(alone, margins=False).predicted[0, 0])


def runner_up(logits: np.ndarray) -> int:
    """Most probable class other than the predicted one, from C logits."""
    others = logits.copy()
    others[logits.argmax()] = -np.inf
    return int(others.argmax())


def drawn(study: Study, target: int, pairs: np.ndarray, features: np.ndarray, inert: bool) -> Finding:
    """Hold an intervention against the graph that its explainer saw, G itself: nothing spurious, nothing polluted."""
    clean = study.scorer.clean[target]
    original = int(clean.argmax())
    count = len(pairs) + len(features)
    after = predicted_after(study.scorer, target, pairs, features, inert) if count else original
    valid = float(after != original)
    targeted = float(after == runner_up(clean)) if valid else 0.0
    return Finding(target, pairs, features, original, valid, targeted, 0.0, 0.0, valid, float(count))


def expected(study: Study, target: int, metrics: Metrics) -> Finding:
    """The same from the closed-form metrics of a distribution over interventions."""
    original = int(study.scorer.clean[target].argmax())
    return Finding(
        target, NO_PAIRS, NO_FEATURES, original, metrics.valid, metrics.targeted, 0.0, 0.0, metrics.valid, metrics.size
    )


def nothing_found(study: Study, target: int) -> Finding:
    """The finding of an explainer that gave up on G."""
    original = int(study.scorer.clean[target].argmax())
    return Finding(target, NO_PAIRS, NO_FEATURES, original, 0.0, 0.0, 0.0, 0.0, 0.0, None)
