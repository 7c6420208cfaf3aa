"""How long a release takes: a time fixed in public, whatever the private graph makes of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from core.prior.prior import Prior
from core.release.mechanism import Mechanism
from core.release.sampler import most_trials
from core.universe import Universe
from core.utility import UtilityConfig, flip_table, grid_sensitivity

T = TypeVar("T")

LEAST_SCORING = 0.2  # seconds: a target with thousands of neighbours
LEAST_DRAWING = 0.05
PER_CANDIDATE = 5e-6  # seconds to score one, several times what was measured
PER_LOOK = 1e-5  # seconds in which OpenDP looks at one, about twice what was measured


def scoring_time(universe: Universe) -> float:
    """Seconds that scoring a universe may take under the GCN, from its public size."""
    return LEAST_SCORING + PER_CANDIDATE * universe.size


def drawing_time(
    universe: Universe, prior: Prior, config: UtilityConfig, epsilon: float, mechanism: Mechanism = Mechanism.EM
) -> float:
    """Seconds that a draw may take, from public quantities only.

    Long enough for all but one in a million draws, on any private graph: see `sampler.most_trials`.
    """
    _, denominator = flip_table(config, universe.limits)
    sensitivity = grid_sensitivity(config, universe.limits, universe.arm, denominator)
    looks = most_trials(prior, epsilon * denominator / (2 * sensitivity), mechanism)
    return LEAST_DRAWING + PER_CANDIDATE * universe.size + PER_LOOK * looks


def waited(
    work: Callable[[], T],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Do the work and hand over its result, or its error, after `seconds`, or twice, four times... as many.

    Only how often the time had to be doubled, as a rule never, depends on what the work read.
    """
    start = clock()
    try:
        return work()
    finally:
        while (elapsed := clock() - start) > seconds:
            seconds *= 2
        sleep(seconds - elapsed)
