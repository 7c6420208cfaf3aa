"""The case: the certified auditor on the mechanism, its six pairs, and a witness battery (node bounded).

The claimed budget is an argument, since what breaks the claim is not noised at all and so breaks it at any. The
default, ε = 3 with δ = 1e-5, asks for more than the mechanism's own default of 0.1 would: a smaller ε is
rejected all the more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.audit.certified import audit_pairs
from core.audit.claims import Claim, Pair, Relation
from core.audit.evaluation import Result
from core.audit.privdpr.canaries import canaries
from core.audit.privdpr.mechanism import PrivDPR
from core.audit.witnesses import battery
from core.progress import Progress, Stop

EPSILON, DELTA = 3.0, 1e-5
SELECT, EVALUATE = 500, 2_000
WITNESSES = ("edge count", "maximum degree", "maximum PageRank", "triangles")


def audit_privdpr(
    epsilon: float = EPSILON,
    delta: float = DELTA,
    *,
    pairs: Sequence[Pair] | None = None,
    witnesses: Sequence[str] = WITNESSES,
    select: int = SELECT,
    evaluate: int = EVALUATE,
    confidence: float = 0.99,
    simultaneous: bool = False,
    seed: int = 0,
    workers: int = 1,
    store: Path | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> list[Result]:
    """Audit the mechanism at a claimed (ε, δ), a result a pair and witness; arguments as in `audit_pairs`.

    `pairs`: the six canaries unless given. Raises what `audit_pairs` raises.
    """
    claim = Claim(epsilon, Relation.NODE_BOUNDED, delta)
    return audit_pairs(
        PrivDPR(claim.epsilon, claim.delta), canaries() if pairs is None else pairs, claim, battery(witnesses),
        select=select, evaluate=evaluate, confidence=confidence, simultaneous=simultaneous, seed=seed, workers=workers,
        store=store, progress=progress, cancelled=cancelled,
    )  # fmt: skip
