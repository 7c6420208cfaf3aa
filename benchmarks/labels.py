"""Where private labels come out: accuracy and ⊥-rate over p_s on two contextual SBMs, beside the walls.

Prints a table a graph. On the first the features say enough: labels fail on the left by the halting step, on the
right by the stability test. On the second the ties matter: too few of them leave labels wrong, then undecided.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from core.labels.classifier import filter_for
from core.labels.csbm import FEATURES_SUFFICE, TIES_MATTER, load_csbm
from core.labels.experiment import Cell, sweep
from core.labels.feasible import Walls, walls
from core.labels.plan import Cap, Plan
from core.threads import use_one_thread

EPSILON, DELTA = Fraction(8), Fraction("1e-5")
GRID = ("0.005", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06", "0.07", "0.08", "0.09", "0.1", "0.12", "0.15", "0.2")
GRAPHS = (
    (FEATURES_SUFFICE, -0.05, 0.05, (400, 2000), "the features say enough"),
    (TIES_MATTER, -0.1, 0.015, (1000, 4000), "the ties matter"),
)


def failure(cell: Cell, interval: Walls, most_wrong: float) -> str:
    """What keeps a cell from being right and private, in words."""
    if cell.halted > 0.5:
        return "⊥: halting step"
    if cell.stability < cell.threshold:
        beyond = cell.p_s > interval.stability
        return "⊥: p_s beyond the stability wall" if beyond else "⊥: subgraphs disagree"
    if cell.delta_total > cell.delta:
        return f"private with δ = {cell.delta_total:.1g} only"
    wrong = 1 - cell.accuracy
    return "labels" if wrong == 0 else f"labels, {wrong:.1%} of them wrong"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3, help="draws of the subgraphs behind each row")
    parser.add_argument("--cap", default="paper", choices=[rule.value for rule in Cap])
    options = parser.parse_args()
    use_one_thread()
    rule = Cap.parse(options.cap)
    for recipe, h1, most_wrong, sizes, what in GRAPHS:
        dataset = load_csbm(recipe)
        classifier = filter_for(dataset, 1.0, h1)
        for m in sizes:
            plan = Plan(Fraction("0.07"), m, EPSILON, DELTA, rule)
            interval = walls(dataset.graph, plan, classifier, dataset.labels, most_wrong)
            print(f"\n{what}: {recipe.nodes} nodes, {recipe.edges} edges, gap {recipe.gap:g}, h1 {h1:g}")
            print(
                f"m = {m}, ε = {EPSILON}, δ = {float(DELTA):g}; needs d̂ > {interval.threshold:.2f}, cap: {rule.value}"
            )
            print(
                f"walls: accuracy ({most_wrong:.1%} wrong) {interval.accuracy:.3f}, halting {interval.halting:.4f} | "
                f"stability {interval.stability:.4f}; the paper's accuracy bound: at best "
                f"{interval.theorem.min() if interval.theorem is not None else 1:.0%} wrong"
            )
            print(
                f"{'p_s':>6}{'d̂':>8}{'c1/m':>8}{'⊥-rate':>9}{'halted':>8}{'accuracy':>10}{'one subgraph':>14}   outcome"
            )
            p_s = [Fraction(text) for text in GRID]
            for cell in sweep(dataset, classifier, p_s, [m], [EPSILON], [DELTA], rule=rule, draws=options.draws):
                print(
                    f"{cell.p_s:>6.3g}{cell.stability:>8.2f}{cell.agreement:>8.3f}{cell.bottom:>9.3f}{cell.halted:>8.2f}"
                    f"{cell.accuracy:>10.3f}{cell.accuracy_subgraph:>14.3f}   {failure(cell, interval, most_wrong)}"
                )


if __name__ == "__main__":
    main()
