"""How the size of the universe changes what a release is worth: fewer candidates dilute less (owner-only)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np
import pandas as pd

from core import checks
from core.errors import BadInput, Cancelled
from core.progress import Progress, Stop
from core.release.tally import FIGURES
from core.study.pricing import target_prices
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe

CANDIDATES = (4, 8, 12)
COMBINED = ((1, 1), (1, 3), (2, 1), (2, 3))
COLUMNS = ["k_edges", "k_features", "max_edges", "max_features", "present", "candidates", "ceiling", "valid", "change"]
WARNING = (
    "Limits must be public before any private edge is read: chosen by this table, they depend on private edges, and no "
    "ε covers what they say. Choose them on public grounds, or by the table of another graph."
)


def limits_grid(present: Limits, arm: Arm) -> list[Limits]:
    """A public grid of limits around the present ones, which come first; parts that the arm leaves out stay put."""
    edges: Sequence[int] = CANDIDATES
    features: Sequence[int] = CANDIDATES
    combined: Sequence[tuple[int, int]] = COMBINED
    if arm is Arm.EDGE_ONLY:
        features = (present.k_features,)
        combined = sorted({(e, present.max_features) for e, _ in COMBINED})
    if arm is Arm.FEATURE_ONLY:
        edges = (present.k_edges,)
        combined = sorted({(present.max_edges, f) for _, f in COMBINED})
    grid = [Limits(k_e, k_f, e, f) for k_e, k_f, (e, f) in itertools.product(edges, features, combined)]
    return list(dict.fromkeys([present, *grid]))


def advise(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    rho: float,
    epsilon: float,
    settings: Settings | None = None,
    seeds: Sequence[int] | None = None,
    grid: Sequence[Limits] | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> pd.DataFrame:
    """One row per limits: what a release at `rho` and ε would be worth if the universe had them (owner-only).

    Columns `COLUMNS`: `candidates`, mean number of candidates; `ceiling`, share of releases in which some
    candidate flips; `valid`, mean valid-CF; `change`, against the present limits (those of `settings`), which
    are the first row. Means over `targets` (rows) and `seeds` of the simulated snapshot, the study's own
    unless given; a real one counts once. The utility and the tight sensitivity follow the limits. `grid`:
    `limits_grid` unless given. `progress` counts releases. See `WARNING`. Raises `BadInput`, and `Cancelled`
    on request.
    """
    settings, rho, epsilon = settings or Settings(), checks.rho(rho), checks.epsilon(epsilon)
    rows = np.asarray(targets, dtype=np.int64)
    seeds = [study.seed] if seeds is None else list(seeds)
    if not len(rows) or not seeds:
        raise BadInput("advice: found nothing to measure, expected at least one target and one seed")
    if not study.snapshot.simulated:
        seeds = [study.seed]
    desks = [study if seed == study.seed else study.with_seed(seed) for seed in seeds]
    asked = limits_grid(settings.limits, settings.arm) if grid is None else [settings.limits, *grid]
    asked = list(dict.fromkeys(asked))
    total, done, table = len(asked) * len(desks) * len(rows), 0, []
    for limits in asked:
        under = replace(settings, limits=limits)
        figures, sizes = [], []
        for desk in desks:
            for target, found in zip(rows, target_prices(desk, rows, [rho], [epsilon], under), strict=True):
                figures.append(found[:, 0, 0])
                sizes.append(_candidates(desk, int(target), rho, under))
                done += 1
                if cancelled is not None and cancelled():
                    raise Cancelled(f"cancelled after {done} of {total}")
                if progress is not None:
                    progress(done, total)
        means = dict(zip(FIGURES, np.mean(figures, axis=0).tolist(), strict=True))
        present = limits == settings.limits
        table.append((*astuple(limits), present, float(np.mean(sizes)), means["ceiling"], means["valid"]))
    frame = pd.DataFrame(table, columns=COLUMNS[:-1])
    frame["change"] = frame["valid"] - frame["valid"][0]
    return frame


def _candidates(desk: Study, target: int, rho: float, settings: Settings) -> int:
    nodes, public, weights = desk.dataset.nodes, desk.disclosed(rho), desk.backbone.weights
    return build_universe(nodes, public, weights, target, settings.limits, settings.arm).size
