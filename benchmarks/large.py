"""A graph of 1,000,000 nodes and 5,000,000 edges beside one of 15,000: CPU time and peak memory of every step."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

import numpy as np
from scaling import TWIN, head, random_weights, row

from core.backbone.train import measured, train_gcn
from core.datasets import load
from core.study.plan import EPSILONS, RHOS
from core.study.pricing import target_prices
from core.study.settings import Settings
from core.study.study import Study
from core.threads import use_one_thread

STEPS = 200  # of training the smaller one
LOOKED_AT, PRICED = 12, 256  # targets
RHO, OTHER_RHO, EPSILON = 0.5, 0.7, 1.0

Value = TypeVar("Value")
Steps = dict[str, tuple[str, float]]  # what was done: its CPU time, and the peak of the process until then in GiB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=10.0, help="mean degree")
    parser.add_argument("--train", type=int, default=0, metavar="STEPS", help="in the place of random weights")
    options = parser.parse_args()
    large = f"synthetic:nodes={options.nodes},classes=40,degree={options.degree}"
    graphs = {f"{TWIN}, trained": in_a_process(TWIN, STEPS)}
    graphs[f"{large}, {'trained' if options.train else 'random weights'}"] = in_a_process(large, options.train)
    head(["step", *(cell for name in graphs for cell in (name, "peak, GiB"))])
    for step in dict.fromkeys(step for steps in graphs.values() for step in steps):
        found = (steps.get(step) for steps in graphs.values())
        row([step, *(cell for each in found for cell in ((each[0], f"{each[1]:.2f}") if each else ("", "")))])


def in_a_process(name: str, train: int) -> Steps:
    """The steps in a process of their own, whose peak is nobody else's."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, name, train).result()


def measure(name: str, train: int) -> Steps:
    """Walk the owner's way from the data set to a price list; `train`: steps, 0 for random weights."""
    use_one_thread()
    steps: Steps = {"imports": ("", peak())}

    def note(step: str, seconds: list[float]) -> None:
        most = f" ({shown(max(seconds))} at most)" if len(seconds) > 1 else ""
        steps[step] = (shown(statistics.median(seconds)) + most, peak())

    dataset, seconds = timed(lambda: load(name))
    note("load", seconds)
    if train:
        _, start = timed(lambda: train_gcn(dataset, steps=1))
        backbone, seconds = timed(lambda: train_gcn(dataset, steps=1 + train))
        note(f"training, {train} steps", seconds)
        note("a step of it, without start and end", [(seconds[0] - start[0]) / train])
    else:
        backbone, seconds = timed(lambda: measured(dataset, random_weights(dataset.nodes)))
        note("random weights and their accuracy", seconds)
    study, seconds = timed(lambda: Study(dataset, backbone))
    note("study", seconds)

    targets = np.random.default_rng(0).choice(dataset.nodes.n, PRICED, replace=False)
    first, *further = (int(target) for target in targets[: 1 + LOOKED_AT])
    note("first target: inspect", each(lambda target: study.inspect(target, RHO, EPSILON), [first]))
    note(f"{LOOKED_AT} further ones", each(lambda target: study.inspect(target, RHO, EPSILON), further))
    note("the first one at another epsilon", each(lambda epsilon: study.inspect(first, RHO, epsilon), [2.0, 4.0, 8.0]))
    note("the first one at another rho", each(lambda target: study.inspect(target, OTHER_RHO, EPSILON), [first]))
    note(f"the {LOOKED_AT} further ones there", each(lambda target: study.inspect(target, OTHER_RHO, EPSILON), further))
    _, seconds = timed(lambda: list(target_prices(study, targets, RHOS, EPSILONS, Settings())))
    note(f"price list: {PRICED} targets x {len(RHOS)} rho x {len(EPSILONS)} epsilon, uniform", seconds)
    steps["a target of it"] = (shown(seconds[0] / PRICED), peak())
    return steps


def timed(work: Callable[[], Value]) -> tuple[Value, list[float]]:
    started = time.process_time()
    result = work()
    return result, [time.process_time() - started]


def each(work: Callable, over: Iterable) -> list[float]:
    """CPU seconds of `work` on each."""
    return [timed(lambda one=one: work(one))[1][0] for one in over]


def shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


def peak() -> float:
    """Largest resident memory of this process until now, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
