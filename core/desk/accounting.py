"""What the releases of an account reveal together, said in two ways, and what an ε means in words.

The *pure line* adds: Σ ε_i, with Σ δ_i beside it. It holds however the amounts were chosen, also after
seeing earlier outcomes, since on every path the log-likelihood ratio is at most Σ ε_i; budgets are
refused by it. The *zCDP line* adds ρ_i and converts to (ε, δ). It holds for a number of releases and
amounts fixed before the first draw. For amounts chosen on the way, only a bound on Σ ρ_i fixed beforehand
would (a filter: Feldman & Zrnic 2021); a running total that one looks at does not come for free
(Whitehouse et al. 2023). So it informs, and nothing is refused or granted by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from core.errors import BadInput

BOUNDED_RANGE = frozenset({"em"})  # mechanisms whose log-likelihood ratio spans at most ε, not 2ε


class Paid(Protocol):
    """Anything that says what one release cost: an `Entry`, a `Debit`, a `Payment`."""

    @property
    def mechanism(self) -> str: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...


@dataclass(frozen=True)
class Payment:
    """The cost of a release that may never be made."""

    mechanism: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True)
class Composition:
    """Releases taken together, at the edge level.

    `pure`, `pure_delta`: Σ ε_i and Σ δ_i, exact. `delta`: the δ of the other line. `zcdp`: its ε, an
    upper bound; infinite where the releases that aren't pure use up `delta`.
    """

    pure: Fraction
    pure_delta: Fraction
    delta: float
    zcdp: float

    @property
    def best(self) -> float:
        """The smaller ε of the two lines at `delta`; infinite where neither holds at it."""
        return min(float(self.pure) if self.pure_delta <= _exact(self.delta) else math.inf, self.zcdp)


def compose(paid: Sequence[Paid], delta: float) -> Composition:
    """Both lines for releases that were made or are thought of.

    A pure release is ρ-zCDP with ρ = ε²/8 for the exponential mechanism under any base measure (its
    range is bounded: Cesar & Rogers 2021, Lemma 3.4) and ρ = ε²/2 else (Bun & Steinke 2016, Prop. 1.4);
    one with δ > 0 adds its ε and δ to what the ρ convert to. Raises `BadInput` for a `delta` outside (0, 1).
    """
    if not 0 < delta < 1:
        raise BadInput.number("delta", delta, "a number between 0 and 1, for example 1e-5")
    approximate = [one for one in paid if one.delta]
    rho = sum((zcdp(one) for one in paid if not one.delta), Fraction(0))
    left = _exact(delta) - sum((one.delta for one in approximate), Fraction(0))
    added = sum((one.epsilon for one in approximate), Fraction(0))
    holds = left > 0 or (left == 0 and not rho)
    return Composition(
        pure=sum((one.epsilon for one in paid), Fraction(0)),
        pure_delta=sum((one.delta for one in paid), Fraction(0)),
        delta=delta,
        zcdp=float(added) + epsilon_of(rho, float(left)) if holds else math.inf,
    )


def _exact(delta: float) -> Fraction:
    """The number that a δ prints as, as for amounts: 1e-5 is 1/100000."""
    return Fraction(repr(float(delta)))


def zcdp(one: Paid) -> Fraction:
    """The ρ of a pure release, exact."""
    return one.epsilon**2 / (8 if one.mechanism in BOUNDED_RANGE else 2)


def epsilon_of(rho: Fraction, delta: float) -> float:
    """The ε at `delta` of ρ-zCDP: Rényi orders to (ε, δ) as Canonne, Kamath & Steinke 2020, Prop. 12, by dp-accounting.

    Any set of orders gives an upper bound; these lie around 1 + sqrt(ln(1/δ)/ρ), the best one of the
    plain conversion.
    """
    if not rho:
        return 0.0
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    centre = math.sqrt(-math.log(delta) / float(rho))
    accountant = RdpAccountant([1.02, *(1 + centre * np.geomspace(0.2, 2, 301))])
    return float(accountant.compose(ZCDpEvent(float(rho))).get_epsilon(delta))


def more(paid: Sequence[Paid], one: Paid, count: int, delta: float) -> Composition:
    """Both lines if `count` releases that cost what `one` does came on top."""
    return compose([*paid, *[one] * count], delta)


def posterior(epsilon: float) -> float:
    """The most that a belief in one tie, even before, can come to: e^ε / (1 + e^ε), for pure ε."""
    return 1 / (1 + math.exp(-epsilon))


def group(epsilon: Fraction, ties: int) -> Fraction:
    """What hiding all `ties` of one person together costs: d ε, for pure ε at the edge level."""
    return ties * epsilon
