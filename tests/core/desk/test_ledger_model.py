"""The ledger against a model in a few lines of Python, through random histories, retries and reopenings."""

from __future__ import annotations

import itertools
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from core.desk.ledger import Ledger
from core.errors import BadInput, BudgetRefused
from tests.core.desk.ledgers import debit

ACCOUNTS = st.sampled_from(["a", "b"])
KEYS = st.sampled_from(["k1", "k2", "k3", "k4", "k5", "k6"])
AMOUNTS = st.sampled_from(["0.1", "0.25", "1/3", "0.7", "1", "0.000001"])
DELTAS = st.sampled_from(["0", "0", "0", "0.001"])


class History(RuleBasedStateMachine):
    """`model`: per account the budget, and (ε, δ, outcome) by key in the order of the debits."""

    url: str
    runs = itertools.count()

    @initialize(first=AMOUNTS, second=AMOUNTS)
    def begin(self, first: str, second: str) -> None:
        self.ledger = Ledger.create(self.url)
        self.names = {name: f"{name}{next(self.runs)}" for name in ("a", "b")}
        self.budgets = {"a": Fraction(first), "b": Fraction(second)}
        self.model: dict[str, dict[str, tuple[Fraction, Fraction, str | None]]] = {"a": {}, "b": {}}
        for name in self.names:
            self.ledger.open_account(self.names[name], "karate", self.budgets[name], Fraction(1, 1000))

    @rule(name=ACCOUNTS, key=KEYS, epsilon=AMOUNTS, delta=DELTAS)
    def spend(self, name: str, key: str, epsilon: str, delta: str) -> None:
        asked = debit(key, epsilon, account=self.names[name], delta=Fraction(delta))
        entries = self.model[name]
        left = self.budgets[name] - sum(entry[0] for entry in entries.values())
        left_delta = Fraction(1, 1000) - sum(entry[1] for entry in entries.values())
        if key in entries:
            if entries[key][:2] == (asked.epsilon, asked.delta):
                found = self.ledger.debit(asked)
                assert (found.number, found.outcome) == ([*entries].index(key) + 1, entries[key][2])
            else:
                with pytest.raises(BadInput):
                    self.ledger.debit(asked)
        elif asked.epsilon > left or asked.delta > left_delta:
            with pytest.raises(BudgetRefused):
                self.ledger.debit(asked)
        else:
            assert self.ledger.debit(asked).number == len(entries) + 1
            entries[key] = (asked.epsilon, asked.delta, None)

    @rule(name=ACCOUNTS, key=KEYS, outcome=st.sampled_from(["{}", '{"pairs":[[1,2]]}', '"ü"']))
    def settle(self, name: str, key: str, outcome: str) -> None:
        entries = self.model[name]
        if key not in entries:
            with pytest.raises(BadInput):
                self.ledger.settle(self.names[name], key, outcome)
            return
        epsilon, delta, known = entries[key]
        assert self.ledger.settle(self.names[name], key, outcome) == (known or outcome)
        entries[key] = (epsilon, delta, known or outcome)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.url)

    @rule(name=ACCOUNTS)
    def open_again(self, name: str) -> None:
        with pytest.raises(BadInput):
            self.ledger.open_account(self.names[name], "karate", Fraction(100))

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "ledger"):
            return
        for name, entries in self.model.items():
            book = self.ledger.book(self.names[name])
            assert book.account.spent == sum(entry[0] for entry in entries.values())
            assert 0 <= book.account.remaining == self.budgets[name] - book.account.spent
            assert book.account.delta_spent == sum(entry[1] for entry in entries.values())
            assert [entry.number for entry in book.entries] == list(range(1, len(entries) + 1))
            found = {entry.key: (entry.epsilon, entry.delta, entry.outcome) for entry in book.entries}
            assert [*found.items()] == [*entries.items()]


def test_sqlite_follows_the_model() -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = type("OnSqlite", (History,), {"url": str(Path(folder) / "ledger.db")})
        run_state_machine_as_test(machine, settings=settings(max_examples=12, stateful_step_count=15, deadline=None))


def test_postgresql_follows_the_model(schema: str) -> None:
    machine = type("OnPostgresql", (History,), {"url": schema})
    run_state_machine_as_test(machine, settings=settings(max_examples=5, stateful_step_count=15, deadline=None))
