"""Studies of small handmade graphs, for audits that are checked against their definition."""

from __future__ import annotations

import numpy as np

from core.backbone.train import Backbone
from core.datasets.dataset import Dataset, Split
from core.study.study import Study
from tests.core.smallgraphs import Case


def make_study(case: Case, real: bool = True) -> Study:
    """The owner's desk of a case, with the case's own snapshot or (`real=False`) a simulated one."""
    none = np.empty(0, dtype=np.int64)
    dataset = Dataset(
        name="small",
        title="A small graph",
        graph=case.graph,
        labels=np.zeros(case.graph.n, dtype=np.int64),
        split=Split(none, none, none),
        source="made for a test",
        snapshot=case.snapshot if real else None,
    )
    return Study(dataset, Backbone(case.weights, float("nan"), float("nan")))
