"""The exhaustive check on small graphs: every neighbour of every graph, bound by bound."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.audit.exact import compare, ratio_bound
from core.backbone.gcn import GCNWeights
from core.graph import Nodes, PrivateGraph
from core.prior.guided import Guide
from core.prior.prior import Prior, PriorKind, uniform
from core.prior.scenarios import PublicModel
from core.release.distribution import ReleaseDistribution, release_distribution
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.universe import Limits, Universe, build_universe
from core.utility import evaluate

SMALL = Settings(limits=Limits(k_edges=5, k_features=4, max_edges=1, max_features=2))
ROUNDING = 1e-9
N_FEATURES, N_HIDDEN, N_CLASSES = 6, 8, 3

Release = Callable[[PrivateGraph, Snapshot, GCNWeights, int, float], ReleaseDistribution]


@dataclass(frozen=True)
class SmallGraphReport:
    """Worst figures over all checked pairs; `bound` is `e^ε`, `sensitivity` the claimed Δu in [0, 1]."""

    pairs: int
    same_supports: bool
    max_delta_u: float
    sensitivity: float
    max_ratio: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether supports agree, no utility moved by more than Δu and no ratio exceeds `e^ε`."""
        return (
            self.same_supports
            and self.max_delta_u <= self.sensitivity + ROUNDING
            and self.max_ratio <= self.bound * (1 + ROUNDING)
        )


def release_on(settings: Settings = SMALL, rho: float = 0.6) -> Release:
    """The project's own release under `settings`, as the check takes it.

    `rho`: under a guided prior, the public guess at which share of all pairs the snapshot holds. Such a
    prior's scenarios cost ten times a release, so those of the last target are kept, under digests of
    public objects only; what is solved from them is solved anew for each release.
    """
    kept: dict[tuple[str, str, str, str], Guide] = {}

    def base(universe: Universe, nodes: Nodes, snapshot: Snapshot, weights: GCNWeights, epsilon: float) -> Prior:
        rule = settings.prior
        if rule.kind is PriorKind.UNIFORM:
            return uniform(universe, rule.size_penalty)
        key = (nodes.digest, snapshot.digest, weights.digest, universe.digest)
        if key not in kept:
            kept.clear()
            kept[key] = Guide(universe, PublicModel(nodes, snapshot, weights, rho).scenarios(universe))
        return kept[key].prior(epsilon, settings.utility, rule.size_penalty)

    def release(
        graph: PrivateGraph, snapshot: Snapshot, weights: GCNWeights, target: int, epsilon: float
    ) -> ReleaseDistribution:
        universe = build_universe(graph.nodes, snapshot, weights, target, settings.limits, settings.arm)
        utility = evaluate(GCNScorer(graph, weights).score(universe), settings.utility)
        prior = base(universe, graph.nodes, snapshot, weights, epsilon)
        return release_distribution(universe, utility, prior, epsilon, settings.mechanism)

    return release


def check_small_graphs(
    release: Release, epsilon: float = 4.0, graphs: int = 40, n: int = 8, targets: int = 3, seed: int = 0
) -> SmallGraphReport:
    """Compare random graphs on `n` nodes with all their neighbours (PrivCFS, appendix C).

    Each of `graphs` graphs has its own density, features, weights and a public snapshot that holds
    edges and non-edges; each of its n(n-1)/2 neighbours is compared at `targets` targets: 3,360 pairs
    at the defaults. Raises `BadInput` for a bad ε.
    """
    bound = ratio_bound(epsilon)
    found = []
    sensitivity = 0.0
    for graph, snapshot, weights, target in _cases(graphs, n, targets, np.random.default_rng(seed)):
        own = release(graph, snapshot, weights, target, epsilon)
        sensitivity = max(sensitivity, own.utility.sensitivity / own.utility.denominator)
        for u, w in itertools.combinations(range(n), 2):
            found.append(compare(own, release(graph.toggled(u, w), snapshot, weights, target, epsilon)))
    return SmallGraphReport(
        pairs=len(found),
        same_supports=all(pair.same_support for pair in found),
        max_delta_u=max(pair.delta_u for pair in found),
        sensitivity=sensitivity,
        max_ratio=max(pair.ratio for pair in found),
        bound=bound,
    )


def _cases(
    graphs: int, n: int, targets: int, rng: np.random.Generator
) -> Iterator[tuple[PrivateGraph, Snapshot, GCNWeights, int]]:
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    names = tuple(str(i) for i in range(max(n, N_FEATURES)))
    for _ in range(graphs):
        x = sparse.csr_array((rng.random((n, N_FEATURES)) < 0.6).astype(float))
        nodes = Nodes(names[:n], x, names[:N_FEATURES], tuple("abc"[:N_CLASSES]))
        graph = PrivateGraph(nodes, pairs[rng.random(len(pairs)) < rng.uniform(0.2, 0.7)])
        snapshot = Snapshot(rng.permutation(pairs)[: rng.integers(len(pairs) // 2, len(pairs) + 1)], n, simulated=False)
        weights = _balanced(
            GCNWeights(
                rng.normal(size=(N_FEATURES, N_HIDDEN)),
                rng.normal(size=N_HIDDEN) / 4,
                rng.normal(size=(N_HIDDEN, N_CLASSES)),
                np.zeros(N_CLASSES),
            ),
            graph,
        )
        for target in rng.choice(n, size=targets, replace=False):
            yield graph, snapshot, weights, int(target)


def _balanced(weights: GCNWeights, graph: PrivateGraph) -> GCNWeights:
    """Centre the logits over the nodes: targets near the boundary are where one edge matters."""
    return GCNWeights(weights.w1, weights.b1, weights.w2, -weights.logits(graph).mean(axis=0))
