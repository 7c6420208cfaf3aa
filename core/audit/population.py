"""Exact audit over a population: what the releases of many neighbouring graphs give away at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core import checks
from core.audit.exact import Comparison, attack_roc, compare, ratio_bound
from core.audit.neighbours import score_neighbour
from core.audit.pairs import AuditPair, PairKind
from core.backbone.module import FrozenModule
from core.errors import BadInput
from core.graph import PrivateGraph
from core.prior.prior import Prior, PriorKind, uniform
from core.progress import Progress, Stop, tracked
from core.release.distribution import ReleaseDistribution, release_distribution
from core.scoring.scores import Scores
from core.study.settings import Settings
from core.study.study import Study
from core.universe import build_universe
from core.utility import evaluate

ROUNDING = 1e-9
GCN_LAYERS = 2

Release = Callable[[int, tuple[int, int] | None], ReleaseDistribution]


@dataclass(frozen=True)
class PairRecord:
    """One audited pair: what was asked, and what the two releases give away (edge level; owner-only)."""

    asked: AuditPair
    found: Comparison


@dataclass(frozen=True)
class Summary:
    """Figures over some pairs, NaN or 0 where there is none.

    `max_delta_u`: largest change of any utility, in [0, 1]. `max_ratio`: largest `P/P'` either way.
    `identical`: share of pairs with equal distributions. `auc_mean`, `auc_worst`: of the likelihood-ratio
    attack. `advantage_worst`: largest total variation distance.
    """

    pairs: int
    same_supports: bool
    max_delta_u: float
    max_ratio: float
    identical: float
    auc_mean: float
    auc_worst: float
    advantage_worst: float


@dataclass(frozen=True)
class PopulationAudit:
    """All pairs of one exact audit (PrivCFS, section 4.4 and appendix E; edge level, owner-only).

    `sensitivity`: the claimed Δu in [0, 1]. `epsilon`: pure ε of one release. `simulated`: the snapshot was
    drawn from the private edges; both graphs of a pair are given the same one all the same.
    """

    rho: float
    epsilon: float
    settings: Settings
    simulated: bool
    sensitivity: float
    records: tuple[PairRecord, ...]

    @property
    def ratio_bound(self) -> float:
        """`e^ε`."""
        return ratio_bound(self.epsilon)

    def of(self, kind: PairKind | None = None, edge: bool | None = None) -> tuple[PairRecord, ...]:
        """The records of one kind, of edges or of absent pairs; all unless said."""
        return tuple(
            record
            for record in self.records
            if (kind is None or record.asked.kind is kind) and (edge is None or record.asked.edge == edge)
        )

    def summary(self, kind: PairKind | None = None, edge: bool | None = None) -> Summary:
        """Figures over those records."""
        found = [record.found for record in self.of(kind, edge)]
        if not found:
            return Summary(0, True, *[float("nan")] * 6)
        return Summary(
            pairs=len(found),
            same_supports=all(pair.same_support for pair in found),
            max_delta_u=max(pair.delta_u for pair in found),
            max_ratio=max(pair.ratio for pair in found),
            identical=float(np.mean([pair.identical for pair in found])),
            auc_mean=float(np.mean([pair.auc for pair in found])),
            auc_worst=max(pair.auc for pair in found),
            advantage_worst=max(pair.advantage for pair in found),
        )

    @property
    def worst(self) -> PairRecord:
        """The pair that gives away most: by ratio, then by the attack's AUC."""
        return max(self.records, key=lambda record: (record.found.ratio, record.found.auc))

    @property
    def violations(self) -> tuple[PairRecord, ...]:
        """Pairs with different supports, a utility that moves by more than Δu, or a ratio above `e^ε`."""
        return tuple(
            record
            for record in self.records
            if not record.found.same_support
            or record.found.delta_u > self.sensitivity + ROUNDING
            or record.found.ratio > self.ratio_bound * (1 + ROUNDING)
        )

    @property
    def passed(self) -> bool:
        """Whether no pair violates the guarantee; that proves nothing about pairs that were not asked about."""
        return not self.violations


