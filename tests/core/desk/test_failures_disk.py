"""A disk that is full, read-only or damaged: refused in one line, and what was spent stays spent."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.desk.books import Book
from core.desk.ledger import Ledger
from core.errors import BadInput
from tests.core.desk.ledgers import ACCOUNT, debit, ended, opened

LONG = f'"{"x" * 30_000}"'
NOBODY = 65534
TRIALS = 120


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can't be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    path = str(small_disk / "ledger.db")
    ledger = opened(path)
    ledger.debit(debit("before"))
    before = ledger.book(ACCOUNT)
    (small_disk / "filler").write_bytes(b"x" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize))
    for act in (lambda: ledger.debit(debit("k", request=LONG)), lambda: ledger.settle(ACCOUNT, "before", LONG)):
        with pytest.raises(BadInput, match="the disk is full; make room, then repeat with the same key"):
            act()
        assert ledger.book(ACCOUNT) == before
    with pytest.raises(BadInput, match="the disk is full"):
        Ledger.create(str(small_disk / "other.db"))
    (small_disk / "filler").unlink()
    assert ledger.debit(debit("k", request=LONG)).number == 2
    assert ledger.account(ACCOUNT).spent == Fraction(2, 10)
    opened(str(small_disk / "other.db"))


def test_a_file_that_may_not_grow(sqlite: str) -> None:
    """SQLite's own limit, which it reports as a full disk."""
    ledger = opened(sqlite)
    pages = os.path.getsize(sqlite) // 4096

    def limited(connection: sqlite3.Connection, record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    sa.event.listen(ledger._store._engine, "connect", limited)
    with pytest.raises(BadInput, match="the disk is full"):
        ledger.debit(debit("k", request=LONG))
    sa.event.remove(ledger._store._engine, "connect", limited)
    assert ledger.account(ACCOUNT).entries == 0
    ledger.debit(debit("k", request=LONG))


def test_a_write_that_fails(sqlite: str) -> None:
    """The kernel refuses to write past the file's end, in the middle of the commit."""
    ledger = opened(sqlite)
    size = os.path.getsize(sqlite)

    def fail() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with pytest.raises(BadInput, match=r"can't be read or written .*; repeat with the same key"):
            ledger.debit(debit("k", request=LONG))

    assert ended(fail) == 0
    assert ledger.account(ACCOUNT).entries == 0
    assert ledger.debit(debit("k", request=LONG)).number == 1


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o666, 0o555), (0o444, 0o555)])
def test_a_read_only_file_or_folder(file_mode: int, folder_mode: int) -> None:
    """Shown, not spent from; as a user whom the rights bind."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = str(folder / "ledger.db")
        before = opened(path).debit(debit("before"))
        os.chmod(path, file_mode)
        os.chmod(folder, folder_mode)

        def use() -> None:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            ledger = Ledger.open(path)
            assert ledger.entries(ACCOUNT) == [before]
            with pytest.raises(BadInput, match=r"read-only; make both writable|no journal can be written beside it"):
                ledger.debit(debit("k"))
            with pytest.raises(BadInput):
                ledger.settle(ACCOUNT, "before", "{}")
            with pytest.raises(BadInput):
                Ledger.create(str(folder / "another" / "ledger.db"))
            assert ledger.entries(ACCOUNT) == [before]

        assert ended(use) == 0
        os.chmod(folder, 0o755)
        os.chmod(path, 0o666)
        assert os.listdir(folder) == ["ledger.db"]


def filled(path: str) -> Book:
    """A ledger of twelve entries, some settled; what it holds."""
    ledger = opened(path, "5")
    for i in range(12):
        ledger.debit(debit(f"k{i}", f"0.{i + 1}", request=f'{{"target":{i},"universe":"{"u" * 300}"}}'))
        if i % 3:
            ledger.settle(ACCOUNT, f"k{i}", f'{{"pairs":[[{i},{i + 1}]]}}')
    return ledger.book(ACCOUNT)


def outcome(path: Path, truth: Book) -> str:
    """What a damaged file leads to: "refused", or "harmless" when all that it says and does is right."""
    try:
        ledger = Ledger.open(str(path))
        if ledger.book(ACCOUNT) != truth:
            return "wrong"
        made = ledger.debit(debit("new", "0.1"))
        account = ledger.account(ACCOUNT)
        return "harmless" if (made.number, account.spent) == (13, truth.account.spent + Fraction(1, 10)) else "wrong"
    except BadInput as error:
        return "refused" if "\n" not in str(error) else "wrong"


def test_damaged_bytes_never_give_budget_back(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    truth = filled(str(path))
    sound = path.read_bytes()
    used = [at for at, byte in enumerate(sound) if byte]
    chance = random.Random(11)
    found: Counter[str] = Counter()
    for trial in range(TRIALS):
        damaged = bytearray(sound)
        at = chance.choice(used)
        if trial % 4 == 0:
            length = chance.randrange(1, 400)
            damaged[at : at + length] = chance.randbytes(len(damaged[at : at + length]))
        else:
            damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        Path(f"{path}-journal").unlink(missing_ok=True)
        found[outcome(path, truth)] += 1
    print(
        f"{TRIALS} files with damaged bytes: {found['refused']} refused, {found['harmless']} harmless, "
        f"{found['wrong']} wrong"
    )
    assert found["wrong"] == 0
    assert found["refused"] > TRIALS / 2


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    truth = filled(str(path))
    sound = path.read_bytes()
    cuts = sorted({*range(4096, len(sound), 4096), 1, 15, 16, 99, 100, 511, 512, 4095, len(sound) - 1})
    for cut in cuts:
        path.write_bytes(sound[:cut])
        assert outcome(path, truth) == "refused", cut


def test_an_index_that_lost_its_rows_gives_no_budget_back(sqlite: str) -> None:
    """Every row is there and sealed, but SQLite finds none of them by way of the index."""
    filled(sqlite)
    with sqlite3.connect(sqlite) as other:
        other.execute("CREATE TABLE void (account TEXT, number INTEGER, PRIMARY KEY (account, number))")
        other.execute("PRAGMA writable_schema = ON")
        empty = "(SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_void_1')"
        name = "sqlite_autoindex_privcfs_debits_1"
        assert other.execute(f"UPDATE sqlite_master SET rootpage = {empty} WHERE name = '{name}'").rowcount == 1
    other.close()
    with pytest.raises(BadInput, match="the file is damaged"):
        Ledger.open(sqlite)


def test_an_entry_of_another_copy_is_refused(tmp_path: Path) -> None:
    """Two copies went different ways; a cheap entry of one is put in the place of a dear one of the other."""
    path, copy = str(tmp_path / "ledger.db"), str(tmp_path / "copy.db")
    opened(path).debit(debit("k1"))
    shutil.copy(path, copy)
    Ledger.open(copy).debit(debit("cheap", "0.000001"))
    ledger = Ledger.open(path)
    ledger.debit(debit("dear", "0.8"))
    ledger.debit(debit("k3"))
    with sqlite3.connect(path) as other:
        other.execute("DROP TRIGGER privcfs_debits_no_delete")
        other.execute("DELETE FROM privcfs_debits WHERE number = 2")
        other.execute("ATTACH ? AS copy", (copy,))
        other.execute("INSERT INTO privcfs_debits SELECT * FROM copy.privcfs_debits WHERE number = 2")
    other.close()
    with pytest.raises(BadInput, match="entry 3 of account life is not what was written"):
        ledger.account(ACCOUNT)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE privcfs_accounts SET budget = '500'", "account life"),
        ("UPDATE privcfs_debits SET epsilon = '0.01' WHERE number = 12", "entry 12 of account life"),
        ("UPDATE privcfs_debits SET graph_digest = 'b' WHERE number = 1", "entry 1 of account life"),
        ("DELETE FROM privcfs_debits WHERE number = 5", "entry 5 of account life"),
        ("UPDATE privcfs_debits SET number = -1 WHERE number = 3", "entry 1 of account life"),
        ("UPDATE privcfs_outcomes SET outcome = '{}' WHERE number = 2", "the outcome of entry 2 of account life"),
    ],
)
def test_a_row_that_is_not_what_was_written_is_refused(sqlite: str, change: str, what: str) -> None:
    filled(sqlite)
    with sqlite3.connect(sqlite) as other:
        for (trigger,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {trigger}")
        other.execute(change)
    other.close()
    ledger = Ledger.open(sqlite)
    acts = (lambda: ledger.account(ACCOUNT), lambda: ledger.debit(debit("new")), ledger.accounts)
    for act in acts:
        with pytest.raises(
            BadInput, match=f": {what} is not what was written, the database is damaged; restore a copy"
        ):
            act()
