"""The exact audit beside the paper's Fig. 3: data sets x arms x priors, near pairs and pairs anywhere.

Epsilon 8, rho 0.5, Δu = 1, 80 pairs of either kind, as in the paper; several draws of the pairs show how far one
draw of 80 is from the next.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from core.audit.pairs import PairKind, population_pairs
from core.audit.population import PopulationAudit, audit_population
from core.datasets import load
from core.prior.prior import PriorKind, PriorRule
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import Arm
from core.utility import UtilityConfig

EPSILON, RHO = 8.0, 0.5
FIGURES = ("max_delta_u", "max_ratio", "identical", "auc_mean", "auc_worst")
PAPER = ("0.96", "35.3", "0.91-0.96", "0.50", "0.59")
SKETCH = {
    ("planetoid:Cora", Arm.INERT_MASKS): ("0.96", "30.9", "0.80-0.85", "0.55", "0.83"),
    ("planetoid:CiteSeer", Arm.INERT_MASKS): ("0.96", "25.1", "0.80-0.85", "0.54", "0.79"),
    ("planetoid:Cora", Arm.FULL): ("-", "92", "0.30-0.36", "0.62", "0.97"),
    ("planetoid:CiteSeer", Arm.FULL): ("-", "139", "0.30-0.36", "0.66", "0.95"),
}  # uniform prior, edges within two hops


def audited(study: Study, kind: Population, settings: Settings, pairs: int, draws: int) -> list[PopulationAudit]:
    """One audit for each draw of the pairs."""
    targets = population(study, kind)
    graph = study.dataset.graph
    return [
        audit_population(
            study, population_pairs(graph, targets, pairs, np.random.default_rng(draw)), RHO, EPSILON, settings
        )
        for draw in range(draws)
    ]


def line(audits: list[PopulationAudit], kind: PairKind, edge: bool | None) -> str:
    """Mean over draws, and the range of what is a maximum."""
    table = np.array([[getattr(audit.summary(kind, edge), name) for name in FIGURES] for audit in audits])
    low, high, mean = table.min(axis=0), table.max(axis=0), table.mean(axis=0)
    cells = [f"{mean[k]:.3f} ({low[k]:.3g}-{high[k]:.3g})" for k in range(len(FIGURES))]
    return "".join(f"{cell:>24}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["planetoid:Cora", "planetoid:CiteSeer"])
    parser.add_argument("--population", default=Population.RANDOM.value)
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    use_one_thread()
    head = f"{'':<34}" + "".join(f"{name:>24}" for name in FIGURES)
    for name in options.datasets:
        study = Study(load(name))
        print(f"\n{name}, {options.population}, {options.draws} x {options.pairs} pairs\n{head}")
        print(f"{'paper':<34}" + "".join(f"{cell:>24}" for cell in PAPER))
        for arm, prior in itertools.product((Arm.INERT_MASKS, Arm.FULL), PriorKind):
            settings = Settings(arm=arm, prior=PriorRule(prior), utility=UtilityConfig(sensitivity="paper"))
            started = time.perf_counter()
            audits = audited(study, Population.parse(options.population), settings, options.pairs, options.draws)
            seconds = (time.perf_counter() - started) / options.draws
            passed = "passed" if all(audit.passed for audit in audits) else "REJECTED"
            if (name, arm) in SKETCH and prior is PriorKind.UNIFORM:
                cells = "".join(f"{cell:>24}" for cell in SKETCH[name, arm])
                print(f"{f'sketch, {arm.value}':<34}{cells}")
            print(f"{arm.value}, {prior.value}: {passed}, {seconds:.1f} s an audit")
            rows = ((PairKind.NEAR, None), (PairKind.NEAR, True), (PairKind.NEAR, False), (PairKind.ANYWHERE, None))
            for kind, edge in rows:
                status = {None: "", True: ", edges", False: ", absent pairs"}[edge]
                print(f"{f'  {kind.value}{status}':<34}{line(audits, kind, edge)}")


if __name__ == "__main__":
    main()
