"""What exact scoring finds out about every candidate of one target: private if the graph is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.backbone.gcn import softmax
from core.universe import Universe


@dataclass(frozen=True, eq=False)
class Scores:
    """Outcome of every candidate on one graph: the private one unless said otherwise.

    `clean`: C logits of the target without intervention. `predicted`: nE x nF int16, the class
    after the intervention. `exists`: kE bool, which candidate pairs are edges.
    `margin`: nE x nF float64, probability of the clean class minus the largest other one.
    """

    universe: Universe
    clean: np.ndarray
    predicted: np.ndarray
    exists: np.ndarray
    margin: np.ndarray

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Class probabilities of the target without intervention, C float64."""
        return softmax(self.clean)

    @property
    def original(self) -> int:
        """Predicted class without intervention."""
        return int(self.clean.argmax())

    @cached_property
    def runner_up(self) -> int:
        """Most probable class other than the predicted one."""
        others = self.clean.copy()
        others[self.original] = -np.inf
        return int(others.argmax())

    @cached_property
    def clean_margin(self) -> float:
        """Top-two probability margin of the target, `mu(v)`."""
        return float(self.probabilities[self.original] - self.probabilities[self.runner_up])

    @cached_property
    def flips(self) -> np.ndarray:
        """Which candidates change the prediction, nE x nF bool; ∅ never does, whatever rounding says of a tie."""
        return (self.predicted != self.original) & (self.universe.sizes > 0)

    @cached_property
    def existing(self) -> np.ndarray:
        """|S_E ∩ E| of each edge subset, nE int64."""
        subsets = self.universe.edge_subsets
        if not len(self.exists):
            return np.zeros(len(subsets), dtype=np.int64)
        return (self.exists[subsets] & (subsets >= 0)).sum(axis=1)

    def with_pairs(self, k: int) -> Scores:
        """The scores of `universe.with_pairs(k)`: a slice, nothing is scored again."""
        smaller = self.universe.with_pairs(k)
        rows = smaller.shape[0]
        return Scores(
            smaller, self.clean, self.predicted[:rows], self.exists[: len(smaller.edge_pairs)], self.margin[:rows]
        )
