"""The price list: what each share of public structure and each ε buys, for a population."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core import checks
from core.errors import BadInput
from core.metrics import measure_cells
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
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> pd.DataFrame:
    """One row per (rho, ε): figures averaged over targets, mean and spread over seeds (owner-only).

    A seed draws a simulated snapshot; a real one is the same under every seed and counts once. The
    mean over targets is taken within a seed, then mean and sample standard deviation over seeds
    (`ceiling_std`, `valid_std`; 0 for a single seed). `public_only` is the valid rate of the prior
    alone (ε = 0). `retention` is mean valid over mean ceiling, NaN where that is 0. Each target is
    scored once a seed. Exponential mechanism only. Raises `BadInput`, and `Cancelled` on request.
    """
    settings = settings or Settings()
    rhos = [checks.rho(value) for value in rhos]
    epsilons = [checks.epsilon(value) for value in epsilons]
    if settings.mechanism is not Mechanism.EM:
        raise BadInput.choice("mechanism of a price list", settings.mechanism.value, [Mechanism.EM.value])
    if not len(targets) or not rhos or not epsilons or not len(seeds):
        raise BadInput("price list: found nothing to price, expected at least one target, rho, epsilon and seed")
    seeds = list(seeds) if study.snapshot.simulated else list(seeds)[:1]
    sums = {name: np.zeros((len(seeds), len(rhos), len(epsilons))) for name in (*AVERAGED, "public_only")}
    jobs = list(itertools.product(range(len(seeds)), targets))
    desks = [study if seed == study.seed else study.with_seed(seed) for seed in seeds]
    for place, target in tracked(jobs, progress, cancelled):
        for i, rho in enumerate(rhos):
            cells = desks[place].cells(int(target), rho, settings)
            figures = measure_cells(cells, epsilons)
            for name in AVERAGED:
                sums[name][place, i] += figures[name]
            sums["public_only"][place, i] += float(cells.mass[cells.flips].sum())
    means = {name: total / len(targets) for name, total in sums.items()}
    rows = []
    for (i, rho), (j, epsilon) in itertools.product(enumerate(rhos), enumerate(epsilons)):
        average = {name: float(values[:, i, j].mean()) for name, values in means.items()}
        rows.append(
            {
                "dataset": study.dataset.name,
                "population": population,
                "arm": settings.arm.value,
                "prior": "uniform",
                "mechanism": settings.mechanism.value,
                "sensitivity": settings.utility.sensitivity,
                "rho": rho,
                "epsilon": epsilon,
                "seeds": len(seeds),
                "targets": len(targets),
                "ceiling": average["ceiling"],
                "ceiling_std": _spread(means["ceiling"][:, i, j]),
                "valid": average["valid"],
                "valid_std": _spread(means["valid"][:, i, j]),
                "public_only": average["public_only"],
                "targeted": average["targeted"],
                "empty": average["empty"],
                "size": average["size"],
                "regret": average["regret"],
                "collision": average["collision"],
                "retention": average["valid"] / average["ceiling"] if average["ceiling"] else float("nan"),
            }
        )
    return pd.DataFrame(rows)


def _spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
