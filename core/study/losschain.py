"""The loss chain: what each restriction on the way to a private release costs, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core import checks
from core.errors import BadInput, UnsupportedBackbone
from core.metrics import measure
from core.progress import Progress, Stop, tracked
from core.release.distribution import release_distribution
from core.scoring.factorised import GCNScorer
from core.scoring.unrestricted import unrestricted_flip
from core.study.settings import Settings
from core.study.study import Study


@dataclass(frozen=True)
class LossChain:
    """Flip rates of one population at four stages, each in [0, 1] and no larger than the one before.

    In the two-hop arms `prior` can exceed `support`: a shorter snapshot lists two-hop pairs that the
    whole one has no room for.

    Means over targets, then seeds (PrivCFS, appendix D). `unrestricted`: targets that some
    `max_edges` private edges within reach and some masks of `U_F(v)` flip, privacy aside; a lower
    bound where `not_exhaustive`, the number of targets whose search found nothing but was cut
    short, is above 0. `support`: those that a candidate of `C_v` flips with the whole snapshot
    public, the ceiling at rho = 1. `prior`: the ceiling at `rho`. `sampled`: valid-CF at `epsilon`.
    """

    rho: float
    epsilon: float
    targets: int
    seeds: int
    unrestricted: float
    support: float
    prior: float
    sampled: float
    not_exhaustive: int

    @property
    def steps(self) -> dict[str, float]:
        """What each step adds to the rate, at most 0 (but see `prior`): `support`, `prior`, then `noise`."""
        return {
            "support": self.support - self.unrestricted,
            "prior": self.prior - self.support,
            "noise": self.sampled - self.prior,
        }


def loss_chain(
    study: Study,
    targets: np.ndarray,
    rho: float,
    epsilon: float,
    seeds: Sequence[int] = (0, 1, 2),
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> LossChain:
    """The loss chain of `targets` (rows) at strength `rho` and pure ε, edge level (owner-only).

    A seed draws a simulated snapshot; a real one counts once. The first stage has no snapshot and is
    searched once a target. Raises `BadInput`, and `Cancelled` on request.
    """
    settings = settings or Settings()
    rho, epsilon = checks.rho(rho), checks.epsilon(epsilon)
    scorer = study.scorer
    if not isinstance(scorer, GCNScorer):
        raise UnsupportedBackbone(
            f"loss chain: found backbone {scorer.weights.name}, expected the two-layer GCN, whose receptive field the "
            "first stage searches; use a price list instead"
        )
    if not len(targets) or not len(seeds):
        raise BadInput("loss chain: found nothing to measure, expected at least one target and one seed")
    seeds = list(seeds) if study.snapshot.simulated else list(seeds)[:1]
    desks = [study if seed == study.seed else study.with_seed(seed) for seed in seeds]
    sums = np.zeros(4)
    not_exhaustive = 0
    for target in tracked([int(target) for target in targets], progress, cancelled):
        stages = np.array([_released(desk, target, rho, epsilon, settings) for desk in desks]).mean(axis=0)
        flips = stages[:2].max() > 0  # a candidate of C_v is one of the sets of the first stage
        if not flips:
            found = unrestricted_flip(scorer, study.scores(target, 1.0, settings).universe)
            flips = found.flips
            not_exhaustive += not found.exhaustive
        sums += np.concatenate([[flips], stages])
    unrestricted, support, prior, sampled = (sums / len(targets)).tolist()
    return LossChain(rho, epsilon, len(targets), len(seeds), unrestricted, support, prior, sampled, not_exhaustive)


def _released(desk: Study, target: int, rho: float, epsilon: float, settings: Settings) -> tuple[float, float, float]:
    """Ceiling at rho = 1, ceiling at `rho` and valid-CF at ε of one target."""
    scores, utility, prior = desk.evaluated(target, rho, epsilon, settings)
    metrics = measure(release_distribution(scores.universe, utility, prior, epsilon, settings.mechanism), scores)
    return float(desk.scores(target, 1.0, settings).flips.any()), metrics.ceiling, metrics.valid
