"""The concave program against its formula, finite differences, closed forms and a generic solver."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from core.prior.cover import Cover

GAINS = (0.0, 0.1, 1.0, 3.5, 15.0)


def make_cover(seed, most_scenarios=6, most_groups=8, gain=None, regret=None, entropy=None):
    """Random scenarios, the first group (as ∅) in none of them; regret and entropy from those of a release."""
    rng = np.random.default_rng(seed)
    scenarios, groups = int(rng.integers(1, most_scenarios + 1)), int(rng.integers(2, most_groups + 1))
    flips = (rng.random((scenarios, groups)) < rng.uniform(0.1, 0.9)).astype(float)
    flips[:, 0] = 0
    return Cover(
        flips,
        rng.dirichlet(np.full(groups, 2.0)),
        rng.dirichlet(np.ones(scenarios)),
        float(rng.choice(GAINS)) if gain is None else gain,
        float(rng.choice([0.0, 2.0])) if regret is None else regret,
        float(rng.choice([0.02, 0.2])) if entropy is None else entropy,
    )


def chance(x, gain):
    return x * math.exp(gain) / (x * math.expm1(gain) + 1)


def rounded_hinge(lost):
    if abs(lost) >= 0.01:
        return max(lost, 0.0)
    return (lost + 0.01) ** 2 / 0.04


def program(cover, mass):
    """The objective from its formula, scenario by scenario."""
    total = 0.0
    for weight, row in zip(cover.weight, cover.flips, strict=True):
        flipped = [
            chance(sum(m for m, f in zip(p, row, strict=True) if f), cover.gain) for p in (mass, cover.reference)
        ]
        total += weight * (flipped[0] - cover.regret * rounded_hinge(flipped[1] - flipped[0]))
    return total - cover.entropy * sum(p * math.log(p / r) for p, r in zip(mass, cover.reference, strict=True))


def gradient(cover, mass):
    """The derivative by each mass, from the formula: chain rule by hand."""
    result = -cover.entropy * (np.log(mass / cover.reference) + 1)
    for weight, row in zip(cover.weight, cover.flips, strict=True):
        x, at = float(row @ mass), float(row @ cover.reference)
        lost = chance(at, cover.gain) - chance(x, cover.gain)
        steepness = min(max((lost + 0.01) / 0.02, 0.0), 1.0)
        rise = math.exp(cover.gain) / (x * math.expm1(cover.gain) + 1) ** 2
        result += weight * rise * (1 + cover.regret * steepness) * row
    return result


def left_to_gain(cover, mass):
    """`max_g ∇_g - <∇, π>`: no distribution has an objective that is larger by more, since it is concave."""
    ascent = gradient(cover, mass)
    return float(ascent.max() - ascent @ mass)


def found_elsewhere(cover, mass):
    """What mixing in some share of any one group would add; `left_to_gain` also counts what rounding hides."""
    if left_to_gain(cover, np.maximum(mass, 1e-290)) < 2e-7:
        return 0.0
    mixtures = (
        (1 - share) * mass + share * group
        for share in [*np.geomspace(1e-15, 0.5, 60), 0.75, 0.9]
        for group in np.eye(len(mass))
    )
    return max(cover.objective(mixture) for mixture in mixtures) - cover.objective(mass)


@given(seed=st.integers(0, 10**6))
def test_objective_is_its_formula(seed):
    cover = make_cover(seed)
    for mass in (cover.reference, np.random.default_rng(seed).dirichlet(np.ones(len(cover.reference))) + 1e-9):
        assert cover.objective(mass) == pytest.approx(program(cover, mass), rel=1e-10, abs=1e-12)


@given(seed=st.integers(0, 10**6), gain=st.sampled_from([0.0, 0.1, 1.0, 3.5]))
def test_derivatives_are_those_of_the_objective(seed, gain):
    """Central differences; second ones are taken away from the two points where the hinge has none."""
    cover = make_cover(seed, gain=gain)
    mass, step = np.random.default_rng(seed).dirichlet(np.full(len(cover.reference), 3.0)) + 1e-3, 1e-6
    _, slope, curvature = cover._terms(mass, cover.flips @ mass)

    def slope_at(there):
        return cover._terms(there, cover.flips @ there)[1]

    analytic = gradient(cover, mass)
    assert slope @ cover.flips - cover.entropy * (np.log(mass / cover.reference) + 1) == pytest.approx(
        analytic, rel=1e-9, abs=1e-11
    )
    for g, unit in enumerate(np.eye(len(mass))):
        ahead, behind = mass + step * unit, mass - step * unit
        assert (program(cover, ahead) - program(cover, behind)) / (2 * step) == pytest.approx(analytic[g], abs=1e-5)
        bend = (slope_at(ahead) - slope_at(behind)) / (2 * step)
        lost = [chance(r @ cover.reference, gain) - chance(r @ mass, gain) for r in cover.flips]
        smooth = np.array([abs(abs(value) - 0.01) > 1e-4 for value in lost])
        assert bend[smooth] == pytest.approx((-curvature * cover.flips[:, g])[smooth], rel=1e-4, abs=1e-5)


@given(seed=st.integers(0, 10**6))
def test_solution_is_a_distribution_that_nothing_beats(seed):
    cover = make_cover(seed, most_scenarios=26, most_groups=60)
    mass = cover.solve()
    assert mass.min() > 0
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    assert program(cover, mass) >= program(cover, cover.reference) - 1e-12
    assert left_to_gain(cover, np.maximum(mass, 1e-290)) < 2e-7


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("regret", [0.0, 2.0])
@pytest.mark.parametrize("entropy", [0.02, 0.2])
def test_agrees_with_a_generic_solver(gain, regret, entropy):
    """SLSQP on the simplex with the gradient above, from the reference."""
    for seed in range(6):
        cover = make_cover(seed, gain=gain, regret=regret, entropy=entropy)
        groups = len(cover.reference)
        found = minimize(
            lambda mass, cover=cover: -program(cover, mass),
            cover.reference,
            jac=lambda mass, cover=cover: -gradient(cover, mass),
            method="SLSQP",
            bounds=[(1e-14, 1.0)] * groups,
            constraints={"type": "eq", "fun": lambda mass: mass.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-13, "maxiter": 2000},
        )
        theirs = np.maximum(found.x, 1e-14) / np.maximum(found.x, 1e-14).sum()
        ours = cover.solve()
        assert program(cover, ours) >= program(cover, theirs) - 2e-7
        assert program(cover, theirs) >= program(cover, ours) - 1e-5
        assert np.abs(ours - theirs).max() < 0.02


def test_the_generic_solver_can_disagree():
    """A measure that is a little off the optimum is further from it than the comparison allows."""
    cover = make_cover(3, gain=1.0, regret=2.0, entropy=0.2)
    mass = 0.99 * cover.solve() + 0.01 * cover.reference
    assert program(cover, mass) < program(cover, cover.solve()) - 2e-6
    assert left_to_gain(cover, mass) > 1e-4


@given(seed=st.integers(0, 10**6))
def test_without_gain_and_regret_it_is_a_softmax(seed):
    """At λ = 0, `g(x) = x` and the program is linear but for its entropy: `π ∝ r exp(F'w / τ)`."""
    cover = make_cover(seed, gain=0.0, regret=0.0)
    weight = cover.reference * np.exp(cover.weight @ cover.flips / cover.entropy)
    assert cover.solve() == pytest.approx(weight / weight.sum(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
@pytest.mark.parametrize("entropy", [0.02, 0.5])
def test_one_scenario_has_one_equation(gain, share, entropy):
    """`log(x/(1-x)) = log(r/(1-r)) + g'(x)/τ`, solved in the log-odds; a gap of 1e-12 leaves 5e-6 in `x` (Pinsker)."""

    def mass_of(odds):
        return 1 / (1 + math.exp(-odds))

    def equation(odds):
        rise = math.exp(gain) / (mass_of(odds) * math.expm1(gain) + 1) ** 2
        return odds - math.log(share / (1 - share)) - rise / entropy

    expected = mass_of(brentq(equation, -10, 10 + math.exp(gain) / entropy, xtol=1e-13, rtol=1e-13))
    cover = Cover(np.array([[0.0, 1.0]]), np.array([1 - share, share]), np.ones(1), gain, 0.0, entropy)
    assert cover.solve(1e-12)[1] == pytest.approx(expected, abs=1e-5)


def test_scenarios_that_nothing_flips_change_nothing():
    cover = make_cover(0)
    idle = replace(cover, flips=np.zeros_like(cover.flips))
    assert (idle.solve() == idle.reference).all()


def test_a_small_gain_names_the_favourite_and_a_large_one_covers():
    """Two scenarios of weight 0.6 and 0.4, each flipped by a group of its own."""
    flips, reference = np.array([[0.0, 1, 0], [0, 0, 1]]), np.array([0.8, 0.1, 0.1])
    small, large = (Cover(flips, reference, np.array([0.6, 0.4]), gain, 0.0, 0.02).solve() for gain in (0.0, 6.0))
    assert small[1] > 0.99
    assert large[1:].min() > 0.2


def test_regret_keeps_what_the_reference_reached():
    """The second scenario is worth little, but the reference flips it often: without regret it is given up."""
    flips, reference = np.array([[1.0, 0], [0, 1]]), np.array([0.5, 0.5])
    careless, careful = (
        Cover(flips, reference, np.array([0.7, 0.3]), 1.0, regret, 0.02).solve() for regret in (0.0, 2.0)
    )
    lost = [chance(0.5, 1.0) - chance(mass[1], 1.0) for mass in (careless, careful)]
    assert lost[0] > 0.2
    assert lost[1] < 0.02


def make_steep(seed):
    """As a size penalty makes them: groups of 1 to 1,000 candidates of sizes 1 to 5, the larger alone flipping."""
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, 81))
    size = rng.integers(1, 6, groups)
    size[0] = 5
    flips = (rng.random((int(rng.integers(1, 39)), groups)) < rng.random()) * (size >= rng.integers(1, 5))
    flips[:, 0] = 0
    reference = rng.integers(1, 1001, groups) * np.exp(-float(rng.choice([1, 5, 10, 20])) * size)
    gain, regret = float(rng.choice([0.04, 0.4, 1.7, 3.5, 7.0, 12.0, 15.0])), float(rng.choice([0.0, 2.0]))
    weight = np.full(len(flips), 1 / len(flips))
    return Cover(flips.astype(float), reference / reference.sum(), weight, gain, regret, 0.01)


@given(seed=st.integers(0, 10**6))
@example(9)
@example(285)
@example(492)
def test_references_that_span_many_magnitudes_are_solved_too(seed):
    """The examples once stopped where a long step overshot, or where a short one changed no digit of the objective."""
    cover = make_steep(seed)
    assert found_elsewhere(cover, cover.solve()) < 1e-6


@pytest.mark.parametrize(("penalty", "gain"), [(10.0, 1.7), (5.0, 10.0), (20.0, 0.4), (20.0, 15.0)])
def test_a_flat_objective_does_not_stop_the_search(penalty, gain):
    """The reference hides every flip at the far end of its magnitudes, where a first step changes no digit."""
    size = np.array([1, 2, 3, 4, 5])
    reference = np.exp(-penalty * size)
    flips = np.array([[0.0, 0, 0, 0, 1], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])
    cover = Cover(flips, reference / reference.sum(), np.full(3, 1 / 3), gain, 2.0, 0.02)
    assert found_elsewhere(cover, cover.solve()) < 1e-6
