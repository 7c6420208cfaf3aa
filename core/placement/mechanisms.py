"""Graph-level releases: the whole edge set is noised before anything is explained.

Each is differentially private at the edge level and draws from exactly the distribution of its dense
definition, in memory proportional to the edges that come out. The generators are reproducible
floating-point ones: a diagnosis of what such a release would do, never a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit

from core import checks
from core.errors import BadInput
from core.graph import PrivateGraph
from core.placement.calibration import Calibration
from core.placement.pairs import noisy_top, pair_total, random_non_edges, random_subset

MOST_EDGES = 5_000_000


class GraphMechanism(StrEnum):
    """How the edge set is noised."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    RR = "rr"

    @classmethod
    def parse(cls, value: str) -> GraphMechanism:
        """Return the mechanism of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "graph-level mechanism")


class GraphRelease(Protocol):
    """A release of the edge set with an (ε, δ) guarantee, edge level."""

    kind: ClassVar[GraphMechanism]

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """The noised graph on the same public nodes; its edges are the release.

        Raises `BadInput` for a bad ε, or one so small that the noised graph would not fit in memory.
        """

    def parameters(self, epsilon: float) -> dict[str, float | str | bool]:
        """Noise level and guarantee at this ε, by name; `delta` and `certified` always among them."""


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise on all entries of the adjacency, then the top `m̂` pairs: (ε, δ).

    An edge is two entries of the symmetric matrix, so the L2 sensitivity is √2. The two noised entries
    of a pair are averaged, which is post-processing and leaves noise of `σ/√2` on a pair. `m̂ = M +
    Lap(1/ε_c)` rounded, with `ε_c = count_share ε`; σ is calibrated for `(ε - ε_c, δ)`, and both
    compose to (ε, δ). The classical calibration certifies nothing above ε - ε_c = 1.
    """

    delta: float = 1e-5
    calibration: Calibration = Calibration.ANALYTIC
    count_share: float = 0.1
    kind: ClassVar[GraphMechanism] = GraphMechanism.GAUSSIAN

    def __post_init__(self) -> None:
        _check_share(self.count_share)
        self.calibration.sigma(1.0, self.delta, 1.0)

    def sigma(self, epsilon: float) -> float:
        """Standard deviation of the noise on one matrix entry."""
        _, rest = _split(epsilon, self.count_share)
        return self.calibration.sigma(rest, self.delta, math.sqrt(2))

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """See `GraphRelease.release`."""
        from scipy import stats  # half a second to load: the explorer starts sooner

        law = stats.norm(scale=self.sigma(epsilon) / math.sqrt(2))
        m = _noisy_count(graph, _split(epsilon, self.count_share)[0], rng)
        return graph.with_edges(noisy_top(graph, m, law, rng))

    def parameters(self, epsilon: float) -> dict[str, float | str | bool]:
        """See `GraphRelease.parameters`; `sigma` is per matrix entry."""
        count, rest = _split(epsilon, self.count_share)
        return {
            "delta": self.delta,
            "certified": self.calibration.proven(rest),
            "sigma": self.sigma(epsilon),
            "calibration": self.calibration.value,
            "count_epsilon": count,
        }


@dataclass(frozen=True)
class Laplace:
    """Laplace noise on each pair, then the top `m̂` pairs: LapGraph (Wu et al. 2022), pure ε.

    The upper triangle has L1 sensitivity 1, so the scale is `1/(ε - ε_c)`; `m̂ = M + Lap(1/ε_c)`
    rounded, with `ε_c = count_share ε`.
    """

    count_share: float = 0.1
    kind: ClassVar[GraphMechanism] = GraphMechanism.LAPLACE

    def __post_init__(self) -> None:
        _check_share(self.count_share)

    def scale(self, epsilon: float) -> float:
        """Scale of the Laplace noise on one pair."""
        return 1 / _split(epsilon, self.count_share)[1]

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """See `GraphRelease.release`."""
        from scipy import stats

        m = _noisy_count(graph, _split(epsilon, self.count_share)[0], rng)
        return graph.with_edges(noisy_top(graph, m, stats.laplace(scale=self.scale(epsilon)), rng))

    def parameters(self, epsilon: float) -> dict[str, float | str | bool]:
        """See `GraphRelease.parameters`; `scale` is per pair."""
        count, _ = _split(epsilon, self.count_share)
        return {"delta": 0.0, "certified": True, "scale": self.scale(epsilon), "count_epsilon": count}


@dataclass(frozen=True)
class RandomizedResponse:
    """Every pair's status is flipped with probability `1/(1 + e^ε)`, independently: pure ε."""

    kind: ClassVar[GraphMechanism] = GraphMechanism.RR

    def flip(self, epsilon: float) -> float:
        """Probability that the status of a pair is reported wrongly."""
        return float(expit(-checks.epsilon(epsilon)))

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        """See `GraphRelease.release`."""
        flip = self.flip(epsilon)
        pairs = pair_total(graph.n)
        _check_size(pairs, flip * pairs, f"about {flip * pairs:,.0f} false edges")
        kept = random_subset(graph.m, graph.m - rng.binomial(graph.m, flip), rng)
        false = random_non_edges(graph, rng.binomial(pairs - graph.m, flip), rng)
        return graph.with_edges(np.concatenate([graph.edges[kept], false]))

    def parameters(self, epsilon: float) -> dict[str, float | str | bool]:
        """See `GraphRelease.parameters`; `flip` is per pair."""
        return {"delta": 0.0, "certified": True, "flip": self.flip(epsilon)}


def graph_release(kind: GraphMechanism) -> GraphRelease:
    """The mechanism of that kind with its default settings."""
    releases: dict[GraphMechanism, GraphRelease] = {
        release.kind: release for release in (Gaussian(), Laplace(), RandomizedResponse())
    }
    return releases[kind]


def _split(epsilon: float, share: float) -> tuple[float, float]:
    """Budget of the edge count, and what is left for the pairs."""
    budget = checks.epsilon(epsilon)
    return checks.epsilon(share * budget), checks.epsilon((1 - share) * budget)


def _noisy_count(graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> int:
    """`M + Lap(1/ε)` rounded into 0..N(N-1)/2; one edge changes M by 1."""
    pairs = pair_total(graph.n)
    _check_size(pairs, 1 / epsilon, f"an edge count that is off by about {1 / epsilon:,.0f}")
    return round(min(max(graph.m + rng.laplace(scale=1 / epsilon), 0), pairs))


def _check_size(pairs: int, added: float, what: str) -> None:
    if min(added, pairs) > MOST_EDGES:
        raise BadInput(
            f"epsilon: found one that gives the noised graph {what} over {pairs:,} node pairs, "
            f"expected at most {MOST_EDGES:,}; raise epsilon or take a smaller graph"
        )


def _check_share(value: float) -> None:
    if not 0 < value < 1:
        raise BadInput.number("share of epsilon for the edge count", value, "a number above 0 and below 1")
