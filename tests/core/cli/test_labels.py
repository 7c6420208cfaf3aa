"""`privcfs labels`: the keys, what a simulation says, and a release from a ledger."""

from __future__ import annotations

import csv
import json

import pytest

from core.cli import run
from core.labels import release as room
from core.labels.csbm import Recipe
from tests.core.cli.commands import answer, refusal

KEYS = {
    "p_s", "m", "epsilon", "delta", "stability", "threshold", "released", "feasible", "accuracy", "edges_max_count",
    "halted",
}  # fmt: skip


def test_the_demonstration_holds_the_contract(capsys):
    said = answer(capsys, "labels")
    assert said.keys() >= KEYS | {"simulation", "owner_only", "delta_total", "holds", "release_probability", "walls"}
    assert (said["p_s"], said["m"], said["epsilon"], said["delta"]) == (0.07, 400, 8.0, 1e-5)
    assert said["released"] and said["simulation"] and said["owner_only"] and said["holds"]
    low, high = said["feasible"]
    assert low < said["p_s"] < high
    assert said["stability"] > said["threshold"]
    assert said["accuracy"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["Labels come out", "feasible p_s: 0.0638 to 0.102", "Simulated, owner-only"]),
        (["--p-s", "0.01"], ["halting step", "private with δ 0.021, not 0.00001", "--cap fitted"]),
        (["--p-s", "0.15"], ["⊥: too few subgraphs agree", "beyond the stability wall"]),
        (["--h1", "-0.6"], ["⊥", "100 labels hardly ever agree all at once here: ask for fewer nodes"]),
        (
            ["--dataset", "karate", "--classifier", "filter", "--nodes", "0", "--nodes", "33"],
            ["karate: 2 nodes by filter"],
        ),
    ],
)
def test_the_text_says_which_wall_was_hit(capsys, arguments, words):
    assert run(["labels", *arguments]) == 0
    printed = capsys.readouterr()
    for word in words:
        assert word in printed.out, printed.out
    assert "no budget was spent" in printed.out


def test_the_gcn_and_three_classes(capsys):
    name = Recipe(nodes=45, classes=3, degree=6, gap=6).name
    said = answer(
        capsys, "labels", "--dataset", name, "--classifier", "gcn", "--nodes", "n0", "--nodes", "#3", "--m", "200"
    )
    assert (said["classifier"], said["nodes"], said["walls"]["accuracy"]) == ("gcn", 2, None)
    assert 0 < said["agreement"] <= 1


def test_nodes_of_a_file(capsys, tmp_path):
    listed = tmp_path / "nodes.txt"
    listed.write_text("n1\nn7\n")
    assert answer(capsys, "labels", "--targets", str(listed), "--m", "50")["nodes"] == 2


def test_a_sweep_is_a_table(capsys, tmp_path):
    out = tmp_path / "sweep.csv"
    said = answer(
        capsys, "labels", "--p-s", "0.01", "--p-s", "0.07", "--m", "100", "--epsilon", "4", "--epsilon", "8",
        "--draws", "1", "--sweep", str(out),
    )  # fmt: skip
    assert said["rows"] == 4
    first, *lines = out.read_text().splitlines()
    assert first.startswith("# owner-only")
    rows = list(csv.DictReader(lines))
    assert [(row["p_s"], row["epsilon"]) for row in rows] == [
        ("0.01", "4.0"),
        ("0.01", "8.0"),
        ("0.07", "4.0"),
        ("0.07", "8.0"),
    ]


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    from fractions import Fraction

    from core.desk.ledger import Ledger

    monkeypatch.setattr(room, "SECONDS", 0.01)
    url = str(tmp_path / "ledger.db")
    with Ledger.create(url) as made:
        made.open_account("life", Recipe().name, Fraction(16), Fraction("2e-5"))
    return url


def test_a_release_is_debited_and_says_nothing_private(capsys, tmp_path, ledger):
    out = tmp_path / "card.json"
    arguments = ["labels", "--ledger", ledger, "--out", str(out), "--key", "k"]
    code = run([*arguments, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    said = json.loads(printed.out)
    assert said.keys() >= KEYS
    assert [said[key] for key in ("stability", "accuracy", "edges_max_count", "halted")] == [None] * 4
    assert (said["released"], said["simulation"], said["spent"], said["remaining"]) == (True, False, "8", "8")
    assert said["delta_remaining"] == "0.00001"
    assert json.loads(out.read_text()) == said["card"]
    assert run(arguments) == 0
    printed = capsys.readouterr()
    assert "Labels of 100 nodes came out." in printed.out
    assert "ε 8 and δ 0.00001 debited from account life, ε 8 and δ 0.00001 left" in printed.out
    assert run(["labels", "--ledger", ledger, "--out", str(tmp_path / "b.json"), "--epsilon", "9"]) == 3
    assert "ask for less" in capsys.readouterr().err
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--p-s", "2"], "p_s: found 2"),
        (["--p-s", "0.1", "--p-s", "0.2"], "found a value given twice"),
        (["--ledger", "x.db"], "expected --ledger and --out together"),
        (["--key", "k"], "expected --ledger and --out together"),
        (["--most-wrong", "0"], "most wrong: found 0.0"),
        (["--nodes", "nobody"], "target: found 'nobody'"),
        (["--nodes", "n1", "--targets", "x"], "found --nodes and --targets"),
        (["--dataset", "csbm:gap=wide"], "csbm gap: found 'wide'"),
        (["--dataset", "karate", "--classifier", "filter", "--backbone", "x:y"], "found a backbone beside the filter"),
        (["--h1", "nan"], "h1: found nan"),
    ],
)
def test_bad_arguments_are_refused_in_a_line(capsys, arguments, found):
    assert found in refusal(capsys, "labels", *arguments)


def test_a_claim_that_does_not_hold_is_refused_before_the_debit(capsys, tmp_path, ledger):
    out = tmp_path / "card.json"
    message = refusal(capsys, "labels", "--ledger", ledger, "--out", str(out), "--p-s", "0.02")
    assert "trips the halting step" in message
    assert not out.exists()
