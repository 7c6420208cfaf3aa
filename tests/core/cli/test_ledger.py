"""`privcfs ledger`: opening an account, what is left of it, what it bought, and what it means in words."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from core.cli import COMMANDS, run
from core.desk.accounting import Payment, compose
from core.desk.ledger import Debit, Ledger
from tests.core.cli.commands import answer, refusal
from tests.test_layers import ROOT, imported_names, load_time_nodes, module_name, resolve, sources


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


def init(url: str, *more: str, dataset: str = "karate", budget: str = "2") -> list[str]:
    return ["ledger", "init", "--ledger", url, "--dataset", dataset, "--budget", budget, *more]


def spend(url: str, count: int = 3, epsilon: str = "0.1", delta: str = "0") -> None:
    with Ledger.open(url) as ledger:
        (account,) = ledger.accounts()
        for i in range(count):
            request = json.dumps({"target": i})
            cost = (Fraction(epsilon), Fraction(delta))
            ledger.debit(Debit(account.name, f"key {i}", *cost, "em", f"explanation of node {i}", request, "d" * 64))
        ledger.settle(account.name, "key 0", '{"pairs":[]}')


def test_init_opens_the_account_of_a_data_set(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(capsys, *init(url, budget="0.30"))
    assert (made["account"], made["dataset"], made["budget"], made["remaining"]) == ("karate", "karate", "0.3", "0.3")
    named = answer(capsys, *init(url, "--account", "second", dataset="synthetic:nodes=200", budget="1/3"))
    assert (named["account"], named["budget"], named["delta_budget"]) == ("second", "1/3", "0")
    with Ledger.open(url) as ledger:
        assert [account.budget for account in ledger.accounts()] == [Fraction(3, 10), Fraction(1, 3)]


def test_init_says_that_budgets_of_one_data_set_add_up(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(init(url)) == 0
    assert capsys.readouterr().err == ""
    assert run(init(url, "--account", "second", budget="1")) == 0
    assert "has the account karate too, with a budget of 2; what both reveal adds up" in capsys.readouterr().err


def test_init_refuses_and_leaves_no_file(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for budget in ("0", "-1", "nan", "inf", "much", "1e-400", "1/0", ""):
        assert "budget: found" in refusal(capsys, *init(url, f"--budget={budget}"))
    assert "data set: found 'nowhere'" in refusal(capsys, *init(url, dataset="nowhere"))
    assert "delta: found" in refusal(capsys, *init(url, "--delta", "2"))
    assert list(tmp_path.iterdir()) == []
    assert "'mysql'" in refusal(capsys, *init("mysql://me:secret@host/db"))


def test_a_budget_is_set_once(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(init(url)) == 0
    capsys.readouterr()
    assert "account karate exists, with a budget of 2" in refusal(capsys, *init(url, budget="5"))


def test_show_is_exact_and_whole(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    spend(url)
    found = answer(capsys, "ledger", "show", "--ledger", url)
    assert (found["budget"], found["spent"], found["remaining"]) == ("2", "0.3", "1.7")
    assert found["owner_only"] is True
    three = compose([Payment("em", Fraction(1, 10))] * 3, 1e-5)
    thirteen = compose([Payment("em", Fraction(1, 10))] * 13, 1e-5)
    assert found["composition"] == {
        "pure": "0.3", "pure_delta": "0", "delta": 1e-5, "zcdp": three.zcdp, "best": three.best
    }  # fmt: skip
    assert (found["ten_more"]["pure"], found["ten_more"]["zcdp"]) == ("1.3", thirteen.zcdp)
    assert (found["ten_more"]["epsilon"], found["ten_more"]["fit"]) == ("0.1", 17)
    assert found["posterior"] == pytest.approx(math.exp(0.3) / (1 + math.exp(0.3)))
    assert found["group"] == {"ties": 10, "epsilon": "3"}
    assert [entry["number"] for entry in found["entries"]] == [1, 2, 3]
    first = found["entries"][0]
    assert (first["epsilon"], first["delta"], first["mechanism"], first["key"]) == ("0.1", "0", "em", "key 0")
    assert [entry["outcome"] for entry in found["entries"]] == ['{"pairs":[]}', None, None]
    assert answer(capsys, "ledger", "history", "--ledger", url)["entries"] == found["entries"]


def test_show_in_words(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    spend(url)
    assert run(["ledger", "show", "--ledger", url, "--ties", "4", "--delta", "0.001", "--epsilon", "0.5"]) == 0
    out = capsys.readouterr().out
    for part in (
        "account karate of the data set karate: budget 2, 0.3 spent on 3 releases, 1.7 left",
        "ε = 0.3 ", "holds for amounts chosen on the way; the budget goes by it",
        "at δ = 0.001", "holds for amounts fixed before the first release",
        "10 more at 0.5", "ε = 5.3, or ε = ", "the budget covers 3 more",
        "at most 57.45 % sure of it", "4 × 0.3 = 1.2, at most 76.86 % sure", "Owner-only",
    ):  # fmt: skip
        assert part in out, part


def test_a_bound_is_never_rounded_down(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    spend(url, epsilon="0.37")  # few and large: the pure line is the smaller one
    exact = answer(capsys, "ledger", "show", "--ledger", url)
    assert run(["ledger", "show", "--ledger", url]) == 0
    out = capsys.readouterr().out
    shown = float(out.split("together, zCDP")[1].split("ε = ")[1].split()[0])
    assert exact["composition"]["zcdp"] <= shown <= exact["composition"]["zcdp"] + 1e-3
    assert "the smaller     ε = 1.11 at δ = 1e-05" in out
    sure = float(out.split("after all these releases, at most ")[1].split(" %")[0])
    assert 100 * exact["posterior"] <= sure <= 100 * exact["posterior"] + 0.01


def test_releases_with_delta_are_shown(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url, "--delta", "0.001"))
    spend(url, count=2, delta="0.0004")
    assert run(["ledger", "show", "--ledger", url]) == 0
    out = capsys.readouterr().out
    assert "δ: budget 0.001, 0.0008 spent" in out
    assert "ε = 0.2, δ = 0.0008" in out
    assert "none at δ = 1e-05" in out
    found = answer(capsys, "ledger", "show", "--ledger", url)
    assert found["composition"]["zcdp"] is None and found["composition"]["best"] is None
    assert found["ten_more"]["fit"] == 0
    assert run(["ledger", "history", "--ledger", url]) == 0
    assert "0.1, δ 0.0004" in capsys.readouterr().out


def test_an_account_without_entries(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    found = answer(capsys, "ledger", "show", "--ledger", url)
    assert (found["spent"], found["remaining"], found["entries"], found["ten_more"]) == ("0", "2", [], None)
    assert found["posterior"] == 0.5
    asked = answer(capsys, "ledger", "show", "--ledger", url, "--epsilon", "0.2")["ten_more"]
    assert (asked["pure"], asked["fit"]) == ("2", 10)
    assert run(["ledger", "history", "--ledger", url]) == 0
    assert "no entries yet" in capsys.readouterr().out


def test_history_is_a_line_an_entry(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    spend(url)
    assert run(["ledger", "history", "--ledger", url]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["1", "2", "3"]
    assert ["settled" in line for line in lines[1:4]] == [True, False, False]
    assert all("explanation of node" in line for line in lines[1:4])


def test_one_of_several_accounts_is_named(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for act in ("show", "history"):
        assert "no such file" in refusal(capsys, "ledger", act, "--ledger", url)
    Ledger.create(url).close()
    assert "none yet; open one with privcfs ledger init" in refusal(capsys, "ledger", "show", "--ledger", url)
    answer(capsys, *init(url))
    answer(capsys, *init(url, "--account", "other", budget="1"))
    for act in ("show", "history"):
        assert "found no --account, expected one of: karate, other" in refusal(capsys, "ledger", act, "--ledger", url)
        assert answer(capsys, "ledger", act, "--ledger", url, "--account", "other")["account"] == "other"
        assert "found no account third" in refusal(capsys, "ledger", act, "--ledger", url, "--account", "third")


@pytest.mark.parametrize("more", [["--delta", "0"], ["--delta", "nan"], ["--epsilon", "0"], ["--ties", "0"]])
def test_show_refuses_hostile_numbers(url: str, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, *init(url))
    refusal(capsys, "ledger", "show", "--ledger", url, *more)


def test_the_command_line_starts_without_the_database_library() -> None:
    """Neither the command line nor a subcommand loads it: it takes a third of a second, dp-accounting more than one."""
    files = {module_name(path): (path, tree) for path, tree in sources(ROOT, "core")}
    loaded, waiting = set(), ["core.cli", *(f"core.cli.{name}" for name in COMMANDS)]
    libraries = set()
    while waiting:
        module = waiting.pop()
        if module in loaded:
            continue
        loaded.add(module)
        path, tree = files[module]
        for name in (name for node in load_time_nodes(tree) for name in imported_names(node, path)):
            libraries.add(name.split(".")[0])
            waiting += filter(None, [resolve(name, files)])
    assert {"core.cli.ledger", "core.desk.accounting", "core.desk.amount"} <= loaded
    assert libraries.isdisjoint({"sqlalchemy", "dp_accounting", "psycopg"})
    assert {"click", "numpy", "torch"} <= libraries
