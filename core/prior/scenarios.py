"""Which candidates would flip a target if the graph were this or that: scenarios made of public objects only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse

from core import checks
from core.backbone.gcn import GCNWeights, softmax
from core.backbone.module import FrozenModule
from core.graph import Nodes, PublicGraph
from core.prior.completion import Completion, HiddenTies, Trust
from core.prior.flips import Masks, flips
from core.progress import Progress, Stop
from core.scoring.blackbox import BlackBoxScorer
from core.scoring.deletions import Deletions
from core.scoring.factorised import GCNScorer
from core.scoring.masks import mask_parts, masked_rows
from core.scoring.messages import Surroundings
from core.scoring.twohop import Touched, TwoHopDeletions, TwoHopLogits
from core.snapshot import Snapshot
from core.universe import Universe

COMPLETIONS = 12  # for each degree of trust
SEED = 20261130
MARGIN_ROUNDING = 1e-9
DTYPE = torch.float32  # where all are scored: a public guess needs no more


class PublicModel:
    """What anyone can work out from nodes, weights and disclosed pairs; no private graph can enter.

    `snapshot`: the disclosed pairs. `rho`: which share of all pairs they are, a public guess (for a
    simulated snapshot its own strength): `round(m / rho) - m` pairs are taken to be hidden, none at
    rho = 0, where nothing is known of them. `completions`: for each `Trust`, at most 20. Raises
    `BadInput` for a snapshot of other nodes or a bad rho.
    """

    def __init__(
        self, nodes: Nodes, snapshot: Snapshot, weights: GCNWeights, rho: float, completions: int = COMPLETIONS
    ) -> None:
        snapshot.check(nodes)
        share = checks.rho(rho)
        self.completions = checks.count(completions, "completions", 1, 20)
        self._nodes = nodes
        self._weights = weights
        graph = PublicGraph(nodes, snapshot.pairs)
        self._known = GCNScorer(graph, weights)
        self._candidates = TwoHopLogits(weights, torch.device("cpu"), DTYPE)
        self.hidden = round(len(snapshot) / share) - len(snapshot) if share > 0 else 0
        self._features = weights.hidden_features(nodes)
        self._ties = HiddenTies(graph, self.hidden, softmax(self._known.clean), self._features)

    def scenarios(self, universe: Universe) -> np.ndarray:
        """Which candidate flips in which scenario, K x nE x nF bool; the last two for a target on the boundary.

        First the random completions of the snapshot, `completions` for each `Trust`; the snapshot itself
        where nothing is hidden. Then "whatever lowers the public margin flips" and "whatever raises it
        flips", for the case that the target lies on the boundary and the public is wrong about its side.
        A pair away from the target is a public tie, so every completion holds it; ties drawn between the
        target's new neighbours and its ends are left out, as those to the ends of other pairs are.
        """
        known = self._known.score(universe)
        completed = self._completed(universe) if self.hidden else known.flips[None]
        return np.stack([*completed, *_boundary(known.margin, known.clean_margin, universe)])

    def _completed(self, universe: Universe) -> np.ndarray:
        """Which candidate flips in which completion, 3 completions x nE x nF bool."""
        resolved = self._known.resolve(universe)
        rng = np.random.default_rng([SEED, universe.target])
        drawn = [
            self._ties.around(universe.target, resolved.neighbours, trust, self.completions, rng) for trust in Trust
        ]
        near = self._surroundings(universe.target, Completion.joined(drawn, self.completions))
        more = near.degree.shape[1] - len(resolved.neighbours)
        there = replace(resolved, tied=np.pad(resolved.tied, ((0, 0), (0, more))))
        if isinstance(there, Deletions) and not there.crowded:
            whole, parts = mask_parts(self._nodes, self._weights, universe)
            masks = Masks.of(whole, parts, universe.feature_subsets, universe.arm.inert)
            found = flips(near, there, self._weights, masks)
        else:
            masked = torch.from_numpy(masked_rows(self._nodes, self._weights, universe)).to(DTYPE)
            single = [part.to(DTYPE).split(self.completions) for part in vars(near).values()]
            found = np.concatenate(
                [_flips(self._logits(Surroundings(*part), there, masked)) for part in zip(*single, strict=True)]
            )
        if found.shape[1] != universe.shape[0]:
            found = found[:, resolved.inverse]
        return np.broadcast_to(found, (len(found), *universe.shape))

    def _logits(self, near: Surroundings, resolved: Deletions | TwoHopDeletions, masked: torch.Tensor) -> torch.Tensor:
        """Logits in each completion; a touched node counts with the mean degree that the sums over ties took."""
        if isinstance(resolved, Deletions):
            return self._candidates.logits(near, resolved, masked)
        degree = torch.from_numpy(self._root(resolved.touched) ** 2).to(DTYPE)
        hidden = torch.from_numpy(self._features[resolved.touched]).to(DTYPE)
        far = Touched(hidden, degree.expand(len(near.degree), -1))
        return self._candidates.two_hop_logits(near, far, resolved, masked)

    def _surroundings(self, target: int, completion: Completion) -> Surroundings:
        """The target's surroundings in each completion; two hops away degrees stand at their mean."""
        rows, known, place = completion.rows, ~completion.hidden, completion.place
        public = self._known.states.degree
        degree = public[rows] + completion.ties + completion.hidden
        own = self._features[rows] / np.sqrt(degree)[:, None]
        back = known[:, None] * (self._features[target] / self._root(target))
        offset = (self._sums(rows) - back + own + completion.sums) / np.sqrt(degree)[:, None] + self._weights.b1

        times = len(Trust) * self.completions
        counts = np.bincount(place, minlength=times)
        slot = np.arange(len(rows)) - (np.cumsum(counts) - counts)[place]
        shape = (times, int(counts.max(initial=0)))

        def padded(values: np.ndarray | float, fill: float, *more: int) -> torch.Tensor:
            table = np.full((*shape, *more), fill)
            table[place, slot] = values
            return torch.from_numpy(table)

        h = self._features.shape[1]
        hidden = np.bincount(place, weights=completion.hidden, minlength=times)
        return Surroundings(
            torch.from_numpy(public[target] + hidden),
            padded(degree, 1.0),
            padded(self._features[rows], 0.0, h),
            padded(offset, 0.0, h),
            padded(1.0, 0.0),
        )

    def _root(self, rows: np.ndarray | int) -> np.ndarray:
        """`sqrt(d_w)` of some rows at their mean degree: ties of the snapshot, itself, and the expected hidden ones."""
        return np.sqrt(self._known.states.degree[rows] + self._ties.expected[rows])

    def _sums(self, rows: np.ndarray) -> np.ndarray:
        """`Σ z_w / sqrt(d_w)` over the snapshot ties of some rows, degrees at their mean, k x h."""
        distinct, place = np.unique(rows, return_inverse=True)
        ties = self._known.graph.adjacency[distinct]
        sent = self._features[ties.indices] / self._root(ties.indices)[:, None]
        each = sparse.csr_array((ties.data, np.arange(len(sent)), ties.indptr), shape=(len(distinct), len(sent)))
        return (each @ sent)[place]


