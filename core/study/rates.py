"""The valid rate of many releases as a function of ε at one rho, and of rho at one ε: exact sums (owner-only)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.prior.prior import PriorKind
from core.progress import Progress, Stop, tracked
from core.release.cells import gather
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism, exponent
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.study.study import Study

SMALLEST = 2.3e-308  # an ε at which the prior alone decides: its weights are exact to the last bit


@dataclass(frozen=True, eq=False)
class CellRate:
    """Mean valid-CF over releases as a function of ε > 0, from their cells: c of them, release by release.

    Exponential mechanism, under a prior that doesn't change with ε. `loss`: c float64, `(u - max u) / (2Δu)`
    within the release. `mass`: c float64. `flips`: c bool. `starts`: int64, first cell of each release.
    `ceiling`: bounds the rate, which no ε reaches. `monotone`: whether the rate can't fall as ε grows (see
    `core.study.inverse`).
    """

    loss: np.ndarray
    mass: np.ndarray
    flips: np.ndarray
    starts: np.ndarray
    ceiling: float
    monotone: bool

    def __call__(self, epsilon: float) -> float:
        weight = self.mass * np.exp(epsilon * self.loss)
        flipped, total = (np.add.reduceat(each, self.starts) for each in (weight * self.flips, weight))
        return float((flipped / total).mean())


@dataclass(frozen=True, eq=False)
class ReleaseRate:
    """The same under any mechanism and prior, each release worked out anew for each ε."""

    desks: tuple[Study, ...]
    targets: np.ndarray
    rho: float
    settings: Settings
    ceiling: float
    monotone: bool

    def __call__(self, epsilon: float) -> float:
        return valid_at(self.desks, self.targets, self.rho, epsilon, self.settings)[0]


def epsilon_rate(
    desks: Sequence[Study],
    targets: np.ndarray,
    rho: float,
    settings: Settings,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> CellRate | ReleaseRate:
    """The rate of all `targets` under all `desks` (one a seed) as a function of ε; scores each of them once."""
    releases = [(desk, int(target)) for desk in desks for target in targets]
    fixed = settings.prior.kind is PriorKind.UNIFORM
    by_cells = fixed and settings.mechanism is Mechanism.EM
    loss, mass, flips, sizes = [], [], [], []
    monotone, reached = fixed, 0
    for desk, target in tracked(releases, progress, cancelled):
        plain = Settings(settings.limits, settings.arm, settings.utility) if not fixed else settings
        cells = desk.cells(target, rho, SMALLEST, plain)
        flip = cells.values[cells.flips]
        reached += bool(len(flip))
        monotone = monotone and (not len(flip) or bool(flip.min() >= cells.values[~cells.flips].max()))
        if by_cells:
            loss.append(exponent(cells.values, cells.sensitivity, 1.0))
            mass.append(cells.mass)
            flips.append(cells.flips)
            sizes.append(len(cells.values))
    ceiling = reached / len(releases)
    if not by_cells:
        return ReleaseRate(tuple(desks), targets, rho, settings, ceiling, monotone)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    lost, masses, flipping = (np.concatenate(parts) for parts in (loss, mass, flips))
    return CellRate(lost, masses, flipping, starts, ceiling, monotone)


@dataclass(frozen=True, eq=False)
class RhoRate:
    """Mean valid-CF and ceiling at one ε between the snapshot strengths at which any of its universes changes.

    `rhos`: s float64 ascending, the first of them 0; each holds up to the next. `rates`, `ceilings`: s float64.
    """

    rhos: np.ndarray
    rates: np.ndarray
    ceilings: np.ndarray


def rho_rate(
    desks: Sequence[Study],
    targets: np.ndarray,
    epsilon: float,
    settings: Settings,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> RhoRate:
    """The rate as a step function of rho: exact where the prior depends on the universe alone (uniform).

    A universe changes with rho only where one of its own snapshot pairs becomes public, so a target has at
    most `k_edges + 1` steps, and a population those of all its targets and seeds.
    """
    releases = [(desk, int(target)) for desk in desks for target in targets]
    each = [_steps(desk, target, epsilon, settings) for desk, target in tracked(releases, progress, cancelled)]
    stops = np.unique(np.concatenate([own for own, _, _ in each]))
    places = [np.searchsorted(own, stops, side="right") - 1 for own, _, _ in each]
    rates, ceilings = (
        np.mean([steps[which][place] for steps, place in zip(each, places, strict=True)], axis=0) for which in (1, 2)
    )
    snapshot = desks[0].snapshot  # all simulated ones are of one length
    return RhoRate(np.array([lowest_rho(snapshot, int(stop)) for stop in stops]), rates, ceilings)


def valid_at(
    desks: Sequence[Study], targets: np.ndarray, rho: float, epsilon: float, settings: Settings
) -> tuple[float, float]:
    """Mean valid-CF and mean ceiling at one rho and ε, each release worked out by itself."""
    found = [_valid(desk, int(target), rho, epsilon, settings) for desk in desks for target in targets]
    return float(np.mean([rate for rate, _ in found])), float(np.mean([ceiling for _, ceiling in found]))


def lowest_rho(snapshot: Snapshot, stop: int) -> float:
    """Smallest float in [0, 1] at which `stop` pairs are public, `round(rho m) >= stop` (ties to even)."""
    if stop == 0:
        return 0.0
    rho = (stop - 0.5) / len(snapshot)
    while snapshot.stop(rho) < stop:
        rho = math.nextafter(rho, 1.0)
    while snapshot.stop(below := math.nextafter(rho, 0.0)) >= stop:
        rho = below
    return rho


def _valid(desk: Study, target: int, rho: float, epsilon: float, settings: Settings) -> tuple[float, float]:
    """Valid-CF and ceiling of one release."""
    scores, utility, prior = desk.evaluated(target, rho, epsilon, settings)
    if settings.mechanism is Mechanism.EM:
        cells = gather(scores, utility, prior)
        return float(cells.probability(np.array([epsilon]))[0, cells.flips].sum()), float(cells.flips.any())
    released = release_distribution(scores.universe, utility, prior, epsilon, settings.mechanism)
    return float(released.probability[scores.flips].sum()), float(scores.flips.any())


def _steps(desk: Study, target: int, epsilon: float, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the universe of one target grows (numbers of public pairs, from 0), valid-CF and ceiling from there."""
    if settings.mechanism is Mechanism.EM and not settings.arm.two_hop:
        return _nested(desk, target, epsilon, settings)
    positions = desk.snapshot.incident(target)
    if settings.arm.two_hop:
        ends = np.unique(desk.snapshot.pairs[positions])
        positions = np.unique(np.concatenate([positions, *(desk.snapshot.incident(int(u)) for u in ends)]))
    else:
        positions = positions[: len(desk.scores(target, 1.0, settings).universe.edge_pairs)]
    stops = np.r_[0, positions + 1]
    found = [_valid(desk, target, lowest_rho(desk.snapshot, int(stop)), epsilon, settings) for stop in stops]
    rates, ceilings = np.array(found).T
    return stops, rates, ceilings


def _nested(desk: Study, target: int, epsilon: float, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same where each universe is a prefix of the largest: one running sum over edge subsets."""
    scores, utility, prior = desk.evaluated(target, 1.0, epsilon, settings)
    log_weight = exponent(utility.values, utility.sensitivity, epsilon) + np.log(prior.mass)
    top = log_weight.max(axis=1)
    weight = np.exp(log_weight - top[:, None])
    with np.errstate(divide="ignore"):
        flipped = top + np.log((weight * scores.flips).sum(axis=1))
    total = np.logaddexp.accumulate(top + np.log(weight.sum(axis=1)))
    largest = scores.universe.edge_subsets.max(axis=1, initial=-1)
    pairs = len(scores.universe.edge_pairs)
    last = np.searchsorted(largest, np.arange(pairs + 1)) - 1
    rates = np.exp(np.logaddexp.accumulate(flipped)[last] - total[last])
    ceilings = np.logical_or.accumulate(scores.flips.any(axis=1))[last].astype(np.float64)
    return np.r_[0, desk.snapshot.incident(target)[:pairs] + 1], rates, ceilings
