"""What a ledger promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa

from core.desk import ledger as ledger_module
from core.desk import tables
from core.desk.amount import LARGEST_COMMON_DENOMINATOR
from core.desk.ledger import Ledger
from core.errors import BadInput, BudgetRefused
from tests.core.desk.ledgers import ACCOUNT, debit, opened


def test_ten_tenths_fit_a_budget_of_one(ledger: Ledger) -> None:
    for i in range(10):
        assert ledger.debit(debit(f"k{i}")).number == i + 1
    account = ledger.account(ACCOUNT)
    assert (account.spent, account.remaining, account.entries) == (1, 0, 10)
    with pytest.raises(BudgetRefused):
        ledger.debit(debit("k10", "0.000000000001"))
    assert ledger.account(ACCOUNT) == account


def test_an_entry_is_what_was_asked_for(ledger: Ledger) -> None:
    asked = debit("k", "1/3", mechanism="pf", what="Erklärung von «Ada»", request='{"ε":"1/3"}', graph_digest="f" * 64)
    before = datetime.now(UTC)
    made = ledger.debit(asked)
    for part in ("account", "key", "epsilon", "delta", "mechanism", "what", "request", "graph_digest"):
        assert getattr(made, part) == getattr(asked, part)
    assert made.outcome is None
    assert before - timedelta(seconds=1) < made.at < datetime.now(UTC) + timedelta(seconds=1)
    assert ledger.entries(ACCOUNT) == [made] == [ledger.entry(ACCOUNT, "k")]
    assert ledger.entry(ACCOUNT, "other") is None


def test_everything_is_there_for_another_process(url: str, ledger: Ledger) -> None:
    made = ledger.debit(debit("k"))
    ledger.settle(ACCOUNT, "k", '{"pairs":[]}')
    ledger.close()
    with Ledger.open(url) as again:
        assert again.entries(ACCOUNT) == [replace(made, outcome='{"pairs":[]}')]
        assert again.account(ACCOUNT).spent == Fraction(1, 10)


def test_a_key_pays_once(ledger: Ledger) -> None:
    first = ledger.debit(debit("k", "1"))
    assert ledger.debit(debit("k", "1")) == first  # though nothing is left
    ledger.settle(ACCOUNT, "k", "{}")
    assert ledger.debit(debit("k", "1")) == replace(first, outcome="{}")
    assert ledger.account(ACCOUNT).entries == 1


def test_a_retry_may_find_another_graph(ledger: Ledger) -> None:
    """The account outlives the graph: the entry keeps the digest of the first attempt."""
    first = ledger.debit(debit("k"))
    assert ledger.debit(debit("k", graph_digest="b" * 64, what="again")) == first


def test_a_key_pays_for_nothing_else(ledger: Ledger) -> None:
    ledger.debit(debit("k"))
    before = ledger.book(ACCOUNT)
    for other in ({"epsilon": Fraction(1, 5)}, {"request": '{"target":8}'}, {"mechanism": "pf"}):
        with pytest.raises(BadInput, match=r"key k has paid for another request .*nothing was spent"):
            ledger.debit(debit("k", **other))
    assert ledger.book(ACCOUNT) == before


def test_a_graph_that_gains_an_edge_spends_the_same_budget(ledger: Ledger) -> None:
    ledger.debit(debit("before", "0.6", graph_digest="a" * 64))
    with pytest.raises(BudgetRefused):
        ledger.debit(debit("after", "0.6", graph_digest="b" * 64))
    ledger.debit(debit("after", "0.4", graph_digest="b" * 64))
    assert [entry.graph_digest[0] for entry in ledger.entries(ACCOUNT)] == ["a", "b"]
    assert ledger.account(ACCOUNT).remaining == 0


def test_a_refusal_says_what_was_spent_on_what(ledger: Ledger) -> None:
    for i in range(3):
        ledger.debit(debit(f"a{i}", "0.1", what="node 1"))
    for i in range(6):
        ledger.debit(debit(f"b{i}", "0.05", what=f"node {i + 2}", mechanism="pf"))
    with pytest.raises(BudgetRefused) as refused:
        ledger.debit(debit("c", "0.5"))
    message = str(refused.value)
    assert "\n" not in message
    for part in (
        "ε 0.5 was asked of account life", "ε 0.4 of 1 left", "nothing was spent now", "0.3 on node 1 (em) (3 times)",
        "0.05 on node 2 (pf)", "0.1 on 2 others",
    ):  # fmt: skip
        assert part in message
    assert refused.value.exit_code == 3


def test_the_first_outcome_stays(ledger: Ledger) -> None:
    ledger.debit(debit("k"))
    assert ledger.settle(ACCOUNT, "k", '{"first":1}') == '{"first":1}'
    assert ledger.settle(ACCOUNT, "k", '{"second":2}') == '{"first":1}'
    entry = ledger.entry(ACCOUNT, "k")
    assert entry is not None
    assert entry.outcome == '{"first":1}'


def test_what_was_not_paid_is_not_settled(ledger: Ledger) -> None:
    with pytest.raises(BadInput, match="no debit of key k in account life; debit first"):
        ledger.settle(ACCOUNT, "k", "{}")


def test_an_account_is_opened_once(ledger: Ledger) -> None:
    with pytest.raises(BadInput, match="account life exists, with a budget of 1 for the data set karate"):
        ledger.open_account(ACCOUNT, "karate", Fraction(100))
    assert ledger.account(ACCOUNT).budget == 1


def test_accounts_do_not_touch_each_other(ledger: Ledger) -> None:
    ledger.open_account("another", "cora", Fraction(1, 3))
    ledger.debit(debit("k", "1"))
    assert ledger.debit(debit("k", "1/3", account="another")).number == 1
    found = ledger.accounts()
    assert [(account.name, account.dataset, account.remaining) for account in found] == [
        ("another", "cora", 0), ("life", "karate", 0)
    ]  # fmt: skip
    with pytest.raises(BadInput, match="no account third, expected one of: another, life"):
        ledger.account("third")
    with pytest.raises(BadInput, match="no account third"):
        ledger.debit(debit("k", account="third"))


def test_a_pure_account_pays_for_no_delta(ledger: Ledger) -> None:
    with pytest.raises(BudgetRefused, match=r"ε 0\.1 and δ 0\.000001 was asked .* and δ 0 of 0"):
        ledger.debit(debit("k", delta=Fraction(1, 10**6)))
    ledger.open_account("approximate", "karate", Fraction(1), Fraction(1, 10**6))
    ledger.debit(debit("k", account="approximate", delta=Fraction(1, 10**6)))
    with pytest.raises(BudgetRefused):
        ledger.debit(debit("l", account="approximate", delta=Fraction(1, 10**12)))
    account = ledger.account("approximate")
    assert (account.delta_spent, account.delta_remaining, account.spent) == (Fraction(1, 10**6), 0, Fraction(1, 10))


def test_totals_stay_short(ledger: Ledger) -> None:
    """Each amount is fine, their exact sum would need hundreds of digits."""
    primes = [10**11 + offset for offset in (3, 19, 57, 63, 69, 73, 91, 103, 129, 171)]
    with pytest.raises(BadInput, match="a fraction of more than 60 digits"):
        for prime in primes:
            ledger.debit(debit(f"k{prime}", f"1/{prime}"))
    account = ledger.account(ACCOUNT)
    assert account.entries == 5
    assert account.spent == sum(Fraction(1, prime) for prime in primes[:5])
    assert account.remaining.denominator < LARGEST_COMMON_DENOMINATOR
    ledger.debit(debit("plain", "0.1"))


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": Fraction(0)}, {"epsilon": Fraction(-1)}, {"epsilon": float("nan")}, {"epsilon": float("inf")},
        {"epsilon": 5e-324}, {"epsilon": "much"}, {"epsilon": Fraction(1, 10**13)}, {"delta": Fraction(-1, 10)},
        {"delta": 1}, {"delta": float("nan")}, {"delta": True}, {"key": ""}, {"key": " "}, {"key": "a\nb"},
        {"key": "a\0b"}, {"key": "\ud800"}, {"key": "k" * 301}, {"key": 7}, {"account": ""}, {"what": ""},
        {"what": "\x1b[2J"}, {"request": ""}, {"request": "x" * (10**6 + 1)}, {"graph_digest": ""}, {"mechanism": ""},
    ],
)  # fmt: skip
def test_hostile_debits_are_refused_before_the_database(other: dict[str, object]) -> None:
    with pytest.raises(BadInput) as refused:
        replace(debit("k"), **other)
    assert str(refused.value).startswith(f"{next(iter(other))}: found ")
    assert "\n" not in str(refused.value)


def test_hostile_budgets_and_outcomes_are_refused(ledger: Ledger) -> None:
    budgets: list[Any] = [0, -1, float("nan"), float("inf"), 5e-324, "all", Fraction(1, 10**13), True]
    for budget in budgets:
        with pytest.raises(BadInput, match=r"^budget: found"):
            ledger.open_account("another", "karate", budget)
    assert len(ledger.accounts()) == 1
    ledger.debit(debit("k"))
    outcomes: list[Any] = ["", "a\nb", "\0", 7, None]
    for outcome in outcomes:
        with pytest.raises(BadInput, match=r"^outcome: found"):
            ledger.settle(ACCOUNT, "k", outcome)
    assert ledger.entries(ACCOUNT)[0].outcome is None


def test_history_is_append_only_for_anyone(ledger: Ledger) -> None:
    """The database itself refuses to change, delete or replace a row of any table."""
    ledger.debit(debit("k"))
    ledger.settle(ACCOUNT, "k", "{}")
    before = ledger.book(ACCOUNT)
    names = [table.name for table in tables.metadata.sorted_tables]
    assert len(names) == 4
    for name in names:
        column = "version" if name == tables.ledger.name else "seal"
        statements = [f"UPDATE {name} SET {column} = {column}", f"DELETE FROM {name}"]
        if ledger._store.path is not None:
            statements += [
                f"INSERT OR REPLACE INTO {name} SELECT * FROM {name}",
                f"UPDATE OR REPLACE {name} SET {column} = {column}",
                f"INSERT INTO {name} SELECT * FROM {name} WHERE true ON CONFLICT DO UPDATE SET {column} = 1",
            ]
        else:
            key = ", ".join(column.name for column in tables.metadata.tables[name].primary_key)
            conflict = f"ON CONFLICT ({key}) DO UPDATE SET {column} = excluded.{column}"
            statements += [f"TRUNCATE {name} CASCADE", f"INSERT INTO {name} SELECT * FROM {name} {conflict}"]
        for statement in statements:
            with pytest.raises(BadInput, match="append-only"), ledger._store.writing() as connection:
                connection.execute(sa.text(statement))
    assert ledger.book(ACCOUNT) == before


def test_a_clock_that_goes_backwards_changes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [datetime(2030, 1, 1, tzinfo=UTC) - timedelta(days=400 * i) for i in range(10)]
    for i, now in enumerate(clock):
        monkeypatch.setattr(ledger_module, "_now", lambda now=now: now.isoformat(timespec="microseconds"))
        ledger.debit(debit(f"k{i}"))
        assert ledger.debit(debit("k0")).number == 1
    with pytest.raises(BudgetRefused):
        ledger.debit(debit("more"))
    entries = ledger.entries(ACCOUNT)
    assert [entry.number for entry in entries] == list(range(1, 11))
    assert [entry.at for entry in entries] == clock


def test_two_ledgers_do_not_mix(url: str, tmp_path) -> None:
    first, second = opened(url), opened(str(tmp_path / "other.db"))
    first.debit(debit("k"))
    assert second.account(ACCOUNT).entries == 0
