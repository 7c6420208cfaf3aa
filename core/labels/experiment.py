"""How often labels come out, and how good they are, over p_s, m, ε and δ: simulated, owner-only."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np

from core import checks
from core.datasets.dataset import Dataset
from core.labels.classifier import Classifier
from core.labels.plan import Cap, Plan
from core.labels.stability import Tally, node_rows, release_probability, tally
from core.labels.subsample import seeded_words
from core.progress import Progress, Stop, tracked


@dataclass(frozen=True)
class Cell:
    """One plan over several seeded draws of its subgraphs; all rates are means over them, between 0 and 1.

    `delta_total`: what a release is private with; above `delta` the plan's claim doesn't hold. `released`: chance of
    labels over subgraphs and noise; `halted`, `unstable`: what ⊥ is due to, and the three sum to 1.
    `stability`: mean d̂, `threshold` what it needs. `agreement`: c1/m. `accuracy`: of the most frequent vector,
    released or not; `accuracy_released`: of what comes out, NaN where nothing does; `accuracy_subgraph`: of one
    subgraph's labels. `edges_max_count`: most subgraphs that one edge sat in, mean over draws; `cap`: the most allowed.
    """

    p_s: float
    m: int
    epsilon: float
    delta: float
    cap: int
    delta_total: float
    threshold: float
    stability: float
    agreement: float
    released: float
    halted: float
    unstable: float
    accuracy: float
    accuracy_released: float
    accuracy_subgraph: float
    edges_max_count: float

    @property
    def bottom(self) -> float:
        """The ⊥-rate."""
        return 1 - self.released


def sweep(
    dataset: Dataset,
    classifier: Classifier,
    p_s: Sequence[Fraction],
    m: Sequence[int],
    epsilon: Sequence[Fraction],
    delta: Sequence[Fraction],
    *,
    rule: Cap = Cap.PAPER,
    rows: np.ndarray | None = None,
    draws: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[Cell]:
    """A cell for each combination, in the order of the arguments, the last one fastest.

    The subgraphs of one (p_s, m) serve all ε and δ, and noise is summed exactly, not drawn. Rows without a label
    don't count for accuracy. Raises `BadInput`, and `Cancelled` on request.
    """
    checks.count(draws, "draws", 1, 1000)
    wanted = node_rows(rows, dataset.graph.n)
    cells = []
    for p, size in tracked(list(itertools.product(p_s, m)), progress, cancelled):
        plans = [Plan(p, size, e, d, rule) for e, d in itertools.product(epsilon, delta)]
        rngs = np.random.SeedSequence([seed, size, *p.as_integer_ratio()]).spawn(draws)
        tallies = [
            tally(dataset.graph, classifier, plans[0], seeded_words(np.random.default_rng(one)), wanted)
            for one in rngs
        ]  # fmt: skip
        cells += [_cell(plan, tallies, dataset.labels[wanted]) for plan in plans]
    return cells


def accuracy(labels: np.ndarray, truth: np.ndarray) -> float:
    """Share of labelled rows that `labels` gets right, NaN without one."""
    known = truth >= 0
    return float((labels[known] == truth[known]).mean()) if known.any() else float("nan")


def table(cells: Sequence[Cell]) -> str:
    """The cells as CSV, below a line that says whose they are."""
    names = [field.name for field in fields(Cell)]
    stream = io.StringIO()
    stream.write("# owner-only: simulated from private edges; nothing was released and no budget was spent\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([[repr(getattr(cell, name)) for name in names] for cell in cells])
    return stream.getvalue()


def _cell(plan: Plan, tallies: Sequence[Tally], truth: np.ndarray) -> Cell:
    halted = np.array([one.most > plan.cap for one in tallies])
    difference = [one.votes.difference for one in tallies]
    out = np.array([release_probability(plan, d, bool(h)) for d, h in zip(difference, halted, strict=True)])
    right = np.array([accuracy(one.votes.labels, truth) for one in tallies])
    known = truth >= 0
    single = [one.frequency[np.flatnonzero(known), truth[known]].mean() if known.any() else np.nan for one in tallies]
    return Cell(
        p_s=float(plan.p_s),
        m=plan.m,
        epsilon=float(plan.epsilon),
        delta=float(plan.delta),
        cap=plan.cap,
        delta_total=plan.delta_total,
        threshold=plan.threshold,
        stability=float(np.mean([plan.stability(d) for d in difference])),
        agreement=float(np.mean([one.votes.first for one in tallies])) / plan.m,
        released=float(out.mean()),
        halted=float(halted.mean()),
        unstable=float(1 - halted.mean() - out.mean()),
        accuracy=float(right.mean()),
        accuracy_released=float((right * out).sum() / out.sum()) if out.sum() > 1e-12 else float("nan"),
        accuracy_subgraph=float(np.mean(single)),
        edges_max_count=float(np.mean([one.most for one in tallies])),
    )
