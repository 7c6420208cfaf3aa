"""Small studies with a real snapshot, and ledgers to release from."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from core.backbone.train import Backbone
from core.datasets.dataset import Dataset, Split
from core.desk.ledger import Ledger
from core.graph import PrivateGraph
from core.prior.prior import PriorKind, PriorRule
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Limits
from tests.core.smallgraphs import Case, make_case

ROWS = np.empty(0, dtype=np.int64)
SMALL = Settings(limits=Limits(4, 3, 2, 2))
GUIDED = replace(SMALL, prior=PriorRule(PriorKind.GUIDED))


def study_of(case: Case, graph: PrivateGraph | None = None, simulated: bool = False) -> Study:
    """The study of a small graph, or of another one over the same public objects."""
    graph = graph or case.graph
    dataset = Dataset(
        "small", "Small", graph, np.zeros(graph.n, dtype=np.int64), Split(ROWS, ROWS, ROWS), "made here",
        snapshot=None if simulated else case.snapshot,
    )  # fmt: skip
    return Study(dataset, Backbone(case.weights, 0.9, 0.5))


def small_study(seed: int = 3, simulated: bool = False) -> Study:
    return study_of(make_case(seed), simulated=simulated)


def new_ledger(folder: Path, budget: str = "10", *accounts: str) -> Ledger:
    ledger = Ledger.create(str(folder / "ledger.db"))
    for name in accounts or ("small",):
        ledger.open_account(name, "small", Fraction(budget))
    return ledger
