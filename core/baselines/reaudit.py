"""Re-audit of PrivCF-out: how far its mask logits really move between neighbours, and what that leaves of ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from core import checks
from core.baselines.cfgnn import public_universe
from core.baselines.curve import gaussian_epsilon
from core.baselines.field import gcn_of, reach
from core.baselines.privcf_out import ASSUMED_SENSITIVITY, PrivCFOut, mask_logits
from core.errors import BadInput
from core.graph import Graph, pair_keys
from core.progress import Progress, Stop, tracked
from core.study.settings import Settings
from core.study.study import Study

MOST_PAIRS = 10_000


@dataclass(frozen=True)
class Move:
    """What one toggled pair does to the mask logits of one target, optimised from scratch on G and on G'.

    `existed`: the pair is an edge of G. `distance`: L2 of the difference of the logits, `entry`: the largest
    difference of one of them. `jump`: the thresholded masks differ, so the optimiser ended in another basin.
    """

    target: int
    pair: tuple[int, int]
    existed: bool
    distance: float
    entry: float
    jump: bool


@dataclass(frozen=True)
class Reaudit:
    """The moves of all pairs, and what they make of a budget of `epsilon` at `delta` and noise `sigma` (owner-only)."""

    epsilon: float
    delta: float
    sigma: float
    rho: float
    moves: tuple[Move, ...]

    @cached_property
    def _jumps(self) -> list[Move]:
        return [move for move in self.moves if move.jump]

    @property
    def jumps(self) -> float:
        """Share of pairs whose thresholded masks differ."""
        return len(self._jumps) / len(self.moves)

    @property
    def sensitivity(self) -> float:
        """Largest distance, L2: a lower bound of the sensitivity, which the release takes for 1."""
        return max(move.distance for move in self.moves)

    @property
    def jump_sensitivity(self) -> float | None:
        """Mean distance over the pairs with a jump, None without one."""
        return float(np.mean([move.distance for move in self._jumps])) if self._jumps else None

    @property
    def implied_epsilon(self) -> float:
        """ε of the full release for `sensitivity`, exact by the analytic Gaussian curve: what it costs at least."""
        return gaussian_epsilon(self.sigma, self.delta, self.sensitivity)

    @property
    def jump_epsilon(self) -> float | None:
        """The same for `jump_sensitivity`: what a typical jump costs."""
        typical = self.jump_sensitivity
        return None if typical is None else gaussian_epsilon(self.sigma, self.delta, typical)

    @property
    def entry_auc(self) -> float:
        """AUC of the best attack on the single logit that moves most, `Φ(Δ / (σ √2))`; 0.5 is a guess."""
        return float(ndtr(max(move.entry for move in self.moves) / (self.sigma * math.sqrt(2))))

    def to_json(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "owner_only": True,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "sigma": self.sigma,
            "rho": self.rho,
            "assumed_sensitivity": ASSUMED_SENSITIVITY,
            "pairs": len(self.moves),
            "targets": len({move.target for move in self.moves}),
            "moved": sum(move.distance > 0 for move in self.moves) / len(self.moves),
            "jumps": self.jumps,
            "sensitivity": self.sensitivity,
            "sensitivity_jumps": self.jump_sensitivity,
            "implied_epsilon": self.implied_epsilon,
            "implied_epsilon_jumps": self.jump_epsilon,
            "entry_auc": self.entry_auc,
            "moves": [asdict(move) for move in self.moves],
        }


def reaudit(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    epsilon: float,
    rho: float = 0.5,
    settings: Settings | None = None,
    method: PrivCFOut | None = None,
    *,
    pairs: int = 8,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Reaudit:
    """Optimise the mask of every target (row) on G and on `pairs` of its neighbours, from the same start.

    Half of the pairs are private edges within the target's reach, half absent ones with an end in it, drawn
    by `seed`. Raises `BadInput`, `UnsupportedBackbone` for a foreign backbone, `Cancelled` on request.
    """
    settings, method = settings or Settings(), method or PrivCFOut()
    scorer, graph = gcn_of(study, method.name), study.dataset.graph
    budget, rho = checks.epsilon(epsilon), checks.rho(rho)
    checks.count(pairs, "pairs of each target", 1, MOST_PAIRS)
    rng = np.random.default_rng(checks.count(seed, "seed", 0, 2**63 - 1))
    tasks = [
        (target, pair)
        for target in (checks.count(int(row), "target row", 0, graph.n - 1) for row in targets)
        for pair in near_pairs(graph, target, pairs, rng)
    ]
    if not tasks:
        raise BadInput("re-audit: found no pair to toggle, expected a target with edges in its reach")
    moves = []
    whole: tuple[int, np.ndarray] = (-1, np.empty(0))
    for target, (u, w) in tracked(tasks, progress, cancelled):
        universe = public_universe(study, rho, settings, target)
        if whole[0] != target:
            whole = target, mask_logits(scorer, universe, method.descent)
        other = mask_logits(scorer.on(graph.toggled(u, w)), universe, method.descent)
        change = whole[1] - other
        moves.append(
            Move(
                target=target,
                pair=(u, w),
                existed=bool(graph.contains(np.array([[u, w]]))[0]),
                distance=float(np.linalg.norm(change)),
                entry=float(np.abs(change).max(initial=0.0)),
                jump=bool(((whole[1] < 0) != (other < 0)).any()),
            )
        )
    return Reaudit(budget, method.delta, method.sigma(budget), rho, tuple(moves))


def near_pairs(graph: Graph, target: int, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Up to `count` distinct pairs whose status can reach the target: edges first, then as many absent ones."""
    edges = reach(graph, target)
    drawn = edges[rng.permutation(len(edges))[: (count + 1) // 2]]
    near = np.unique(np.append(edges, target))
    ends = np.stack([rng.choice(near, 4 * count), rng.integers(graph.n, size=4 * count)], axis=1)
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    ends = ends[~graph.contains(ends)]
    _, first = np.unique(pair_keys(ends, graph.n), return_index=True)
    absent = ends[np.sort(first)][: count - len(drawn)]
    return [(int(u), int(w)) for u, w in np.concatenate([drawn, absent])]
