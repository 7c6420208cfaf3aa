"""One target's preview: the release distribution and every figure drawn from it (owner-only)."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.metrics import Level, Metrics
from core.release.distribution import ReleaseDistribution
from core.scoring.scores import Scores
from core.study.settings import Settings
from core.universe import Universe


@dataclass(frozen=True)
class Candidate:
    """One candidate in words: node pairs and features by name, and what would come of it."""

    rank: int
    index: tuple[int, int]
    edges: tuple[tuple[str, str], ...]
    features: tuple[str, ...]
    probability: float
    utility: float
    flips: bool
    predicted: str

    @property
    def empty(self) -> bool:
        """Whether this is ∅, "no intervention sampled"."""
        return not self.edges and not self.features


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `privcfs inspect` and the explorer show for one target, rho and ε; reads private edges.

    `public_only`: the figures of a draw from the guided prior at ε = 0, without a size penalty, which
    reads no private edge: what an analyst could do alone. `prior_alone`: of a draw from the base measure
    of this very release. `disclosed`: how many snapshot pairs are public at this rho; `disclosed_ties`:
    how many of these are private edges still, which nobody but the owner may know.
    """

    dataset: Dataset
    rho: float
    settings: Settings
    scores: Scores
    distribution: ReleaseDistribution
    metrics: Metrics
    prior_alone: Metrics
    public_only: Metrics
    levels: tuple[Level, ...]
    simulated: bool
    disclosed: int
    disclosed_ties: int

    @property
    def universe(self) -> Universe:
        """The public candidates."""
        return self.distribution.universe

    @property
    def target_id(self) -> str:
        """Node id of the target."""
        return self.dataset.nodes.ids[self.universe.target]

    @property
    def degree(self) -> int:
        """Private degree of the target."""
        return int(self.dataset.graph.degree[self.universe.target])

    def candidates(self, most: int = 20) -> list[Candidate]:
        """The `most` most likely candidates, ties in universe order."""
        flat = self.distribution.probability.ravel()
        most = min(most, len(flat))
        first = np.argpartition(-flat, most - 1)[:most] if most < len(flat) else np.arange(len(flat))
        cut = flat[first].min()
        above = np.flatnonzero(flat > cut)
        tied = np.flatnonzero(flat == cut)[: most - len(above)]
        chosen = np.concatenate([above[np.lexsort((above, -flat[above]))], tied])
        return [self._candidate(rank, int(place)) for rank, place in enumerate(chosen, start=1)]

    def _candidate(self, rank: int, place: int) -> Candidate:
        i, j = divmod(place, self.universe.shape[1])
        nodes = self.dataset.nodes
        pairs, dims = self.universe.members(i, j)
        return Candidate(
            rank=rank,
            index=(i, j),
            edges=tuple((nodes.ids[u], nodes.ids[w]) for u, w in pairs),
            features=tuple(nodes.feature_names[d] for d in dims),
            probability=float(self.distribution.probability[i, j]),
            utility=float(self.distribution.utility.fractions[i, j]),
            flips=bool(self.scores.flips[i, j]),
            predicted=nodes.classes[int(self.scores.predicted[i, j])],
        )

    def to_json(self) -> dict[str, Any]:
        """The object that `privcfs inspect --json` prints."""
        scores, metrics, universe = self.scores, self.metrics, self.universe
        classes = self.dataset.nodes.classes
        return {
            "owner_only": True,
            "dataset": self.dataset.name,
            "snapshot": "simulated" if self.simulated else "given",
            "snapshot_disclosed": self.disclosed,
            "snapshot_ties": self.disclosed_ties,
            "epsilon": self.distribution.epsilon,
            "rho": self.rho,
            "prior": self.distribution.prior.name,
            "size_penalty": self.settings.prior.size_penalty,
            "arm": self.settings.arm.value,
            "mechanism": self.distribution.mechanism.value,
            "limits": list(astuple(self.settings.limits)),
            "utility": "soft" if self.settings.utility.soft else "hard",
            "utility_weights": [str(weight) for weight in astuple(self.settings.utility)[:3]],
            "sensitivity": self.settings.utility.sensitivity,
            "sensitivity_value": self.distribution.utility.sensitivity / self.distribution.utility.denominator,
            "target": self.target_id,
            "target_row": universe.target,
            "degree": self.degree,
            "prediction": scores.original,
            "runner_up": scores.runner_up,
            "prediction_name": classes[scores.original],
            "runner_up_name": classes[scores.runner_up],
            "margin": scores.clean_margin,
            "candidates": universe.size,
            "edge_candidates": len(universe.edge_pairs),
            "feature_candidates": len(universe.feature_dims),
            **asdict(metrics),
            "size_share": metrics.size_share(self.dataset.graph.m, self.dataset.nodes.n_features),
            "public_only_valid": self.public_only.valid,
            "prior_alone_valid": self.prior_alone.valid,
            "levels": [asdict(level) for level in self.levels],
        }
