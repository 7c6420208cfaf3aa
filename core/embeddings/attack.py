"""The edge-presence attack: who knows all of a graph but one pair sees its embedding and guesses whether that is a tie.

With both graphs at hand the best guess compares likelihoods. Under Gaussian noise of σ_i on density i in either case it
is right with probability `Φ(‖(t(G) - t(G')) / σ‖ / 2)` from an even prior: 1/2 is chance, `advantage = 2 success - 1`.
Without noise it is always right, unless no density moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from core import checks
from core.embeddings.counting import densities
from core.embeddings.plan import NoisePlan
from core.errors import BadInput
from core.graph import PrivateGraph


@dataclass(frozen=True)
class AttackReport:
    """Success of the best attack over the attacked pairs of one graph; owner-only.

    `mean`, `worst`: probability of a right guess from an even prior. `bound`: what (ε, δ) allows,
    `1 - (1 - δ) / (1 + e^ε)`. `bare`: the mean without noise.
    """

    pairs: int
    mean: float
    worst: float
    bound: float
    bare: float

    @property
    def advantage(self) -> float:
        """`2 mean - 1`, 0 for guessing."""
        return 2 * self.mean - 1


def attack(plan: NoisePlan, graph: PrivateGraph, pairs: Sequence[tuple[int, int]]) -> AttackReport:
    """Attack each pair of an admitted graph in closed form; raises `BadInput` for a smooth plan or no pairs.

    A pair whose toggled graph falls outside the domain is no pair of neighbours, and is left out.
    """
    if plan.smooth is not None:
        raise BadInput("attack: found a smooth plan, expected one of a public scale; see simulated_success")
    counted = densities(plan.patterns, plan.domain.admit(graph))
    found = [_moved(plan, graph, pair, counted) for pair in pairs]
    moved = np.array([one for one in found if one is not None])
    if not len(moved):
        raise BadInput(
            f"attack: found {len(pairs)} pairs and none with both graphs in the domain, expected one at least"
        )
    distance = np.linalg.norm(moved / plan.noise_std(), axis=1)
    success = ndtr(distance / 2)
    seen = np.abs(moved).max(axis=1) > 2 * float(max(plan.errors))
    return AttackReport(
        len(moved),
        float(success.mean()),
        float(success.max()),
        1 - (1 - plan.delta) / (1 + math.exp(plan.epsilon)),
        float(np.where(seen, 1.0, 0.5).mean()),
    )


def simulated_success(
    plan: NoisePlan, graph: PrivateGraph, pair: tuple[int, int], draws: int, rng: np.random.Generator
) -> float:
    """Share of right guesses by likelihood over seeded draws, half from either graph; any plan, smooth ones too."""
    checks.count(draws, "draws of an attack", 1, 10**8)
    sides = [plan.domain.admit(one) for one in (graph, graph.toggled(*pair))]
    means = [densities(plan.patterns, side) for side in sides]
    spreads = [plan.grid * plan.scale_at(int(side.degree.max())) for side in sides]
    right = 0
    for truth in (0, 1):
        seen = means[truth] + spreads[truth] * rng.standard_normal((draws, len(plan.patterns)))
        log = [
            -(((seen - mean) / spread) ** 2).sum(axis=1) / 2 - np.log(spread).sum()
            for mean, spread in zip(means, spreads, strict=True)
        ]
        right += int((log[truth] > log[1 - truth]).sum())
    return right / (2 * draws)


def _moved(plan: NoisePlan, graph: PrivateGraph, pair: tuple[int, int], counted: np.ndarray) -> np.ndarray | None:
    other = graph.toggled(*pair)
    bound = plan.domain.degree_bound
    if plan.domain.steps == 1 and bound is not None and int(other.degree.max()) > bound:
        return None
    return np.asarray(densities(plan.patterns, plan.domain.admit(other)) - counted)
