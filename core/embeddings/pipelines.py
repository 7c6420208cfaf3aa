"""From embeddings to classes with scikit-learn: standardised columns, then a classifier of few settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from core import checks
from core.errors import BadInput


class Classifier(StrEnum):
    """Which classifier learns from embeddings; learning from noised ones is post-processing and costs nothing."""

    KNN = "knn"
    SVM = "svm"
    FOREST = "forest"

    @classmethod
    def parse(cls, value: str) -> Classifier:
        """Return the classifier of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "classifier")


@dataclass(frozen=True)
class Accuracy:
    """Mean and standard deviation of the accuracy over test folds."""

    mean: float
    std: float
    folds: int


def pipeline(kind: Classifier, seed: int = 0) -> Any:
    """An unfitted scikit-learn pipeline: `StandardScaler`, then 5-NN, an RBF SVM, or 100 trees."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    last = {
        Classifier.KNN: lambda: KNeighborsClassifier(5),
        Classifier.SVM: lambda: SVC(),
        Classifier.FOREST: lambda: RandomForestClassifier(100, random_state=seed),
    }[kind]()
    return make_pipeline(StandardScaler(), last)


def cross_validated(
    embeddings: np.ndarray, labels: np.ndarray, kind: Classifier, folds: int = 5, seed: int = 0
) -> Accuracy:
    """Accuracy over stratified folds, shuffled by `seed`; `embeddings` B x d, `labels` B.

    Raises `BadInput` for embeddings that aren't finite or a class with fewer graphs than folds.
    """
    from sklearn.model_selection import StratifiedKFold

    if embeddings.ndim != 2 or len(embeddings) != len(labels) or not np.isfinite(embeddings).all():
        raise BadInput(f"embeddings: found shape {embeddings.shape} for {len(labels)} labels, expected finite rows")
    checks.count(folds, "folds", 2, 100)
    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if fewest < folds:
        raise BadInput(f"folds: found {folds} for a class of {fewest} graphs, expected at most as many")
    scores = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(embeddings, labels):
        model = pipeline(kind, seed).fit(embeddings[train], labels[train])
        scores.append(float((model.predict(embeddings[test]) == labels[test]).mean()))
    return Accuracy(float(np.mean(scores)), float(np.std(scores)), folds)
