"""Reading an account back from its rows, each checked against the digest that it carries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from core.desk import tables
from core.desk.entries import Account, Entry
from core.errors import BadInput

DAMAGED = "restore a copy, and count as spent what was debited since it was made"


@dataclass(frozen=True)
class Book:
    """An account, its entries in order, and the digests of their rows, the account's own first."""

    account: Account
    entries: tuple[Entry, ...]
    seals: tuple[str, ...]

    def entry(self, key: str) -> Entry | None:
        """The entry of that key, None where there is none."""
        return next((entry for entry in self.entries if entry.key == key), None)


def read(connection: sa.Connection, name: str, place: str, lock: bool = False) -> Book:
    """Return the book of an account, with every amount summed anew; `lock` keeps other writers out.

    Raises `BadInput` for an unknown account, with the names there are, and for rows that aren't what
    was written.
    """
    wanted = sa.select(tables.accounts).where(tables.accounts.c.name == name)
    rows = connection.execute(wanted.with_for_update() if lock else wanted).mappings().all()
    if not rows:
        names = sorted(connection.execute(sa.select(tables.accounts.c.name)).scalars())
        listed = ", ".join(names[:20]) if names else "none yet; open one with privcfs ledger init"
        raise BadInput(f"{place}: found no account {name}, expected one of: {listed}")
    found = dict(rows[0])
    seals = [found["seal"]]
    _expect(seals[0] == seal("", found), place, f"account {name}")
    entries = []
    for number, (row, drawn) in enumerate(_rows(connection, name), start=1):
        where = f"entry {number} of account {name}"
        _expect(row["number"] == number and row["seal"] == seal(seals[-1], row), place, where)
        seals.append(row["seal"])
        _expect(drawn["number"] is None or drawn["seal"] == seal(seals[-1], drawn), place, f"the outcome of {where}")
        entries.append(entry(row, drawn["outcome"]))
    account = Account(
        name=name,
        dataset=found["dataset"],
        budget=Fraction(found["budget"]),
        spent=sum((entry.epsilon for entry in entries), Fraction(0)),
        entries=len(entries),
        opened=datetime.fromisoformat(found["opened"]),
        delta_budget=Fraction(found["delta_budget"]),
        delta_spent=sum((entry.delta for entry in entries), Fraction(0)),
    )
    return Book(account, tuple(entries), tuple(seals))


def entry(row: Mapping[str, Any], outcome: str | None) -> Entry:
    """The entry of a row of debits."""
    fields: dict[str, Any] = {part: value for part, value in row.items() if part != "seal"}
    exact = {part: Fraction(row[part]) for part in ("epsilon", "delta")}
    return Entry(**{**fields, **exact, "at": datetime.fromisoformat(row["at"]), "outcome": outcome})


def seal(before: str, row: Mapping[str, Any]) -> str:
    """SHA-256 of a row and of the digest before it, in hex."""
    parts = [before, *(str(row[part]) for part in sorted(row) if part != "seal")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _rows(connection: sa.Connection, name: str) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Debit and outcome (of None where there is none) of each entry, in order."""
    both = sa.select(tables.debits, tables.outcomes).outerjoin_from(
        tables.debits,
        tables.outcomes,
        sa.and_(
            tables.outcomes.c.account == tables.debits.c.account, tables.outcomes.c.number == tables.debits.c.number
        ),
    )
    width = len(tables.debits.c)
    for row in connection.execute(both.where(tables.debits.c.account == name).order_by(tables.debits.c.number)):
        yield (
            dict(zip(tables.debits.c.keys(), row[:width], strict=True)),
            dict(zip(tables.outcomes.c.keys(), row[width:], strict=True)),
        )


def _expect(sound: bool, place: str, what: str) -> None:
    if not sound:
        raise BadInput(f"{place}: {what} is not what was written, the database is damaged; {DAMAGED}")
