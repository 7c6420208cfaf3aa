"""Which database a URL names, and how each thing that goes wrong with it is said in one line."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from core.desk import store as store_module
from core.desk.ledger import Ledger
from core.desk.store import Store
from core.errors import BadInput
from tests.core.desk.ledgers import ACCOUNT, debit, opened

PASSWORD = "s3cret-Pass"


def refused(act: Callable[[], object]) -> str:
    """The one line with which `act` is refused."""
    with pytest.raises(BadInput) as refusal:
        act()
    message = str(refusal.value)
    assert message.startswith("ledger")
    assert "\n" not in message
    assert refusal.value.__cause__ is None  # a traceback wouldn't show more than the line
    return message


@pytest.mark.parametrize("spelling", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_path_and_its_urls_are_the_same_ledger(tmp_path: Path, spelling: str) -> None:
    path = tmp_path / "odd name %20 # ü.db"
    opened(str(path)).debit(debit("k"))
    written = quote(str(path)) if "://" in spelling else str(path)
    assert Ledger.open(spelling.format(written)).account(ACCOUNT).entries == 1
    assert sorted(os.listdir(tmp_path)) == [path.name]


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = opened("ledger.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger.debit(debit("k"))
    assert os.listdir() == []


def test_a_new_file_is_its_owners_alone(sqlite: str) -> None:
    opened(sqlite)
    assert stat.S_IMODE(os.stat(sqlite).st_mode) == 0o600


def test_sqlite_is_as_durable_as_it_gets(sqlite: str) -> None:
    opened(sqlite)
    with Store(sqlite).writing() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")
        }
    assert found == {"synchronous": 3, "journal_mode": "delete"}  # 3: EXTRA


def test_postgresql_commits_durably_whatever_the_role_is_set_to(schema: str) -> None:
    opened(schema)
    with Store(f"{schema}%20-csynchronous_commit%3Doff").writing() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    with Store(f"{schema}%20-cdefault_transaction_isolation%3Dserializable").writing() as connection:
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"


def test_creating_again_keeps_what_is_there(url: str) -> None:
    opened(url).debit(debit("k"))
    assert Ledger.create(url).account(ACCOUNT).entries == 1


def test_an_empty_file_becomes_a_ledger(sqlite: str) -> None:
    """A process that died while it made one leaves an empty file."""
    Path(sqlite).touch()
    assert "no ledger in it; make one with privcfs ledger init" in refused(lambda: Ledger.open(sqlite))
    opened(sqlite)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "no file name"), (" ", "no file name"), (":memory:", "no file name"), ("a\0b", "no file name"),
        ("sqlite://", "without a plain file name"), ("sqlite:///:memory:", "without a plain file name"),
        ("sqlite:///a.db?mode=ro", "without a plain file name"), ("sqlite://host/a.db", "without a plain file name"),
        (f"mysql://me:{PASSWORD}@host/db", "a URL of the kind 'mysql'"),
        (f"postgresql+psycopg2://me:{PASSWORD}@host/db", "a URL of the kind 'postgresql+psycopg2'"),
        (f"postgresql://me:{PASSWORD}@host:port/db", "can't be read"),
        (f"postgresql://me:x@{PASSWORD}@host/db", "write an @ in a password as %40"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1:1/db", "Connection refused"),
        (f"postgresql://me@127.0.0.1:1/db?password={PASSWORD}", "Connection refused"),
        (f"postgres://me:{PASSWORD}@127.0.0.1:1/db", "Connection refused"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1/db?{PASSWORD}=1", "invalid connection option"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1/db?connect_timeout={PASSWORD}", "ledger"),
    ],
)  # fmt: skip
def test_unusable_urls(url: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for act in (Ledger.open, Ledger.create):
        message = refused(lambda act=act: act(url))
        assert words in message
        assert PASSWORD not in message
    assert os.listdir() == []


def test_a_server_says_no(postgresql: str) -> None:
    url = sa.make_url(postgresql)
    wrong = url.set(password=PASSWORD).render_as_string(hide_password=False)
    assert "password authentication failed" in (message := refused(lambda: Ledger.open(wrong)))
    assert PASSWORD not in message
    missing = url.set(database="nosuchdb").render_as_string(hide_password=False)
    assert '"nosuchdb" does not exist' in refused(lambda: Ledger.open(missing))
    assert str(url.password) not in refused(lambda: Ledger.open(missing))


def test_a_server_without_a_ledger(schema: str) -> None:
    assert "no ledger in it; make one with privcfs ledger init" in refused(lambda: Ledger.open(schema))


def test_files_that_are_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    assert "no such file" in refused(lambda: Ledger.open(str(path)))
    assert not path.exists()
    os.mkfifo(tmp_path / "pipe")  # one would wait for ever to open it
    for act in (Ledger.open, Ledger.create):
        assert "a folder" in refused(lambda act=act: act(str(tmp_path)))
        assert "no plain file" in refused(lambda act=act: act(str(tmp_path / "pipe")))
        refused(lambda act=act: act(str(tmp_path / ("n" * 300))))
    assert "can't be made (No such file or directory)" in refused(lambda: Ledger.create(str(tmp_path / "no" / "x.db")))
    for content in (b"x", b"name,budget\n" * 100):
        path.write_bytes(content)
        for act in (Ledger.open, Ledger.create):
            assert "no SQLite database" in refused(lambda act=act: act(str(path)))
        assert path.read_bytes() == content
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE accounts (name TEXT)")
    other.close()
    before = path.read_bytes()
    assert "no ledger in it" in refused(lambda: Ledger.open(str(path)))
    assert "a database of something else" in refused(lambda: Ledger.create(str(path)))
    assert path.read_bytes() == before


def test_a_ledger_of_another_version(sqlite: str) -> None:
    opened(sqlite)
    with sqlite3.connect(sqlite) as other:
        other.executescript("DROP TRIGGER privcfs_ledger_no_update; UPDATE privcfs_ledger SET version = 2")
    other.close()
    for act in (Ledger.open, Ledger.create):
        assert "a ledger of version 2, expected 1" in refused(lambda act=act: act(sqlite))


def test_a_ledger_that_vanishes_is_not_made_anew(sqlite: str) -> None:
    ledger = opened(sqlite)
    os.unlink(sqlite)
    assert "can't be opened" in refused(lambda: ledger.debit(debit("k")))
    assert not os.path.exists(sqlite)


def test_one_waits_for_a_lock_but_not_for_ever(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = opened(url)
    monkeypatch.setattr(store_module, "PATIENCE", 1)
    with Store(url).writing() as connection:
        connection.execute(sa.text("SELECT name FROM privcfs_accounts" + (" FOR UPDATE" if "//" in url else "")))
        assert "another process kept" in refused(lambda: ledger.debit(debit("k")))
        assert ledger.account(ACCOUNT).entries == 0  # readers don't wait
    ledger.debit(debit("k"))


def test_a_read_only_server(schema: str) -> None:
    opened(schema)
    ledger = Ledger.open(f"{schema}%20-cdefault_transaction_read_only%3Don")
    assert ledger.account(ACCOUNT).entries == 0
    assert "read-only; connect to the primary" in refused(lambda: ledger.debit(debit("k")))


def test_a_connection_that_breaks_in_the_commit(schema: str) -> None:
    ledger = opened(schema)

    def broken(connection: sa.Connection) -> None:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with Store(schema).reading() as other:
            other.exec_driver_sql(f"SELECT pg_terminate_backend({backend}, 5000)")

    sa.event.listen(ledger._store._engine, "commit", broken)
    assert "repeat with the same key: nothing is paid twice" in refused(lambda: ledger.debit(debit("k")))
    sa.event.remove(ledger._store._engine, "commit", broken)
    assert ledger.account(ACCOUNT).entries == 0
    ledger.debit(debit("k"))
