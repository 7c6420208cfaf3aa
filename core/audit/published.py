"""Labels and embeddings of the frame's graph as mechanisms that the auditor can be handed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from core.audit.claims import Claim, Pair, Relation
from core.audit.frame import Frame
from core.audit.sampling import Release, Witness
from core.audit.witnesses import OUTCOME, Coordinate
from core.backbone.gcn import GCNWeights
from core.errors import UnsupportedBackbone

DELTA = Fraction(1, 10**5)
SUBGRAPHS = 400
LABELLED = 4  # the target and some of its public neighbours, whose labels must agree
BELOW_WALL = 0.8  # of the p_s from which on even full agreement isn't enough
PATTERNS = 6


@dataclass(frozen=True)
class CameOut:
    """1 where labels came out, 0 for ⊥."""

    def __call__(self, output: Any) -> float:
        return float(output is not None)


@dataclass(frozen=True)
class LabelAt:
    """The label of one of the nodes; NaN for ⊥."""

    place: int

    def __call__(self, output: Any) -> float:
        return float("nan") if output is None else float(output[self.place])


Witnesses = Callable[[Pair], tuple[Witness, ...]]


def labels(frame: Frame, epsilon: float) -> tuple[Release, Claim, Witnesses]:
    """A_samp-GCN on the target and its first public neighbours, with the fitted cap, at (ε, 1e-5); simulated draws.

    Nodes, p_s and m are fixed from public objects. Raises `UnsupportedBackbone` for a foreign module.
    """
    from core.labels.classifier import GCNClassifier
    from core.labels.feasible import public_walls
    from core.labels.plan import Cap, Plan
    from core.labels.simulate import Simulation

    weights = frame.weights
    if not isinstance(weights, GCNWeights):
        raise UnsupportedBackbone("release labels: found a foreign module, expected the two-layer GCN")
    asked = Plan(Fraction(1, 100), SUBGRAPHS, Fraction(repr(epsilon)), DELTA, Cap.FITTED)
    chance = Fraction(BELOW_WALL * public_walls(asked)[1]).limit_denominator(10**6)
    plan = Plan(chance, SUBGRAPHS, asked.epsilon, DELTA, Cap.FITTED)
    ends = frame.snapshot.pairs[frame.snapshot.incident(frame.target)].sum(axis=1) - frame.target
    rows = np.append([frame.target], ends[: LABELLED - 1])
    witnesses = (
        Witness("labels came out", CameOut()),
        *(Witness(f"label of {row}", LabelAt(place)) for place, row in enumerate(rows.tolist())),
        OUTCOME,
    )
    release = Simulation(GCNClassifier(weights, frame.nodes), plan, rows)
    return release, Claim(epsilon, Relation.EDGE, plan.delta_total), lambda pair: witnesses


def embedding(frame: Frame, epsilon: float) -> tuple[Release, Claim, Witnesses]:
    """Densities of small trees and cycles on any graph of these nodes, at (ε, 1e-5), drawn through OpenDP.

    The first witness is the likelihood ratio of the pair's two graphs: no other sees more of a pair.
    """
    from core.embeddings.audited import Along, EmbeddingRelease
    from core.embeddings.domain import Domain
    from core.embeddings.plan import noise_plan
    from core.embeddings.samplers import PatternClass, sample

    kind = PatternClass.parse("treewidth:2")
    plan = noise_plan(sample(kind, PATTERNS, 0), Domain(frame.nodes.n), epsilon, float(DELTA))

    def witnesses(pair: Pair) -> tuple[Witness, ...]:
        entries = (Witness(f"coordinate {place}", Coordinate(place)) for place in range(len(plan.patterns)))
        return (Witness("likelihood ratio", Along.between(plan, pair.one, pair.other)), *entries)

    return EmbeddingRelease(plan), Claim(epsilon, Relation.EDGE, float(DELTA)), witnesses
