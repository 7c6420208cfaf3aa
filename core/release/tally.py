"""The candidates of many targets counted by kind, and the figures of their releases at many rho and ε at once.

A kind is what the hard utility and every metric tell apart: |S_E|, |S_E ∩ E|, |S_F|, and whether the candidate
flips and to which class; ∅ is a kind of its own. Kinds are public, as are the weights of the exponential
mechanism on them: only the counts are private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core import checks
from core.scoring.scores import Scores
from core.snapshot import Snapshot
from core.universe import Arm, Limits
from core.utility import UtilityConfig, flip_table, grid_sensitivity

FIGURES = ("ceiling", "valid", "targeted", "empty", "size", "regret", "collision")
OUTCOMES = 3  # no flip, a flip, a flip to the runner-up class


@dataclass(frozen=True, eq=False)
class Kinds:
    """All kinds of candidates under public settings, K of them, the last of which is ∅.

    `values`: K int64 grid units. `sizes`: K int64. `flips`, `targeted`: K bool. `mass`: K float64, the
    prior mass of one such candidate up to a factor. `denominator`, `sensitivity`: of the utility.
    """

    values: np.ndarray
    sizes: np.ndarray
    flips: np.ndarray
    targeted: np.ndarray
    mass: np.ndarray
    denominator: int
    sensitivity: int

    @classmethod
    def of(cls, config: UtilityConfig, limits: Limits, arm: Arm, size_penalty: float = 0.0) -> Kinds:
        """Those of a hard utility under the reference prior of that size penalty (`prior.reference`)."""
        table, denominator = flip_table(config, limits)
        edges, existing, masks, outcome = np.indices((*table.shape, OUTCOMES)).reshape(4, -1)
        sizes = edges + masks
        weighty = np.append(sizes, limits.k_max)  # ∅ counts as a largest one
        return cls(
            values=np.append(np.where(outcome > 0, table[edges, existing, masks], 0), table[0, 0, 0]),
            sizes=np.append(sizes, 0),
            flips=np.append(outcome > 0, False),
            targeted=np.append(outcome == 2, False),
            mass=np.exp(-size_penalty * (weighty - weighty.min())),
            denominator=denominator,
            sensitivity=grid_sensitivity(config, limits, arm, denominator),
        )

    def figures(self, counts: np.ndarray, epsilons: Sequence[float]) -> np.ndarray:
        """`FIGURES` of releases with these counts (R x K) under the exponential mechanism, 7 x R x n_eps.

        As `metrics.measure_cells` gives them for one release. Raises `BadInput` for a bad ε.
        """
        budgets = np.array([checks.epsilon(value) for value in epsilons])
        best = np.where(counts > 0, self.values, -1).max(axis=1)
        result = np.empty((len(FIGURES), len(counts), len(budgets)))
        columns = np.stack([self.flips, self.targeted, self.sizes == 0, self.sizes, self.values / self.denominator])
        columns[2, :-1] = 0.0
        for top in np.unique(best):
            rows = best == top
            here = counts[rows]
            loss = np.minimum(self.values - top, 0) / (2 * self.sensitivity)
            with np.errstate(over="ignore"):
                weight = self.mass * np.exp(budgets[:, None] * loss)
            total = here @ weight.T
            valid, targeted, empty, size, utility = here @ (columns[:, None] * weight).swapaxes(1, 2) / total
            ceiling = np.broadcast_to((here[:, self.flips].sum(axis=1) > 0)[:, None], total.shape)
            collision = here @ (weight**2).T / total**2
            result[:, rows] = ceiling, valid, targeted, empty, size, top / self.denominator - utility, collision
        return result


class Tally:
    """Counts the candidates of targets at nested snapshot strengths; owner-only, as scores are.

    `stops`: the number of pairs disclosed at each rho (`Snapshot.stop`), in any order.
    """

    def __init__(self, snapshot: Snapshot, limits: Limits, stops: Sequence[int]) -> None:
        self._snapshot = snapshot
        self._shape = (limits.max_edges + 1, limits.max_edges + 1, limits.max_features + 1)
        self._stops, self._place = np.unique(stops, return_inverse=True)
        self._levels: list[np.ndarray] = []
        self._kinds: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []

    def add(self, scores: Scores) -> None:
        """Count the candidates of one target, scored on its universe of the whole snapshot."""
        universe = scores.universe
        positions = np.append(self._snapshot.incident(universe.target)[: len(universe.edge_pairs)], -1)
        last = positions[universe.edge_subsets.max(axis=1, initial=-1)]
        self._levels.append(np.searchsorted(self._stops, last, side="right"))
        self._kinds.append(universe.edge_sizes * self._shape[1] + scores.existing)
        masks = np.zeros((universe.shape[1], self._shape[2]))
        masks[np.arange(universe.shape[1]), universe.feature_sizes] = 1.0
        counts = np.zeros((universe.shape[0], self._shape[2], OUTCOMES))
        counts[..., 0] = masks.sum(axis=0)
        flips = scores.flips
        if flips.any():
            counts[..., 2] = (flips & (scores.predicted == scores.runner_up)) @ masks
            counts[..., 1] = flips @ masks - counts[..., 2]
            counts[..., 0] -= counts[..., 1] + counts[..., 2]
        self._counts.append(counts)

    def take(self) -> np.ndarray:
        """Candidates of each kind (`Kinds`) at each strength, targets x stops x K float64, and forget them."""
        targets, strengths, rows = len(self._counts), len(self._stops) + 1, np.prod(self._shape[:2])
        owner = np.repeat(np.arange(targets), [len(levels) for levels in self._levels])
        place = (owner * strengths + np.concatenate(self._levels)) * rows + np.concatenate(self._kinds)
        each = np.concatenate(self._counts).reshape(len(place), -1)
        sums = np.zeros((targets * strengths * rows, each.shape[1]))
        np.add.at(sums, place, each)
        nested = sums.reshape(targets, strengths, -1).cumsum(axis=1)[:, self._place]
        counts = np.concatenate([nested, np.ones((*nested.shape[:2], 1))], axis=2)
        counts[:, :, 0] -= 1.0  # ∅, which never flips, has a kind of its own
        self._levels, self._kinds, self._counts = [], [], []
        return counts
