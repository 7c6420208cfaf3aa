"""What a ledger holds: accounts, and the debits made from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from core.desk.amount import amount, text
from core.errors import BadInput

LONGEST_NAME = 300  # characters
LONGEST_TEXT = 10**6
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # the last ones no database takes


@dataclass(frozen=True)
class Account:
    """The budget of one data set's whole life, whatever its graph becomes, and what is left of it.

    `budget`, `spent`: total ε. `delta_budget`, `delta_spent`: total δ, 0 and 0 where every release is
    pure. `entries`: how many debits. `opened`: UTC.
    """

    name: str
    dataset: str
    budget: Fraction
    spent: Fraction
    entries: int
    opened: datetime
    delta_budget: Fraction = Fraction(0)
    delta_spent: Fraction = Fraction(0)

    @property
    def remaining(self) -> Fraction:
        """The ε that is not spent."""
        return self.budget - self.spent

    @property
    def delta_remaining(self) -> Fraction:
        """The δ that is not spent."""
        return self.delta_budget - self.delta_spent


@dataclass(frozen=True)
class Debit:
    """One payment for one draw, asked for under a key that makes asking again harmless.

    `epsilon` > 0 and `delta` (0 for a pure release, below 1) are exact. `mechanism`: "em", "pf", ...
    `what`: what it buys, for a person. `request`: canonical JSON of the public request.
    `graph_digest`: which private graph it is drawn from; never leaves the owner's side. Raises
    `BadInput` for unusable amounts, empty or overlong texts, and control characters.
    """

    account: str
    key: str
    epsilon: Fraction
    delta: Fraction
    mechanism: str
    what: str
    request: str
    graph_digest: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", amount(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", delta(self.delta))
        for part in ("account", "key", "mechanism", "what", "graph_digest"):
            check_text(getattr(self, part), part)
        check_text(self.request, "request", LONGEST_TEXT)

    def repeats(self, other: Debit) -> bool:
        """Whether both pay for the same draw; the private graph may have changed between two attempts."""
        return self._asked == other._asked

    @property
    def _asked(self) -> tuple[object, ...]:
        return self.account, self.key, self.epsilon, self.delta, self.mechanism, self.request


@dataclass(frozen=True)
class Entry(Debit):
    """A debit as the ledger holds it.

    `number`: 1, 2, ... within the account; it alone orders entries. `at`: what the clock said, UTC.
    `outcome`: canonical JSON of what was drawn, None until it is settled.
    """

    number: int
    at: datetime
    outcome: str | None


def delta(value: str | int | float | Fraction) -> Fraction:
    """Return an exact δ: 0, or an amount below 1. Raises `BadInput`."""
    if value in (0, "0") and not isinstance(value, bool):
        return Fraction(0)
    exact = amount(value, "delta")
    if exact >= 1:
        raise BadInput(f"delta: found {text(exact)}, expected 0 or a number above 0 and below 1")
    return exact


def check_text(value: object, what: str, longest: int = LONGEST_NAME) -> str:
    """Return a printable, non-empty text of at most `longest` characters; raises `BadInput`."""
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{what}: found {str(value)[:40]!r}, expected a text")
    if len(value) > longest:
        raise BadInput(f"{what}: found a text of {len(value)} characters, expected at most {longest}")
    if _UNPRINTABLE.search(value):
        raise BadInput(f"{what}: found control characters in {value[:40]!r}, expected a text of one line")
    return value
