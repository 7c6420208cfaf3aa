"""Factorised logits against full-graph float64 PyG forwards, on every candidate of 24 Cora targets."""

from __future__ import annotations

import argparse
import time

import numpy as np
from _pyg import full_graph_logits

from core.datasets import load
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import build_universe


def triangles(graph, v: int) -> int:
    near = set(graph.neighbours(v).tolist())
    return sum(len(near & set(graph.neighbours(u).tolist())) for u in near) // 2


def chosen_targets(graph, count: int) -> list[int]:
    """The hub of degree 168, then half targets in triangles and half any, by a seeded draw."""
    rng = np.random.default_rng(0)
    clustered = [v for v in range(graph.n) if triangles(graph, v) and 2 <= graph.degree[v] <= 9]
    drawn = [*rng.choice(clustered, count // 2, replace=False), *rng.choice(graph.n, count - count // 2, replace=False)]
    return [int(graph.degree.argmax()), *map(int, drawn)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=23, help="besides the hub")
    count = parser.parse_args().targets
    use_one_thread()
    study = Study(load("cora"))
    graph, weights = study.dataset.graph, study.backbone.weights
    worst, candidates, flipped = 0.0, 0, 0
    print("| target | degree | triangles | candidates | max difference | same class |\n|---|---|---|---|---|---|")
    started = time.perf_counter()
    for target in chosen_targets(graph, count):
        universe = build_universe(graph.nodes, study.snapshot, weights, target)
        ours = study.scorer.logits(universe)
        difference, disagree = 0.0, 0
        for i, masks, theirs in full_graph_logits(graph, weights, universe):
            difference = max(difference, float(np.abs(ours[i, masks] - theirs).max()))
            disagree += int((ours[i, masks].argmax(axis=1) != theirs.argmax(axis=1)).sum())
        print(
            f"| {graph.nodes.ids[target]} | {graph.degree[target]} | {triangles(graph, target)} | {universe.size:,} "
            f"| {difference:.1e} | {universe.size - disagree:,} |",
            flush=True,
        )
        worst, candidates, flipped = max(worst, difference), candidates + universe.size, flipped + disagree
    print(
        f"\n{candidates:,} candidates: maximum difference {worst:.2e}, {flipped} different classes "
        f"({time.perf_counter() - started:.0f} s)"
    )


if __name__ == "__main__":
    main()
