"""The public base measure of a release: what the mechanism favours before it looks at an edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.errors import BadInput
from core.universe import Universe


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


def uniform(universe: Universe) -> Prior:
    """The same mass for every candidate: the paper's mechanism (PrivCFS, section 3.5)."""
    return Prior("uniform", np.broadcast_to(1 / universe.size, universe.shape))
