"""How densities are noised for an (ε, δ): grid, sensitivity on it and scale, all fixed before the graph is seen.

A density is reported as `y_i = round(t_i / g_i)`, g_i a public power of two, and whole noise is added to the whole y_i:
no guarantee rests on floating-point noise. A computed t_i is off by at most r_i (`core.embeddings.counting.rounding`),
so one edge moves y_i by at most `(S_i + 2 r_i) / g_i + 1` steps, of which the last three terms are some 2^-20 of S_i.

Public scale: discrete Gaussian noise of scale σ on all y_i is `Δ²/(2σ²)`-zCDP, Δ the l2 norm of the steps (Canonne,
Kamath & Steinke 2020). Smooth: `σ(G) = Δ(G) / sqrt(2ρ')`; Δ(G), the norm of `(S_i(G) + 2 r_i) / g_i + 1`, is β-smooth
as each S_i(G) is. Theorem 4.6 is about continuous noise; sums of exp(-(x-c)²/2s²) over whole x are within a factor
1 ± 3 exp(-2π²s²) of their integrals (Poisson summation), here s >= 0.7 σ(G) >= 700, so Rényi divergences of the
discrete one differ by less than 10^-(10^6) at any order above 1 + 10^-9, and below they are at most that one's. The
`ROUNDING` kept back from ρ pays for it, and β is lowered by a millionth for the float arithmetic of Δ(G).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from core import checks
from core.embeddings.accounting import TCDP, SmoothBudget, rho_for, smooth_for
from core.embeddings.counting import rounding
from core.embeddings.domain import Domain
from core.embeddings.patterns import Pattern
from core.embeddings.sensitivity import bound, largest_density, smooth_bounds
from core.errors import BadInput

FINENESS = 24  # grid steps in a sensitivity, as a power of two
LARGEST_VALUE = 2**62
LEAST_SMOOTH_SCALE = 1_000.0
_FLOAT = 1e-12


class Spread(StrEnum):
    """How the noise is spread over the patterns."""

    EQUAL = "equal"  # the same on each density, S*/sqrt(2ρ), as in the paper
    OWN = "own"  # in proportion to each pattern's own bound, up to a factor of two


@dataclass(frozen=True)
class NoisePlan:
    """The public side of a release of d densities; made by `noise_plan`.

    `cost`: the tCDP it satisfies, edge level, whose ε at `delta` is at most `epsilon`. `smooth`: the budget of a smooth
    release, else None. `exponents`: grid steps are `2^exponents`, one a pattern. `errors`: r_i, one a pattern.
    """

    patterns: tuple[Pattern, ...]
    domain: Domain
    epsilon: float
    delta: float
    spread: Spread
    cost: TCDP
    smooth: SmoothBudget | None
    exponents: tuple[int, ...]
    errors: tuple[Fraction, ...]

    @property
    def grid(self) -> np.ndarray:
        """Step of each coordinate, d float64, powers of two."""
        return np.ldexp(1.0, np.array(self.exponents))

    @property
    def steps(self) -> tuple[int, ...]:
        """By how many grid steps one edge moves each coordinate at most, over the whole domain."""
        found = []
        for pattern, exponent, error in zip(self.patterns, self.exponents, self.errors, strict=True):
            exact = (bound(pattern, self.domain) + 2 * error) / Fraction(2) ** exponent
            found.append(math.floor(exact) + 1 if pattern.size else 0)
        return tuple(found)

    @property
    def sensitivity(self) -> float:
        """S*, the l2 norm of the patterns' bounds over the domain, grid and rounding included."""
        return float(np.linalg.norm(np.array(self.steps, dtype=np.float64) * self.grid))

    @property
    def grid_sensitivity(self) -> float:
        """l2 norm of `steps`, rounded up."""
        exact = sum(step**2 for step in self.steps)
        root = math.sqrt(exact)
        return root if Fraction(root) ** 2 >= exact else math.nextafter(root, math.inf)

    @property
    def scale(self) -> float:
        """Scale of the noise in grid steps, the same for all graphs; raises `BadInput` for a smooth plan."""
        if self.smooth is not None:
            raise BadInput("noise: found a smooth plan, whose scale is private, expected one of a public scale")
        return self.grid_sensitivity / math.sqrt(2 * self.cost.rho) * (1 + _FLOAT)

    def scale_at(self, degree: int) -> float:
        """Scale of the noise in grid steps on a graph of that largest degree: private for a smooth plan."""
        if self.smooth is None:
            return self.scale
        return self._smooth_norm(degree) / math.sqrt(2 * self.smooth.rho_noise) * (1 + _FLOAT)

    def noise_std(self, degree: int | None = None) -> np.ndarray:
        """Standard deviation of the noise on each density, d float64; a smooth plan needs a degree and is private."""
        return self.grid * (self.scale if degree is None else self.scale_at(degree))

    def on_grid(self, densities: np.ndarray) -> np.ndarray:
        """Densities as whole numbers of grid steps, d int64; private. Division by a power of two is exact."""
        return np.rint(np.asarray(densities) / self.grid).astype(np.int64)

    def off_grid(self, steps: np.ndarray) -> np.ndarray:
        """Whole numbers of grid steps as densities, d float64."""
        return np.asarray(steps, dtype=np.float64) * self.grid

    def _smooth_norm(self, degree: int) -> float:
        assert self.smooth is not None
        local = smooth_bounds(self.patterns, self.domain, degree, self.smooth.beta * (1 - 1e-6))
        error = np.array([float(2 * one) for one in self.errors])
        moved = np.where(local > 0, (local + error) / self.grid + 1, 0.0)
        return float(np.linalg.norm(moved))


