"""One mechanism of the zoo: what it claims, and what is true of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.audit.claims import Claim, Pair
from core.audit.sampling import Witness
from core.errors import BadInput

ROUNDING = 1e-6  # of integrals


class Vectorised:
    """A release that makes many draws at once; a subclass gives `release_many`."""

    def __call__(self, data: Any, rng: np.random.Generator) -> Any:
        return self.release_many(data, 1, rng)[0]

    def release_many(self, data: Any, n: int, rng: np.random.Generator) -> np.ndarray:
        """`n` independent outputs for `data`, the first axis of an array."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Specimen:
    """A release with a pair of neighbours on which its truth is known.

    `true_epsilon`: least ε at which this pair keeps (ε, claimed δ), infinite where none does; derived where
    the specimen is made. `correct`: the mechanism keeps its claim on every pair. `flaw`: what is wrong, or
    the source of a correct one. Raises `BadInput` where truth and `correct` contradict each other.
    """

    name: str
    correct: bool
    flaw: str
    release: Vectorised
    pair: Pair
    claim: Claim
    witnesses: tuple[Witness, ...]
    true_epsilon: float

    def __post_init__(self) -> None:
        if (self.true_epsilon <= self.claim.epsilon + ROUNDING) is not self.correct:
            raise BadInput(
                f"zoo, {self.name}: found a true epsilon of {self.true_epsilon:g} at a claim of "
                f"{self.claim.epsilon:g}, expected {'at most' if self.correct else 'more than'} the claim"
            )

    @property
    def finite_truth(self) -> float | None:
        """The true ε, None where it is infinite."""
        return self.true_epsilon if math.isfinite(self.true_epsilon) else None
