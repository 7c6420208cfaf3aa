"""Exact scoring of whole universes: the factorised scorer beside PyG, by subgraphs and by full graphs, in one run."""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from _pyg import full_graph_logits, induced_subgraph_logits

from core.datasets import load
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import build_universe

REPEATS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=32, help="random Cora targets that PyG scores too")
    parser.add_argument("--full", type=int, default=8, help="of them, targets scored by full-graph forwards as well")
    options = parser.parse_args()
    count = options.targets
    use_one_thread()
    study = Study(load("cora"))
    graph, weights = study.dataset.graph, study.backbone.weights
    rng = np.random.default_rng(0)
    ratios, ours_ms, different, candidates = [], [], 0, 0
    full, full_different, full_candidates = [], 0, 0
    for target in rng.choice(graph.n, count, replace=False):
        universe = build_universe(graph.nodes, study.snapshot, weights, int(target))
        ours, mine = timed(lambda universe=universe: study.scorer.logits(universe), REPEATS)
        theirs, peer = timed(lambda universe=universe: induced_subgraph_logits(graph, weights, universe), 1)
        different += int((mine.argmax(axis=2) != peer.argmax(axis=2)).sum())
        candidates += universe.size
        ratios.append(theirs / ours)
        ours_ms.append(1000 * ours)
        if len(full) < options.full:
            theirs, parts = timed(lambda universe=universe: list(full_graph_logits(graph, weights, universe)), 1)
            full_different += sum(
                int((mine[i, masks].argmax(axis=1) != peer.argmax(axis=1)).sum()) for i, masks, peer in parts
            )
            full_candidates += universe.size
            full.append(theirs / ours)
    print(
        f"{count} random targets, {candidates:,} candidates: PyG / factorised = {statistics.median(ratios):,.0f} "
        f"(median; {min(ratios):,.0f} to {max(ratios):,.0f}); factorised {statistics.median(ours_ms):.2f} ms median; "
        f"{different} different decisions"
    )
    if full:
        print(
            f"{len(full)} of them, {full_candidates:,} candidates: PyG full-graph forwards / factorised = "
            f"{statistics.median(full):,.0f} (median; {min(full):,.0f} to {max(full):,.0f}); "
            f"{full_different} different decisions"
        )
    print("\n| degree | candidates | single call, CPU ms |\n|---|---|---|")
    for degree in (1, 2, 4, 8, 15, 31, 78, int(graph.degree.max())):
        target = int(np.flatnonzero(graph.degree >= degree)[graph.degree[graph.degree >= degree].argmin()])
        universe = build_universe(graph.nodes, study.snapshot, weights, target)
        seconds, _ = timed(lambda universe=universe: study.scorer.score(universe, margins=False), 4 * REPEATS)
        print(f"| {graph.degree[target]} | {universe.size:,} | {1000 * seconds:.2f} |")


def timed(work, repeats: int):
    """Median CPU seconds of `work` over `repeats` runs after one that doesn't count, and its result."""
    result = work() if repeats > 1 else None
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        result = work()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds), result


if __name__ == "__main__":
    main()