@dataclass(frozen=True, eq=False)
class OpenedPair:
    """One audited pair as its two graphs, the private one first, and their release distributions."""

    graphs: tuple[PrivateGraph, PrivateGraph]
    releases: tuple[ReleaseDistribution, ReleaseDistribution]

    def roc(self) -> tuple[np.ndarray, np.ndarray]:
        """False and true positive rates of the best attack that tells the first graph from the second."""
        p, q = (release.probability.ravel() for release in self.releases)
        return attack_roc(p, q)


class NeighbourReleases:
    """The project's own release at one (rho, ε), on the private graph of a study and on its neighbours.

    Universe and prior are public, so both graphs of a pair share them; those of the last target are kept.
    """

    def __init__(self, study: Study, rho: float, epsilon: float, settings: Settings | None = None) -> None:
        self.study = study
        self.rho = checks.rho(rho)
        self.epsilon = checks.epsilon(epsilon)
        self.settings = settings or Settings()
        self._kept: tuple[Scores, Prior] | None = None

    def __call__(self, target: int, toggled: tuple[int, int] | None) -> ReleaseDistribution:
        """Release distribution of `target` (row), on the neighbour that differs in `toggled` if one is named."""
        scores, prior = self._own(target)
        universe, utility = scores.universe, self.settings.utility
        if toggled is not None:
            scores = score_neighbour(self.study.scorer, universe, toggled, utility.soft)
        worth = evaluate(scores, utility)
        return release_distribution(universe, worth, prior, self.epsilon, self.settings.mechanism)

    def _own(self, target: int) -> tuple[Scores, Prior]:
        if self._kept is None or self._kept[0].universe.target != target:
            # Not sliced from a larger universe: the graphs of a pair are compared to the last bit.
            study, settings, rule = self.study, self.settings, self.settings.prior
            public, weights = study.disclosed(self.rho), study.backbone.weights
            universe = build_universe(study.dataset.nodes, public, weights, target, settings.limits, settings.arm)
            if rule.kind is PriorKind.GUIDED:
                guide = study.guide(target, self.rho, settings)
                prior = guide.prior(self.epsilon, settings.utility, rule.size_penalty)
            else:
                prior = uniform(universe, rule.size_penalty)
            self._kept = study.scorer.score(universe, settings.utility.soft), prior
        return self._kept


def audit_population(
    study: Study,
    pairs: Sequence[AuditPair],
    rho: float,
    epsilon: float,
    settings: Settings | None = None,
    release: Release | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> PopulationAudit:
    """Compare the releases of each pair's two graphs from their exact distributions (owner-only).

    `pairs`: best target by target, of `pairs.population_pairs` or `target_pairs`. `release`: what is audited,
    the project's own unless given. Nothing is drawn and no budget is spent. Raises `BadInput`, and
    `Cancelled` on request.
    """
    if not pairs:
        raise BadInput("audit: found no pair, expected at least one")
    settings = settings or Settings()
    release = release or NeighbourReleases(study, rho, epsilon, settings)
    records = []
    sensitivity = 0.0
    own: tuple[int, ReleaseDistribution] | None = None
    for asked in tracked(pairs, progress, cancelled):
        if own is None or own[0] != asked.target:
            own = asked.target, release(asked.target, None)
            worth = own[1].utility
            sensitivity = max(sensitivity, worth.sensitivity / worth.denominator)
        records.append(PairRecord(asked, compare(own[1], release(asked.target, asked.pair))))
    return PopulationAudit(rho, epsilon, settings, study.snapshot.simulated, sensitivity, tuple(records))


def opened(study: Study, asked: AuditPair, rho: float, epsilon: float, settings: Settings | None = None) -> OpenedPair:
    """Both graphs of one pair with their releases, to look at (owner-only). Raises `BadInput`."""
    release = NeighbourReleases(study, rho, epsilon, settings)
    graph = study.dataset.graph
    return OpenedPair(
        (graph, graph.toggled(*asked.pair)), (release(asked.target, None), release(asked.target, asked.pair))
    )


def layers_of(study: Study) -> int:
    """How many steps a node's logits look, under the backbone of a study."""
    weights = study.backbone.weights
    return weights.layers if isinstance(weights, FrozenModule) else GCN_LAYERS
