"""The ledger: who spent how much of a data set's privacy budget on what, exactly and durably."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import sqlalchemy as sa

from core.desk import books, tables
from core.desk.amount import LARGEST_COMMON_DENOMINATOR, amount, text
from core.desk.entries import LONGEST_TEXT, Account, Debit, Entry, check_text, delta
from core.desk.refusal import refusal
from core.desk.store import Store
from core.errors import BadInput, BudgetRefused

__all__ = ["Account", "Debit", "Entry", "Ledger"]

MAGIC = b"SQLite format 3\0"
REMEDY = "make one with privcfs ledger init"


class Ledger:
    """Accounts and their debits in one database, append-only; use `open` or `create`.

    A budget bounds the sum of all ε debited (and of all δ), which holds under adaptive composition
    for amounts chosen on the way too. Each row carries a digest of itself and of the one before it:
    damage is found, a determined owner of the file is not stopped. What no ledger can see is that an
    older copy was put back: what was debited since is then lost and has to be counted as spent.
    Every method raises `BadInput` when the database can't do its part.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, url: str) -> Ledger:
        """Open the ledger at `url`: a file, sqlite:///FILE or postgresql://.... Raises `BadInput`."""
        store = Store(url)
        if store.path is not None:
            _check_kind(store, store.path)
        with store.reading() as connection:
            _check_whole(connection, store)
            found = tables.version(connection)
        if found is None:
            raise BadInput(f"{store.place}: found no ledger in it; {REMEDY}")
        _check_version(found, store)
        return cls(store)

    @classmethod
    def create(cls, url: str) -> Ledger:
        """Open the ledger at `url`, made if there is none. Raises `BadInput`, also for a file of something else."""
        store = Store(url)
        if store.path is not None:
            _make_file(store, store.path)
        if store.path is not None:
            _check_kind(store, store.path)
        with store.writing() as connection:
            _check_whole(connection, store)
            if store.path is None:  # two processes may begin at once
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(tables.VERSION, 0x70726976)))
            found = tables.version(connection)
            if found is None:
                if store.path is not None and sa.inspect(connection).get_table_names():
                    raise BadInput(f"{store.place}: found a database of something else; name a new file")
                tables.create(connection)
            else:
                _check_version(found, store)
        return cls(store)

    def open_account(self, name: str, dataset: str, budget: Fraction, delta_budget: Fraction = Fraction(0)) -> Account:
        """Open an account with a total ε (and δ) for the whole life of a data set.

        Raises `BadInput` for an existing name: a budget is set once.
        """
        row = {
            "name": check_text(name, "account"),
            "dataset": check_text(dataset, "data set"),
            "budget": text(amount(budget, "budget")),
            "delta_budget": text(delta(delta_budget)),
            "opened": _now(),
        }
        with self._store.writing() as connection:
            connection.execute(sa.select(tables.ledger).with_for_update())  # one opening at a time
            known = connection.execute(sa.select(tables.accounts).where(tables.accounts.c.name == name)).first()
            if known is not None:
                raise BadInput(
                    f"{self._store.place}: account {name} exists, with a budget of {known.budget} for the data set "
                    f"{known.dataset}; a budget is set once, for a data set's whole life"
                )
            connection.execute(sa.insert(tables.accounts), {**row, "seal": books.seal("", row)})
            return books.read(connection, name, self._store.place).account

    def accounts(self) -> list[Account]:
        """All accounts, by name."""
        with self._store.reading() as connection:
            names = sorted(connection.execute(sa.select(tables.accounts.c.name)).scalars())
            return [books.read(connection, name, self._store.place).account for name in names]

    def book(self, name: str) -> books.Book:
        """The account of that name and its entries, read together. Raises `BadInput` for an unknown account."""
        with self._store.reading() as connection:
            return books.read(connection, name, self._store.place)

    def account(self, name: str) -> Account:
        """The account of that name. Raises `BadInput` with the names there are."""
        return self.book(name).account

    def entries(self, name: str) -> list[Entry]:
        """All debits of an account, the first one first. Raises `BadInput` for an unknown account."""
        return list(self.book(name).entries)

    def entry(self, account: str, key: str) -> Entry | None:
        """The debit of that key, None where there is none. Raises `BadInput` for an unknown account."""
        return self.book(account).entry(key)

    def debit(self, debit: Debit) -> Entry:
        """Spend from an account; the entry is durable when this returns, and only then may one draw.

        The same key with the same request returns the entry that is there, whatever is left of the
        budget. Raises `BadInput` for a key that paid for something else, an unknown account, or an
        amount whose exact sum with the others has an enormous denominator, and `BudgetRefused` when too
        little is left; nothing has changed then.
        """
        with self._store.writing() as connection:
            book = books.read(connection, debit.account, self._store.place, lock=True)
            known = book.entry(debit.key)
            if known is not None:
                if not debit.repeats(known):
                    raise BadInput(
                        f"{self._store.place}: key {debit.key} has paid for another request ({known.what}, "
                        f"ε {text(known.epsilon)}); nothing was spent now; choose a new key"
                    )
                return known
            _check_affordable(book, debit)
            row = {
                "account": debit.account,
                "number": len(book.entries) + 1,
                "key": debit.key,
                "epsilon": text(debit.epsilon),
                "delta": text(debit.delta),
                "mechanism": debit.mechanism,
                "what": debit.what,
                "request": debit.request,
                "graph_digest": debit.graph_digest,
                "at": _now(),
            }
            connection.execute(sa.insert(tables.debits), {**row, "seal": books.seal(book.seals[-1], row)})
        return books.entry(row, None)

    def settle(self, account: str, key: str, outcome: str) -> str:
        """Record what was drawn for a debit, unless something is recorded; return what is, once durable.

        Raises `BadInput` for a key that paid for nothing, an unknown account, and an unusable text.
        """
        check_text(outcome, "outcome", LONGEST_TEXT)
        with self._store.writing() as connection:
            book = books.read(connection, account, self._store.place, lock=True)
            known = book.entry(key)
            if known is None:
                raise BadInput(f"{self._store.place}: found no debit of key {key} in account {account}; debit first")
            if known.outcome is not None:
                return known.outcome
            row = {"account": account, "number": known.number, "outcome": outcome, "at": _now()}
            sealed = {**row, "seal": books.seal(book.seals[known.number], row)}
            connection.execute(sa.insert(tables.outcomes), sealed)
        return outcome

    def close(self) -> None:
        """Let go of the database; nothing is left to be written."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_affordable(book: books.Book, debit: Debit) -> None:
    account = book.account
    if debit.epsilon > account.remaining or debit.delta > account.delta_remaining:
        raise BudgetRefused(refusal(account, book.entries, debit))
    for left, asked, what in (
        (account.remaining, debit.epsilon, "epsilon"), (account.delta_remaining, debit.delta, "delta")
    ):  # fmt: skip
        if (left - asked).denominator > LARGEST_COMMON_DENOMINATOR:
            raise BadInput(
                f"{what}: found {text(asked)}, which leaves a fraction of more than 60 digits of account "
                f"{account.name}; nothing was spent; choose a decimal amount"
            )


def _check_kind(store: Store, path: Path) -> None:
    """Refuse a file that is neither empty nor SQLite's, which would take a file of a few bytes for an empty one."""
    try:
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no plain file" if path.exists() else "no such file"
            raise BadInput(f"{store.place}: found {what}, expected a ledger; {REMEDY}")
        with path.open("rb") as stream:
            head = stream.read(len(MAGIC))
    except OSError as error:
        raise BadInput(f"{store.place}: can't be read ({error.strerror}); choose another file") from None
    if head and head != MAGIC:
        raise BadInput(f"{store.place}: found a file that is no SQLite database, expected a ledger; name another file")


def _check_whole(connection: sa.Connection, store: Store) -> None:
    """Refuse a damaged SQLite file; PostgreSQL checks its own pages."""
    if store.path is not None:
        found = " ".join(str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()).split())
        if found != "ok":
            raise BadInput(f"{store.place}: the file is damaged ({found}); {books.DAMAGED}")


def _check_version(found: int, store: Store) -> None:
    if found != tables.VERSION:
        raise BadInput(f"{store.place}: found a ledger of version {found}, expected {tables.VERSION}; update privcfs")


def _make_file(store: Store, path: Path) -> None:
    """Make an empty file where there is none, for its owner alone, on disk together with its name."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except FileExistsError:
        return
    except OSError as error:
        raise BadInput(f"{store.place}: can't be made ({error.strerror}); choose another folder") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
