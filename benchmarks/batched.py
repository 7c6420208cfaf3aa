"""Exact scoring of many targets at once beside one at a time, the price list, and how far this machine's limits are."""

from __future__ import annotations

import statistics
import time

import numpy as np
import torch

from core.datasets import load
from core.metrics import measure_cells
from core.release.tally import FIGURES
from core.scoring import messages
from core.scoring.batched import score_many
from core.scoring.factorised import GCNScorer
from core.scoring.messages import CandidateLogits
from core.study.plan import EPSILONS, RHOS
from core.study.pricing import target_prices
from core.study.settings import Settings
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import build_universe

BUCKETS = ((0, 1), (2, 2), (3, 3), (4, 4), (5, 7), (8, 11), (12, 19), (20, 64), (65, 200))
SAMPLE = 60  # targets of a bucket
REPEATS = 5


def main() -> None:
    use_one_thread()
    study = Study(load("cora"))
    graph, scorer = study.dataset.graph, study.scorer
    universes = [
        build_universe(graph.nodes, study.snapshot, study.backbone.weights, target) for target in range(graph.n)
    ]
    single = GCNScorer(graph, study.backbone.weights, dtype=torch.float32)
    rng = np.random.default_rng(0)

    print("CPU ms a target, median of", REPEATS, "runs of each, in turn")
    print("| degree | targets | candidates | one at a time | many | ratio | many, float32 | different |")
    print("|---|---|---|---|---|---|---|---|")
    for low, high in BUCKETS:
        rows = np.flatnonzero((graph.degree >= low) & (graph.degree <= high))
        rows = rng.choice(rows, min(SAMPLE, len(rows)), replace=False)
        some = [universes[row] for row in rows]
        ways = {
            "one": lambda some=some: [scorer.score(universe, margins=False) for universe in some],
            "many": lambda some=some: list(score_many(scorer, some)),
            "single": lambda some=some: list(score_many(single, some)),
        }
        ms, results = _timed(ways, 1000 / len(rows))
        different = sum(
            int((a.predicted != b.predicted).sum() + (a.predicted != c.predicted).sum())
            for a, b, c in zip(*results.values(), strict=True)
        )
        size = np.mean([universe.size for universe in some])
        columns = [f"{low}-{high}", len(rows), f"{size:,.0f}", f"{ms['one']:.2f}", f"{ms['many']:.2f}"]
        columns += [f"{ms['one'] / ms['many']:.1f}", f"{ms['single']:.2f}", different]
        print("|", " | ".join(map(str, columns)), "|")

    targets = np.arange(graph.n)
    ways = {
        "before": lambda: _one_by_one(study.with_seed(0), targets),
        "now": lambda: np.stack(list(target_prices(study, targets, RHOS, EPSILONS, Settings()))),
    }
    seconds, figures = _timed(ways, 1.0, repeats=1)
    gap = np.abs(figures["before"] - figures["now"]).max()
    before, now = seconds.values()
    print(f"\n{graph.n:,} targets x {len(RHOS)} rho x {len(EPSILONS)} epsilon, CPU s on one core:")
    print(f"{before:.1f} one at a time, {now:.2f} now, ratio {before / now:.1f}; figures differ by {gap:.0e} at most")
    _limits(scorer, universes)


def _streamed(study: Study, targets: np.ndarray) -> np.ndarray:
    return np.stack(list(target_prices(study, targets, RHOS, EPSILONS, Settings())))


def _one_by_one(study: Study, targets: np.ndarray) -> np.ndarray:
    """The price list as it was made before: each target scored and its cells gathered by themselves."""
    figures = []
    for target in targets:
        each = [measure_cells(study.cells(int(target), rho, EPSILONS[0]), EPSILONS) for rho in RHOS]
        figures.append([[one[name] for one in each] for name in FIGURES])
    return np.array(figures)


def _limits(scorer: GCNScorer, universes: list) -> None:
    """Work that is left after the proofs, and the time that this machine's ceilings would allow it."""
    done = {"products": 0, "elements": 0, "open": 0, "sets": 0}
    sums = CandidateLogits.sums

    def counted(step, offset, weight, kept, masked):
        (n_sets, m), (f, h), c = kept.shape, masked.shape, scorer.weights.w2.shape[1]
        done["products"] += 2 * m * f * h * c + 2 * n_sets * m * f * c
        done["elements"] += m * f * h
        done["open"] += n_sets
        return sums(step, offset, weight, kept, masked)

    CandidateLogits.sums = counted
    try:
        started = time.process_time()
        for scores in score_many(scorer, universes):
            done["sets"] += len(scores.universe.edge_subsets)
        seconds = time.process_time() - started
    finally:
        CandidateLogits.sums = sums
    a = np.random.default_rng(0).normal(size=(1024, 1024))
    block = np.zeros(messages.BLOCK_ELEMENTS)
    stream = np.zeros(1 << 25)
    flops = 2 * 1024**3 / _best(lambda: a @ a)
    cached = len(block) / _best(lambda: np.maximum(block, 0.0, out=block))
    bandwidth = 16 * len(stream) / _best(lambda: np.add(stream, 1.0, out=stream))
    floor = done["products"] / flops + 2 * done["elements"] / cached
    own = sum(universe.size for universe in universes) * scorer.weights.w2.shape[0]
    gflop = done["products"] / 1e9
    print(f"\n{done['open']:,} of {done['sets']:,} edge subsets are left open by their bounds. Their messages hold")
    print(
        f"{done['elements'] / 1e6:,.0f} million hidden values (own ones of every candidate: {own / 1e6:,.0f} million)."
    )
    print(f"Products of {gflop:.2f} Gflop, all work in {seconds:.2f} s: {gflop / seconds:.1f} Gflop/s.")
    print(f"Ceilings of this core: float64 matmul {flops / 1e9:.0f} Gflop/s, memory {bandwidth / 1e9:.0f} GB/s,")
    print(f"one pass in cache {cached / 1e9:.1f} G values/s; products and two passes would take {floor:.2f} s there.")


def _timed(ways: dict, scale: float, repeats: int = REPEATS) -> tuple[dict, dict]:
    """Median CPU time of each way times `scale`, one run of each in turn, and what it gave."""
    seconds: dict = {name: [] for name in ways}
    results = {}
    for _ in range(repeats):
        for name, work in ways.items():
            started = time.process_time()
            results[name] = work()
            seconds[name].append(time.process_time() - started)
    return {name: scale * statistics.median(each) for name, each in seconds.items()}, results


def _best(work) -> float:
    """Least seconds of ten runs."""
    seconds = []
    for _ in range(10):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
