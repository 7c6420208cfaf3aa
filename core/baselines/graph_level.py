"""Graph-level placement as rows of the comparison: the graph is noised once, then explained without noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from core import checks
from core.baselines.curve import gaussian_epsilon
from core.baselines.judge import runner_up
from core.baselines.method import NO_FEATURES, NO_PAIRS, Explain, Finding, Guarantee, Where
from core.placement.calibration import Calibration
from core.placement.explainer import explain as explain_on
from core.placement.mechanisms import Gaussian, GraphRelease, Laplace, RandomizedResponse
from core.placement.result import Operations
from core.scoring.scorer import Scorer
from core.snapshot import Snapshot
from core.study.settings import Settings
from core.study.study import Study


@dataclass(frozen=True)
class GraphLevel:
    """The best flip on a noised graph (PrivCFS, section 3.2); what follows the noise is post-processing.

    `operations`: pairs that may be deleted, the noised graph's own in a seeded order, or the snapshot's.
    """

    release: GraphRelease
    operations: Operations = Operations.NOISED
    name: ClassVar[str]
    title: ClassVar[str]
    where: ClassVar[Where] = Where.GRAPH
    size_currency: ClassVar[str] = "edges and masks"
    random: ClassVar[bool] = True

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: that of the noised graph, for any number of targets."""
        parameters = self.release.parameters(checks.epsilon(epsilon))
        delta = float(parameters["delta"])
        reason = f"the noised graph itself is {'(ε, δ)' if delta else 'ε'}-private"
        if self.operations is Operations.PUBLIC:
            reason += "; given that the snapshot is public"
        return Guarantee(bool(parameters["certified"]), epsilon, delta, reason)

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`: one noised graph for all targets."""
        disclosed = study.disclosed(checks.rho(rho))
        scorer, own = self.noised(study, epsilon, rng)
        snapshot = own if self.operations is Operations.NOISED else disclosed

        def explain(target: int) -> Finding:
            best = explain_on(scorer, snapshot, target, settings)
            clean = study.scorer.clean[target]
            original, seen = int(clean.argmax()), int(scorer.clean[target].argmax())
            polluted = float(seen != original)
            if best is None:
                return Finding(target, NO_PAIRS, NO_FEATURES, seen, 0.0, 0.0, 0.0, polluted, 0.0, None)
            after = best.predicted_on(study.scorer)
            valid = float(after != original)
            targeted = valid * float(after == runner_up(clean))
            size = float(len(best.edges) + len(best.features))
            return Finding(target, best.edges, best.features, seen, valid, targeted, 1.0 - valid, polluted, 1.0, size)

        return explain

    def noised(self, study: Study, epsilon: float, rng: np.random.Generator) -> tuple[Scorer, Snapshot]:
        """What a session explains: the scorer of the noised graph, and its edges in a seeded order."""
        graph = self.release.release(study.dataset.graph, checks.epsilon(epsilon), rng)
        return study.scorer.on(graph), Snapshot(rng.permutation(graph.edges), graph.n, simulated=False)


@dataclass(frozen=True)
class GraphGaussian(GraphLevel):
    """Gaussian noise on the adjacency by the analytic calibration (Balle & Wang 2018), and a paid edge count."""

    release: GraphRelease = field(default_factory=Gaussian)
    name: ClassVar[str] = "graph-gaussian"
    title: ClassVar[str] = "Noised graph, Gaussian, analytic"


@dataclass(frozen=True)
class GraphGaussianClassical(GraphLevel):
    """The same by the classical calibration (Dwork & Roth 2014), proven where the noise's share of ε is at most 1.

    Above that the guarantee isn't certified, and its ε is what the analytic curve says of the σ in use, with the
    edge count's share added: an exact figure, which may lie to either side of the quoted budget.
    """

    release: GraphRelease = field(default_factory=lambda: Gaussian(calibration=Calibration.CLASSICAL))
    name: ClassVar[str] = "graph-gaussian-classical"
    title: ClassVar[str] = "Noised graph, Gaussian, classical"

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`."""
        stated = super().guarantee(epsilon, settings)
        if stated.certified:
            return stated
        parameters = self.release.parameters(epsilon)
        sigma, delta, count = (float(parameters[name]) for name in ("sigma", "delta", "count_epsilon"))
        implied = count + gaussian_epsilon(sigma, delta, 2**0.5)
        return Guarantee(
            False, implied, delta, "the classical rule has no proof above 1; by the exact curve its σ gives this ε"
        )


@dataclass(frozen=True)
class GraphLaplace(GraphLevel):
    """LapGraph (Wu et al. 2022): Laplace noise on each pair, and a paid edge count."""

    release: GraphRelease = field(default_factory=Laplace)
    name: ClassVar[str] = "graph-laplace"
    title: ClassVar[str] = "Noised graph, LapGraph"


@dataclass(frozen=True)
class GraphRR(GraphLevel):
    """Edge randomized response (Warner 1965), ε on each pair."""

    release: GraphRelease = field(default_factory=RandomizedResponse)
    name: ClassVar[str] = "graph-rr"
    title: ClassVar[str] = "Noised graph, randomized response"
