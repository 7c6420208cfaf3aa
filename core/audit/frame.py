"""Releases of this project as functions of the private graph and a generator, everything public fixed before.

PrivCFS draws through OpenDP, whose randomness can't be seeded; the baselines and the graph-level mechanisms are
the simulations that this project compares.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core import checks
from core.audit.claims import as_networkx
from core.audit.identity import digest
from core.backbone.gcn import GCNWeights
from core.backbone.module import FrozenModule
from core.graph import Nodes, PrivateGraph
from core.placement.mechanisms import GraphRelease
from core.release.distribution import ReleaseDistribution, release_distribution
from core.release.sampler import draw
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Universe, build_universe

if TYPE_CHECKING:
    import networkx as nx

    from core.baselines.method import Method
    from core.baselines.privcf_out import PrivCFOut

KEPT = 4  # graphs whose scores are kept


@dataclass(frozen=True)
class Released:
    """An intervention as it was released: `pairs`, node rows, smaller first; `features`, dimensions."""

    pairs: frozenset[tuple[int, int]]
    features: frozenset[int]


class Frame:
    """What is public around a release of one explanation, and the scores of the graphs that it was asked about.

    `target`: row. `rho`: share of the snapshot that is public; the snapshot is the study's, also where that
    one was simulated from its private edges: an audit holds it fixed. Owner-only.
    """

    def __init__(self, study: Study, target: int, rho: float, settings: Settings | None = None) -> None:
        self.target = checks.count(target, "target", 0, study.dataset.nodes.n - 1)
        self.rho = checks.rho(rho)
        self.settings = settings or Settings()
        self._dataset, self._backbone, self._snapshot = study.dataset, study.backbone, study.snapshot
        self._studies: dict[str, Study] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_studies": {}}

    @property
    def nodes(self) -> Nodes:
        """The node table: public."""
        return self._dataset.nodes

    @property
    def weights(self) -> GCNWeights | FrozenModule:
        """The frozen backbone: public."""
        return self._backbone.weights

    @property
    def snapshot(self) -> Snapshot:
        """The pairs that are public."""
        return self._snapshot.prefix(self.rho)

    @property
    def universe(self) -> Universe:
        """Candidates of the target: public."""
        return build_universe(
            self.nodes, self.snapshot, self.weights, self.target, self.settings.limits, self.settings.arm
        )

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the frame."""
        parts = (self._dataset.nodes.digest, self._backbone.weights.digest, self._snapshot.digest)
        return digest(repr((*parts, self.target, self.rho, self.settings)))

    def under(self, settings: Settings) -> Frame:
        """The same frame under other settings; graphs are scored once for both."""
        other = copy.copy(self)
        other.settings = settings
        return other

    def study(self, graph: PrivateGraph) -> Study:
        """The same desk over another private graph on the same nodes."""
        if graph.digest not in self._studies:
            if len(self._studies) == KEPT:
                self._studies.clear()
            dataset = replace(self._dataset, graph=graph, snapshot=self._snapshot)
            self._studies[graph.digest] = Study(dataset, self._backbone)
        return self._studies[graph.digest]


@dataclass(frozen=True, eq=False)
class PrivCFSRelease:
    """One release of the frame's target by EM or PF, drawn by OpenDP from the exact distribution of the graph."""

    frame: Frame
    epsilon: float
    _kept: dict[str, ReleaseDistribution] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}

    @property
    def digest(self) -> str:
        """SHA-256 of frame and ε."""
        return digest(f"{self.frame.digest} {self.epsilon!r}")

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> Released:
        """Draw one; `rng` isn't used."""
        distribution = self.distribution(graph)
        pairs, features = distribution.universe.members(*draw(distribution))
        return released(pairs, features)

    def distribution(self, graph: PrivateGraph) -> ReleaseDistribution:
        """What a draw is from, kept by the graph's digest."""
        if graph.digest not in self._kept:
            if len(self._kept) == KEPT:
                self._kept.clear()
            frame = self.frame
            study = frame.study(graph)
            scores, utility, prior = study.evaluated(frame.target, frame.rho, self.epsilon, frame.settings)
            self._kept[graph.digest] = release_distribution(
                scores.universe, utility, prior, self.epsilon, frame.settings.mechanism
            )
        return self._kept[graph.digest]


@dataclass(frozen=True, eq=False)
class MethodRelease:
    """One draw of a baseline at explanation level for the frame's target."""

    frame: Frame
    method: Method
    epsilon: float

    @property
    def digest(self) -> str:
        """SHA-256 of frame, method and ε."""
        return digest(f"{self.frame.digest} {self.method!r} {self.epsilon!r}")

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> Released:
        frame = self.frame
        found = self.method.session(frame.study(graph), self.epsilon, frame.rho, frame.settings, rng)(frame.target)
        return released(found.pairs, found.features)


@dataclass(frozen=True, eq=False)
class PrivCFOutRelease:
    """PrivCF-out for the frame's target: its optimised logits, kept by the graph's digest, and fresh noise a draw."""

    frame: Frame
    method: PrivCFOut
    epsilon: float
    _kept: dict[str, tuple[np.ndarray, Universe]] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}

    @property
    def digest(self) -> str:
        """SHA-256 of frame, method and ε."""
        return digest(f"{self.frame.digest} {self.method!r} {self.epsilon!r}")

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> Released:
        from core.baselines.selection import select

        logits, universe = self.logits(graph)
        return released(*select(logits + self.method.sigma(self.epsilon) * rng.standard_normal(len(logits)), universe))

    def logits(self, graph: PrivateGraph) -> tuple[np.ndarray, Universe]:
        """What the noise is added to, the same for each draw."""
        from core.baselines.cfgnn import public_universe
        from core.baselines.field import gcn_of
        from core.baselines.privcf_out import mask_logits

        if graph.digest not in self._kept:
            if len(self._kept) == KEPT:
                self._kept.clear()
            frame, study = self.frame, self.frame.study(graph)
            universe = public_universe(study, frame.rho, frame.settings, frame.target)
            scorer = gcn_of(study, self.method.name)
            self._kept[graph.digest] = mask_logits(scorer, universe, self.method.descent), universe
        return self._kept[graph.digest]


@dataclass(frozen=True)
class NoisedGraph:
    """A graph-level release: the noised graph on row numbers."""

    mechanism: GraphRelease
    epsilon: float

    def __call__(self, graph: PrivateGraph, rng: np.random.Generator) -> nx.Graph:
        return as_networkx(self.mechanism.release(graph, self.epsilon, rng))


def released(pairs: np.ndarray, features: np.ndarray) -> Released:
    """An intervention from its arrays (r x 2 and s)."""
    ends = [(int(u), int(v)) for u, v in np.sort(np.asarray(pairs).reshape(-1, 2), axis=1)]
    return Released(frozenset(ends), frozenset(int(dim) for dim in features))
