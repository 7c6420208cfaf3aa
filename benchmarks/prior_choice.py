"""How the rule of the guided prior was chosen: rival public priors on synthetic graphs and training nodes.

Prints valid-CF less that of the uniform prior, by ε, as mean and worst over data sets and rho, and the
collision at ε = 0.1. No test node of a real graph is read.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from core.backbone.gcn import softmax
from core.datasets import load
from core.graph import PublicGraph
from core.prior.cover import Cover
from core.prior.guided import Guide
from core.prior.scenarios import PublicModel
from core.scoring.factorised import GCNScorer
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import Universe
from core.utility import UtilityConfig, evaluate

SYNTHETIC = (
    "synthetic:",
    "synthetic:nodes=3000,classes=7,homophily=0.75,features=1000,seed=1",
    "synthetic:classes=10,degree=12,homophily=0.6,features=800,seed=2",
    "synthetic:nodes=1500,classes=4,degree=6,homophily=0.9,features=200,seed=3",
)
TRAINED = ("cora", "lastfm")
RHOS, EPSILONS = (0.3, 0.5, 0.7), np.array([0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
CONFIG = UtilityConfig()


def margin_estimate(model: GCNScorer, universe: Universe) -> np.ndarray:
    """The rival without completions: `Σ_{y in top 3} p(y) sigmoid(-10 m_y(S))` on the snapshot graph (design, 5)."""
    after = softmax(model.logits(universe))
    before = softmax(model.clean[universe.target])
    estimate = np.zeros(universe.shape)
    for y in np.argsort(-before)[:3]:
        others = np.delete(after, y, axis=2).max(axis=2)
        estimate += before[y] / (1 + np.exp(10 * (after[..., y] - others)))
    estimate[0, 0] = 1e-9
    return estimate


def margin_prior(estimate: np.ndarray, epsilon: float) -> np.ndarray:
    weight = estimate ** (16 / (1 + epsilon))
    return 0.9 * weight / weight.sum() + 0.1 / estimate.size


def cover_prior(
    universe: Universe,
    scenarios: np.ndarray,
    epsilon: float,
    boundary: float = 0.1,
    regret: float = 2.0,
    entropy: float = 0.01,
) -> np.ndarray:
    """The optimal prior with other constants than the rule's; the last two scenarios are the boundary's."""
    guide = Guide(universe, scenarios)
    masses = np.bincount(guide.member.ravel()) / guide.member.size
    trust = min(1.0, epsilon)
    k = len(scenarios) - 2
    weight = np.r_[np.full(k, (1 - boundary * trust) / k), [boundary * trust / 2] * 2]
    solved = Cover(guide.flips, masses, weight, epsilon * 0.83 / 1.92, regret * trust, entropy).solve()
    return (0.95 * solved / masses + 0.05)[guide.member] / guide.member.size


def rivals(universe: Universe, model: PublicModel, known: GCNScorer) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Each rival's prior at every ε."""
    scenarios, estimate = model.scenarios(universe), margin_estimate(known, universe)
    last, k = scenarios[-2:], model.completions

    def covers(rows: np.ndarray, **constants: float) -> list[np.ndarray]:
        return [cover_prior(universe, np.concatenate([rows, last]), float(e), **constants) for e in EPSILONS]

    completed = scenarios[:-2]
    third = k // 3
    sixth = np.r_[0:third, k : k + third, 2 * k : 2 * k + third] if third else np.arange(len(completed))
    margin = [margin_prior(estimate, float(e)) for e in EPSILONS]
    guide = Guide(universe, scenarios)
    chosen = [guide.prior(float(e), CONFIG).mass for e in EPSILONS]
    yield "uniform", [np.full(universe.shape, 1 / universe.size)] * len(EPSILONS)
    yield "margin estimator", margin
    yield "cover, no boundary, no regret", covers(completed, boundary=0.0, regret=0.0)
    yield "cover, no boundary", covers(completed, boundary=0.0)
    yield "cover, no regret", covers(completed, regret=0.0)
    yield "cover, sampled classes only", covers(completed[:k])
    yield "cover, modal classes only", covers(completed[k : 2 * k])
    yield "cover, no classes", covers(completed[2 * k :])
    yield "cover, a third of the completions", covers(completed[sixth])
    yield "cover, entropy 0.005", covers(completed, entropy=0.005)
    yield "cover, entropy 0.02", covers(completed, entropy=0.02)
    yield "half margin, half chosen", [(a + b) / 2 for a, b in zip(margin, chosen, strict=True)]
    yield "chosen", chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=24, help="random targets a data set")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--completions", type=int, default=12, help="for each degree of trust")
    options = parser.parse_args()
    use_one_thread()
    for names, part in ((SYNTHETIC, "test"), (TRAINED, "train")):
        valid: dict[tuple[str, str], dict[tuple, list]] = defaultdict(lambda: defaultdict(list))
        for name in names:
            base = Study(load(name))
            rows = getattr(base.dataset.split, part)
            draw = np.random.default_rng(123).choice(rows, min(options.targets, len(rows)), replace=False)
            groups = {"random": draw, "borderline": rows[np.argsort(base.margins[rows])[:10]]}
            for seed in range(options.seeds):
                study = base.with_seed(seed)
                for rho in RHOS:
                    snapshot = study.snapshot.prefix(rho)
                    nodes, weights = study.dataset.nodes, study.backbone.weights
                    model = PublicModel(nodes, snapshot, weights, rho, options.completions)
                    known = GCNScorer(PublicGraph(nodes, snapshot.pairs), weights)
                    for group, targets in groups.items():
                        for target in targets:
                            scores = study.scores(int(target), rho)
                            utility = evaluate(scores, CONFIG)
                            for rival, priors in rivals(scores.universe, model, known):
                                figures = []
                                for epsilon, mass in zip(EPSILONS, priors, strict=True):
                                    exponent = epsilon * (utility.values - utility.values.max()) / 2
                                    p = mass * np.exp(exponent / utility.sensitivity)
                                    p /= p.sum()
                                    figures += [p[scores.flips].sum(), (p * p).sum()]
                                valid[group, rival][name, rho].append(figures)
        print(f"\n{part} nodes of {', '.join(names)}\n")
        print(f"{'':11}{'':34}" + "".join(f"{f'ε={e:g}':>8}" for e in EPSILONS) + "   worst cell, collision at 0.1")
        for (group, rival), cells in valid.items():
            means = {cell: np.mean(rows, axis=0)[::2] for cell, rows in cells.items()}
            base_means = {cell: np.mean(rows, axis=0)[::2] for cell, rows in valid[group, "uniform"].items()}
            gain = np.array([means[cell] - base_means[cell] for cell in means])
            shown = np.array(list(base_means.values())).mean(axis=0) if rival == "uniform" else gain.mean(axis=0)
            collision = np.mean([np.mean(rows, axis=0)[1] for rows in cells.values()])
            print(
                f"{group:11}{rival:34}" + "".join(f"{x:8.3f}" for x in shown) + f"   {gain.min():+.3f}, {collision:.3f}"
            )


if __name__ == "__main__":
    main()
