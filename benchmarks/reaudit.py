"""Re-audit of PrivCF-out: from-scratch sensitivity over neighbour pairs, basin jumps, implied ε, worst entry's AUC.

Beside the paper's figures: sensitivity about 20 times the assumed 1 on basin jumps, implied ε 573 to 753
(Cora) and 256 (CiteSeer), worst entry's AUC 1.0. `PLANETOID_ROOT` names the folder of the raw files.
"""

from __future__ import annotations

import argparse

from core.baselines.reaudit import reaudit
from core.datasets import load
from core.study.populations import Population, population
from core.study.study import Study
from core.threads import use_one_thread


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dataset", action="append", help="default: planetoid:Cora and planetoid:CiteSeer")
    options.add_argument("--epsilon", type=float, default=8.0)
    options.add_argument("--rho", type=float, default=0.5)
    options.add_argument("--pairs", type=int, default=8, help="of each target")
    given = options.parse_args()
    use_one_thread()
    columns = (
        "data", "targets", "pairs", "moved", "jumps", "L2, jumps (mean)", "L2, worst", "ε, mean jump", "ε, worst", "AUC"
    )  # fmt: skip
    print(f"quoted ε {given.epsilon:g}, ρ {given.rho:g}, assumed sensitivity 1\n")
    print("|", " | ".join(columns), "|")
    print("|", " | ".join(["---"] * len(columns)), "|", flush=True)
    for name in given.dataset or ["planetoid:Cora", "planetoid:CiteSeer"]:
        study = Study(load(name))
        for kind in (Population.BORDERLINE, Population.RANDOM):
            found = reaudit(study, population(study, kind), given.epsilon, given.rho, pairs=given.pairs).to_json()
            figures = [f"{found[key]:.1%}" for key in ("moved", "jumps")]
            for key in ("sensitivity_jumps", "sensitivity", "implied_epsilon_jumps", "implied_epsilon"):
                figures.append("-" if found[key] is None else f"{found[key]:,.1f}")
            figures.append(f"{found['entry_auc']:.4f}")
            print("|", " | ".join([name, kind.value, str(found["pairs"]), *figures]), "|", flush=True)


if __name__ == "__main__":
    main()
