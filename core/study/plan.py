"""What a frontier covers, and how it is cut into tasks that any process can work out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core import checks
from core.backbone.module import ModuleBackbone
from core.backbone.train import Backbone
from core.datasets.dataset import Dataset
from core.errors import BadInput
from core.prior.prior import PriorKind
from core.release.tally import FIGURES
from core.study.pricing import public_prices, target_prices
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm

RHOS = (0.3, 0.5, 0.7, 1.0)
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Plan:
    """What a frontier covers: every combination is a cell. Raises `BadInput` for what can't be priced.

    `seeds`: of the simulated snapshots; a real one counts once. `settings`: all that doesn't vary; its arm
    and prior are replaced. `public_only`: whether the guided prior alone stands beside each rho (slow).
    """

    rhos: tuple[float, ...] = RHOS
    epsilons: tuple[float, ...] = EPSILONS
    priors: tuple[PriorKind, ...] = (PriorKind.UNIFORM,)
    arms: tuple[Arm, ...] = (Arm.FULL,)
    seeds: tuple[int, ...] = (0, 1, 2)
    settings: Settings = field(default_factory=Settings)
    public_only: bool = True

    def __post_init__(self) -> None:
        checked: dict[str, list[Any]] = {
            "rhos": [checks.rho(value) for value in self.rhos],
            "epsilons": [checks.epsilon(value) for value in self.epsilons],
            "priors": list(self.priors),
            "arms": list(self.arms),
            "seeds": [checks.count(seed, "seed", 0, 2**31 - 1) for seed in self.seeds],
        }
        for name, values in checked.items():
            if not values:
                raise BadInput(f"price list: found no {name} to price, expected at least one")
            object.__setattr__(self, name, tuple(dict.fromkeys(values)))


@dataclass(frozen=True, eq=False)
class Task:
    """Some targets (T rows) at some cells of one arm and seed: a pure function of graph and backbone.

    `places`: of the targets in the population. `settings`: one for each prior. `public`: the rho at which
    the guided prior alone is asked for, under `public_settings`.
    """

    seed: int
    places: np.ndarray
    targets: np.ndarray
    rhos: tuple[float, ...]
    epsilons: tuple[float, ...]
    settings: tuple[Settings, ...]
    public: tuple[float, ...]
    public_settings: Settings


@dataclass(frozen=True, eq=False)
class Owned:
    """What every process needs of the owner's: private, sent to each once."""

    dataset: Dataset
    backbone: Backbone | ModuleBackbone


Figures = tuple[np.ndarray, np.ndarray]  # T x 7 x n_rho x priors x n_eps, and T x n_public
Run = Callable[[Owned, Sequence[Task]], Iterator[tuple[int, Figures]]]


def price(study: Study, task: Task) -> Figures:
    """Work a task out on a study of its seed."""
    streams = [target_prices(study, task.targets, task.rhos, task.epsilons, chosen) for chosen in task.settings]
    figures = np.empty((len(task.targets), len(FIGURES), len(task.rhos), len(streams), len(task.epsilons)))
    public = np.empty((len(task.targets), len(task.public)))
    for place, target in enumerate(task.targets):
        for k, stream in enumerate(streams):
            figures[place, :, :, k] = next(stream)
        public[place] = public_prices(study, int(target), task.public, task.public_settings)
    return figures, public


def price_here(study: Study, tasks: Sequence[Task]) -> Iterator[tuple[int, Figures]]:
    """Work tasks out in this process, in order, on one study a seed."""
    other = study
    for place, task in enumerate(tasks):
        if task.seed not in (study.seed, other.seed):
            other = study.with_seed(task.seed)
        yield place, price(study if task.seed == study.seed else other, task)


def price_elsewhere(owned: Owned, task: Task) -> Figures:
    """Work a task out in a process that was sent `owned`; its study is built there once for each seed."""
    return price(_study(owned, task.seed), task)


@functools.lru_cache(maxsize=2)
def _study(owned: Owned, seed: int) -> Study:
    return Study(owned.dataset, owned.backbone) if seed == 0 else _study(owned, 0).with_seed(seed)
