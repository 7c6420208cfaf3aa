"""The real release of an embedding: debit, exact noise from OpenDP, settle.

What leaves: the noised densities on their public grid, and the number of nodes, which neighbours share and which tells
a graph from its blow-ups. The time that counting and drawing take is not padded: release where an analyst can't
watch the machine. Seeded noise is a simulation and lives in `core.embeddings.simulate`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from core.desk.amount import amount, as_epsilon, text
from core.desk.entries import Debit, Entry
from core.desk.outcome import canonical
from core.embeddings.counting import densities
from core.embeddings.domain import Domain
from core.embeddings.patterns import Pattern
from core.embeddings.plan import NoisePlan, Spread, noise_plan
from core.errors import BadInput, PrivCFSError
from core.graph import PrivateGraph

if TYPE_CHECKING:
    from core.desk.ledger import Ledger

MECHANISM, SMOOTH_MECHANISM = "discrete-gaussian", "smooth-gaussian"


@dataclass(frozen=True)
class EmbeddingRequest:
    """Everything that is fixed in public before an embedding is drawn: (ε, δ), edge level, exact; patterns; domain."""

    dataset: str
    patterns: tuple[Pattern, ...]
    domain: Domain
    epsilon: Fraction
    delta: Fraction
    smooth: bool = False
    spread: Spread = Spread.EQUAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", amount(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", amount(self.delta, "delta"))

    @property
    def plan(self) -> NoisePlan:
        """How it is noised; never with more budget than is paid. Raises `BadInput` for what can't be drawn."""
        spent = as_epsilon(self.epsilon), as_epsilon(self.delta)
        return noise_plan(self.patterns, self.domain, *spent, smooth=self.smooth, spread=self.spread)

    def to_json(self) -> dict[str, Any]:
        """The request as entries of a JSON object."""
        plan = self.plan
        return {
            "kind": "embedding",
            "dataset": self.dataset,
            "nodes": self.domain.nodes,
            "domain": self.domain.text,
            "degree_bound": self.domain.degree_bound,
            "epsilon": text(self.epsilon),
            "delta": text(self.delta),
            "mechanism": SMOOTH_MECHANISM if self.smooth else MECHANISM,
            "spread": self.spread.value,
            "rho": plan.cost.rho,
            "omega": None if math.isinf(plan.cost.omega) else plan.cost.omega,
            "patterns": [[pattern.vertices, [list(edge) for edge in pattern.edges]] for pattern in self.patterns],
            "grid_exponents": list(plan.exponents),
        }

    @property
    def text(self) -> str:
        """Canonical JSON, one line: what a ledger compares when a key comes again."""
        return canonical(self.to_json())


@dataclass(frozen=True)
class Embedding:
    """What an analyst receives: a request, what was drawn for it in grid steps, and when."""

    request: EmbeddingRequest
    steps: tuple[int, ...]
    key: str
    at: datetime

    @property
    def vector(self) -> np.ndarray:
        """Noised densities in the order of the patterns, then the number of nodes; (d + 1) float64."""
        return np.append(self.request.plan.off_grid(np.array(self.steps)), float(self.request.domain.nodes))

    def to_json(self) -> dict[str, Any]:
        """The object that is written for an analyst: a function of public inputs and the draw."""
        return {
            "request": self.request.to_json(),
            "key": self.key,
            "at": self.at.isoformat(),
            "steps": list(self.steps),
            "vector": self.vector.tolist(),
        }


def draw(plan: NoisePlan, graph: PrivateGraph) -> np.ndarray:
    """One embedding of the graph in grid steps, d int64: it spends (ε, δ), so only a debited release may call it.

    Raises `BadInput` for a graph outside the domain, and `PrivCFSError` when OpenDP's privacy map asks for more than ρ.
    """
    admitted = plan.domain.admit(graph)
    return noised(plan, densities(plan.patterns, admitted), int(admitted.degree.max()))


def noised(plan: NoisePlan, counted: np.ndarray, degree: int) -> np.ndarray:
    """Exact discrete Gaussian noise on densities that were counted on an admitted graph of that largest degree."""
    return noised_many(plan, counted, degree, 1)[0]


def noised_many(plan: NoisePlan, counted: np.ndarray, degree: int, count: int) -> np.ndarray:
    """`count` independent draws, count x d int64: each spends (ε, δ)."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_gaussian(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=plan.scale_at(degree)
    )
    if plan.smooth is None:
        asked = measurement.map(plan.grid_sensitivity)
        if not asked <= plan.cost.rho:
            raise PrivCFSError(
                f"embedding: OpenDP's privacy map gives rho {asked!r}, expected at most {plan.cost.rho!r}; nothing was "
                "drawn: check the installed opendp"
            )
    steps = plan.on_grid(counted)
    drawn = measurement(np.tile(steps, count).tolist())
    return np.array(drawn, dtype=np.int64).reshape(count, len(steps))


def release(
    request: EmbeddingRequest, graph: PrivateGraph, ledger: Ledger, account: str, key: str
) -> tuple[Embedding, Entry]:
    """Release one embedding: (ε, δ), edge level, debited from `account` under `key`, counted before and drawn after.

    Asking again with the same key pays nothing: it returns what is settled, or draws what was paid for and never drawn.
    Raises `BadInput` before anything is debited for a graph outside the domain, patterns that don't fit in memory, an
    unknown account, or a key that paid for something else; `BudgetRefused` when too little is left.
    """
    plan = request.plan
    debit = Debit(
        account=account,
        key=key,
        epsilon=request.epsilon,
        delta=request.delta,
        mechanism=SMOOTH_MECHANISM if request.smooth else MECHANISM,
        what=f"embedding by {len(request.patterns)} patterns",
        request=request.text,
        graph_digest=graph.digest,
    )
    known = ledger.entry(account, key)
    if known is not None and known.outcome is not None:
        entry = ledger.debit(debit)  # refuses a key of another request
    else:
        admitted = plan.domain.admit(graph)
        counted = densities(plan.patterns, admitted)
        entry = ledger.debit(debit)
        if entry.outcome is None:
            drawn = noised(plan, counted, int(admitted.degree.max()))
            entry = replace(entry, outcome=ledger.settle(account, key, canonical({"steps": drawn.tolist()})))
    return Embedding(request, _settled(entry, len(plan.patterns)), key, entry.at), entry


def _settled(entry: Entry, dimensions: int) -> tuple[int, ...]:
    try:
        steps = json.loads(entry.outcome or "")["steps"]
    except (ValueError, TypeError, KeyError):
        steps = None
    if not isinstance(steps, list) or len(steps) != dimensions or any(type(step) is not int for step in steps):
        raise BadInput(
            f"ledger: found an outcome under key {entry.key} that is no embedding of {dimensions} patterns, expected "
            "one that this release settled; look at privcfs ledger history"
        )
    return tuple(steps)
