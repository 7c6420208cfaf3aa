"""Figures of single targets at many rho and ε: what every price list and frontier is made of (owner-only)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from core.metrics import measure, measure_cells
from core.prior.prior import Prior, PriorKind, uniform
from core.release.cells import gather
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.release.tally import FIGURES, Kinds, Tally
from core.scoring.batched import score_many
from core.scoring.scores import Scores
from core.study.settings import Settings
from core.study.study import Study
from core.universe import build_universe
from core.utility import evaluate

TALLIED = 128  # targets whose scores are held until they are counted


def target_prices(
    study: Study,
    targets: np.ndarray,
    rhos: Sequence[float],
    epsilons: Sequence[float],
    settings: Settings,
    memory: int | None = None,
) -> Iterator[np.ndarray]:
    """`FIGURES` of each target in turn under the prior and mechanism of the settings, 7 x n_rho x n_eps.

    Depends on its arguments alone, so that a population can be split among processes; a target's figures
    don't depend on the others beside it. Where `streams`, nothing is remembered; `memory`: as in
    `score_many`. Raises `BadInput`.
    """
    if streams(study, settings):
        return _uniform(study, targets, rhos, epsilons, settings, memory)
    return _one_by_one(study, targets, rhos, epsilons, settings)


def streams(study: Study, settings: Settings) -> bool:
    """Whether many targets are scored together: the exponential mechanism under a prior that knows sizes only."""
    plain = settings.prior.kind is PriorKind.UNIFORM and settings.mechanism is Mechanism.EM
    return plain and not settings.arm.two_hop and not study.foreign


def public_prices(study: Study, target: int, rhos: Sequence[float], settings: Settings) -> np.ndarray:
    """Valid rate at each rho of a draw from the guided prior at ε = 0, which reads no private edge, n_rho."""
    alone = np.empty(len(rhos))
    for i, rho in enumerate(rhos):
        guess = study.guide(target, rho, settings).prior(0.0, settings.utility)
        alone[i] = guess.mass[study.scores(target, rho, settings).flips].sum()
    return alone


def _one_by_one(
    study: Study, targets: np.ndarray, rhos: Sequence[float], epsilons: Sequence[float], settings: Settings
) -> Iterator[np.ndarray]:
    """Figures of each target, 7 x n_rho x n_eps, from what the study remembers of it."""
    varies = settings.prior.kind is PriorKind.GUIDED  # with ε
    for target in targets:
        each = [
            [
                _figures(study, int(target), rho, some, settings)
                for some in ([[epsilon] for epsilon in epsilons] if varies else [epsilons])
            ]
            for rho in rhos
        ]
        yield np.stack([np.concatenate(parts, axis=1) for parts in each], axis=1)


def _figures(study: Study, target: int, rho: float, epsilons: Sequence[float], settings: Settings) -> np.ndarray:
    """Figures of one target under one prior, that of the first ε, 7 x n_eps."""
    if settings.mechanism is Mechanism.EM:
        return _stacked(measure_cells(study.cells(target, rho, epsilons[0], settings), epsilons))
    scores, utility, prior = study.evaluated(target, rho, epsilons[0], settings)
    released = (release_distribution(scores.universe, utility, prior, e, settings.mechanism) for e in epsilons)
    found = [measure(distribution, scores) for distribution in released]
    return np.array([[getattr(metrics, name) for metrics in found] for name in FIGURES])


def _uniform(
    study: Study,
    targets: np.ndarray,
    rhos: Sequence[float],
    epsilons: Sequence[float],
    settings: Settings,
    memory: int | None,
) -> Iterator[np.ndarray]:
    """The same under a prior that knows sizes only, from a stream of scores; nothing is remembered."""
    universes = (
        build_universe(
            study.dataset.nodes, study.snapshot, study.backbone.weights, int(target), settings.limits, settings.arm
        )
        for target in targets
    )
    stream = score_many(study.scorer, universes, settings.utility.soft, memory)
    if settings.utility.soft:
        for scores in stream:
            sliced = [scores.with_pairs(study.pairs_at(scores.universe.target, rho)) for rho in rhos]
            cells = [gather(some, evaluate(some, settings.utility), _prior(some, settings)) for some in sliced]
            yield np.stack([_stacked(measure_cells(some, epsilons)) for some in cells], axis=1)
        return
    kinds = Kinds.of(settings.utility, settings.limits, settings.arm, settings.prior.size_penalty)
    tally = Tally(study.snapshot, settings.limits, [study.snapshot.stop(rho) for rho in rhos])
    while batch := list(itertools.islice(stream, TALLIED)):
        for scores in batch:
            tally.add(scores)
        counts = tally.take()
        figures = kinds.figures(counts.reshape(-1, counts.shape[2]), epsilons)
        yield from figures.reshape(len(FIGURES), len(batch), len(rhos), -1).swapaxes(0, 1)


def _prior(scores: Scores, settings: Settings) -> Prior:
    return uniform(scores.universe, settings.prior.size_penalty)


def _stacked(figures: dict[str, np.ndarray]) -> np.ndarray:
    return np.stack([figures[name] for name in FIGURES])
