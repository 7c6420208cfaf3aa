"""Targets per second on the CPU and on a CUDA device, float64 and float32 with a recheck, decisions compared."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from core.backbone.gcn import GCNWeights
from core.backbone.train import train_gcn
from core.datasets import load
from core.datasets.dataset import Dataset
from core.scoring.batched import score_many
from core.scoring.factorised import GCNScorer
from core.snapshot import simulate
from core.threads import use_one_thread
from core.universe import Limits, Universe, build_universe

REPEATS = 3
TWIN = "synthetic:nodes=15000,classes=40,degree=21.5"  # of ogbn-arxiv-core
WORK = (  # data set, targets, limits
    ("cora", 2708, Limits()),
    (TWIN, 1024, Limits()),
    ("cora", 16, Limits(37, 20)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--most", type=int, default=max(count for _, count, _ in WORK), help="targets of a row")
    options = parser.parse_args()
    if torch.device(options.device).type == "cuda" and not torch.cuda.is_available():
        print("gpu: no CUDA device is visible, nothing to measure")
        return
    measure(options.device, options.most)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_same_decisions_on_cuda() -> None:
    """`pytest benchmarks/gpu.py -s` prints the table, too."""
    assert measure("cuda", 64) == 0


def measure(device: str, most: int) -> int:
    """Print the table; the number of decisions that differ from those of the CPU in float64."""
    use_one_thread()
    total = 0
    name = torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else device
    print(f"Targets a second, median of {REPEATS} runs: one CPU thread beside {name}\n")
    print("| data | targets | candidates | CPU, float64 | float32 | device, float64 | float32 | different |")
    print("|---|---|---|---|---|---|---|---|")
    for data, count, limits in WORK:
        dataset = load(data)
        weights = train_gcn(dataset).weights
        universes = drawn(dataset, weights, min(count, most), limits)
        exact, rates, different = None, [], 0
        for where in ("cpu", device):
            for dtype in (torch.float64, torch.float32):
                rate, decisions = scored(GCNScorer(dataset.graph, weights, where, dtype), universes)
                exact = exact or decisions
                different += sum(int((mine != its).sum()) for mine, its in zip(decisions, exact, strict=True))
                rates.append(f"{rate:,.0f}")
        size = sum(universe.size for universe in universes)
        print(
            "|", " | ".join([dataset.title, str(len(universes)), f"{size:,}", *rates, str(different)]), "|", flush=True
        )
        total += different
    return total


def drawn(dataset: Dataset, weights: GCNWeights, count: int, limits: Limits) -> list[Universe]:
    """Universes of random targets; where few are asked for, of those with most candidates."""
    rows = np.random.default_rng(0).permutation(dataset.nodes.n)
    snapshot = simulate(dataset.graph, 0)
    universes = [build_universe(dataset.nodes, snapshot, weights, int(target), limits) for target in rows]
    return sorted(universes, key=lambda universe: -universe.size)[:count] if limits != Limits() else universes[:count]


def scored(scorer: GCNScorer, universes: Sequence[Universe]) -> tuple[float, list[np.ndarray]]:
    """Targets a second, and the class of every candidate, after one run that doesn't count."""
    decisions = [scores.predicted for scores in score_many(scorer, universes)]
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        for _ in score_many(scorer, universes):
            pass
        seconds.append(time.perf_counter() - started)
    return len(universes) / statistics.median(seconds), decisions


if __name__ == "__main__":
    main()
