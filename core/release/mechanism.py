"""The private selection mechanisms on offer, and the exponent that both share."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from core import checks


class Mechanism(StrEnum):
    """How one candidate is chosen; each gives pure ε-differential privacy at the edge level."""

    EM = "em"
    PF = "pf"

    @classmethod
    def parse(cls, value: str) -> Mechanism:
        """Return the mechanism of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "mechanism")


def exponent(values: np.ndarray, sensitivity: int, epsilon: float | np.ndarray) -> np.ndarray:
    """`ε (u - max u) / (2Δu)`, at most 0, for utilities and sensitivity in the same grid units.

    `epsilon` broadcasts against `values`. The shift by the largest utility cancels in both mechanisms.
    """
    with np.errstate(over="ignore"):
        return epsilon * ((values - values.max()) / (2 * sensitivity))
