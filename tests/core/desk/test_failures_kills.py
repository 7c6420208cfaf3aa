"""kill -9 at every point: a debit that returned counts, a retry with its key never pays twice."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from fractions import Fraction

import pytest
import sqlalchemy as sa

from core.desk.ledger import Ledger
from tests.core.desk.ledgers import ACCOUNT, CHILDREN, debit, ended, killed, opened

ROUNDS = 12


def test_killed_between_debit_and_draw(url: str) -> None:
    ledger = opened(url)

    def die() -> None:
        ledger.debit(debit("k", "1"))
        killed()

    assert ended(die) == -signal.SIGKILL
    (entry,) = ledger.entries(ACCOUNT)
    assert (entry.key, entry.outcome, ledger.account(ACCOUNT).remaining) == ("k", None, 0)
    assert ledger.debit(debit("k", "1")) == entry
    assert ledger.settle(ACCOUNT, "k", "{}") == "{}"
    assert ledger.account(ACCOUNT).entries == 1


def test_killed_before_the_commit(url: str) -> None:
    """Nothing returned, so nothing was drawn and nothing is spent."""
    ledger = opened(url)

    def die() -> None:
        sa.event.listen(ledger._store._engine, "commit", lambda connection: killed())
        ledger.debit(debit("k", "1"))

    assert ended(die) == -signal.SIGKILL
    assert ledger.account(ACCOUNT).spent == 0
    assert ledger.debit(debit("k", "1")).number == 1
    assert ledger.account(ACCOUNT).spent == 1


def test_killed_before_the_outcome_is_settled(url: str) -> None:
    ledger = opened(url)

    def die() -> None:
        ledger.debit(debit("k", "1"))
        sa.event.listen(ledger._store._engine, "commit", lambda connection: killed())
        ledger.settle(ACCOUNT, "k", '{"lost":1}')

    assert ended(die) == -signal.SIGKILL
    assert ledger.debit(debit("k", "1")).outcome is None
    assert ledger.settle(ACCOUNT, "k", '{"second":1}') == '{"second":1}'
    assert ledger.account(ACCOUNT).spent == 1


def test_killed_in_the_middle_of_sqlites_commit(sqlite: str) -> None:
    """The kernel kills the process where it writes past the file's old end: the journal is hot, the file half new."""
    ledger = opened(sqlite)
    ledger.debit(debit("before"))
    size = os.path.getsize(sqlite)
    asked = debit("k", "0.5", request=f'"{"x" * 30_000}"')

    def die() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        ledger.debit(asked)

    with open(sqlite, "rb") as stream:
        before = stream.read()
    assert ended(die) == -signal.SIGXFSZ
    assert os.path.getsize(f"{sqlite}-journal") > 0
    with open(sqlite, "rb") as stream:
        assert stream.read() != before  # half new
    assert ledger.account(ACCOUNT).spent == Fraction(1, 10)
    assert not os.path.exists(f"{sqlite}-journal")
    assert ledger.debit(asked).number == 2
    assert ledger.debit(asked).number == 2
    assert ledger.account(ACCOUNT).spent == Fraction(6, 10)


def test_killed_when_the_server_has_the_commit(schema: str) -> None:
    """The server commits what a dead client asked for: it counts as spent, and the retry finds it."""
    ledger = opened(schema)

    def send_and_die(connection: sa.Connection) -> None:
        server = connection.connection.dbapi_connection.pgconn  # type: ignore[union-attr]
        server.send_query(b"COMMIT")
        server.flush()
        killed()

    def die() -> None:
        sa.event.listen(ledger._store._engine, "commit", send_and_die)
        ledger.debit(debit("k", "1"))

    assert ended(die) == -signal.SIGKILL
    assert ledger.debit(debit("k", "1")).number == 1  # waits for the row lock of a commit under way
    assert ledger.account(ACCOUNT).spent == 1
    assert ledger.settle(ACCOUNT, "k", "{}") == "{}"


def test_killed_at_any_moment(url: str) -> None:
    """Debits in a row, killed after a random while, and gone on with from the key in doubt."""
    ledger = opened(url, "1000")
    moments = random.Random(5)
    told = in_doubt = 0
    for _ in range(ROUNDS):
        reads, writes = os.pipe()

        def spend(first: int = told, writes: int = writes) -> None:
            mine = Ledger.open(url)
            for i in range(first, first + 1000):
                mine.debit(debit(f"k{i}", "0.1"))
                os.write(writes, b".")

        child = CHILDREN.Process(target=spend)
        child.start()
        os.close(writes)
        returned = len(os.read(reads, 1))  # under way
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        while more := os.read(reads, 1000):
            returned += len(more)
        os.close(reads)
        told += returned
        found = ledger.account(ACCOUNT).entries
        assert told <= found <= told + 1
        in_doubt += found - told
    spent = ledger.account(ACCOUNT)
    print(f"{ROUNDS} kills: {told} debits returned, all there; {in_doubt} were there without having returned")
    for i in range(told + 1):
        ledger.debit(debit(f"k{i}", "0.1"))
    assert ledger.account(ACCOUNT).spent == Fraction(told + 1, 10)
    assert spent.entries in (told, told + 1)
    assert [entry.key for entry in ledger.entries(ACCOUNT)] == [f"k{i}" for i in range(told + 1)]


@pytest.mark.parametrize("moment", ["debit", "settle"])
def test_an_exception_leaves_nothing_half_done(url: str, moment: str) -> None:
    """Ctrl-C in the place of the kill."""
    ledger = opened(url)
    if moment == "settle":
        ledger.debit(debit("k"))

    def interrupted(connection: sa.Connection) -> None:
        raise KeyboardInterrupt

    sa.event.listen(ledger._store._engine, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = ledger.debit(debit("k")) if moment == "debit" else ledger.settle(ACCOUNT, "k", "{}")
    sa.event.remove(ledger._store._engine, "commit", interrupted)
    assert [entry.outcome for entry in ledger.entries(ACCOUNT)] == ([None] if moment == "settle" else [])
    ledger.debit(debit("k"))
    assert ledger.settle(ACCOUNT, "k", "{}") == "{}"
