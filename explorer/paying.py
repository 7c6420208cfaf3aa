"""The ledger of a session: which account pays, and how it stands. No widgets here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import param

from core.errors import BadInput, PrivCFSError

if TYPE_CHECKING:  # the database library takes a while to load; the explorer starts without it
    from core.desk.ledger import Ledger


class Paying(param.Parameterized):
    """An open ledger, the account chosen from it, and its entries as they were last read.

    Sessions and processes share the ledger, nothing else: `refresh` reads it again. `problem` is one line
    about the last thing that couldn't be done, which then changed nothing.
    """

    ledger = param.Parameter(default=None, doc="A `core.desk.ledger.Ledger`, None before one is open.")
    names = param.List(default=[], doc="Accounts of the ledger.")
    account = param.Parameter(default=None, doc="A `core.desk.ledger.Account`, None where there is none.")
    entries = param.List(default=[], doc="Its debits, the first one first.")
    problem = param.String(default="")

    def __init__(self, ledger: Ledger | None = None) -> None:
        super().__init__(ledger=ledger)
        if ledger is not None:
            self.refresh()

    def open(self, url: str) -> bool:
        """Open a ledger that exists; says whether it worked."""
        from core.desk.ledger import Ledger

        return self._take(lambda: Ledger.open(place(url)))

    def create(self, url: str, account: str, dataset: str, budget: str) -> bool:
        """Open an account, in a ledger that is made where there is none; says whether it worked."""
        from core.desk.amount import amount
        from core.desk.ledger import Ledger

        def made() -> Ledger:
            exact = amount(budget, "budget")
            ledger = Ledger.create(place(url))
            ledger.open_account(account, dataset, exact)
            return ledger

        return self._take(made, account)

    def choose(self, name: str) -> None:
        """Let another account pay."""
        self._done(lambda: self._read(name))

    def refresh(self) -> None:
        """Read the account again: other sessions spend from it too."""
        self._done(lambda: self._read(self.account.name if self.account else None))

    def _take(self, opened: Callable[[], Ledger], account: str | None = None) -> bool:
        def take() -> None:
            self.ledger = opened()
            self._read(account)

        return self._done(take)

    def _read(self, name: str | None) -> None:
        if self.ledger is None:
            return
        names = [account.name for account in self.ledger.accounts()]
        chosen = name if name in names else next(iter(names), None)
        account = None if chosen is None else self.ledger.account(chosen)
        entries = [] if chosen is None else self.ledger.entries(chosen)
        if (names, account, entries) != (self.names, self.account, self.entries):
            self.param.update(names=names, account=account, entries=entries)

    def _done(self, act: Callable[[], Any]) -> bool:
        try:
            act()
        except PrivCFSError as error:
            self.problem = str(error)
            return False
        self.problem = ""
        return True


def place(written: str) -> str:
    """A ledger's address as it was typed: a URL as it stands, a path with ~ resolved."""
    written = written.strip()
    if not written:
        raise BadInput("ledger: found an empty address, expected a file or a database URL")
    return written if "://" in written else str(Path(written).expanduser())
