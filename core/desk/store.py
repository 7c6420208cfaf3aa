"""The database under a ledger: which one a URL names, durable transactions, and errors in one line."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from core.errors import BadInput

PATIENCE = 30  # seconds to wait for another process
EXPECTED = "a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE"
AGAIN = "repeat with the same key: nothing is paid twice"

# By the start of SQLite's error name: what to say. https://sqlite.org/rescode.html
SQLITE = {
    "SQLITE_NOTADB": "found a file that is no SQLite database, expected a ledger; name another file",
    "SQLITE_CORRUPT": "the file is damaged; restore a copy, and count as spent what was debited since it was made",
    "SQLITE_READONLY": "the file or its folder is read-only; make both writable",
    "SQLITE_FULL": f"the disk is full; make room, then {AGAIN}",
    "SQLITE_BUSY": f"another process kept it locked for {PATIENCE} s; {AGAIN}",
    "SQLITE_CANTOPEN": "the file can't be opened, or no journal can be written beside it; check the folder and rights",
    "SQLITE_IOERR": f"the file can't be read or written (disk error or limit); {AGAIN}",
}
# By PostgreSQL's SQLSTATE. https://www.postgresql.org/docs/current/errcodes-appendix.html
POSTGRESQL = {
    "55P03": f"another process kept the account locked for {PATIENCE} s; {AGAIN}",
    "53100": f"the server's disk is full; make room, then {AGAIN}",
    "25006": "the database is read-only; connect to the primary server",
    "42501": "the user lacks rights on the ledger's tables; grant SELECT, INSERT and UPDATE (for row locks)",
}


class Store:
    """One SQLite file or PostgreSQL database. Raises `BadInput` for a URL that names neither.

    SQLite keeps its rollback journal (one file to copy, no helper files that a copy could miss) and
    runs with synchronous=EXTRA, so that a commit survives a power cut that follows at once. A store may
    be used after a fork, on either side.
    """

    def __init__(self, url: str) -> None:
        parsed = _parsed(url)
        self.path: Path | None = None
        self._process = os.getpid()
        self._secrets = [parsed.password, *(str(value) for name, value in parsed.query.items() if "pass" in name)]
        if parsed.get_backend_name() == "sqlite":
            self.path = Path(parsed.database or "").absolute()
            self.place = f"ledger {parsed.database}"
            self._engine = _sqlite(self.path)
        else:
            port = f":{parsed.port}" if parsed.port else ""
            self.place = f"ledger postgresql://{parsed.host or ''}{port}/{parsed.database or ''}"
            self._engine = _postgresql(parsed)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads. Raises `BadInput` for what the database can't do."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is durable when the block ends, undone when it raises.

        On SQLite no other process writes meanwhile; on PostgreSQL the block locks the rows it depends on.
        Raises `BadInput` for what the database can't do.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Let go of what is held for the database."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        if self._process != os.getpid():
            self._engine.dispose(close=False)  # its connections are the parent's
            self._process = os.getpid()
        try:
            with self._engine.connect() as connection:
                connection.execution_options(privcfs_begin=begin)
                with connection.begin():
                    yield connection
        except sa.exc.DBAPIError as error:
            self._refuse(error.orig, f"; {AGAIN}" if error.connection_invalidated else "")
        except UnicodeDecodeError:  # sqlite3 fails so on names, or on its own messages, that were damaged
            raise BadInput(f"{self.place}: {SQLITE['SQLITE_CORRUPT']}") from None

    def _refuse(self, error: BaseException | None, remedy: str) -> NoReturn:
        name = getattr(error, "sqlite_errorname", "") or ""
        said = next((words for start, words in SQLITE.items() if name.startswith(start)), None)
        said = said or POSTGRESQL.get(getattr(error, "sqlstate", None) or "")
        if said is None:
            said = " ".join(str(error).split())
            for secret in filter(None, self._secrets):
                said = said.replace(secret, "***")
            said += remedy
        raise BadInput(f"{self.place}: {said}") from None


def _parsed(url: str) -> sa.URL:
    # No message shows the URL as it was given: it may hold a password.
    if "://" not in url:
        if not url.strip() or url == ":memory:" or "\0" in url:
            raise BadInput(f"ledger: found no file name, expected {EXPECTED}")
        return sa.URL.create("sqlite", database=os.path.expanduser(url))
    scheme, _, rest = url.partition("://")
    kind, _, driver = scheme.partition("+")
    if (kind, driver) not in {
        ("sqlite", ""), ("sqlite", "pysqlite"), ("postgresql", ""), ("postgres", ""), ("postgresql", "psycopg")
    }:  # fmt: skip
        raise BadInput(f"ledger: found a URL of the kind {scheme[:20]!r}, expected {EXPECTED}")
    try:
        parsed = sa.make_url(f"{'sqlite' if kind == 'sqlite' else 'postgresql+psycopg'}://{rest}")
    except (sa.exc.ArgumentError, ValueError):
        raise BadInput(f"ledger: found a URL of {kind} that can't be read, expected {EXPECTED}") from None
    if "@" in (parsed.host or ""):
        raise BadInput("ledger: found two @ in the URL, expected one; write an @ in a password as %40")
    if kind == "sqlite" and (parsed.host or parsed.query or parsed.database in (None, "", ":memory:")):
        raise BadInput("ledger: found a URL of sqlite without a plain file name, expected sqlite:///FILE")
    return parsed


def _sqlite(path: Path) -> sa.Engine:
    # mode=rw: SQLite would make a missing file, an empty ledger in the place of the one that was lost.
    where = f"file:{quote(os.fsencode(path))}?mode=rw"

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(where, uri=True, timeout=PATIENCE, isolation_level=None)
        made.execute("PRAGMA synchronous = EXTRA")
        made.execute("PRAGMA fullfsync = ON")
        made.execute("PRAGMA foreign_keys = ON")
        return made

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options()["privcfs_begin"])

    return engine


def _postgresql(url: sa.URL) -> sa.Engine:
    defaults = {"connect_timeout": "10", "application_name": "privcfs"}
    url = url.set(query={**defaults, **url.query})
    try:
        # READ COMMITTED: what is read after a row lock was waited for has to be what its last holder wrote.
        engine = sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
    except ModuleNotFoundError:
        raise BadInput("ledger: PostgreSQL needs psycopg; pip install 'privcfs-explorer[postgresql]'") from None

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{PATIENCE}s'")
        connection.exec_driver_sql(
            "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
        )

    return engine
