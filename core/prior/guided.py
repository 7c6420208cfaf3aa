"""The guided prior: what the public snapshot already says about a target, at no cost in ε.

The rule, fixed in advance and the same for every data set (chosen on synthetic graphs and on training
nodes, never on the targets it is judged by):

1. Score the candidates in the scenarios of `scenarios.PublicModel`: 36 random completions of the
   snapshot, and two for a target on the boundary.
2. Take the measure that solves `cover.Cover` over them, with `λ = ε ū / (2Δu)`, `ū` halfway between the
   smallest and the largest utility of a flip, `τ = 0.01`, and, with `t = min(1, ε)`, boundary scenarios
   of weight `t/10` together and `κ = 2t`.
3. Mix in 5 % of the reference, which is uniform unless sizes are penalised: every candidate can be named.

A small ε asks for the few candidates that flip most completions; a large one for a measure that covers
them all and loses little where the public is wrong. At ε = 0 it is the best public guess: what an
analyst could do alone.
"""

from __future__ import annotations

import numpy as np

from core import checks
from core.prior.cover import Cover
from core.prior.prior import Prior, PriorKind, reference
from core.universe import Universe
from core.utility import UtilityConfig, attainable_max

BOUNDARY_WEIGHT = 0.1
REGRET = 2.0
ENTROPY = 0.01
REFERENCE_SHARE = 0.05
LARGEST_GAIN = 30.0
BITS = 64  # of a word that holds a candidate's scenarios


class Guide:
    """The guided priors of one target, one for each ε, from its public scenarios.

    `scenarios`: K x nE x nF bool, of `PublicModel.scenarios` for `universe`. Candidates that no scenario
    tells apart form a group: `member` nE x nF, `flips` K x G.
    """

    def __init__(self, universe: Universe, scenarios: np.ndarray) -> None:
        self.universe = universe
        told = np.flatnonzero(scenarios.any(axis=0))
        bits = np.zeros((len(told), BITS // 8), dtype=np.uint8)
        flipped = np.packbits(scenarios.reshape(len(scenarios), -1)[:, told], axis=0, bitorder="little")
        bits[:, : len(flipped)] = flipped.T
        groups, member = np.unique(bits.view("<u8"), return_inverse=True)
        rest = int(len(told) < universe.size)
        self.member = np.zeros(universe.shape, dtype=np.int64)
        self.member.ravel()[told] = member.ravel() + rest
        groups = np.concatenate([np.zeros(rest, dtype=np.uint64), groups])
        places = np.arange(len(scenarios), dtype=np.uint64)
        self.flips = (groups >> places[:, None] & np.uint64(1)).astype(np.float64)

    def prior(self, epsilon: float, config: UtilityConfig, size_penalty: float = 0.0) -> Prior:
        """The guided prior of a release at `epsilon` (pure ε, edge level; 0 for the public guess itself).

        Full support; `config` enters by its public weights and sensitivity alone. Raises `BadInput`.
        """
        budget = checks.epsilon(epsilon) if epsilon != 0 else 0.0
        base = reference(self.universe, size_penalty)
        masses = np.bincount(self.member.ravel(), weights=base.ravel())
        trust = min(1.0, budget)
        boundary = BOUNDARY_WEIGHT * trust
        completions = len(self.flips) - 2
        weight = np.r_[np.full(completions, (1 - boundary) / completions), boundary / 2, boundary / 2]
        cover = Cover(self.flips, masses, weight, self._gain(budget, config), REGRET * trust, ENTROPY)
        density = (1 - REFERENCE_SHARE) * cover.solve() / masses + REFERENCE_SHARE
        mass = base * density[self.member]
        return Prior(PriorKind.GUIDED.value, mass / mass.sum())

    def _gain(self, budget: float, config: UtilityConfig) -> float:
        """`λ = ε ū / (2Δu)`, capped where more would change nothing."""
        most = attainable_max(config, self.universe.limits, self.universe.arm)
        if not most:
            return 0.0
        sensitivity = most if config.sensitivity == "tight" else 1
        return min(budget * float((config.w_flip + most) / (4 * sensitivity)), LARGEST_GAIN)
