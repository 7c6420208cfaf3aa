"""Selections: randomized response, exponential mechanism, report noisy max."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.audit.witnesses import Coordinate, vector_witnesses
from core.audit.zoo.laws import laplace_cdf, laplace_pdf, over_line, widest
from core.audit.zoo.specimen import Specimen, Vectorised

VOTES = Pair(
    "the last vote moves from candidate 1 to 0",
    (1, 1, 1),
    (1, 1, 0),
    Relation.RECORD,
)
CANDIDATES = 3
CHOSEN = (Witness("outcome", Coordinate(0), finite=True),)


@dataclass(frozen=True)
class BitResponse(Vectorised):
    """The first record, a bit, told with probability `e^ε / (1 + e^ε)` and flipped otherwise (Warner 1965)."""

    epsilon: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random((n, 1)) < expit(self.epsilon), data[0], 1 - data[0])


@dataclass(frozen=True)
class Election(Vectorised):
    """Exponential mechanism over vote counts: `P(r) ∝ exp(weight · votes(r))`."""

    weight: float

    def probability(self, data: Sequence[int]) -> np.ndarray:
        """Chance of each candidate, CANDIDATES float64."""
        mass = np.exp(self.weight * np.bincount(data, minlength=CANDIDATES))
        return mass / mass.sum()

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.choice(CANDIDATES, size=(n, 1), p=self.probability(data))


@dataclass(frozen=True)
class NoisyMax(Vectorised):
    """The candidate of most votes after `Lap(scale)` on each count; its noisy count too where `value`."""

    scale: float
    value: bool = False

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        noisy = np.bincount(data, minlength=CANDIDATES) + rng.laplace(scale=self.scale, size=(n, CANDIDATES))
        return noisy.max(axis=1, keepdims=True) if self.value else noisy.argmax(axis=1)[:, None]

    def probability(self, data: Sequence[int]) -> np.ndarray:
        """Chance of each candidate, `∫ f(x - q_i) Π_{j≠i} F(x - q_j) dx`."""
        votes = np.bincount(data, minlength=CANDIDATES)

        def density(x: float) -> np.ndarray:
            below = laplace_cdf(x - votes, self.scale)
            others = np.array([np.delete(below, i).prod() for i in range(CANDIDATES)])
            return laplace_pdf(x - votes, self.scale) * others

        return over_line(density, votes, self.scale)


@dataclass(frozen=True)
class LargestCount(Vectorised):
    """The largest of `size` counts, the number of records each, after `Lap(scale)` on each of them."""

    scale: float
    size: int

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return len(data) + rng.laplace(scale=self.scale, size=(n, self.size)).max(axis=1, keepdims=True)


def choices(epsilon: float = 1.0) -> list[Specimen]:
    """The selections of the zoo at a claim of `epsilon`.

    Randomized response: `p / (1 - p) = e^ε`. Outcomes of the exponential mechanism and of noisy max are few,
    and the least ε at δ = 0 is the largest log ratio of one outcome's probabilities: exact for the first, an
    integral for the second. A vote that moves changes two counts by 1 in opposite directions, so the
    exponential mechanism needs ε/2 a vote and noisy max a scale of 2/ε (Dwork & Roth 2014, 3.3; Ding et
    al. 2018). Without the half the exponential mechanism shows up to 2ε, here what the sum says. The
    largest of k counts that all move by 1: its density is `k f F^{k-1}`, whose log slope is k/b at most, and
    for x below all counts it is exactly that; so the truth is k/b = kε/2 at a scale of 2/ε.
    """
    pure = Claim(epsilon, Relation.RECORD)
    bit = Pair("the bit is 1, the bit is 0", (1,), (0,), Relation.RECORD)
    eleven = Pair("11 records, 10 records", (1,) * 11, (1,) * 10, Relation.RECORD)
    fair, greedy, report = Election(epsilon / 2), Election(epsilon), NoisyMax(2 / epsilon)
    truth = {
        what: widest(what.probability(VOTES.one), what.probability(VOTES.other)) for what in (fair, greedy, report)
    }
    size = 6
    return [
        Specimen("randomized response", True, "Warner 1965", BitResponse(epsilon), bit, pure, CHOSEN, epsilon),
        Specimen("exponential mechanism", True, "McSherry & Talwar 2007", fair, VOTES, pure, CHOSEN, truth[fair]),
        Specimen("report noisy max", True, "Dwork & Roth 2014, 3.3", report, VOTES, pure, CHOSEN, truth[report]),
        Specimen(
            "exponential without half", False, "weight ε/Δ in the place of ε/2Δ", greedy, VOTES, pure, CHOSEN,
            truth[greedy],
        ),
        Specimen(
            "noisy max, value", False, "returns the largest noisy count (Ding et al. 2018)",
            LargestCount(2 / epsilon, size), eleven, pure, vector_witnesses(1), size * epsilon / 2,
        ),
        Specimen(
            "response at twice the budget", False, "tells the truth with probability e^{2ε} / (1 + e^{2ε})",
            BitResponse(2 * epsilon), bit, pure, CHOSEN, 2 * epsilon,
        ),
    ]  # fmt: skip
