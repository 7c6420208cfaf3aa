"""Exact scores of every candidate without a forward pass, for the two-layer GCN on one graph."""

from __future__ import annotations

import numpy as np
import torch

from core.backbone.gcn import GCNWeights, normalised_adjacency
from core.errors import BadInput
from core.graph import Graph
from core.scoring.deletions import Deletions
from core.scoring.masks import masked_rows
from core.scoring.messages import Surroundings
from core.scoring.scores import Scores
from core.scoring.sets import States
from core.scoring.twohop import Touched, TwoHopDeletions, TwoHopLogits, any_deletions
from core.universe import Universe


class GCNScorer:
    """Scores universes on one graph under one frozen GCN; what it says is private if the graph is.

    Construction makes one sparse full-graph pass (`clean`: N x C logits); what a target costs then
    (`messages`) doesn't depend on N.
    """

    def __init__(
        self,
        graph: Graph,
        weights: GCNWeights,
        device: str | torch.device = "cpu",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.device = torch.device(device)
        self.dtype = dtype
        self._candidates = TwoHopLogits(weights, self.device, dtype)
        a_hat = normalised_adjacency(graph)
        z = weights.hidden_features(graph.nodes)
        first = a_hat @ z
        self.clean = a_hat @ (np.maximum(first + weights.b1, 0.0) @ weights.w2) + weights.b2
        self.states = States(graph, z, first, weights.b1)

    def on(self, graph: Graph) -> GCNScorer:
        """A scorer of another graph under the same backbone."""
        return GCNScorer(graph, self.weights, self.device, self.dtype)

    def score(self, universe: Universe, margins: bool = True) -> Scores:
        """Score every candidate; raises `BadInput` for a universe of another node set.

        Without `margins` their array is NaN: the hard utility doesn't need them.
        """
        resolved = self.resolve(universe)
        logits = self._distinct_logits(universe, resolved)
        clean = self.clean[universe.target]
        margin = margins_of(logits, int(clean.argmax())) if margins else torch.full((1, 1), torch.nan)
        return Scores(
            universe,
            clean,
            spread(logits.argmax(dim=2).to(torch.int16), universe, resolved),
            resolved.exists,
            spread(margin, universe, resolved),
        )

    def logits(self, universe: Universe) -> np.ndarray:
        """Logits `f(G ⊖ S)[v]` of every candidate, nE x nF x C."""
        resolved = self.resolve(universe)
        return spread(self._distinct_logits(universe, resolved), universe, resolved)

    def resolve(self, universe: Universe) -> Deletions | TwoHopDeletions:
        """What each edge subset deletes on this graph; raises `BadInput` for a universe of another node set."""
        self.check(universe)
        return any_deletions(self.graph, universe)

    def check(self, universe: Universe) -> None:
        """Raise `BadInput` for a universe of another node set."""
        if universe.edge_pairs.max(initial=universe.target) >= self.graph.n:
            raise BadInput(f"universe: found one of another graph, expected rows below {self.graph.n}")

    def surroundings(self, target: int, neighbours: np.ndarray) -> Surroundings:
        """What the logits of `target` depend on, `neighbours` in the order given (deg rows); B = 1."""
        states = self.states
        degree, target_degree = states.degree[neighbours], states.degree[target]
        back = states.hidden[target] / np.sqrt(degree * target_degree)[:, None]
        offset = states.first[neighbours] - back + states.bias
        alone = (target_degree, degree, states.hidden[neighbours], offset, np.ones_like(degree))
        return Surroundings(*(self._tensor(part)[None] for part in alone))

    def _distinct_logits(self, universe: Universe, resolved: Deletions | TwoHopDeletions) -> torch.Tensor:
        masked = self._tensor(masked_rows(self.graph.nodes, self.weights, universe))
        near = self.surroundings(universe.target, resolved.neighbours)
        if isinstance(resolved, Deletions):
            return self._candidates.logits(near, resolved, masked)[0]
        touched = resolved.touched
        far = Touched(self._tensor(self.states.hidden[touched]), self._tensor(self.states.degree[touched])[None])
        return self._candidates.two_hop_logits(near, far, resolved, masked)[0]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(values, dtype=self.dtype, device=self.device)


def spread(values: torch.Tensor, universe: Universe, resolved: Deletions | TwoHopDeletions) -> np.ndarray:
    """Copy results of distinct candidates (nR x (nF or 1) x ...) to all (no-op pairs and inert masks repeat them)."""
    array = values.cpu().numpy()
    if 1 < len(array) != universe.shape[0]:
        array = array[resolved.inverse]
    return np.broadcast_to(array, universe.shape + array.shape[2:])


def margins_of(logits: torch.Tensor, original: int) -> torch.Tensor:
    """Probability of the clean class minus the largest other one, per candidate."""
    if logits.shape[2] == 1:
        return torch.ones_like(logits[..., 0])
    probabilities = torch.softmax(logits.permute(2, 0, 1).contiguous(), dim=0)  # ten times faster than over the last
    mine = probabilities[original].clone()
    probabilities[original] = -1.0
    return mine - probabilities.amax(dim=0)
