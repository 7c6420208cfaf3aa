"""The inverse question: which ε, or which rho, reaches a wanted valid rate (owner-only).

Why the smallest ε can be bisected. Let every flip of a release have at least the utility of every candidate
that doesn't flip; with the hard utility this is so whenever `w_flip >= w_size`, since a flip earns `w_flip` or
more, ∅ earns `w_size` and the rest 0; the soft credit is at most `w_flip / 2`, so it holds there too. It is
looked up, not assumed. Under a prior that doesn't depend on ε, valid-CF is then nondecreasing in ε. For the
exponential mechanism its derivative is a covariance under the release itself,

    d/dε P(flip) = Cov(1[flip], u) / (2Δu) = P(flip) P(no flip) (E[u | flip] - E[u | no flip]) / (2Δu) >= 0.

For both mechanisms: a release is the candidate of largest `ε u(S) / (2Δu) + ln π(S) + X(S)`, with `X` drawn
independently of ε (Gumbel; exponential for permute-and-flip). With the same draw at a larger ε, a flip gains
on every candidate that doesn't flip, so a draw that ended in a flip still does. Means over targets and seeds
keep the order. Where any of this fails (the guided prior moves with ε; weights that pay ∅ more than a flip)
the rate may fall again: the answer is the first crossing between two neighbours of `EPSILONS_TRIED`, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

import numpy as np

from core import checks
from core.errors import BadInput, Cancelled
from core.prior.prior import PriorKind
from core.progress import Progress, Stop, tracked
from core.study.rates import SMALLEST, epsilon_rate, rho_rate, valid_at
from core.study.settings import Settings
from core.study.study import Study

TOLERANCE = 1e-9
LARGEST = 2.0**40  # an ε at which only candidates of largest utility are left, to the last bit
EPSILONS_TRIED = tuple(2.0 ** (step / 2) for step in range(-14, 25))  # 0.0078 to 4,096
RHOS_TRIED = tuple(step / 20 for step in range(21))
DIGITS = 3


@dataclass(frozen=True)
class Answer:
    """The smallest ε or rho at which the mean valid rate of some targets is at least the wanted one.

    `asked`: "epsilon" or "rho"; `given`: the other one, held fixed. `value`: the smallest; an ε of 0 means
    that every ε > 0 does; None where nothing reaches it. `until`: a rho holds up to there, excluded.
    `reached`: the rate at `value`, else the largest that was found. `ceiling`: at that rho, share of
    releases in which some candidate flips: a bound that no ε reaches. `tried`: the grid whose neighbours
    enclose the answer; empty where it is exact. Private: all of it reads private edges.
    """

    asked: str
    valid: float
    given: float
    value: float | None
    until: float
    reached: float
    ceiling: float
    targets: int
    seeds: int
    tried: tuple[float, ...] = ()

    @property
    def shown(self) -> float | None:
        """`value` rounded up to as few digits from three as still reach the rate: to be typed in."""
        if not self.value:
            return self.value
        exact = Decimal(repr(self.value))
        for digits in range(DIGITS, 18):
            unit = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
            if (rounded := float(exact.quantize(unit, ROUND_CEILING))) < self.until:
                return rounded
        return self.value

    def to_json(self) -> dict[str, Any]:
        """Plain values; `until` stands where it bounds a rho."""
        values = asdict(self)
        until = values.pop("until")
        values["tried"] = list(self.tried)
        until = until if math.isfinite(until) else None
        return {"owner_only": True, "reachable": self.value is not None, **values, "shown": self.shown, "until": until}


def epsilon_for(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    valid: float,
    rho: float,
    settings: Settings | None = None,
    seeds: Sequence[int] | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Answer:
    """The smallest ε (pure, edge level) at which the mean valid-CF of `targets` at `rho` is at least `valid`.

    Bisected to a relative 1e-9 on the closed form; the rate at the answer is at least `valid`. `seeds`: of
    the simulated snapshot, the study's own unless given; a real one counts once. `progress` counts scored
    releases. Raises `BadInput`, and `Cancelled` on request.
    """
    settings, rho = settings or Settings(), checks.rho(rho)
    rows, desks = _asked(study, targets, valid, seeds)
    rate = epsilon_rate(desks, rows, rho, settings, progress, cancelled)

    def at(epsilon: float) -> float:
        if cancelled is not None and cancelled():
            raise Cancelled("cancelled while looking for an epsilon")
        return rate(epsilon)

    def answer(value: float | None, reached: float, tried: tuple[float, ...] = ()) -> Answer:
        sizes = len(rows), len(desks)
        return Answer("epsilon", valid, rho, value, math.inf, reached, rate.ceiling, *sizes, tried)

    if valid >= rate.ceiling:
        return answer(None, at(LARGEST))
    if (alone := at(SMALLEST)) >= valid:
        return answer(0.0, alone)
    if rate.monotone:
        if (most := at(LARGEST)) <= valid:
            return answer(None, most)
        low, high = 1.0, 1.0
        while at(high) < valid:
            low, high = high, 2 * high
        while at(low) >= valid:
            low, high = low / 2, low
        return answer(*_bisected(at, valid, low, high))
    found = []
    for place, epsilon in enumerate(EPSILONS_TRIED):
        found.append(at(epsilon))
        if found[-1] >= valid:
            low = EPSILONS_TRIED[place - 1] if place else SMALLEST
            return answer(*_bisected(at, valid, low, epsilon), EPSILONS_TRIED)
    return answer(None, max(alone, *found), EPSILONS_TRIED)


def rho_for(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    valid: float,
    epsilon: float,
    settings: Settings | None = None,
    seeds: Sequence[int] | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Answer:
    """The smallest rho at which the mean valid-CF of `targets` at `epsilon` is at least `valid`.

    Exact under the uniform prior, where the rate changes only as rho passes one of the targets' own
    snapshot pairs; it need not grow with rho, since more candidates also dilute. Under the guided prior,
    which is drawn anew for each rho, the first of `RHOS_TRIED` that does. Arguments and errors as in
    `epsilon_for`.
    """
    settings, epsilon = settings or Settings(), checks.epsilon(epsilon)
    rows, desks = _asked(study, targets, valid, seeds)
    sizes = len(rows), len(desks)
    if settings.prior.kind is PriorKind.GUIDED:
        found = []
        for rho in tracked(RHOS_TRIED, progress, cancelled):
            found.append(valid_at(desks, rows, rho, epsilon, settings))
            if found[-1][0] >= valid:
                return Answer("rho", valid, epsilon, rho, math.nextafter(rho, 2.0), *found[-1], *sizes, RHOS_TRIED)
        reached, ceiling = max(found)[0], max(one for _, one in found)
        return Answer("rho", valid, epsilon, None, math.inf, reached, ceiling, *sizes, RHOS_TRIED)
    steps = rho_rate(desks, rows, epsilon, settings, progress, cancelled)
    enough = steps.rates >= valid
    if not enough.any():
        reached, ceiling = float(steps.rates.max()), float(steps.ceilings.max())
        return Answer("rho", valid, epsilon, None, math.inf, reached, ceiling, *sizes)
    first = int(enough.argmax())
    later = np.flatnonzero(~enough[first:])
    until = float(steps.rhos[first + later[0]]) if len(later) else math.inf
    value, reached, ceiling = (float(each[first]) for each in (steps.rhos, steps.rates, steps.ceilings))
    return Answer("rho", valid, epsilon, value, until, reached, ceiling, *sizes)


def _bisected(at: Callable[[float], float], valid: float, low: float, high: float) -> tuple[float, float]:
    """A crossing between `low`, below `valid`, and `high`, not below: its upper end, and the rate there."""
    while high / low > 1 + TOLERANCE:
        middle = math.sqrt(low) * math.sqrt(high)
        if at(middle) >= valid:
            high = middle
        else:
            low = middle
    return high, at(high)


def _asked(
    study: Study, targets: Sequence[int] | np.ndarray, valid: float, seeds: Sequence[int] | None
) -> tuple[np.ndarray, list[Study]]:
    """Rows and one study a seed, checked."""
    if isinstance(valid, bool) or not isinstance(valid, int | float) or not 0 < valid < 1:
        raise BadInput.number("valid rate", valid, "a number between 0 and 1, for example 0.5")
    rows = np.array([checks.count(row, "target row", 0, study.dataset.nodes.n - 1) for row in targets], dtype=np.int64)
    seeds = [study.seed] if seeds is None else list(seeds)
    if not len(rows) or not seeds:
        raise BadInput("inverse question: found nothing to ask about, expected at least one target and one seed")
    seeds = [checks.count(seed, "seed", 0, 2**31 - 1) for seed in seeds]
    if not study.snapshot.simulated:
        return rows, [study]
    return rows, [study if seed == study.seed else study.with_seed(seed) for seed in seeds]
