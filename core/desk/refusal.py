"""Why a debit is refused: what was asked, what is left, and what the rest went for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from core.desk.amount import text
from core.desk.entries import Account, Debit, Entry

LISTED = 5  # purposes by name; the rest as one sum


def refusal(account: Account, entries: Sequence[Entry], asked: Debit) -> str:
    """One line: the amount asked and the one left, and the largest purposes of what was spent."""
    left = f"ε {text(account.remaining)} of {text(account.budget)} left"
    wanted = f"ε {text(asked.epsilon)}"
    if asked.delta > account.delta_remaining:
        left += f" and δ {text(account.delta_remaining)} of {text(account.delta_budget)}"
        wanted += f" and δ {text(asked.delta)}"
    return (
        f"budget: {wanted} was asked of account {account.name}, which has {left}; nothing was spent now. "
        f"So far: {_spent(entries) or 'nothing'}. The budget is for the data set's whole life; "
        "ask for less, or decline"
    )


def _spent(entries: Sequence[Entry]) -> str:
    sums: dict[str, list[Fraction]] = defaultdict(list)
    for entry in entries:
        sums[f"{entry.what} ({entry.mechanism})"].append(entry.epsilon)
    largest = sorted(sums, key=lambda what: -sum(sums[what]))  # stable: equal ones in the order of their first debit
    listed = [f"{text(sum(sums[what], Fraction(0)))} on {what}{_times(len(sums[what]))}" for what in largest[:LISTED]]
    others = [spent for what in largest[LISTED:] for spent in sums[what]]
    if others:
        listed.append(f"{text(sum(others, Fraction(0)))} on {len(others)} others")
    return ", ".join(listed)


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""
