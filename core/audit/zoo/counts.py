"""Noisy counts: `f(D)` is the number of records, so that neighbours' answers differ by 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.audit.witnesses import Coordinate, Difference, Least, vector_witnesses
from core.audit.zoo.specimen import Specimen, Vectorised
from core.placement.calibration import analytic_sigma

ELEVEN = Pair("11 records, 10 records", (1,) * 11, (1,) * 10, Relation.RECORD)
NUMBER = vector_witnesses(1)


@dataclass(frozen=True)
class LaplaceCount(Vectorised):
    """`f(D) + Lap(scale)`, `answers` times over with fresh noise; rounded and cut at 0 where `tidy`."""

    scale: float
    answers: int = 1
    tidy: bool = False

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        found = len(data) + rng.laplace(scale=self.scale, size=(n, self.answers))
        return np.maximum(np.rint(found), 0) if self.tidy else found


@dataclass(frozen=True)
class GaussianCount(Vectorised):
    """`f(D) + N(0, σ²)`."""

    sigma: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return len(data) + rng.normal(scale=self.sigma, size=(n, 1))


@dataclass(frozen=True)
class GeometricCount(Vectorised):
    """`f(D) + X - Y` with X, Y geometric of ratio `e^-ε`: two-sided geometric noise (Ghosh et al. 2009)."""

    epsilon: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.geometric(-math.expm1(-self.epsilon), size=(2, n, 1))
        return len(data) + noise[0] - noise[1]


@dataclass(frozen=True)
class LeakyCount(Vectorised):
    """`f(D) + Lap(scale)`, but `f(D)` itself with probability `leak`."""

    scale: float
    leak: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return len(data) + np.where(rng.random((n, 1)) < self.leak, 0.0, rng.laplace(scale=self.scale, size=(n, 1)))


@dataclass(frozen=True)
class ClippedCount(Vectorised):
    """`f(D)` plus Laplace noise that is cut off at `±most`."""

    scale: float
    most: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return len(data) + np.clip(rng.laplace(scale=self.scale, size=(n, 1)), -self.most, self.most)


@dataclass(frozen=True)
class SharedNoise(Vectorised):
    """Two queries, all records and those that are 1, under one draw of `Lap(scale)`."""

    scale: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([len(data), sum(data)]) + rng.laplace(scale=self.scale, size=(n, 1))


@dataclass(frozen=True)
class SameSeed(Vectorised):
    """`f(D) + Lap(scale)` from a generator that each call seeds alike."""

    scale: float

    def release_many(self, data: Sequence[int], n: int, rng: np.random.Generator) -> np.ndarray:
        return np.full((n, 1), len(data) + np.random.default_rng(0).laplace(scale=self.scale))


def counts(epsilon: float = 1.0, delta: float = 0.01) -> list[Specimen]:
    """The counts of the zoo at a claim of `epsilon`; `delta` is the Gaussian's.

    Laplace noise of scale b on answers that differ by 1: the densities' ratio is `e^{(|x-10| - |x-11|)/b}`, at
    most `e^{1/b}`, and reaches it on a half line, so the truth is 1/b; k answers multiply to k/b. Rounding and
    cutting at 0 are post-processing, after which the half line `x >= 11` is left. Two-sided geometric noise
    has mass ratio `e^{±ε}` exactly. Analytic Gaussian calibration is the least σ, so its truth at δ is ε
    itself (Balle & Wang 2018); at δ = 0 the Gaussian ratio `e^{(2x-21)/2σ²}` has no bound. A leak of the exact
    count, noise with an end, noise that cancels in a difference, and noise that never changes each have an
    event that one input can't show: the truth is infinite.
    """
    pure = Claim(epsilon, Relation.RECORD)
    bit = Pair("a 1 more, a 0 more", (*(1,) * 10, 1), (*(1,) * 10, 0), Relation.RECORD)
    both = (*vector_witnesses(2), Witness("least entry", Least((0, 1))))
    low = min(epsilon, 1.0) / 2  # from 1 on the wrong scale is the larger one
    return [
        Specimen("laplace", True, "Dwork et al. 2006", LaplaceCount(1 / epsilon), ELEVEN, pure, NUMBER, epsilon),
        Specimen(
            "laplace, rounded", True, "post-processing of the noisy answer", LaplaceCount(1 / epsilon, tidy=True),
            ELEVEN, pure, NUMBER, epsilon,
        ),
        Specimen(
            "gaussian", True, "Balle & Wang 2018", GaussianCount(analytic_sigma(epsilon, delta, 1.0)),
            ELEVEN, Claim(epsilon, Relation.RECORD, delta), NUMBER, epsilon,
        ),
        Specimen("geometric", True, "Ghosh et al. 2009", GeometricCount(epsilon), ELEVEN, pure, NUMBER, epsilon),
        Specimen(
            "inverted scale", False, "noise of scale ε/Δ in the place of Δ/ε", LaplaceCount(low),
            ELEVEN, Claim(low, Relation.RECORD), NUMBER, 1 / low,
        ),
        Specimen(
            "budget not split", False, "two answers, each at the whole ε", LaplaceCount(1 / epsilon, answers=2),
            ELEVEN, pure, both, 2 * epsilon,
        ),
        Specimen(
            "gaussian without delta", False, "σ = Δ/ε, claimed to be pure", GaussianCount(1 / epsilon),
            ELEVEN, pure, NUMBER, math.inf,
        ),
        Specimen(
            "leaky laplace", False, "no noise in 1 of 50 releases", LeakyCount(1 / epsilon, 0.02),
            ELEVEN, pure, (*NUMBER, Witness("exact value", Coordinate(0), finite=True)), math.inf,
        ),
        Specimen(
            "clipped noise", False, "noise cut off at ±Δ", ClippedCount(1 / epsilon, 1.0), ELEVEN, pure, NUMBER,
            math.inf,
        ),
        Specimen(
            "shared noise", False, "one draw for two answers", SharedNoise(1 / epsilon), bit, pure,
            (*vector_witnesses(2), Witness("difference", Difference(0, 1))), math.inf,
        ),
        Specimen(
            "same seed", False, "the generator is seeded alike for each release", SameSeed(1 / epsilon),
            ELEVEN, pure, (*NUMBER, Witness("exact value", Coordinate(0), finite=True)), math.inf,
        ),
    ]  # fmt: skip
