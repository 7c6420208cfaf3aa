"""The figures of a population at all cells of one arm and seed, as far as they are known."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from core.prior.prior import PriorKind
from core.release.tally import FIGURES
from core.study.plan import Figures, Plan, Task
from core.study.pricestore import PriceStore
from core.study.pricing import streams
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm

T = TypeVar("T")
STREAMED = 128  # targets of a task where they are scored together; else each is a task
VERSION = 1  # of the figures; raised when their meaning changes, so that kept ones are not taken for them


class Sheet:
    """NaN stands where a figure is still to be worked out; private, since every figure reads private edges.

    `figures`: T x 7 x n_rho x priors x n_eps. `public`: T x n_rho, the guided prior alone (ε = 0).
    """

    def __init__(self, study: Study, plan: Plan, arm: Arm, seed: int, targets: np.ndarray) -> None:
        self.seed = seed
        self._plan, self._targets = plan, targets
        rule = plan.settings.prior
        self._settings = [replace(plan.settings, arm=arm, prior=replace(rule, kind=kind)) for kind in plan.priors]
        self._plain = replace(plan.settings, arm=arm, prior=replace(rule, kind=PriorKind.GUIDED, size_penalty=0.0))
        shape = (len(targets), len(FIGURES), len(plan.rhos), len(plan.priors), len(plan.epsilons))
        self.figures = np.full(shape, np.nan)
        self.public = np.full((len(targets), len(plan.rhos)), np.nan)
        self._graph = (study.dataset.digest, study.backbone.weights.digest, study.snapshot.simulated and seed)
        together = not plan.public_only and all(streams(study, settings) for settings in self._settings)
        self._together = STREAMED if together else 1

    def fill(self, store: PriceStore) -> None:
        """Take over what `store` has."""
        cells = (range(len(values)) for values in (self._plan.rhos, self._settings, self._plan.epsilons))
        for i, k, j in itertools.product(*cells):
            cell = self._cell(self._settings[k], self._plan.rhos[i], self._plan.epsilons[j])
            for place, found in self._found(store, cell):
                self.figures[place, :, i, k, j] = found
        for i, rho in enumerate(self._plan.rhos if self._plan.public_only else ()):
            for place, found in self._found(store, self._cell(self._plain, rho, 0.0)):
                self.public[place, i] = found[0]

    def tasks(self) -> Iterator[Task]:
        """What is missing: for targets that miss the same cells, the smallest product of cells around these."""
        missing = np.isnan(self.figures[:, 0])
        public = np.isnan(self.public) & self._plan.public_only
        both = np.concatenate([missing.reshape(len(missing), -1), public], axis=1)
        keys, member = np.unique(both, axis=0, return_inverse=True)
        for kind in np.flatnonzero(keys.any(axis=1)):
            places = np.flatnonzero(member.ravel() == kind)
            cells, alone = missing[places[0]], public[places[0]]
            for start in range(0, len(places), self._together):
                some = places[start : start + self._together]
                yield Task(
                    self.seed,
                    some,
                    self._targets[some],
                    _chosen(self._plan.rhos, cells.any(axis=(1, 2))),
                    _chosen(self._plan.epsilons, cells.any(axis=(0, 1))),
                    _chosen(tuple(self._settings), cells.any(axis=(0, 2))),
                    _chosen(self._plan.rhos, alone),
                    self._plain,
                )

    def take(self, task: Task, found: Figures, store: PriceStore | None) -> None:
        """Enter what a task found, and keep it."""
        figures, public = found
        rhos, alone = (_places(some, self._plan.rhos) for some in (task.rhos, task.public))
        priors, epsilons = _places(task.settings, self._settings), _places(task.epsilons, self._plan.epsilons)
        self.figures[np.ix_(task.places, np.arange(len(FIGURES)), rhos, priors, epsilons)] = figures
        self.public[np.ix_(task.places, alone)] = public
        if store is not None:
            store.put(self._kept(task, rhos, priors, epsilons, alone))

    def _kept(
        self, task: Task, rhos: np.ndarray, priors: np.ndarray, epsilons: np.ndarray, alone: np.ndarray
    ) -> Iterator[tuple[str, int, np.ndarray]]:
        for i, k, j in itertools.product(rhos, priors, epsilons):
            cell = self._cell(self._settings[k], self._plan.rhos[i], self._plan.epsilons[j])
            yield from ((cell, self._targets[place], self.figures[place, :, i, k, j]) for place in task.places)
        for i in alone:
            cell = self._cell(self._plain, self._plan.rhos[i], 0.0)
            yield from ((cell, self._targets[place], self.public[place, i : i + 1]) for place in task.places)

    def _found(self, store: PriceStore, cell: str) -> Iterator[tuple[int, np.ndarray]]:
        kept = store.get(cell, self._targets)
        return ((place, kept[int(row)]) for place, row in enumerate(self._targets) if int(row) in kept)

    def _cell(self, settings: Settings, rho: float, epsilon: float) -> str:
        """Everything that the figures of a target depend on, in one digest; ε = 0 is the public alone."""
        return hashlib.sha256(repr((VERSION, self._graph, settings, rho, epsilon)).encode()).hexdigest()


def _places(values: Sequence[T], among: Sequence[T]) -> np.ndarray:
    return np.array([among.index(value) for value in values], dtype=np.int64)


def _chosen(values: tuple[T, ...], chosen: np.ndarray) -> tuple[T, ...]:
    return tuple(value for value, wanted in zip(values, chosen, strict=True) if wanted)
