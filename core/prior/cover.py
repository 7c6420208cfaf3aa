"""The base measure that covers many possible graphs: a concave program, solved through its dual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

KINK = 0.01
ITERATIONS = 100
SHORTEST_STEP = 1e-8


@dataclass(frozen=True, eq=False)
class Cover:
    """`max_π Σ_k w_k [ g(x_k) - κ h(g(r_k) - g(x_k)) ] - τ KL(π || r)`, with `x = Fπ`.

    `g(x) = x e^λ / (x (e^λ - 1) + 1)` is the chance that a release flips when a share `x` of the base
    measure lies on flips and each weighs `e^λ` times more (design, section 5). `h` is the positive part,
    rounded within ±0.01 of 0: what is lost against the reference `r` in a scenario counts again. `g`
    grows, so both terms are concave in `π`.

    `flips`: K x G, which groups of candidates flip in which scenario. `reference`: G, masses of the
    groups under `r`, positive, sum 1. `weight`: K, sum 1. `gain`: λ >= 0. `regret`: κ >= 0.
    `entropy`: τ > 0.
    """

    flips: np.ndarray
    reference: np.ndarray
    weight: np.ndarray
    gain: float
    regret: float
    entropy: float

    def objective(self, mass: np.ndarray) -> float:
        """Value of the program at group masses `mass` (G, positive, sum 1)."""
        return self._terms(mass, self.flips @ mass)[0]

    def solve(self, tolerance: float = 1e-7) -> np.ndarray:
        """Group masses whose objective is within `tolerance` of the optimum, unless rounding stops it first.

        With `φ(x)` the first sum and `c = ∇φ(x)`, the optimum is `π ∝ r exp(F'c / τ)` at the x where
        `Fπ = x`. There the dual `τ ln Σ r exp(F'c / τ) + φ(x) - c·x`, convex in the K numbers `c`, is least;
        Newton's method with backtracking walks down it, in x, since φ' has no inverse in closed form.
        The dual moves even where a reference of 1e-20 on every flip would leave the objective flat.
        For a concave objective `max_g ∇_g - <∇, π>` bounds what is still to be gained.
        """
        x = self._start
        best, best_value = self.reference, self.objective(self.reference)
        value, mass, slope, curvature = self._dual(x)
        for _ in range(ITERATIONS):
            reached = self.flips @ mass
            primal, ahead, _ = self._terms(mass, reached)
            if primal > best_value:
                best, best_value = mass, primal
            ascent = (ahead - slope) @ self.flips
            if ascent.max() - ascent @ mass < tolerance:
                return mass
            spread = (self.flips * mass) @ self.flips.T - reached[:, None] * reached
            step = np.linalg.solve(self._unit + spread * (curvature / self.entropy), reached - x)
            length = 1.0
            while length > SHORTEST_STEP:
                there = np.minimum(np.maximum(x + length * step, 0.0), 1.0)
                terms = self._dual(there)
                if terms[0] <= value:  # equal where φ is straight: x has to cross that stretch
                    break
                length /= 2
            else:
                break
            x, (value, mass, slope, curvature) = there, terms
        return best

    @cached_property
    def _start(self) -> np.ndarray:
        """What lies on the flips of each scenario under the reference, K."""
        return self.flips @ self.reference

    @cached_property
    def _odds(self) -> float:
        return math.exp(self.gain)

    @cached_property
    def _least(self) -> np.ndarray:
        """`g` under the reference, below which a scenario has lost something, K."""
        return self._odds * self._start / (self._start * (self._odds - 1) + 1)

    @cached_property
    def _unit(self) -> np.ndarray:
        return np.eye(len(self.flips))

    def _dual(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The dual at `c = ∇φ(x)`, the masses that belong to it, and `c` and the negated `φ''`."""
        value, slope, curvature = self._gains(x)
        exponent = slope @ self.flips / self.entropy
        top = exponent.max()
        weight = self.reference * np.exp(exponent - top)
        total = weight.sum()
        mass = np.maximum(weight / total, np.finfo(float).tiny)
        return self.entropy * (top + math.log(total)) + value - slope @ x, mass, slope, curvature

    def _terms(self, mass: np.ndarray, reached: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Objective, and first and negated second derivative of its first sum by each `x_k`; `reached`: `Fπ`."""
        value, slope, curvature = self._gains(reached)
        return value - self.entropy * float(mass @ np.log(mass / self.reference)), slope, curvature

    def _gains(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """`φ(x)` and, for each scenario, its first and negated second derivative."""
        scale = 1 / (x * (self._odds - 1) + 1)
        gain, rise = self._odds * x * scale, self._odds * scale * scale
        bend = 2 * (self._odds - 1) * rise * scale
        if not self.regret:
            return float(self.weight @ gain), self.weight * rise, self.weight * bend
        lost = self._least - gain
        inside = np.minimum(np.maximum((lost + KINK) / (2 * KINK), 0.0), 1.0)
        hinge = np.where(lost > KINK, lost, KINK * inside * inside)
        sharp = (np.abs(lost) < KINK) * (self.regret / (2 * KINK))
        twice = self.weight * (1 + self.regret * inside)
        curvature = twice * bend + self.weight * sharp * rise * rise
        return float(self.weight @ (gain - self.regret * hinge)), twice * rise, curvature
