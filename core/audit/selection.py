"""Which event of a witness to test: threshold, tail and direction, chosen on the selection sample in O(n log n).

Values are ordered as `-inf < numbers < inf < NaN`: a witness that is undefined on an output says NaN, and
"is undefined" is an event like any other.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import betaincinv

from core.errors import BadInput

SHOWN_MEMBERS = 8


class Tail(StrEnum):
    """Which values make the event."""

    AT_LEAST = ">="
    AT_MOST = "<="
    ONE_OF = "in"


@dataclass(frozen=True)
class Event:
    """A set of witness values, and the side whose probability of it is the larger one.

    `threshold`: NaN where undefined values alone reach it. `members`: of `ONE_OF`, ascending.
    `favours`: 0 for `α = P(event | one)`, `β = P(event | other)`, 1 for the opposite.
    """

    tail: Tail
    threshold: float
    favours: int
    members: tuple[float, ...] = ()

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Which of `values` (n) are in the event, n bool."""
        if self.tail is Tail.ONE_OF:
            return np.isin(values, self.members)
        undefined = np.isnan(values)
        if math.isnan(self.threshold):
            return undefined if self.tail is Tail.AT_LEAST else np.ones_like(undefined)
        if self.tail is Tail.AT_LEAST:
            return (values >= self.threshold) | undefined
        return values <= self.threshold

    @property
    def text(self) -> str:
        """The event in words, such as "value >= 12"."""
        if self.tail is Tail.ONE_OF:
            names = ", ".join(f"{member:.12g}" for member in self.members[:SHOWN_MEMBERS])
            more = len(self.members) - SHOWN_MEMBERS
            return f"value in {{{names}{f' and {more} more' if more > 0 else ''}}}"
        if math.isnan(self.threshold):
            return "value is undefined" if self.tail is Tail.AT_LEAST else "any value"
        if math.isinf(self.threshold) and self.threshold > 0 and self.tail is Tail.AT_MOST:
            return "value is defined"
        return f"value {self.tail.value} {self.threshold:.12g}"


@dataclass(frozen=True)
class Choice:
    """The event chosen for a witness. `score`: ε_LB of that event on the selection sample, which is no
    certificate: the event was picked to make it large. -inf where no event has a chance."""

    event: Event
    score: float


def lower_bound(k: np.ndarray | int, n: int, error: float) -> np.ndarray:
    """One-sided Clopper-Pearson lower bound of a probability, after `k` hits in `n` draws; wrong with `error` at most.

    The p with `P(Bin(n, p) >= k) = error`, a quantile of Beta(k, n - k + 1); 0 for k = 0.
    """
    k = np.asarray(k, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, error), 0.0)


def upper_bound(k: np.ndarray | int, n: int, error: float) -> np.ndarray:
    """The upper one: the p with `P(Bin(n, p) <= k) = error`, 1 for k = n."""
    k = np.asarray(k, dtype=np.float64)
    return np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - error), 1.0)


def ratio_bound(alpha_low: np.ndarray, beta_up: np.ndarray, delta: float) -> np.ndarray:
    """`log((α_low - δ) / β_up)`, -inf where `α_low <= δ`; `β_up > 0`."""
    excess = np.asarray(alpha_low) - delta
    return np.log(np.maximum(excess, np.finfo(float).tiny) / beta_up) + np.where(excess > 0, 0.0, -np.inf)


@functools.lru_cache(maxsize=32)
def _bounds(n: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds for every count 0..n: what thousands of thresholds look up."""
    k = np.arange(n + 1)
    return lower_bound(k, n, error), upper_bound(k, n, error)


def choose(one: np.ndarray, other: np.ndarray, delta: float, error: float, finite: bool = False) -> Choice:
    """The event of largest ε_LB on the selection sample, over every threshold, both tails and both directions.

    `one`, `other`: the witness's values on either input, n0 and n1 float64. `error`: of each of the two
    bounds, as in the evaluation, so that a rare event must be worth its uncertainty. With `finite`, values
    are names of outcomes rather than numbers, and the event is a set of them, as Neyman and Pearson would
    take it: the first half of the sample orders them by their smoothed likelihood ratio, the second half
    picks the threshold on it. Ties go to AT_LEAST before AT_MOST, `one` before `other`, and the smaller
    threshold. Raises `BadInput` for an empty sample.
    """
    if not len(one) or not len(other):
        raise BadInput(f"selection sample: found {len(one)} and {len(other)} draws, expected at least one a side")
    if not finite:
        return _threshold(one, other, delta, error)
    labels, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    sides = place[: len(one)], place[len(one) :]
    counts = [np.bincount(side[: len(side) // 2], minlength=len(labels)) for side in sides]
    ratio = (counts[0] + 0.5) / (counts[1] + 0.5)
    scored = [ratio[side[len(side) // 2 :]] for side in sides]
    best = _threshold(scored[0], scored[1], delta, error)
    members = labels[best.event.holds(ratio)]
    return Choice(Event(Tail.ONE_OF, math.nan, best.event.favours, tuple(members.tolist())), best.score)


def _threshold(one: np.ndarray, other: np.ndarray, delta: float, error: float) -> Choice:
    sides = [np.sort(np.asarray(values, dtype=np.float64)) for values in (one, other)]
    thresholds = np.unique(np.concatenate(sides))  # NaNs are one value and sort last, here and in `searchsorted`
    sizes = [len(values) for values in sides]
    reached = [n - np.searchsorted(values, thresholds) for values, n in zip(sides, sizes, strict=True)]
    within = [np.searchsorted(values, thresholds, side="right") for values in sides]
    tables = [_bounds(n, error) for n in sizes]
    blocks = [
        (
            tail,
            favours,
            ratio_bound(tables[favours][0][hits[favours]], tables[1 - favours][1][hits[1 - favours]], delta),
        )
        for tail, hits in ((Tail.AT_LEAST, reached), (Tail.AT_MOST, within))
        for favours in (0, 1)
    ]
    scores = np.concatenate([score for _, _, score in blocks])
    best = int(scores.argmax())
    block, place = divmod(best, len(thresholds))
    tail, favours, _ = blocks[block]
    return Choice(Event(tail, float(thresholds[place]), favours), float(scores[best]))
