"""What noising the graph before explaining does to the predictions and explanations of targets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from core import checks
from core.datasets.dataset import Dataset
from core.errors import BadInput
from core.graph import PrivateGraph
from core.placement.explainer import explain
from core.placement.mechanisms import Gaussian, GraphRelease
from core.placement.result import Cell, DrawFigures, Explained, Operations, Placement
from core.progress import Progress, Stop, tracked
from core.scoring.scorer import Scorer
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.study.study import Study

MOST_DRAWS = 1000


def noised(
    graph: PrivateGraph, release: GraphRelease, epsilon: float, seed: int, draw: int
) -> tuple[PrivateGraph, Snapshot]:
    """Noised graph number `draw` of a seeded series, and its edges in a seeded order.

    A simulation: reproducible, so never a release. Raises `BadInput` as `GraphRelease.release` does.
    """
    rng = np.random.default_rng([checks.count(seed, "seed", 0, 2**63 - 1), draw])
    result = release.release(graph, epsilon, rng)
    return result, Snapshot(rng.permutation(result.edges), graph.n, simulated=False)


def diagnose(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    epsilon: float,
    release: GraphRelease | None = None,
    *,
    draws: int = 5,
    seed: int = 0,
    operations: Operations = Operations.NOISED,
    rho: float = 0.5,
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Placement:
    """Noise the graph `draws` times, explain every target on each, and hold the result against G.

    PrivCFS, section 3.2. `targets`: rows. `epsilon`: edge level, for both placements. `release`:
    Gaussian unless given. `rho`: snapshot strength for explanation-level placement and, with
    `Operations.PUBLIC`, for the explainer on the noised graph. Raises `BadInput` for an argument out of
    range and `Cancelled` on request.
    """
    settings, release = settings or Settings(), release or Gaussian()
    budget, rho = checks.epsilon(epsilon), checks.rho(rho)
    checks.count(draws, "noise draws", 1, MOST_DRAWS)
    graph = study.dataset.graph
    rows = [checks.count(int(target), "target row", 0, graph.n - 1) for target in targets]
    if not rows:
        raise BadInput("placement: found no target, expected at least one")

    cells: list[Cell] = []
    figures: list[DrawFigures] = []
    explained: list[Explained] = []
    for draw, target in tracked(list(itertools.product(range(draws), rows)), progress, cancelled):
        if draw == 0:
            metrics = study.inspect(target, rho, budget, settings).metrics
            explained.append(Explained(target, metrics.valid, metrics.ceiling, metrics.empty))
        if draw == len(figures):
            noised_graph, released = noised(graph, release, budget, seed, draw)
            scorer = study.scorer.on(noised_graph)
            kept = int(graph.contains(noised_graph.edges).sum())
            figures.append(DrawFigures(noised_graph.m, kept, _accuracy(study.dataset, scorer)))
            snapshot = released if operations is Operations.NOISED else study.snapshot.prefix(rho)
        intervention = explain(scorer, snapshot, target, settings)
        cells.append(
            Cell(
                target=target,
                draw=draw,
                prediction=int(study.scorer.clean[target].argmax()),
                noised_prediction=int(scorer.clean[target].argmax()),
                noised_degree=int(noised_graph.degree[target]),
                intervention=intervention,
                after=None if intervention is None else intervention.predicted_on(study.scorer),
            )
        )
    return Placement(
        release=release,
        epsilon=budget,
        operations=operations,
        rho=rho,
        seed=seed,
        m=graph.m,
        targets=np.array(rows, dtype=np.int64),
        cells=tuple(cells),
        draws=tuple(figures),
        explained=tuple(explained),
        clean_accuracy=_accuracy(study.dataset, study.scorer),
    )


def _accuracy(dataset: Dataset, scorer: Scorer) -> float | None:
    rows = dataset.split.test[dataset.labels[dataset.split.test] >= 0]
    if not len(rows):
        return None
    return float((scorer.clean[rows].argmax(axis=1) == dataset.labels[rows]).mean())
