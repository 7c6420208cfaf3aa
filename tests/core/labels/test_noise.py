"""Whole-number Laplace noise: tail, thresholds, and both ways to draw it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PrivCFSError
from core.labels.noise import draw_exact, draw_seeded, least_gap, scale_for, tail


def masses(scale: float, most: int) -> dict[int, float]:
    a = math.exp(-1 / scale)
    return {z: (1 - a) / (1 + a) * a ** abs(z) for z in range(-most, most + 1)}


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.5, 10.0])
def test_tail_is_the_sum_of_the_masses(scale):
    mass = masses(scale, 600)
    for k in range(-40, 41):
        assert tail(scale, k) == pytest.approx(sum(w for z, w in mass.items() if z >= k), rel=1e-9)


@given(st.floats(0.05, 200), st.floats(1e-12, 0.4))
def test_the_gap_is_the_least_that_keeps_the_chance(scale, chance):
    gap = least_gap(scale, chance)
    assert tail(scale, gap) <= chance
    assert gap == 1 or tail(scale, gap - 1) >= chance * (1 - 1e-6)


@given(st.integers(1, 10**6), st.fractions(Fraction(1, 100), 100, max_denominator=10**6))
def test_the_scale_never_buys_more_than_epsilon(unit, epsilon):
    assert Fraction(unit) / Fraction(scale_for(Fraction(unit), epsilon)) < epsilon


def drawn_like(draws: np.ndarray, scale: float) -> bool:
    """Whether the frequencies of -3..3 and the rest are within 5 standard errors each: falsely not, 5e-6 in all."""
    mass = masses(scale, 3)
    found = [(draws == z).mean() for z in mass] + [(np.abs(draws) > 3).mean()]
    expected = np.array([*mass.values(), 1 - sum(mass.values())])
    return bool((np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(draws))).all())


def test_seeded_draws_follow_the_masses():
    rng = np.random.default_rng(0)
    draws = np.array([draw_seeded(2.0, rng) for _ in range(20_000)])
    assert drawn_like(draws, 2.0)
    assert not drawn_like(draws, 1.0)


def test_exact_draws_follow_the_masses():
    scale = scale_for(Fraction(4), Fraction(2))
    draws = np.array([draw_exact(scale, 4, Fraction(2)) for _ in range(500)])
    assert drawn_like(draws, scale)
    assert not drawn_like(draws, 2 * scale)


def test_exact_noise_is_refused_for_a_larger_sensitivity():
    scale = scale_for(Fraction(4), Fraction(2))
    with pytest.raises(PrivCFSError, match="privacy map gives"):
        draw_exact(scale, 5, Fraction(2))
    for epsilon in (Fraction(1, 3), Fraction(8), Fraction(7, 10)):
        draw_exact(scale_for(Fraction(96), epsilon), 96, epsilon)
