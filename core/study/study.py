"""The owner's desk for one data set: everything a question about a target needs, scored once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from core import checks
from core.backbone.gcn import softmax
from core.backbone.module import ModuleBackbone
from core.backbone.store import backbone_for
from core.backbone.train import Backbone
from core.datasets.dataset import Dataset
from core.metrics import levels, measure
from core.prior.guided import Guide
from core.prior.prior import Prior, PriorKind, uniform
from core.prior.scenarios import PublicModel, SnapshotModel, public_model
from core.progress import Progress, Stop
from core.release.cells import Cells, gather
from core.release.distribution import release_distribution
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.scorer import Scorer, scorer_of
from core.scoring.scores import Scores
from core.snapshot import Snapshot, simulate
from core.study.inspection import Inspection
from core.study.settings import Settings
from core.universe import Arm, Limits, Universe, build_universe
from core.utility import Utility, evaluate
from core.wording import backbone_notes

CACHED_TARGETS = 128
CACHED_MODELS = 8
MODEL_NODES = 2_000_000  # of all cached models together: about a GiB
LARGE = 200_000  # nodes

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Study:
    """One private graph, one frozen backbone and one snapshot order; owner-side throughout.

    A target is scored once, on the universe of the whole snapshot; a smaller rho is a slice of it. In the
    two-hop arms a smaller rho isn't, so there a target is scored once for each rho.
    `seed` draws the simulated snapshot; it has no effect where the owner supplied a real one.
    """

    def __init__(
        self,
        dataset: Dataset,
        backbone: Backbone | ModuleBackbone | None = None,
        seed: int = 0,
        scorer: Scorer | None = None,
    ) -> None:
        self.dataset = dataset
        self.backbone: Backbone | ModuleBackbone = backbone or backbone_for(dataset)
        self.seed = seed
        self.scorer = scorer or scorer_of(dataset.graph, self.backbone.weights)
        self.snapshot: Snapshot = dataset.snapshot or simulate(dataset.graph, seed)
        self._scores: OrderedDict[tuple[int, int | None, Limits, Arm, bool], Scores] = OrderedDict()
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()
        self._models: OrderedDict[float, PublicModel | SnapshotModel] = OrderedDict()
        self._guides: OrderedDict[tuple[int, float, Limits, Arm], Guide] = OrderedDict()
        self._lock = threading.Lock()

    def with_seed(self, seed: int) -> Study:
        """The same graph and backbone under another simulated snapshot."""
        return Study(self.dataset, self.backbone, seed, self.scorer)

    @property
    def probabilities(self) -> np.ndarray:
        """Class probabilities of every node on the private graph, N x C."""
        return softmax(self.scorer.clean)

    @property
    def margins(self) -> np.ndarray:
        """Top-two probability margin of every node, `mu(v)`, N: private."""
        ordered = np.sort(self.probabilities, axis=1)
        return ordered[:, -1] - (ordered[:, -2] if ordered.shape[1] > 1 else 0.0)

    @cached_property
    def _ties_before(self) -> np.ndarray:
        """How many of the first k snapshot pairs are private edges, for k = 0, 1, ..., m."""
        if self.snapshot.simulated:
            return np.arange(len(self.snapshot) + 1)
        return np.r_[0, np.cumsum(self.dataset.graph.contains(self.snapshot.pairs))]

    def disclosed(self, rho: float) -> Snapshot:
        """The snapshot as far as it is public at strength `rho`; raises `BadInput` for a bad rho."""
        stop = self.snapshot.stop(rho)
        return self._remembered(self._snapshots, stop, lambda: self.snapshot.prefix(rho), CACHED_MODELS)

    def pairs_at(self, target: int, rho: float) -> int:
        """How many snapshot pairs at `target` are public at strength `rho`."""
        return int(np.searchsorted(self.snapshot.incident(target), self.snapshot.stop(rho)))

    @property
    def notes(self) -> list[str]:
        """What the owner must know of the backbone before she explains it, a line each."""
        notes = backbone_notes(self.backbone.accuracy, self.backbone.majority, self.dataset.structural)
        inexact = self.backbone.weights.note if isinstance(self.backbone, ModuleBackbone) else None
        return [*notes, inexact] if inexact else notes

    @property
    def foreign(self) -> bool:
        """Whether the backbone is another one than the two-layer GCN, scored by forward passes."""
        return isinstance(self.scorer, BlackBoxScorer)

    @property
    def slow(self) -> bool:
        """Whether a new target or rho may take seconds: forward passes, or what is public of a very large graph."""
        return self.foreign or self.dataset.nodes.n > LARGE

    def ready(self, target: int, rho: float, settings: Settings | None = None) -> bool:
        """Whether `inspect` has nothing left to score for this target and rho."""
        settings = settings or Settings()
        with self._lock:
            scored = self._scores_key(target, rho, settings) in self._scores
            return scored and _guide_key(target, rho, settings) in self._guides

    def prepare(
        self,
        target: int,
        rho: float,
        settings: Settings | None = None,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> None:
        """Score a target and the public's guess at it, so that `inspect` is quick: for a thread where `slow`.

        Raises `BadInput`, and `Cancelled` on request.
        """
        self.scores(target, rho, settings, progress, cancelled)
        self.guide(target, rho, settings, progress, cancelled)

    def scores(
        self,
        target: int,
        rho: float,
        settings: Settings | None = None,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> Scores:
        """Scores of the universe of `target` at strength `rho`; raises `BadInput` for a bad row or rho.

        A foreign module's forward passes are counted by `progress` and stopped by `cancelled` (`Cancelled`).
        """
        settings = settings or Settings()
        two_hop = settings.arm.two_hop

        def score() -> Scores:
            universe = self._universe(target, rho if two_hop else 1.0, settings)
            if isinstance(self.scorer, BlackBoxScorer):
                return self.scorer.score(universe, settings.utility.soft, progress, cancelled)
            return self.scorer.score(universe, margins=settings.utility.soft)

        found = self._remembered(self._scores, self._scores_key(target, rho, settings), score, CACHED_TARGETS)
        return found if two_hop else found.with_pairs(self.pairs_at(target, rho))

    def guide(
        self,
        target: int,
        rho: float,
        settings: Settings | None = None,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> Guide:
        """The guided priors of `target` at strength `rho`, from nodes, weights and the disclosed pairs alone.

        `progress`, `cancelled`: as in `scores`.
        """
        settings = settings or Settings()
        rho = checks.rho(rho)

        def model() -> PublicModel | SnapshotModel:
            return public_model(self.dataset.nodes, self.disclosed(rho), self.backbone.weights, rho)

        def ask() -> Guide:
            most = max(1, min(CACHED_MODELS, MODEL_NODES // self.dataset.nodes.n))
            known = self._remembered(self._models, rho, model, most)
            universe = self._universe(target, rho, settings)
            if isinstance(known, SnapshotModel):
                return Guide(universe, known.scenarios(universe, progress, cancelled))
            return Guide(universe, known.scenarios(universe))

        return self._remembered(self._guides, _guide_key(target, rho, settings), ask, CACHED_TARGETS)

    def prior(self, target: int, rho: float, epsilon: float, settings: Settings | None = None) -> Prior:
        """The public base measure that `settings` asks for, at ε (0: the public guess itself where guided)."""
        settings = settings or Settings()
        rule = settings.prior
        if rule.kind is PriorKind.GUIDED:
            return self.guide(target, rho, settings).prior(epsilon, settings.utility, rule.size_penalty)
        return uniform(self.scores(target, rho, settings).universe, rule.size_penalty)

    def evaluated(
        self, target: int, rho: float, epsilon: float, settings: Settings | None = None
    ) -> tuple[Scores, Utility, Prior]:
        """Scores, grid utility and prior of one target: what a distribution is made of."""
        settings = settings or Settings()
        scores = self.scores(target, rho, settings)
        return scores, evaluate(scores, settings.utility), self.prior(target, rho, epsilon, settings)

    def cells(self, target: int, rho: float, epsilon: float, settings: Settings | None = None) -> Cells:
        """The candidates of one target gathered into cells; under the uniform prior they serve every ε."""
        return gather(*self.evaluated(target, rho, epsilon, settings))

    def inspect(self, target: int, rho: float, epsilon: float, settings: Settings | None = None) -> Inspection:
        """The exact release distribution of one target and its figures: a preview, nothing is drawn.

        `target`: row. `rho`: snapshot strength. `epsilon`: pure ε, edge level. Raises `BadInput`.
        """
        settings = settings or Settings()
        scores, utility, prior = self.evaluated(target, rho, epsilon, settings)
        distribution = release_distribution(scores.universe, utility, prior, epsilon, settings.mechanism)
        public = self.guide(target, rho, settings).prior(0.0, settings.utility)
        return Inspection(
            dataset=self.dataset,
            rho=rho,
            settings=settings,
            scores=scores,
            distribution=distribution,
            metrics=measure(distribution, scores),
            prior_alone=measure(replace(distribution, probability=prior.mass), scores),
            public_only=measure(replace(distribution, prior=public, probability=public.mass), scores),
            levels=tuple(levels(distribution, scores)),
            simulated=self.snapshot.simulated,
            disclosed=self.snapshot.stop(rho),
            disclosed_ties=int(self._ties_before[self.snapshot.stop(rho)]),
        )

    def _universe(self, target: int, rho: float, settings: Settings) -> Universe:
        public = self.disclosed(rho)
        return build_universe(self.dataset.nodes, public, self.backbone.weights, target, settings.limits, settings.arm)

    def _scores_key(self, target: int, rho: float, settings: Settings) -> tuple[int, int | None, Limits, Arm, bool]:
        stop = self.snapshot.stop(rho) if settings.arm.two_hop else None
        return target, stop, settings.limits, settings.arm, settings.utility.soft

    def _remembered(self, cache: OrderedDict[Key, Value], key: Key, make: Callable[[], Value], most: int) -> Value:
        """The value under `key`, made when it isn't there; the least recently used ones are dropped."""
        with self._lock:
            if key in cache:
                cache.move_to_end(key)
                return cache[key]
        value = make()
        with self._lock:
            cache[key] = value
            while len(cache) > most:
                cache.popitem(last=False)
        return value


def _guide_key(target: int, rho: float, settings: Settings) -> tuple[int, float, Limits, Arm]:
    return target, rho, settings.limits, settings.arm
