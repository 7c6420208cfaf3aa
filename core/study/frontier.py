"""The frontier: what every combination of arm, prior, rho and ε buys for a population, on one process or many."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.errors import BadInput, Cancelled
from core.progress import Progress, Stop
from core.release.tally import FIGURES
from core.study.plan import Owned, Plan, Run, price_here
from core.study.pricestore import PriceStore
from core.study.sheet import Sheet
from core.study.study import Study


def frontier(
    study: Study,
    plan: Plan,
    targets: np.ndarray,
    population: str = "given",
    store: PriceStore | None = None,
    run: Run | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> pd.DataFrame:
    """One row per (rho, ε, prior, arm): figures averaged over `targets`, mean and spread over seeds (owner-only).

    The mean over targets is taken within a seed, then mean and sample standard deviation over seeds
    (`ceiling_std`, `valid_std`; 0 for a single seed). `public_only`: valid rate of the guided prior alone
    (ε = 0), NaN if not asked for. `retention`: mean valid over mean ceiling, NaN where that is 0. `store`:
    keeps every figure as it is found; those that it has are not worked out again. `run`: works the tasks
    out elsewhere, to the same figures. `progress` counts targets of each arm and seed. Raises `BadInput`,
    and `Cancelled` on request.
    """
    targets = np.asarray(targets)
    if not len(targets):
        raise BadInput("price list: found no target, expected at least one")
    seeds = plan.seeds if study.snapshot.simulated else plan.seeds[:1]
    sheets = [Sheet(study, plan, arm, seed, targets) for arm in plan.arms for seed in seeds]
    if store is not None:
        for sheet in sheets:
            sheet.fill(store)
    work = [(sheet, task) for sheet in sorted(sheets, key=lambda sheet: sheet.seed) for task in sheet.tasks()]
    tasks = [task for _, task in work]
    total = len(targets) * len(sheets)
    done = total - sum(len(task.targets) for task in tasks)
    results = price_here(study, tasks) if run is None else run(Owned(study.dataset, study.backbone), tasks)
    for left in itertools.count():
        if cancelled is not None and cancelled():
            raise Cancelled(f"cancelled after {done} of {total}")
        if progress is not None:
            progress(done, total)
        if left == len(tasks):
            break
        place, figures = next(results)
        sheet, task = work[place]
        sheet.take(task, figures, store)
        done += len(task.targets)
    return _table(study, plan, sheets, len(seeds), population)


def _table(study: Study, plan: Plan, sheets: Sequence[Sheet], seeds: int, population: str) -> pd.DataFrame:
    rows = []
    for a, arm in enumerate(plan.arms):
        own = sheets[a * seeds : (a + 1) * seeds]
        means = dict(zip(FIGURES, np.stack([sheet.figures.mean(axis=0) for sheet in own], axis=1), strict=True))
        alone = np.stack([sheet.public.mean(axis=0) for sheet in own])
        cells = itertools.product(enumerate(plan.rhos), enumerate(plan.epsilons), enumerate(plan.priors))
        for (i, rho), (j, epsilon), (k, kind) in cells:
            average = {name: float(values[:, i, k, j].mean()) for name, values in means.items()}
            rows.append(
                {
                    "dataset": study.dataset.name,
                    "population": population,
                    "arm": arm.value,
                    "prior": kind.value,
                    "mechanism": plan.settings.mechanism.value,
                    "sensitivity": plan.settings.utility.sensitivity,
                    "rho": rho,
                    "epsilon": epsilon,
                    "seeds": seeds,
                    "targets": len(own[0].figures),
                    "ceiling": average["ceiling"],
                    "ceiling_std": _spread(means["ceiling"][:, i, k, j]),
                    "valid": average["valid"],
                    "valid_std": _spread(means["valid"][:, i, k, j]),
                    "public_only": float(alone[:, i].mean()),
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
