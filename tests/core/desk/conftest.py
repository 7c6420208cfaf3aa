"""Ledgers to test with: a new one for each test, in a SQLite file and in a schema of a real PostgreSQL server."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from core.desk.ledger import Ledger
from tests.core.desk.ledgers import opened

SERVER = "PRIVCFS_TEST_POSTGRESQL"
NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgresql() -> str:
    """URL of a PostgreSQL server that tests may make schemas on."""
    url = os.environ.get(SERVER)
    if url:
        return url
    if os.environ.get("PRIVCFS_REQUIRE_POSTGRESQL"):
        pytest.fail(f"{SERVER} is not set, but PostgreSQL is required here")
    pytest.skip(f"{SERVER} is not set: no PostgreSQL server to test with")


@pytest.fixture(scope="session")
def server(postgresql: str) -> Iterator[psycopg.Connection]:
    """A connection of the tests' own to that server."""
    with psycopg.connect(postgresql.replace("+psycopg", ""), autocommit=True) as connection:
        yield connection


@pytest.fixture
def schema(postgresql: str, server: psycopg.Connection) -> Iterator[str]:
    """URL of an empty schema, dropped after the test."""
    name = f"privcfs_{os.getpid()}_{next(NUMBERS)}"
    server.execute(f"CREATE SCHEMA {name}")
    yield f"{postgresql}?options=-csearch_path%3D{name}"
    server.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """Path of a ledger that is not there yet."""
    return str(tmp_path / "ledger.db")


@pytest.fixture(params=["sqlite", "schema"], ids=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """Where a ledger can be made, on each kind of database."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def ledger(url: str) -> Ledger:
    """A ledger with the account `life`, budget 1, of the data set karate."""
    return opened(url)
