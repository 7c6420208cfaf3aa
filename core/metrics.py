"""What a release distribution reveals and how well it explains, as exact sums over the candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.release.cells import Cells, gather
from core.release.distribution import ReleaseDistribution
from core.scoring.scores import Scores


@dataclass(frozen=True)
class Metrics:
    """Figures of one target's release (PrivCFS, section 4.2); probabilities lie in [0, 1].

    `valid`: P(flip), valid-CF. `ceiling`: 1 when any candidate flips, else 0 (starCF). `targeted`:
    P(flip to the runner-up class). `empty`: P(∅). `valid_given_nonempty`: None when P(S ≠ ∅) is 0.
    `size`: E|S|. `regret`: max u - E u over the universe with ∅, in [0, 1]. `collision`: ΣP², the
    chance that two releases agree. `effective_support`: 1/ΣP² candidates. `retention`: valid / ceiling,
    None when the ceiling is 0.
    """

    valid: float
    ceiling: float
    targeted: float
    empty: float
    valid_given_nonempty: float | None
    size: float
    regret: float
    collision: float
    effective_support: float
    retention: float | None

    def size_share(self, m: int, f: int) -> float:
        """Expected size over everything an intervention could touch, `E|S| / (M + F)`."""
        return self.size / (m + f)


@dataclass(frozen=True)
class Level:
    """The candidates of one utility: how many, how likely together, and of which kind."""

    utility: float
    count: int
    probability: float
    flips: bool
    empty: bool


def measure(distribution: ReleaseDistribution, scores: Scores) -> Metrics:
    """All metrics of a release distribution, for any prior and mechanism."""
    cells = gather(scores, distribution.utility, distribution.prior)
    probability = cells.total(distribution.probability)
    collision = float((distribution.probability**2).sum())
    curves = _curves(cells, probability[None, :], np.array([collision]))
    figures: dict[str, Any] = {name: _number(curve[0]) for name, curve in curves.items()}
    return Metrics(**figures)


def measure_cells(cells: Cells, epsilons: Sequence[float] | np.ndarray) -> dict[str, np.ndarray]:
    """The same under the exponential mechanism at many ε: one float64 array (n_eps) per field of `Metrics`.

    NaN stands where `Metrics` has None. Raises `BadInput` for a bad ε.
    """
    probability = cells.probability(np.asarray(epsilons))
    return _curves(cells, probability, probability**2 @ cells.concentration)


def levels(distribution: ReleaseDistribution, scores: Scores) -> list[Level]:
    """Levels of the release by descending utility: candidates equal in (utility, flips, empty)."""
    cells = gather(scores, distribution.utility, distribution.prior)
    probability = cells.total(distribution.probability)
    kinds = np.stack([-cells.values, ~cells.flips, cells.sizes > 0], axis=1)
    _, first, member = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(member, weights=cells.counts)
    sums = np.bincount(member, weights=probability)
    return [
        Level(
            utility=float(cells.values[cell] / cells.denominator),
            count=int(count),
            probability=float(total),
            flips=bool(cells.flips[cell]),
            empty=bool(cells.sizes[cell] == 0),
        )
        for cell, count, total in zip(first, counts, sums, strict=True)
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _curves(cells: Cells, probability: np.ndarray, collision: np.ndarray) -> dict[str, np.ndarray]:
    """Metrics from cell probabilities (n_eps x c) and collision (n_eps)."""
    empty = cells.sizes == 0
    utility = cells.values / cells.denominator
    columns = np.stack([cells.flips, cells.targeted, empty, ~empty, cells.sizes, utility.max() - utility], axis=1)
    valid, targeted, none, some, size, regret = (probability @ columns).T
    ceiling = float(cells.flips.any())
    undefined = np.full(len(collision), np.nan)
    return {
        "valid": valid,
        "ceiling": np.full(len(collision), ceiling),
        "targeted": targeted,
        "empty": none,
        "valid_given_nonempty": np.divide(valid, some, out=undefined.copy(), where=some > 0),
        "size": size,
        "regret": regret,
        "collision": collision,
        "effective_support": 1 / collision,
        "retention": valid / ceiling if ceiling else undefined,
    }
