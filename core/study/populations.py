"""Which targets a study speaks of."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from core import checks
from core.errors import BadInput
from core.study.study import Study


class Population(StrEnum):
    """Targets among the test nodes (PrivCFS, section 4.1).

    `RANDOM`: 16 by a public draw. `STRATIFIED`: 4 from each quartile of the margin. `BORDERLINE`: the
    10 smallest margins. `ALL`: every node of the graph. `LISTED`: the owner's own list of targets.
    Margins read private edges: the stratified and borderline populations are diagnostics only.
    """

    RANDOM = "random"
    STRATIFIED = "stratified"
    BORDERLINE = "borderline"
    ALL = "all"
    LISTED = "listed"

    @classmethod
    def parse(cls, value: str) -> Population:
        """Return the population of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "population")

    @property
    def reads_margins(self) -> bool:
        """Whether the choice of targets itself depends on private edges."""
        return self in (Population.STRATIFIED, Population.BORDERLINE)


SIZES = {Population.RANDOM: 16, Population.STRATIFIED: 16, Population.BORDERLINE: 10}


def population(study: Study, kind: Population, size: int | None = None, seed: int = 0) -> np.ndarray:
    """Rows of the targets, int64, ascending.

    `size`: number of targets, 16, 16 and 10 unless given; fewer where there are fewer test nodes.
    `seed`: of the public draw. Raises `BadInput` when there is nothing to choose from.
    """
    if kind is Population.ALL:
        return np.arange(study.dataset.nodes.n)
    if kind is Population.LISTED:
        if study.dataset.targets is None or not len(study.dataset.targets):
            raise BadInput(f"population listed: data set {study.dataset.name} holds no list of targets")
        return study.dataset.targets
    test = study.dataset.split.test
    if not len(test):
        raise BadInput(f"population {kind.value}: data set {study.dataset.name} has no test nodes; use all")
    size = min(checks.count(size or SIZES[kind], "population size", 1, study.dataset.nodes.n), len(test))
    rng = np.random.default_rng(seed)
    if kind is Population.RANDOM:
        return np.sort(rng.choice(test, size=size, replace=False))
    ordered = test[np.argsort(study.margins[test], kind="stable")]
    if kind is Population.BORDERLINE:
        return np.sort(ordered[:size])
    quarters = np.array_split(ordered, 4)
    shares = [len(part) for part in np.array_split(np.arange(size), 4)]
    drawn = [rng.choice(q, size=min(k, len(q)), replace=False) for q, k in zip(quarters, shares, strict=True)]
    return np.sort(np.concatenate(drawn))
