"""Debits and processes that the tests of the ledger share."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from core.desk.ledger import Debit, Ledger

ACCOUNT = "life"
CHILDREN = multiprocessing.get_context("fork")


def opened(url: str, budget: str = "1") -> Ledger:
    """A new ledger at `url` with one account."""
    ledger = Ledger.create(url)
    ledger.open_account(ACCOUNT, "karate", Fraction(budget))
    return ledger


def debit(key: str, epsilon: str = "0.1", **other: Any) -> Debit:
    """A debit of the account for a release of node 7."""
    fields: dict[str, Any] = {
        "account": ACCOUNT,
        "key": key,
        "epsilon": Fraction(epsilon),
        "delta": Fraction(0),
        "mechanism": "em",
        "what": "explanation of node 7",
        "request": '{"target":7}',
        "graph_digest": "a" * 64,
    }
    return Debit(**{**fields, **other})


def raced(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What `act(i)` returns, or the name of the exception it raises, in `count` processes that start at once."""
    barrier = CHILDREN.Barrier(count)
    answers = CHILDREN.SimpleQueue()

    def run(i: int) -> None:
        barrier.wait()
        try:
            answer = act(i)
        except Exception as error:
            answer = type(error).__name__
        answers.put((i, answer))

    children = [CHILDREN.Process(target=run, args=(i,)) for i in range(count)]
    for child in children:
        child.start()
    found = dict(answers.get() for _ in children)
    for child in children:
        child.join()
    return [found[i] for i in range(count)]


def ended(act: Callable[[], Any]) -> int:
    """How a process that runs `act` ended: its exit code, or minus the signal that killed it."""

    def run() -> None:
        try:
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    child = CHILDREN.Process(target=run)
    child.start()
    child.join()
    assert child.exitcode is not None
    return child.exitcode


def killed() -> None:
    """End this process as kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)
