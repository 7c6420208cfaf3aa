"""The price list: what each share of public structure and each ε buys, for a population."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core import checks
from core.errors import BadInput
from core.metrics import measure_cells
from core.prior.prior import PriorKind
from core.progress import Progress, Stop, tracked
from core.release.mechanism import Mechanism
from core.study.settings import Settings
from core.study.study import Study

RHOS = (0.3, 0.5, 0.7, 1.0)
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
AVERAGED = ("ceiling", "valid", "targeted", "empty", "size", "regret", "collision")


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
    """One row per (rho, ε, prior): figures averaged over targets, mean and spread over seeds (owner-only).

    A seed draws a simulated snapshot; a real one is the same under every seed and counts once. The
    mean over targets is taken within a seed, then mean and sample standard deviation over seeds
    (`ceiling_std`, `valid_std`; 0 for a single seed). `priors`: that of the settings unless given, each
    with the settings' size penalty. `public_only` is the valid rate of the guided prior alone (ε = 0),
    NaN if not asked for: public scenarios take most of the time. `retention` is mean valid over mean
    ceiling, NaN where that is 0. Each target is scored once a seed. Exponential mechanism only. Raises
    `BadInput`, and `Cancelled` on request.
    """
    settings = settings or Settings()
    rhos = [checks.rho(value) for value in rhos]
    epsilons = [checks.epsilon(value) for value in epsilons]
    kinds = [settings.prior.kind] if priors is None else list(dict.fromkeys(priors))
    if settings.mechanism is not Mechanism.EM:
        raise BadInput.choice("mechanism of a price list", settings.mechanism.value, [Mechanism.EM.value])
    if not len(targets) or not rhos or not epsilons or not len(seeds) or not kinds:
        raise BadInput("price list: found nothing to price, expected at least one target, rho, epsilon, seed and prior")
    seeds = list(seeds) if study.snapshot.simulated else list(seeds)[:1]
    asked = [replace(settings, prior=replace(settings.prior, kind=kind)) for kind in kinds]
    sums = {name: np.zeros((len(seeds), len(rhos), len(kinds), len(epsilons))) for name in AVERAGED}
    alone = np.full((len(seeds), len(rhos)), 0.0 if public_only else np.nan)
    jobs = list(itertools.product(range(len(seeds)), targets))
    desks = [study if seed == study.seed else study.with_seed(seed) for seed in seeds]
    for place, target in tracked(jobs, progress, cancelled):
        for i, rho in enumerate(rhos):
            for k, chosen in enumerate(asked):
                figures = _figures(desks[place], int(target), rho, epsilons, chosen)
                for name in AVERAGED:
                    sums[name][place, i, k] += figures[name]
            if public_only:
                guess = desks[place].guide(int(target), rho, settings).prior(0.0, settings.utility)
                alone[place, i] += guess.mass[desks[place].scores(int(target), rho, settings).flips].sum()
    means = {name: total / len(targets) for name, total in sums.items()}
    rows = []
    places = itertools.product(enumerate(rhos), enumerate(epsilons), enumerate(kinds))
    for (i, rho), (j, epsilon), (k, kind) in places:
        average = {name: float(values[:, i, k, j].mean()) for name, values in means.items()}
        rows.append(
            {
                "dataset": study.dataset.name,
                "population": population,
                "arm": settings.arm.value,
                "prior": kind.value,
                "mechanism": settings.mechanism.value,
                "sensitivity": settings.utility.sensitivity,
                "rho": rho,
                "epsilon": epsilon,
                "seeds": len(seeds),
                "targets": len(targets),
                "ceiling": average["ceiling"],
                "ceiling_std": _spread(means["ceiling"][:, i, k, j]),
                "valid": average["valid"],
                "valid_std": _spread(means["valid"][:, i, k, j]),
                "public_only": float(alone[:, i].mean() / len(targets)),
                "targeted": average["targeted"],
                "empty": average["empty"],
                "size": average["size"],
                "regret": average["regret"],
                "collision": average["collision"],
                "retention": average["valid"] / average["ceiling"] if average["ceiling"] else float("nan"),
            }
        )
    return pd.DataFrame(rows)


def _figures(
    study: Study, target: int, rho: float, epsilons: Sequence[float], settings: Settings
) -> dict[str, np.ndarray]:
    """Metrics of one target at every ε, as `measure_cells` gives them; a guided prior is another at each ε."""
    if settings.prior.kind is PriorKind.UNIFORM:
        return measure_cells(study.cells(target, rho, epsilons[0], settings), epsilons)
    each = [measure_cells(study.cells(target, rho, epsilon, settings), [epsilon]) for epsilon in epsilons]
    return {name: np.concatenate([figures[name] for figures in each]) for name in AVERAGED}


def _spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
