"""The price list: what each share of public structure and each ε buys, for a population under one arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.prior.prior import PriorKind
from core.progress import Progress, Stop
from core.study.frontier import frontier
from core.study.plan import EPSILONS, RHOS, Plan
from core.study.settings import Settings
from core.study.study import Study


def price_list(
    study: Study,
    targets: np.ndarray,
    rhos: Sequence[float] = RHOS,
    epsilons: Sequence[float] = EPSILONS,
    seeds: Sequence[int] = (0, 1, 2),
    settings: Settings | None = None,
    population: str = "given",
    priors: Sequence[PriorKind] | None = None,
    public_only: bool = True,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> pd.DataFrame:
    """The frontier of one arm, one row per (rho, ε, prior): see `core.study.frontier.frontier` (owner-only).

    `settings`: arm, limits, utility, mechanism and size penalty. `priors`: that of the settings unless
    given. Raises `BadInput`, and `Cancelled` on request.
    """
    settings = settings or Settings()
    plan = Plan(
        rhos=tuple(rhos),
        epsilons=tuple(epsilons),
        priors=(settings.prior.kind,) if priors is None else tuple(priors),
        arms=(settings.arm,),
        seeds=tuple(seeds),
        settings=settings,
        public_only=public_only,
    )
    return frontier(study, plan, targets, population, progress=progress, cancelled=cancelled)