class SnapshotModel:
    """The same for a foreign module: its one guess at the graph is the snapshot itself.

    Completions are scored by the arithmetic of the two-layer GCN; a forward pass for each candidate of
    each would take minutes a target. `weights`: checked for locality by the scorer of the owner's graph.
    Raises `BadInput` for a snapshot of other nodes.
    """

    def __init__(self, nodes: Nodes, snapshot: Snapshot, weights: FrozenModule) -> None:
        snapshot.check(nodes)
        self._known = BlackBoxScorer(PublicGraph(nodes, snapshot.pairs), weights, check=False)

    def scenarios(
        self, universe: Universe, progress: Progress | None = None, cancelled: Stop | None = None
    ) -> np.ndarray:
        """Which candidate flips on the snapshot graph, and the two scenarios of the boundary, 3 x nE x nF bool.

        `progress` counts passes; raises `Cancelled` on request.
        """
        known = self._known.score(universe, progress=progress, cancelled=cancelled)
        return np.stack([known.flips, *_boundary(known.margin, known.clean_margin, universe)])


def public_model(
    nodes: Nodes, snapshot: Snapshot, weights: GCNWeights | FrozenModule, rho: float
) -> PublicModel | SnapshotModel:
    """What the public knows under a frozen backbone; see the two classes."""
    if isinstance(weights, FrozenModule):
        return SnapshotModel(nodes, snapshot, weights)
    return PublicModel(nodes, snapshot, weights, rho)


def _boundary(margin: np.ndarray, clean: float, universe: Universe) -> tuple[np.ndarray, np.ndarray]:
    """Whatever lowers the public margin, and whatever raises it, each nE x nF bool without the empty candidate."""
    rise, some = margin - clean, universe.sizes > 0
    return (rise < -MARGIN_ROUNDING) & some, (rise > MARGIN_ROUNDING) & some


def _flips(logits: torch.Tensor) -> np.ndarray:
    """Which candidate has another class than the empty one in each completion, B x nR x nF bool."""
    original = logits[:, 0, 0].argmax(dim=1)[:, None, None, None].expand(*logits.shape[:3], 1)
    clean = logits.gather(3, original)
    logits.scatter_(3, original, -torch.inf)
    return (logits.amax(dim=3) > clean[..., 0]).numpy()
