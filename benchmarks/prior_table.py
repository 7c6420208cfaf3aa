"""Uniform and guided prior beside the public snapshot alone: data sets x populations x rho x epsilon, test nodes.

The rule of the guided prior is frozen; nothing is chosen here. Standard errors are clustered by target.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace

import numpy as np
import pandas as pd

from core.datasets import load
from core.metrics import measure_cells
from core.prior.prior import PriorKind, PriorRule
from core.study.populations import SIZES, Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import Arm

RHOS, EPSILONS = (0.3, 0.5, 0.7), (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
POPULATIONS = (Population.RANDOM, Population.STRATIFIED, Population.BORDERLINE)
FIGURES = ("valid", "size", "collision")


def measured(name: str, seeds: int, scale: int, settings: Settings) -> pd.DataFrame:
    """One row per population, rho, ε, prior, seed and target."""
    base = Study(load(name))
    rows = []
    for kind in POPULATIONS:
        targets = population(base, kind, SIZES[kind] * scale)
        for seed, rho, target in itertools.product(range(seeds), RHOS, targets):
            study = base if seed == 0 else studies.setdefault((name, seed), base.with_seed(seed))
            scores = study.scores(int(target), rho, settings)
            alone = study.guide(int(target), rho, settings).prior(0.0, settings.utility).mass[scores.flips].sum()
            for prior, epsilon in itertools.product(PriorKind, EPSILONS):
                asked = replace(settings, prior=PriorRule(prior))
                figures = measure_cells(study.cells(int(target), rho, epsilon, asked), [epsilon])
                shown = (float(figures[figure][0]) for figure in FIGURES)
                rows.append((name, kind.value, rho, epsilon, prior.value, seed, target, alone, *shown))
    columns = ["dataset", "population", "rho", "epsilon", "prior", "seed", "target", "public_only", *FIGURES]
    return pd.DataFrame(rows, columns=columns)


studies: dict[tuple[str, int], Study] = {}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds and targets, and standard errors over targets."""
    keys = ["dataset", "population", "rho", "epsilon"]
    by_target = rows.groupby([*keys, "prior", "target"])[[*FIGURES, "public_only"]].mean().unstack("prior")
    found = []
    for key, cell in by_target.groupby(level=keys):
        gain = cell["valid"]["guided"] - cell["valid"]["uniform"]
        public = cell["public_only"]["uniform"]
        root = np.sqrt(len(cell))
        found.append(
            (
                *key,
                public.mean(),
                public.std() / root,
                cell["valid"]["uniform"].mean(),
                cell["valid"]["uniform"].std() / root,
                cell["valid"]["guided"].mean(),
                cell["valid"]["guided"].std() / root,
                gain.mean(),
                gain.std() / root,
                *(cell[figure][prior].mean() for figure in ("size", "collision") for prior in ("uniform", "guided")),
            )
        )
    names = ["public_only", "public_se", "uniform", "uniform_se", "guided", "guided_se", "gain", "gain_se"]
    return pd.DataFrame(found, columns=[*keys, *names, "size_u", "size_g", "collision_u", "collision_g"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["planetoid:Cora", "planetoid:CiteSeer", "lastfm"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scale", type=int, default=1, help="how many times the usual number of targets")
    parser.add_argument("--arm", default=Arm.FULL.value)
    parser.add_argument("--out", help="CSV of the summary")
    options = parser.parse_args()
    use_one_thread()
    settings = Settings(arm=Arm.parse(options.arm))
    started = time.perf_counter()
    rows = pd.concat([measured(name, options.seeds, options.scale, settings) for name in options.datasets])
    table = summary(rows)
    pd.set_option("display.width", 200)
    for (dataset, kind), part in table.groupby(["dataset", "population"], sort=False):
        count = rows[(rows["dataset"] == dataset) & (rows["population"] == kind)]["target"].nunique()
        print(f"\n{dataset}, {kind}, {count} targets, {options.seeds} seeds\n")
        print(part.drop(columns=["dataset", "population"]).to_string(index=False, float_format="%.3f"))
    worse = table[table["gain"] < -0.01]
    print(f"\n{len(worse)} of {len(table)} cells where guided is more than 0.01 below uniform\n")
    print(worse.to_string(index=False, float_format="%.3f"))
    random = table[table["population"] == Population.RANDOM.value]
    ends = random.pivot_table(index=["dataset", "rho"], columns="epsilon", values=["guided", "uniform"])
    print("\nguided at 0.1 less uniform at 8, random targets\n")
    print((ends["guided"][0.1] - ends["uniform"][8.0]).to_string(float_format="%.3f"))
    print(f"\n{time.perf_counter() - started:.0f} s")
    if options.out:
        table.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
