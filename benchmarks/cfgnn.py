"""CF-GNNExplainer against the exact optimum over the same public universe: validity, size and cost.

The optimum is that of the utility. `smallest` is the size of the smallest flipping candidate, from the same
scores, which is what the descent is after. Times are CPU milliseconds of one target, median.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from core.baselines.cfgnn import CFGNNExplainer, CFGNNOverUniverse
from core.baselines.optimum import Optimum
from core.datasets import load
from core.placement.explainer import explain
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.threads import use_one_thread

T = TypeVar("T")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dataset", default="cora")
    options.add_argument("--rho", type=float, action="append", help="default: 0.5 and 1")
    options.add_argument("--random", type=int, default=32, help="targets of the random population")
    given = options.parse_args()
    use_one_thread()
    study = Study(load(given.dataset))
    rng = np.random.default_rng(0)
    columns = [
        "population",
        "rho",
        "method",
        "flips",
        "of the optimum's",
        "size",
        "smallest",
        "CPU ms",
        "x of the optimum",
    ]
    print("|", " | ".join(columns), "|")
    print("|", " | ".join(["---"] * len(columns)), "|", flush=True)
    for kind, size in ((Population.BORDERLINE, None), (Population.RANDOM, given.random)):
        targets = [int(row) for row in population(study, kind, size)]
        for rho in given.rho or [0.5, 1.0]:
            public = study.disclosed(rho)
            exact, _ = timed(lambda row, public=public: explain(study.scorer, public, row, Settings()), targets)
            optimum = Optimum().session(study, 1.0, rho, Settings(), rng)
            best = {row: optimum(row) for row in targets}
            smallest = {row: least(study, row, rho) for row in targets}
            for method in (Optimum(), CFGNNOverUniverse(), CFGNNExplainer()):
                found, ms = best, exact
                if not isinstance(method, Optimum):
                    ms, found = timed(method.session(study, 1.0, rho, Settings(), rng), targets)
                flips = [row for row in targets if found[row].valid]
                both = [row for row in flips if best[row].valid]
                cells = [
                    kind.value,
                    f"{rho:g}",
                    method.name,
                    f"{len(flips)}/{len(targets)}",
                    f"{len(both)}/{sum(best[row].valid > 0 for row in targets)}",
                    f"{np.mean([found[row].size for row in both]):.2f}" if both else "-",
                    f"{np.mean([smallest[row] for row in both]):.2f}" if both else "-",
                    f"{ms:.1f}",
                    f"{ms / exact:.0f}",
                ]
                print("|", " | ".join(cells), "|", flush=True)


def least(study: Study, row: int, rho: float) -> int | None:
    """Size of the smallest candidate that flips, None without one."""
    scores = study.scores(row, rho)
    sizes = scores.universe.sizes[scores.flips]
    return int(sizes.min()) if len(sizes) else None


def timed(work: Callable[[int], T], targets: list[int]) -> tuple[float, dict[int, T]]:
    """Median milliseconds a target after one that doesn't count, and what came out."""
    work(targets[0])
    found, ms = {}, []
    for row in targets:
        started = time.process_time()
        found[row] = work(row)
        ms.append(1000 * (time.process_time() - started))
    return statistics.median(ms), found


if __name__ == "__main__":
    main()
