"""Processes that want the same budget at once: never overspent, never a debit lost, one outcome a key."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from core.desk.ledger import Ledger
from core.errors import BadInput, BudgetRefused
from tests.core.desk.ledgers import ACCOUNT, debit, opened, raced

PROCESSES = 16


def test_sixteen_processes_race_for_the_last_unit(url: str) -> None:
    ledger = opened(url)
    ledger.debit(debit("before", "0.9"))
    found = Counter(raced(PROCESSES, lambda i: ledger.debit(debit(f"k{i}", "0.1")).number))
    print(f"{PROCESSES} raced for the last 0.1: {found[2]} granted, {found['BudgetRefused']} refused")
    assert found == {2: 1, "BudgetRefused": PROCESSES - 1}
    assert ledger.account(ACCOUNT).spent == 1


def test_no_debit_is_lost(url: str) -> None:
    """Each process has a connection of its own and asks twice; half of what they ask fits."""
    ledger = opened(url, "1.6")

    def spend(i: int) -> list[str]:
        mine, granted = Ledger.open(url), []
        for j in range(2):
            try:
                granted.append(mine.debit(debit(f"{i}-{j}", "0.1")).key)
            except BudgetRefused as refusal:
                granted.append(type(refusal).__name__)
        return granted

    answers = Counter(answer for several in raced(PROCESSES, spend) for answer in several)
    refused = answers.pop("BudgetRefused")
    print(f"{PROCESSES} processes asked 32 times for 0.1 of 1.6: {answers.total()} granted, {refused} refused")
    assert refused == 16
    entries = ledger.entries(ACCOUNT)
    assert sorted(answers.elements()) == sorted(entry.key for entry in entries)
    assert [entry.number for entry in entries] == list(range(1, 17))
    assert ledger.account(ACCOUNT).remaining == 0


def test_one_key_from_sixteen_processes_pays_once_and_has_one_outcome(url: str) -> None:
    ledger = opened(url)

    def release(i: int) -> tuple[int, str]:
        return ledger.debit(debit("same", "1")).number, ledger.settle(ACCOUNT, "same", f'{{"drawn":{i}}}')

    answers = set(raced(PROCESSES, release))
    (entry,) = ledger.entries(ACCOUNT)
    print(f"{PROCESSES} processes with one key: {ledger.account(ACCOUNT).entries} debit, {len(answers)} outcome")
    assert answers == {(1, entry.outcome)}


def test_a_ledger_is_made_once(url: str) -> None:
    """Sixteen processes make it and open the same account: one of them does, the others are told."""

    def make(i: int) -> Fraction | str:
        try:
            return Ledger.create(url).open_account(ACCOUNT, "karate", Fraction(i + 1)).budget
        except BadInput as refusal:
            return str(refusal)

    answers = raced(PROCESSES, make)
    budget = Ledger.open(url).account(ACCOUNT).budget
    told = [answer for answer in answers if f"account life exists, with a budget of {budget} for" in str(answer)]
    print(f"{PROCESSES} processes made a ledger and an account: {answers.count(budget)} did, {len(told)} were refused")
    assert (answers.count(budget), len(told)) == (1, PROCESSES - 1)
