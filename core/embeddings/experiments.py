"""How much of what tells classes of graphs apart survives the noise: accuracy over ε, treewidth, noise against density.

Owner-side and simulated: seeded noise, no ledger. Rows are plain values, for tables and the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.embeddings.baselines import Baseline
from core.embeddings.domain import Domain
from core.embeddings.graphset import GraphSet
from core.embeddings.patterns import Pattern
from core.embeddings.pipelines import Classifier, cross_validated
from core.embeddings.plan import NoisePlan, Spread, noise_plan
from core.embeddings.samplers import PatternClass, sample
from core.embeddings.simulate import simulate, with_nodes
from core.errors import BadInput
from core.progress import Progress, Stop, tracked


class Method(StrEnum):
    """How the embeddings came to be."""

    NONE = "no privacy"
    DENSITIES = "noised densities"
    RR = "rr"
    DPRR = "dprr"


@dataclass(frozen=True)
class UtilityRow:
    """Accuracy of one method at one ε, a bar of the table. `epsilon`: None without privacy; `delta`: 0 where pure.

    `std`: over the repetitions of noise and folds, 0 for a single one.
    """

    patterns: str
    dimensions: int
    method: Method
    epsilon: float | None
    delta: float
    classifier: str
    accuracy: float
    std: float


@dataclass(frozen=True)
class NoiseRow:
    """One density of one class of patterns beside its noise. `signal`: the largest difference of two classes' means."""

    patterns: str
    pattern: str
    vertices: int
    edges: int
    treewidth: int
    density: float
    signal: float
    noise_std: float

    @property
    def ratio(self) -> float:
        """Noise over signal; below 1 a single graph shows its class in this density."""
        return self.noise_std / self.signal if self.signal else float("inf")


def utility_table(
    graphs: GraphSet,
    kinds: Sequence[PatternClass],
    epsilons: Sequence[float],
    *,
    delta: float = 1e-5,
    dimensions: int = 50,
    degree_bound: int | None = None,
    smooth: bool = False,
    spread: Spread = Spread.EQUAL,
    baselines: Sequence[Baseline] = (Baseline.RR, Baseline.DPRR),
    classifier: Classifier = Classifier.KNN,
    repeats: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[UtilityRow]:
    """Accuracy over ε for each class of patterns: without privacy, with noised densities, and from noised graphs.

    Each graph is a data set of its own, noised for its own public number of nodes and the one `degree_bound`: one
    embedding of it costs (ε, δ), or ε for a noised graph, edge level. Repeats draw new noise and new folds; a
    graph is noised as a whole once per ε. Raises `BadInput` for graphs outside the domain, and `Cancelled`.
    """
    domains = _domains(graphs, degree_bound)
    sizes = np.array([graph.n for graph in graphs.graphs])
    degrees = graphs.degrees
    rng = np.random.default_rng(seed)
    chosen = {kind.name: sample(kind, dimensions, seed) for kind in kinds}
    counted = {name: graphs.densities(patterns) for name, patterns in chosen.items()}
    rows = []

    def row(name: str, method: Method, epsilon: float | None, delta: float, scores: list[float]) -> UtilityRow:
        width = len(chosen[name])
        mean, std = float(np.mean(scores)), float(np.std(scores))
        return UtilityRow(name, width, method, epsilon, delta, classifier.value, mean, std)

    def scored(embeddings: np.ndarray, repeat: int) -> float:
        return cross_validated(embeddings, graphs.labels, classifier, seed=seed + repeat).mean

    for name in chosen:
        bare = with_nodes(counted[name], sizes)
        rows.append(row(name, Method.NONE, None, 0.0, [scored(bare, repeat) for repeat in range(repeats)]))
    for epsilon in tracked(epsilons, progress, cancelled):
        for name, patterns in chosen.items():
            plans = [noise_plan(patterns, one, epsilon, delta, smooth=smooth, spread=spread) for one in domains]
            scores = []
            for repeat in range(repeats):
                seen = with_nodes(counted[name], sizes)
                for plan in plans:
                    own = sizes == plan.domain.nodes
                    seen[own] = simulate(plan, counted[name][own], degrees[own], rng)
                scores.append(scored(seen, repeat))
            rows.append(row(name, Method.DENSITIES, epsilon, delta, scores))
        for baseline in baselines:
            noised = graphs.replaced([baseline.release(graph, epsilon, rng) for graph in graphs.graphs])
            for name, patterns in chosen.items():
                seen = with_nodes(noised.densities(patterns), sizes)
                scores = [scored(seen, repeat) for repeat in range(repeats)]
                rows.append(row(name, Method(baseline.value), epsilon, 0.0, scores))
    return rows


def noise_table(
    graphs: GraphSet,
    kinds: Sequence[PatternClass],
    epsilon: float,
    *,
    delta: float = 1e-5,
    dimensions: int = 50,
    degree_bound: int | None = None,
    spread: Spread = Spread.EQUAL,
) -> list[NoiseRow]:
    """Every density of each class of patterns beside its noise and the difference between the classes of graphs.

    Raises `BadInput` for graphs of several sizes, whose noise differs.
    """
    domain, *others = _domains(graphs, degree_bound)
    if others:
        raise BadInput(f"graphs of {graphs.name}: found {len(others) + 1} numbers of nodes, expected one")
    rows = []
    for kind in kinds:
        patterns = sample(kind, dimensions, 0)
        plan = noise_plan(patterns, domain, epsilon, delta, spread=spread)
        rows += noise_rows(kind.name, plan, graphs.densities(patterns), graphs.labels)
    return rows


def noise_rows(name: str, plan: NoisePlan, counted: np.ndarray, labels: np.ndarray) -> list[NoiseRow]:
    """The rows of one class of patterns from its densities, B x d."""
    means = np.stack([counted[labels == label].mean(axis=0) for label in np.unique(labels)])
    signal = means.max(axis=0) - means.min(axis=0)
    spread = plan.noise_std()

    def row(place: int, pattern: Pattern) -> NoiseRow:
        density = float(counted[:, place].mean())
        sizes = pattern.vertices, pattern.size, pattern.treewidth
        return NoiseRow(name, pattern.name, *sizes, density, float(signal[place]), float(spread[place]))

    return [row(place, pattern) for place, pattern in enumerate(plan.patterns)]


def treewidth_classes(most: int = 3) -> tuple[PatternClass, ...]:
    """Patterns of treewidth at most 1, 2, ...: each sees what the one before sees, and is noised for more edges."""
    return tuple(PatternClass.parse(f"treewidth:{width}") for width in range(1, most + 1))


def _domains(graphs: GraphSet, degree_bound: int | None) -> list[Domain]:
    """A domain for each number of nodes that occurs, by size; raises `BadInput` for a graph outside its own."""
    sizes = sorted({graph.n for graph in graphs.graphs})
    domains = {n: Domain(n, None if degree_bound is None else min(degree_bound, n - 1)) for n in sizes}
    for graph in graphs.graphs:
        domains[graph.n].admit(graph)
    return list(domains.values())
