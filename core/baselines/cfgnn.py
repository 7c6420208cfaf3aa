"""CF-GNNExplainer (Lucic et al. 2022) with the gradients that its loss is meant to have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from core import checks
from core.baselines.field import Field, gcn_of, reach
from core.baselines.judge import drawn, nothing_found
from core.baselines.method import NOT_PRIVATE, Explain, Finding, Guarantee, Where
from core.errors import BadInput
from core.graph import Graph
from core.study.settings import Settings
from core.study.study import Study
from core.threads import single_threaded
from core.universe import Limits, Universe, build_universe


@dataclass(frozen=True)
class Descent:
    """How the mask is optimised: `iterations` of Adam at `rate`, `beta` times the size beside the prediction loss.

    `start`: the first value of every logit; above 0 it keeps everything. Raises `BadInput` out of range.
    """

    iterations: int = 200
    rate: float = 0.1
    beta: float = 0.005
    start: float = 1.0

    def __post_init__(self) -> None:
        checks.count(self.iterations, "iterations", 1, 100_000)
        for name in ("rate", "beta", "start"):
            if not 0 < getattr(self, name) < 1e6:
                raise BadInput.number(f"descent, {name}", getattr(self, name), "a number above 0, for example 0.1")


@dataclass(frozen=True, eq=False)
class Mask:
    """A counterfactual: which gates stay open (k and s bool), and the class after it."""

    edges: np.ndarray
    features: np.ndarray
    predicted: int

    @property
    def size(self) -> int:
        """Number of edges deleted and features masked."""
        return int((~self.edges).sum() + (~self.features).sum())


def straight_through(logits: torch.Tensor, limit: int | None = None) -> torch.Tensor:
    """`1[logit >= 0]` with the gradient of its sigmoid; with `limit` at most so many, the lowest, are 0."""
    hard = (logits.detach() >= 0).to(logits.dtype)
    if limit is not None and limit < len(logits):
        hard[torch.argsort(logits.detach(), stable=True)[limit:]] = 1.0
    soft = torch.sigmoid(logits)
    return hard + (soft - soft.detach())


def smallest_counterfactual(
    field: Field, dims: int, original: int, descent: Descent, limits: Limits | None = None
) -> Mask | None:
    """The smallest mask on the path of the descent that changes the prediction, the first of equals; None without one.

    Lucic et al. 2022, eq. 4 and 5: `L = -1[f = f_original] NLL(f_original) + β size`. Both terms are those of
    the binarised mask, with the sigmoid's gradient: the published program takes the prediction loss on the
    soft mask, and its size has no gradient at all. Gates on pairs that are no edges stay open.
    """
    edges = torch.full((len(field.exists),), descent.start, dtype=torch.float64, requires_grad=True)
    masks = torch.full((dims,), descent.start, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([edges, masks], lr=descent.rate)
    exists = torch.from_numpy(field.exists)
    best: Mask | None = None
    for _ in range(descent.iterations):
        optimiser.zero_grad()
        kept = straight_through(torch.where(exists, edges, 1.0), limits.max_edges if limits else None)
        shown = straight_through(masks, limits.max_features if limits else None)
        logits = field.logits(kept, shown)
        loss, predicted = counterfactual_loss(logits, kept, shown, original, descent.beta)
        if predicted != original:
            mask = Mask(kept.detach().numpy() > 0.5, shown.detach().numpy() > 0.5, predicted)
            if mask.size and (best is None or mask.size < best.size):
                best = mask
        loss.backward()
        optimiser.step()
    return best


def counterfactual_loss(
    logits: torch.Tensor, kept: torch.Tensor, shown: torch.Tensor, original: int, beta: float
) -> tuple[torch.Tensor, int]:
    """Loss of one binarised mask, and the class that it gives; once that has changed, the size alone counts."""
    predicted = int(logits.argmax())
    loss = beta * ((1.0 - kept).sum() + (1.0 - shown).sum())
    if predicted == original:
        loss = loss + torch.log_softmax(logits, dim=0)[original]
    return loss, predicted


@dataclass(frozen=True)
class CFGNNExplainer:
    """A perturbation mask over all edges within reach of the target; no privacy.

    Differs from Lucic et al. (2022) besides the gradients named in `smallest_counterfactual`: Adam in the
    place of SGD with clipped gradients, since its steps don't depend on the scale of the logits; one gate
    a pair, so the mask is symmetric by construction; degrees follow the deleted edges.
    """

    descent: Descent = Descent()
    name: ClassVar[str] = "cf-gnnexplainer"
    title: ClassVar[str] = "CF-GNNExplainer"
    where: ClassVar[Where] = Where.NONE
    size_currency: ClassVar[str] = "edges"
    random: ClassVar[bool] = False

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """See `Method.guarantee`: none."""
        checks.epsilon(epsilon)
        return NOT_PRIVATE

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """See `Method.session`."""
        scorer = gcn_of(study, self.name)
        checks.epsilon(epsilon)
        checks.rho(rho)

        def explain(target: int) -> Finding:
            pairs, dims = self.candidates(study, scorer.graph, rho, settings, target)
            field = Field(scorer.graph, scorer.weights, target, pairs, dims, settings.arm.inert)
            original = int(scorer.clean[target].argmax())
            with single_threaded(0):
                mask = smallest_counterfactual(field, len(dims), original, self.descent, self.limits(settings))
            if mask is None:
                return nothing_found(study, target)
            return drawn(study, target, pairs[~mask.edges], dims[~mask.features], settings.arm.inert)

        return explain

    def candidates(
        self, study: Study, graph: Graph, rho: float, settings: Settings, target: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs and dimensions with a gate."""
        checks.count(target, "target row", 0, graph.n - 1)
        return reach(graph, target), np.empty(0, dtype=np.int64)

    def limits(self, settings: Settings) -> Limits | None:
        """What one intervention may hold at most."""
        return None


@dataclass(frozen=True)
class CFGNNOverUniverse(CFGNNExplainer):
    """The same descent over the public universe and within its limits: what the exact optimum searches, too."""

    name: ClassVar[str] = "cf-gnnexplainer-universe"
    title: ClassVar[str] = "CF-GNNExplainer over the universe"
    size_currency: ClassVar[str] = "edges and masks"

    def candidates(
        self, study: Study, graph: Graph, rho: float, settings: Settings, target: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs and dimensions of the universe at strength `rho`."""
        universe = public_universe(study, rho, settings, target)
        return universe.edge_pairs, universe.feature_dims

    def limits(self, settings: Settings) -> Limits | None:
        """Those of the universe."""
        return settings.limits


def public_universe(study: Study, rho: float, settings: Settings, target: int) -> Universe:
    """`C_v` at strength `rho`; raises `BadInput` for a bad row or rho."""
    public = study.disclosed(rho)
    return build_universe(study.dataset.nodes, public, study.backbone.weights, target, settings.limits, settings.arm)
