"""Exact scoring of two-hop universes: the factorised scorer beside PyG batched induced subgraphs, in one run."""

from __future__ import annotations

import argparse
import statistics

import numpy as np
from _pyg import induced_subgraph_logits
from scoring import REPEATS, timed

from core.datasets import load
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import Arm, build_universe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=4, help="random Cora targets that PyG scores too")
    parser.add_argument("--rho", type=float, default=0.5, help="strength of the snapshot")
    options = parser.parse_args()
    use_one_thread()
    study = Study(load("cora"))
    graph, weights = study.dataset.graph, study.backbone.weights
    snapshot = study.snapshot.prefix(options.rho)
    rng = np.random.default_rng(0)
    ratios, ours_ms, near_ms, different, candidates = [], [], [], 0, 0
    for target in rng.choice(graph.n, options.targets, replace=False):
        near, far = (
            build_universe(graph.nodes, snapshot, weights, int(target), arm=arm) for arm in (Arm.FULL, Arm.TWO_HOP)
        )
        one_hop, _ = timed(lambda universe=near: study.scorer.logits(universe), REPEATS)
        ours, mine = timed(lambda universe=far: study.scorer.logits(universe), REPEATS)
        theirs, peer = timed(lambda universe=far: induced_subgraph_logits(graph, weights, universe), 1)
        different += int((mine.argmax(axis=2) != peer.argmax(axis=2)).sum())
        candidates += far.size
        ratios.append(theirs / ours)
        ours_ms.append(1000 * ours)
        near_ms.append(1000 * one_hop)
    print(
        f"{options.targets} random targets at rho {options.rho:g}, {candidates:,} two-hop candidates: "
        f"PyG / factorised = {statistics.median(ratios):,.0f} (median; {min(ratios):,.0f} to {max(ratios):,.0f}); "
        f"factorised {statistics.median(ours_ms):.2f} ms median ({max(ours_ms):.2f} at most), the one-hop universe "
        f"{statistics.median(near_ms):.2f} ms; {different} different decisions"
    )


if __name__ == "__main__":
    main()
