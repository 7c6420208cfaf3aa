"""What is fixed in public before labels are drawn: how many subgraphs, how thin, at which ε and δ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log

from core import checks
from core.desk import entries
from core.desk.amount import amount, text
from core.errors import BadInput
from core.labels.noise import ROUNDING, least_gap, scale_for

MOST_SUBGRAPHS = 100_000
MOST_EPSILON = 1000


class Cap(StrEnum):
    """How many subgraphs one edge may sit in before the halting step says ⊥."""

    PAPER = "paper"  # 2 m p_s
    FITTED = "fitted"  # the least number that the halting step's half of δ allows

    @classmethod
    def parse(cls, value: str) -> Cap:
        """Return the rule of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "cap")


@dataclass(frozen=True)
class Plan:
    """Subsampling stability with m subgraphs at p_s: A_samp of Smith & Thakurta 2013, on edges.

    Let T (`cap`) be the most subgraphs that one edge may sit in, c1 and c2 the counts of the two most frequent
    label vectors, `d̂ = (c1 - c2) / unit - 1`, and Z whole-number Laplace noise of scale `unit / ε` on the votes.
    Out comes the first vector if no edge sits in more than T subgraphs and `c1 - c2 + Z >= votes_needed`, that is
    `d̂ + Lap(1/ε) > ln(1/δ)/ε`, and ⊥ else. `Cap.PAPER`: `T = floor(2 m p_s)`, `unit = 4 m p_s`.
    `Cap.FITTED`: the least T with `overflow <= δ/2`, `unit = 2T`; the paper's rule at that T.

    Guarantee: (ε, `delta_total`), edge level. Proof. Let G' be G with one edge e more. Draw the subgraphs of
    both with the same bits; those of G' have a further row of bits for e, with sum K ~ Bin(m, p_s).
    If another edge sits in more than T subgraphs, both say ⊥. Else, if K <= T, at most T of the m label vectors
    differ. Moving one vote moves c1 - c2 by at most 2, so by at most `2T <= unit` in all: d̂ has sensitivity 1,
    and whether it clears the threshold is ε-private. The first vector is the same on both unless
    `c1 - c2 <= 2T` on both; there `votes_needed` lets a release happen with chance at most δ/2.
    So this case is (ε, δ/2)-private. Else K > T: G' says ⊥, G may say anything. That has chance `overflow`,
    for this one edge: the other edges trip or spare the step on both graphs alike, and how many there are, which
    is private, doesn't enter. In all `delta_total = overflow + (1 - overflow) δ/2`. The original repeats the
    subsampling until no edge sits in too many, and pays for the union over all of them. In this proof the step
    itself buys nothing: without it the last case is as rare. It is kept because with it d̂ has sensitivity 1 in
    every release, not in most, and it costs little: where the claim holds, ⊥ by it has chance at most M δ/2.

    With the paper's cap `delta_total` exceeds δ while m p_s is small (`least_cap`); `holds` says so.
    p_s, ε, δ are exact. Raises `BadInput` for values out of range.
    """

    p_s: Fraction
    m: int
    epsilon: Fraction
    delta: Fraction
    rule: Cap = Cap.PAPER

    def __post_init__(self) -> None:
        for name in ("p_s", "epsilon", "delta"):
            object.__setattr__(self, name, amount(getattr(self, name), name))
        object.__setattr__(self, "rule", Cap.parse(self.rule))
        checks.count(self.m, "subgraphs m", 1, MOST_SUBGRAPHS)
        if self.p_s > 1:
            raise BadInput(f"p_s: found {text(self.p_s)}, expected a chance above 0 and at most 1, for example 0.06")
        if self.epsilon > MOST_EPSILON:
            raise BadInput(f"epsilon: found {text(self.epsilon)}, expected at most {MOST_EPSILON}")
        entries.delta(self.delta)

    @cached_property
    def cap(self) -> int:
        """T: the most subgraphs that one edge may sit in."""
        if self.rule is Cap.PAPER:
            return floor(2 * self.m * self.p_s)
        from scipy import stats

        least = max(1, int(stats.binom.isf(float(self.delta) / 2, self.m, float(self.p_s))))
        while overflow(self.m, self.p_s, least) > self.delta / 2:
            least += 1
        return least

    @cached_property
    def unit(self) -> Fraction:
        """Votes that make one step of d̂; never below twice the cap."""
        return 4 * self.m * self.p_s if self.rule is Cap.PAPER else Fraction(2 * self.cap)

    @cached_property
    def scale(self) -> float:
        """Of the noise, in votes: `unit / ε`."""
        return scale_for(self.unit, self.epsilon)

    @property
    def threshold(self) -> float:
        """`ln(1/δ) / ε`, which d̂ with noise has to exceed."""
        return -log(self.delta) / float(self.epsilon)

    @cached_property
    def votes_needed(self) -> int:
        """The least noisy c1 - c2 that is released: past the threshold, and `P(Z >= votes_needed - 2T) <= δ/2`."""
        past = floor(float(self.unit) * (1 + self.threshold) * (1 + ROUNDING)) + 1
        return max(past, 2 * self.cap + least_gap(self.scale, float(self.delta) / 2))

    @cached_property
    def overflow(self) -> float:
        """Chance that one given edge sits in more than `cap` subgraphs: `P(Bin(m, p_s) > T)`."""
        return overflow(self.m, self.p_s, self.cap)

    @property
    def delta_total(self) -> float:
        """What the release really is private with: threshold and halting step together."""
        return min(1.0, self.overflow + (1 - self.overflow) * float(self.delta) / 2)

    @property
    def holds(self) -> bool:
        """Whether a release is (ε, δ)-private at the δ that was asked for."""
        return self.delta_total <= self.delta

    @property
    def reachable(self) -> bool:
        """Whether full agreement, c1 = m, is released at least half the time: below the stability wall."""
        return self.m >= self.votes_needed

    def stability(self, difference: int) -> float:
        """d̂ of `c1 - c2`: private, sensitivity 1."""
        return difference / float(self.unit) - 1

    def check_holds(self) -> None:
        """Raise `BadInput` unless a release is (ε, δ)-private; says what would be."""
        if self.holds:
            return
        enough = ceil(Fraction(least_cap(self.delta)) / (2 * self.p_s))
        raise BadInput(
            f"labels: found {self.m} subgraphs at p_s {text(self.p_s)}, where one edge alone trips the halting step "
            f"with chance {self.overflow:.2g}, expected at most delta / 2 = {float(self.delta) / 2:.2g}; take m "
            f"{max(enough, self.m + 1):,} or more, or the fitted cap"
        )


def overflow(m: int, p_s: Fraction, cap: int) -> float:
    """`P(Bin(m, p_s) > cap)`, rounded up."""
    from scipy import stats

    return min(1.0, float(stats.binom.sf(cap, m, float(p_s))) * (1 + ROUNDING))


def least_cap(delta: Fraction) -> int:
    """The least T such that with `floor(2 m p_s) >= T` the paper's halting step spends at most δ/2, for any m.

    For `2 m p_s < T + 1`, `P(Bin(m, p_s) > T) <= P(Poisson((T + 1)/2) > T)` (Anderson & Samuels 1967), which falls
    with T.
    """
    from scipy import stats

    cap = 1
    while stats.poisson.sf(cap, (cap + 1) / 2) * (1 + ROUNDING) > delta / 2:
        cap += 1
    return cap
