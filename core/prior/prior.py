"""The public base measure of a release: what the mechanism favours before it looks at an edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from core import checks
from core.errors import BadInput
from core.universe import Universe

LARGEST_PENALTY = 20.0


class PriorKind(StrEnum):
    """Which public base measure a release starts from."""

    UNIFORM = "uniform"
    GUIDED = "guided"

    @classmethod
    def parse(cls, value: str) -> PriorKind:
        """Return the prior of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "prior")


@dataclass(frozen=True)
class PriorRule:
    """How the base measure is made: a public rule, fixed before any private edge is read.

    `size_penalty`: from 0 (none) to 20, a factor `exp(-size_penalty)` for each further pair or mask.
    Raises `BadInput` outside.
    """

    kind: PriorKind = PriorKind.UNIFORM
    size_penalty: float = 0.0

    def __post_init__(self) -> None:
        value = self.size_penalty
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_PENALTY:
            raise BadInput.number("size penalty", value, f"a number from 0 to {LARGEST_PENALTY:g}, for example 1")
        object.__setattr__(self, "size_penalty", float(value))


@dataclass(frozen=True, eq=False)
class Prior:
    """A distribution `π` over the candidates, computed from public objects only.

    `mass`: nE x nF float64, positive everywhere, sums to 1. The guarantee is pure ε whatever `π` is,
    as long as no private edge enters it. Raises `BadInput` for a mass that is no such distribution.
    """

    name: str
    mass: np.ndarray

    def __post_init__(self) -> None:
        low, total = float(self.mass.min()), float(self.mass.sum())
        if not low > 0 or not abs(total - 1) < 1e-9:
            raise BadInput(
                f"prior {self.name}: found a smallest mass of {low:.3g} and a sum of {total:.12g}, "
                "expected positive masses that sum to 1"
            )

    @cached_property
    def constant(self) -> bool:
        """Whether every candidate has the same mass."""
        return bool(self.mass.min() == self.mass.max())


def reference(universe: Universe, size_penalty: float = 0.0) -> np.ndarray:
    """`r(S) ∝ exp(-size_penalty |S|)`, nE x nF float64, sums to 1; equal masses without a penalty.

    The empty candidate counts as a largest one: brevity must not be bought with silence.
    """
    if not size_penalty:
        return np.broadcast_to(1 / universe.size, universe.shape)
    sizes = universe.sizes
    sizes[0, 0] = universe.limits.k_max
    weight = np.array([math.exp(-size_penalty * size) for size in range(universe.limits.k_max + 1)])[sizes]
    return weight / weight.sum()


def uniform(universe: Universe, size_penalty: float = 0.0) -> Prior:
    """The same mass for every candidate: the paper's mechanism (PrivCFS, section 3.5); see `reference`."""
    return Prior(PriorKind.UNIFORM.value, reference(universe, size_penalty))
