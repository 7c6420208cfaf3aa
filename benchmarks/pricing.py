"""The whole price list of Cora: every node x 4 rho x 6 epsilon, and what it costs."""

from __future__ import annotations

import resource
import time

import numpy as np

from core.datasets import load
from core.study.pricelist import EPSILONS, RHOS, price_list
from core.study.study import Study
from core.threads import use_one_thread


def main() -> None:
    use_one_thread()
    study = Study(load("cora"))
    targets = np.arange(study.dataset.nodes.n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    table = price_list(study, targets, seeds=(0,))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(targets):,} targets x {len(RHOS)} rho x {len(EPSILONS)} epsilon on one core: {seconds:.1f} s, "
        f"{1000 * seconds / len(targets):.2f} ms a target, peak memory {after / 1024:.0f} MiB "
        f"({(after - before) / 1024:.0f} MiB more than before)"
    )
    print(table[["rho", "epsilon", "ceiling", "valid", "collision"]].round(4).to_string(index=False))


if __name__ == "__main__":
    main()