def noise_plan(
    patterns: Sequence[Pattern],
    domain: Domain,
    epsilon: float,
    delta: float,
    *,
    smooth: bool = False,
    beta: float | None = None,
    spread: Spread = Spread.EQUAL,
) -> NoisePlan:
    """The plan of a release at (ε, δ), edge level. Every argument is public and fixed before the graph is seen.

    `beta`: of the smooth bound, chosen by `smooth_for` unless given. Raises `BadInput` for a bad ε or δ, patterns of
    no edge at all, a smooth plan on a domain that projects, and values that don't fit 62 bits.
    """
    budget = checks.epsilon(epsilon)
    if not any(pattern.size for pattern in patterns):
        raise BadInput(f"patterns: found {len(patterns)} without any edge, expected at least one with an edge")
    if beta is not None and not smooth:
        raise BadInput(f"beta: found {beta!r} without a smooth sensitivity, expected both or neither")
    spent = smooth_for(budget, delta, len(patterns), beta) if smooth else None
    cost = TCDP(rho_for(budget, delta)) if spent is None else spent.cost
    if spent is None:
        least = np.array([float(bound(pattern, domain)) for pattern in patterns])
    else:
        least = smooth_bounds(patterns, domain, 0, spent.beta)
    if spread is Spread.EQUAL:
        units = np.full(len(patterns), np.linalg.norm(least) / math.sqrt(len(patterns)))
    else:
        units = np.where(least > 0, least, 1.0)
    exponents = tuple(int(exponent) for exponent in np.floor(np.log2(units)).astype(int) - FINENESS)
    errors = []
    for pattern, exponent in zip(patterns, exponents, strict=True):
        largest = largest_density(pattern, domain)
        errors.append(Fraction(rounding(pattern, domain.nodes)) * largest)
        if largest / Fraction(2) ** exponent >= LARGEST_VALUE:
            raise BadInput(
                f"pattern {pattern.name}: found densities that don't fit 62 bits at the precision of their noise, "
                "expected smaller patterns, or a degree bound nearer to the number of nodes"
            )
    plan = NoisePlan(tuple(patterns), domain, budget, delta, spread, cost, spent, exponents, tuple(errors))
    if spent is not None and plan.scale_at(0) < LEAST_SMOOTH_SCALE:
        raise BadInput.number("epsilon", epsilon, "a smaller one for a smooth release, whose noise is too fine here")
    return plan
