"""The tables of a ledger, which its database itself keeps append-only."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
)

VERSION = 1

# Amounts are exact texts ("0.1", "1/3"), times are ISO 8601 in UTC; neither would survive a database's own types.
metadata = MetaData()
ledger = Table("privcfs_ledger", metadata, Column("version", Integer, primary_key=True, autoincrement=False))
accounts = Table(
    "privcfs_accounts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("dataset", Text, nullable=False),
    Column("budget", Text, nullable=False),
    Column("delta_budget", Text, nullable=False),
    Column("opened", Text, nullable=False),
    Column("seal", Text, nullable=False),
)
debits = Table(
    "privcfs_debits",
    metadata,
    Column("account", Text, ForeignKey(accounts.c.name), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("mechanism", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("graph_digest", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("seal", Text, nullable=False),
    UniqueConstraint("account", "key"),
)
outcomes = Table(
    "privcfs_outcomes",
    metadata,
    Column("account", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("outcome", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("seal", Text, nullable=False),
    ForeignKeyConstraint(["account", "number"], [debits.c.account, debits.c.number]),
)

REFUSAL = "a ledger is append-only"
# What must not be there twice; SQLite's INSERT OR REPLACE would delete the older row without a DELETE trigger.
SAME = {
    ledger: "1",
    accounts: "name = NEW.name",
    debits: "account = NEW.account AND (number = NEW.number OR key = NEW.key)",
    outcomes: "account = NEW.account AND number = NEW.number",
}


def version(connection: Connection) -> int | None:
    """The version of the ledger in the database, None where there is none."""
    if not inspect(connection).has_table(ledger.name):
        return None
    return connection.execute(select(ledger.c.version)).scalar()


def create(connection: Connection) -> None:
    """Make the tables and the triggers that refuse to change or to delete a row."""
    metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(ledger), {"version": VERSION})
    triggers = _sqlite_triggers() if connection.dialect.name == "sqlite" else _postgresql_triggers()
    for statement in triggers:
        connection.execute(text(statement))


def _sqlite_triggers() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    made = []
    for table in metadata.sorted_tables:
        for act in ("UPDATE", "DELETE"):
            made.append(f"CREATE TRIGGER {table.name}_no_{act.lower()} BEFORE {act} ON {table.name} {refuse}")
        twice = f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {SAME[table]})"
        made.append(f"CREATE TRIGGER {table.name}_no_replace BEFORE INSERT ON {table.name} {twice} {refuse}")
    return made


def _postgresql_triggers() -> list[str]:
    made = [
        "CREATE FUNCTION privcfs_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    ]
    for table in metadata.sorted_tables:
        made.append(
            f"CREATE TRIGGER {table.name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION privcfs_append_only()"
        )
    return made
