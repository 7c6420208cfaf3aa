"""What is asked of a release: everything that is fixed in public before anything is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from core.desk.amount import amount, text
from core.desk.outcome import canonical
from core.graph import Nodes
from core.prior.prior import Prior, PriorKind, PriorRule
from core.snapshot import Snapshot
from core.universe import Arm, Limits, Universe
from core.utility import UtilityConfig, flip_table, grid_sensitivity

PRIOR_DIGITS = 6  # of ln π, so that the last bits of another machine's arithmetic don't change its digest


class Weights(Protocol):
    """A frozen backbone as far as a card speaks of it: public."""

    @property
    def digest(self) -> str:
        """SHA-256 of what the backbone computes with."""


@dataclass(frozen=True)
class Digests:
    """SHA-256 of the public objects: node table, disclosed snapshot, backbone, universe, base measure."""

    nodes: str
    snapshot: str
    backbone: str
    universe: str
    prior: str


@dataclass(frozen=True)
class Disclosed:
    """Which part of which snapshot was public: the first `pairs` of its pairs, a share `rho`.

    A simulated snapshot is drawn from the private ties by `seed`; then `pairs` is None, for it would tell
    how many ties there are.
    """

    simulated: bool
    rho: float
    pairs: int | None
    seed: int | None


@dataclass(frozen=True)
class PublicRequest:
    """Target, budget, mechanism, universe and prior of one release, and the digests of the public objects.

    No field can hold a private edge, and `public_request` makes one from public objects. `epsilon`: pure ε,
    edge level, exact; δ is 0. `doubts`: why a card of this request is a demonstration, none where it is
    certified.
    """

    dataset: str
    target: str
    epsilon: Fraction
    mechanism: str
    utility: UtilityConfig
    prior: PriorRule
    arm: Arm
    limits: Limits
    edge_candidates: int
    feature_candidates: int
    candidates: int
    disclosed: Disclosed
    digests: Digests
    doubts: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The request as entries of a JSON object, of strict JSON types."""
        utility = self.utility
        _, denominator = flip_table(utility, self.limits)
        sensitivity = grid_sensitivity(utility, self.limits, self.arm, denominator)
        weights = (utility.w_flip, utility.w_size, utility.w_plausible)
        return {
            "dataset": self.dataset,
            "target": self.target,
            "epsilon": text(self.epsilon),
            "delta": "0",
            "mechanism": self.mechanism,
            "sensitivity": {"rule": utility.sensitivity, "steps": sensitivity, "grid": denominator},
            "utility": {
                "kind": "soft" if utility.soft else "hard",
                "weights": [text(weight) if weight else "0" for weight in weights],
            },
            "prior": {"kind": self.prior.kind.value, "size_penalty": self.prior.size_penalty},
            "universe": {
                "arm": self.arm.value,
                "limits": asdict(self.limits),
                "edge_candidates": self.edge_candidates,
                "feature_candidates": self.feature_candidates,
                "candidates": self.candidates,
            },
            "snapshot": {
                "kind": "simulated" if self.disclosed.simulated else "given",
                "rho": self.disclosed.rho,
                "pairs": self.disclosed.pairs,
                "seed": self.disclosed.seed,
            },
            "digests": asdict(self.digests),
            "doubts": list(self.doubts),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> PublicRequest:
        """Read a card that its schema has passed; raises `BadInput` for numbers out of range together."""
        utility, universe, snapshot = value["utility"], value["universe"], value["snapshot"]
        flip, size, plausible = utility["weights"]
        return cls(
            dataset=value["dataset"],
            target=value["target"],
            epsilon=amount(value["epsilon"], "epsilon"),
            mechanism=value["mechanism"],
            utility=UtilityConfig(flip, size, plausible, utility["kind"] == "soft", value["sensitivity"]["rule"]),
            prior=PriorRule(PriorKind.parse(value["prior"]["kind"]), value["prior"]["size_penalty"]),
            arm=Arm.parse(universe["arm"]),
            limits=Limits(**universe["limits"]),
            edge_candidates=universe["edge_candidates"],
            feature_candidates=universe["feature_candidates"],
            candidates=universe["candidates"],
            disclosed=Disclosed(snapshot["kind"] == "simulated", snapshot["rho"], snapshot["pairs"], snapshot["seed"]),
            digests=Digests(**value["digests"]),
            doubts=tuple(value["doubts"]),
        )

    @property
    def text(self) -> str:
        """Canonical JSON, one line: what a ledger compares when a key comes again."""
        return canonical(self.to_json())


def public_request(
    dataset: str,
    nodes: Nodes,
    disclosed: Snapshot,
    rho: float,
    seed: int,
    weights: Weights,
    universe: Universe,
    prior: Prior,
    rule: PriorRule,
    utility: UtilityConfig,
    mechanism: str,
    epsilon: Fraction,
    doubts: Sequence[str],
) -> PublicRequest:
    """The request for one release of `universe.target`; no argument can hold a private edge.

    `disclosed`: the public prefix of the snapshot, a share `rho` of it. `seed`: of a simulated one.
    `prior`: the base measure that `rule` gives. Raises `BadInput` for an ε that is no amount.
    """
    simulated = disclosed.simulated
    return PublicRequest(
        dataset=dataset,
        target=nodes.ids[universe.target],
        epsilon=amount(epsilon, "epsilon"),
        mechanism=mechanism,
        utility=utility,
        prior=rule,
        arm=universe.arm,
        limits=universe.limits,
        edge_candidates=len(universe.edge_pairs),
        feature_candidates=len(universe.feature_dims),
        candidates=universe.size,
        disclosed=Disclosed(simulated, float(rho), None if simulated else len(disclosed), seed if simulated else None),
        digests=Digests(nodes.digest, disclosed.digest, weights.digest, universe.digest, prior_digest(prior)),
        doubts=tuple(doubts),
    )


def prior_digest(prior: Prior) -> str:
    """SHA-256 of a base measure, its logarithms rounded to `PRIOR_DIGITS` decimals."""
    steps = np.rint(np.log(prior.mass) * 10.0**PRIOR_DIGITS).astype(np.int64)
    return hashlib.sha256(repr(steps.shape).encode() + np.ascontiguousarray(steps).tobytes()).hexdigest()
