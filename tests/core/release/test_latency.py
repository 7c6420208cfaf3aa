import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import BadInput
from core.prior.prior import uniform
from core.release.distribution import release_distribution
from core.release.latency import LEAST_DRAWING, LEAST_SCORING, PER_LOOK, drawing_time, scoring_time, waited
from core.release.mechanism import Mechanism
from core.release.sampler import draw
from core.universe import Arm, Limits
from core.utility import Utility, UtilityConfig
from tests.core.handmade import make_prior, make_universe


class Clock:
    """Time that passes only where it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        assert seconds >= 0
        self.now += seconds


@given(st.floats(0, 50), st.floats(0.01, 2))
@example(2.0, 2.0)
@example(4.0, 1.0)
def test_work_takes_the_time_fixed_for_it_or_that_doubled(takes, seconds):
    clock = Clock()
    assert waited(lambda: clock.pass_by(takes) or "done", seconds, clock, clock.pass_by) == "done"
    doublings = 0
    while seconds * 2**doublings < takes:
        doublings += 1
    assert clock.now == pytest.approx(seconds * 2**doublings, rel=1e-9)


def test_a_failure_takes_as_long_as_a_success():
    clock = Clock()

    def fail():
        clock.pass_by(0.1)
        raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        waited(fail, 0.25, clock, clock.pass_by)
    assert clock.now == pytest.approx(0.25)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_time_of_a_usual_release_is_fixed_and_short(epsilon):
    universe = make_universe(12, 12)
    prior = make_prior(np.random.default_rng(0), universe)
    for base in (uniform(universe), prior):
        assert LEAST_DRAWING < drawing_time(universe, base, UtilityConfig(), epsilon) < 0.2
    assert LEAST_SCORING < scoring_time(universe) < 0.4
    more = make_universe(12, 12, Limits(max_features=4))
    assert scoring_time(more) > scoring_time(universe)
    assert drawing_time(more, uniform(more), UtilityConfig(), epsilon) > drawing_time(
        universe, prior, UtilityConfig(), epsilon
    )


def test_the_time_depends_on_public_settings():
    universe = make_universe(6, 6)
    times = [
        drawing_time(universe, uniform(universe), UtilityConfig(), 8.0),
        drawing_time(universe, uniform(universe), UtilityConfig(sensitivity="paper"), 8.0),
        drawing_time(universe, uniform(universe), UtilityConfig(), 16.0),
        drawing_time(universe, uniform(universe), UtilityConfig(), 16.0, Mechanism.PF),
    ]
    assert len(set(times)) == 4 and times[1] < times[0] < times[2]
    assert times[3] == pytest.approx(LEAST_DRAWING + universe.size * (5e-6 + PER_LOOK))
    small = make_universe(6, 6, arm=Arm.EDGE_ONLY)
    assert drawing_time(small, uniform(small), UtilityConfig(), 1e300) < 1  # no overflow


def test_a_draw_from_the_most_concentrated_outcome_ends_in_time():
    """One candidate of 23,621 holds 96 %: false alarm below 20 x 2^-20 on a machine half as fast as measured."""
    universe = make_universe(12, 12)
    values = np.zeros(universe.shape, dtype=np.int64)
    values[40, 17] = 96
    distribution = release_distribution(universe, Utility(values, 100, 96), uniform(universe), 26.5, Mechanism.EM)
    assert 0.95 < distribution.probability[40, 17] < 0.97
    fixed = drawing_time(universe, uniform(universe), UtilityConfig(), 26.5)
    for _ in range(5):
        start = time.monotonic()
        draw(distribution)
        assert time.monotonic() - start < fixed
