"""What one test says: an event chosen on one sample, bounded on another (graph-DP auditing, 3.4 and 3.5).

For neighbours `G0, G1` and an event `O`, the claim says `α = P(M(G_i) ∈ O) <= e^ε β + δ`, `β = P(M(G_j) ∈ O)`,
in both directions. The event is chosen on a selection sample; then an independent evaluation sample bounds α from
below and β from above, each wrong with probability `(1 - confidence) / 2` at most. Given the selection sample the
event is fixed, so by the union bound both bounds hold with probability `confidence` at least, and where they do
`ε >= log((α - δ) / β) >= log((α_low - δ) / β_up) = ε_LB`. A mechanism that keeps its claim is therefore rejected,
`ε_LB > ε`, with probability `1 - confidence` at most. What is not rejected is not proven: the next event may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.audit.claims import Claim, Pair
from core.audit.sampling import Role, Sample, Witness
from core.audit.selection import Choice, Event, choose, lower_bound, ratio_bound, upper_bound
from core.errors import BadInput

REJECTED = "claim rejected"
NOT_REJECTED = "no violation found"
SIDES = ("one", "other")


@dataclass(frozen=True)
class Level:
    """How sure a test must be. `confidence`: of a single test, or of all `tests` together where `simultaneous`.

    Bonferroni: with `tests` of them, each at `1 - (1 - confidence) / tests`, the chance that any correct
    claim is rejected is `1 - confidence` at most, however dependent they are. Raises `BadInput`.
    """

    confidence: float = 0.99
    simultaneous: bool = False
    tests: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.confidence, bool) or not 0.5 <= self.confidence < 1:
            raise BadInput.number("confidence", self.confidence, "a probability from 0.5 to below 1, for example 0.99")

    @property
    def test_error(self) -> float:
        """Chance at most that one test rejects a correct claim."""
        return (1 - self.confidence) / (self.tests if self.simultaneous else 1)

    @property
    def bound_error(self) -> float:
        """Chance at most that one of the two bounds of a test is wrong."""
        return self.test_error / 2


@dataclass(frozen=True)
class Test:
    """What the selection sample chose for a pair (its place) and a witness (its place)."""

    __test__ = False  # not a test of pytest's

    pair: int
    witness: int
    choice: Choice


@dataclass(frozen=True)
class Result:
    """One test: what was selected on one sample, and what another one says of it.

    `event`: in words. `favours`: the side of the pair whose probability α is the larger one. `threshold`: NaN
    for a set of outcomes and for undefined values. `selected`, `evaluated`: draws a side. `select_alpha`, ... and
    `alpha_count`, `beta_count`: hits. `alpha_low`, `beta_up`: bounds. `epsilon_lb`: ε at least (>= 0), at the
    claimed δ and at `test_confidence`. `score`: the same on the selection sample, which certifies nothing.
    `confidence`: of this test, or of all `tests` together where `simultaneous`. `looks`: how often the evaluation
    sample has been looked at, 1 unless audited live; `test_confidence` has paid for them.
    """

    pair: str
    witness: str
    event: str
    tail: str
    threshold: float
    favours: str
    selected: int
    select_alpha: int
    select_beta: int
    score: float
    evaluated: int
    alpha_count: int
    beta_count: int
    alpha_low: float
    beta_up: float
    epsilon_lb: float
    claimed_epsilon: float
    claimed_delta: float
    relation: str
    confidence: float
    simultaneous: bool
    tests: int
    test_confidence: float
    looks: int
    seed: int

    @property
    def rejected(self) -> bool:
        """Whether the claim is falsified."""
        return self.epsilon_lb > self.claimed_epsilon

    @property
    def verdict(self) -> str:
        """`claim rejected` or `no violation found`; the latter is no certificate."""
        return REJECTED if self.rejected else NOT_REJECTED


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one witness on either side, n float64 each, with the role that they were drawn for."""

    role: Role
    sides: tuple[np.ndarray, np.ndarray]

    def hits(self, event: Event) -> tuple[int, int]:
        """How many draws of the favoured and of the other side are in the event."""
        counts = [int(event.holds(values).sum()) for values in self.sides]
        return counts[event.favours], counts[1 - event.favours]


def column(sample: Sample, witness: int, role: Role, draws: int | None = None) -> Column:
    """One witness of a sample, its first `draws` draws; refuses a sample that was drawn for another role."""
    if sample.role is not role:
        raise BadInput(
            f"audit: found a sample drawn for {sample.role.name.lower()}, expected one for {role.name.lower()}"
        )
    return Column(role, (sample.one[:draws, witness], sample.other[:draws, witness]))


def ranked(selection: Mapping[int, Sample], witnesses: Sequence[Witness], claim: Claim, level: Level) -> list[Test]:
    """The best event of every pair and witness on the selection samples, the largest score first."""
    tests = []
    for pair, sample in selection.items():
        for place, witness in enumerate(witnesses):
            one, other = column(sample, place, Role.SELECTION).sides
            tests.append(Test(pair, place, choose(one, other, claim.delta, level.bound_error, witness.finite)))
    return sorted(tests, key=lambda test: -test.choice.score)


def certify(
    pair: Pair,
    witness: Witness,
    choice: Choice,
    selection: Column,
    evaluation: Column,
    claim: Claim,
    level: Level,
    error: float,
    looks: int,
    seed: int,
) -> Result:
    """Bound the chosen event on the evaluation sample; `error`: chance that either of the two bounds is wrong."""
    if (selection.role, evaluation.role) != (Role.SELECTION, Role.EVALUATION):
        raise BadInput("audit: found one sample in both parts, expected an event that was chosen on another sample")
    event = choice.event
    alpha, beta = evaluation.hits(event)
    sizes = [len(values) for values in evaluation.sides]
    alpha_low = float(lower_bound(alpha, sizes[event.favours], error))
    beta_up = float(upper_bound(beta, sizes[1 - event.favours], error))
    return Result(
        pair=pair.name,
        witness=witness.name,
        event=event.text,
        tail=event.tail.value,
        threshold=event.threshold,
        favours=SIDES[event.favours],
        selected=len(selection.sides[0]),
        select_alpha=selection.hits(event)[0],
        select_beta=selection.hits(event)[1],
        score=max(choice.score, 0.0),
        evaluated=sizes[0],
        alpha_count=alpha,
        beta_count=beta,
        alpha_low=alpha_low,
        beta_up=beta_up,
        epsilon_lb=max(float(ratio_bound(np.array(alpha_low), np.array(beta_up), claim.delta)), 0.0),
        claimed_epsilon=claim.epsilon,
        claimed_delta=claim.delta,
        relation=claim.relation.value,
        confidence=level.confidence,
        simultaneous=level.simultaneous,
        tests=level.tests,
        test_confidence=1 - 2 * error,
        looks=looks,
        seed=seed,
    )
