"""What a candidate is worth: validity first, then brevity, then plausibility, on an integer grid."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.errors import BadInput
from core.scoring.scores import Scores
from core.universe import Arm, Limits

SOFT_GRID = 10_000
FINEST_GRID = 1_000_000
SENSITIVITIES = ("tight", "paper")


@dataclass(frozen=True)
class UtilityConfig:
    """Public settings of the utility (PrivCFS, section 3.4); weights are exact and sum to 1.

    `w_flip`, `w_size`, `w_plausible`: Fractions, or what reads as one (`"0.7"`, `"1/3"`, `1`, `0.7`).
    `soft`: a candidate that doesn't flip earns up to `w_flip / 2` for a smaller margin. `sensitivity`:
    `"tight"` (the proven bound of `attainable_max`) or `"paper"` (1). Raises `BadInput` otherwise.
    """

    w_flip: Fraction = Fraction(7, 10)
    w_size: Fraction = Fraction(2, 10)
    w_plausible: Fraction = Fraction(1, 10)
    soft: bool = False
    sensitivity: str = "tight"

    def __post_init__(self) -> None:
        for name in ("w_flip", "w_size", "w_plausible"):
            object.__setattr__(self, name, _weight(getattr(self, name), name))
        total = self.w_flip + self.w_size + self.w_plausible
        if total != 1:
            raise BadInput.number("utility weights", f"a sum of {total}", "weights that sum to exactly 1")
        if not isinstance(self.soft, bool):
            raise BadInput.choice("soft utility", self.soft, [True, False])
        if self.sensitivity not in SENSITIVITIES:
            raise BadInput.choice("sensitivity", self.sensitivity, SENSITIVITIES)


@dataclass(frozen=True, eq=False)
class Utility:
    """Utility of every candidate in whole grid units; `values / denominator` lies in [0, 1].

    `values`: nE x nF int64. `sensitivity`: grid units, bounds the change of any value between
    neighbouring graphs (edge level). Raises `BadInput` when a value leaves 0..denominator.
    """

    values: np.ndarray
    denominator: int
    sensitivity: int

    def __post_init__(self) -> None:
        if self.denominator < 1 or self.sensitivity < 1:
            raise BadInput(
                f"utility grid: found denominator {self.denominator} and sensitivity {self.sensitivity}, "
                "expected whole numbers of at least 1"
            )
        if self.values.ndim != 2 or self.values.dtype != np.int64:
            raise BadInput(f"utility: found {self.values.ndim}-d {self.values.dtype}, expected 2-d int64 grid units")
        if self.values.min() < 0 or self.values.max() > self.denominator:
            raise BadInput(f"utility: found a value outside 0..{self.denominator} grid units")

    @property
    def fractions(self) -> np.ndarray:
        """`values / denominator`, nE x nF float64 in [0, 1]."""
        return self.values / self.denominator


def attainable_max(config: UtilityConfig, limits: Limits, arm: Arm) -> Fraction:
    """Largest utility that a non-empty candidate can attain: the `tight` sensitivity.

    `w_flip + w_size (1 - 1/k_max) + w_plausible [edges allowed]`, from public settings only.

    Proof that no utility moves by more between neighbouring graphs. The universe is public, so both
    graphs have the same candidates. A non-empty `S` has utility 0 or, when it flips, at most this
    value, since `|S| >= 1` and plausibility is at most 1 (0 without edges); the soft credit is at
    most `w_flip / 2`, which is no more. Two numbers of [0, max] differ by at most max. The utility
    of the empty candidate is `w_size` on every graph. Flooring to the grid is monotone and keeps 0
    and the bound, itself rounded up to the grid.
    """
    edges = arm is not Arm.FEATURE_ONLY and limits.max_edges > 0 and limits.k_edges > 0
    return config.w_flip + config.w_size * (1 - Fraction(1, limits.k_max)) + (config.w_plausible if edges else 0)


def evaluate(scores: Scores, config: UtilityConfig) -> Utility:
    """Utility of every candidate (PrivCFS, section 3.4), exact on the grid.

    `u(S) = w_flip + w_size (1 - |S|/k_max) + w_plausible |S_E ∩ E| / |S_E|` if a non-empty `S` flips,
    `u(∅) = w_size`, else 0. Soft: `w_flip/2 clip(1 - m(S)/m(∅), 0, 1)` in the place of 0 for a
    non-empty `S`, floored to 1e-4; it is 0 when the clean margin `m(∅)` is 0. The denominator is the
    least common one of all attainable values (and 10,000 when soft). `k_max` is that of the limits
    in every arm. Raises `BadInput` for weights that need a grid finer than 1e-6.
    """
    universe = scores.universe
    table, denominator = flip_table(config, universe.limits)
    rows = table[universe.edge_sizes, scores.existing]
    values = np.where(scores.flips, rows[:, universe.feature_sizes], _soft_credit(scores, config, denominator))
    values[0, 0] = table[0, 0, 0]
    return Utility(values, denominator, grid_sensitivity(config, universe.limits, universe.arm, denominator))


def grid_sensitivity(config: UtilityConfig, limits: Limits, arm: Arm, denominator: int) -> int:
    """Sensitivity of the utility in grid units, rounded up: `attainable_max`, or 1 for `paper`."""
    if config.sensitivity == "paper":
        return denominator
    return max(1, math.ceil(attainable_max(config, limits, arm) * denominator))


def _soft_credit(scores: Scores, config: UtilityConfig, denominator: int) -> np.ndarray | np.int64:
    if not config.soft or scores.clean_margin <= 0:
        return np.int64(0)
    closeness = np.clip(1 - scores.margin / scores.clean_margin, 0, 1)
    steps = np.floor(closeness * float(config.w_flip / 2 * SOFT_GRID)).astype(np.int64)
    return steps * (denominator // SOFT_GRID)


@functools.lru_cache(maxsize=64)
def flip_table(config: UtilityConfig, limits: Limits) -> tuple[np.ndarray, int]:
    """Grid utility of a flip by (|S_E|, |S_E ∩ E|, |S_F|), with u(∅) at (0, 0, 0), and the denominator."""
    exact = {(0, 0, 0): config.w_size}
    for e, f in itertools.product(range(limits.max_edges + 1), range(limits.max_features + 1)):
        for existing in range(e + 1):
            if e + f:
                brevity = 1 - Fraction(e + f, limits.k_max)
                plausibility = Fraction(existing, max(e, 1))
                exact[e, existing, f] = config.w_flip + config.w_size * brevity + config.w_plausible * plausibility
    denominator = math.lcm(*(value.denominator for value in exact.values()))
    if denominator > FINEST_GRID:
        raise BadInput.number(
            "utility weights", f"a grid of 1/{denominator}", f"at most 1/{FINEST_GRID}: give weights fewer decimals"
        )
    if config.soft:
        denominator = math.lcm(denominator, SOFT_GRID)
    table = np.zeros((limits.max_edges + 1, limits.max_edges + 1, limits.max_features + 1), dtype=np.int64)
    for place, value in exact.items():
        table[place] = int(value * denominator)
    table.setflags(write=False)
    return table, denominator


def _weight(value: object, name: str) -> Fraction:
    expected = 'a number from 0 to 1, for example "0.7" or "1/3"'
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise BadInput.number(f"utility weight {name}", value, expected)
    try:
        weight = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError):
        raise BadInput.number(f"utility weight {name}", value, expected) from None
    if not 0 <= weight <= 1:
        raise BadInput.number(f"utility weight {name}", value, expected)
    return weight
