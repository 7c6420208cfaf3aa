"""The whole price list of Cora, every node x 4 rho x 6 epsilon, and what the guided prior costs on a sample."""

from __future__ import annotations

import resource
import time

import numpy as np

from core.datasets import load
from core.prior.prior import PriorKind
from core.study.plan import EPSILONS, RHOS
from core.study.pricelist import price_list
from core.study.study import Study
from core.threads import use_one_thread

SAMPLE = 64


def main() -> None:
    use_one_thread()
    study = Study(load("cora"))
    targets = np.arange(study.dataset.nodes.n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    table = price_list(study, targets, seeds=(0,), public_only=False)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(targets):,} targets x {len(RHOS)} rho x {len(EPSILONS)} epsilon on one core: {seconds:.1f} s, "
        f"{1000 * seconds / len(targets):.2f} ms a target, peak memory {after / 1024:.0f} MiB "
        f"({(after - before) / 1024:.0f} MiB more than before)"
    )
    print(table[["rho", "epsilon", "ceiling", "valid", "collision"]].round(4).to_string(index=False))

    sample = np.sort(np.random.default_rng(0).choice(targets, SAMPLE, replace=False))
    print(f"\n{SAMPLE} random targets of them, ms a target, each from a study that remembers nothing:")
    for name, priors, public_only in (
        ("uniform", [PriorKind.UNIFORM], False),
        ("guided and public-only", [PriorKind.GUIDED], True),
        ("uniform, guided and public-only", list(PriorKind), True),
    ):
        fresh = study.with_seed(0)
        started = time.perf_counter()
        table = price_list(fresh, sample, seeds=(0,), priors=priors, public_only=public_only)
        print(f"  {name:<34}{1000 * (time.perf_counter() - started) / SAMPLE:8.1f}")
    columns = ["prior", "valid", "public_only", "size", "collision"]
    for rho, rows in table.groupby("rho"):
        print(f"\nrho {rho}\n{rows.set_index('epsilon')[columns].round(4).to_string()}")


if __name__ == "__main__":
    main()
