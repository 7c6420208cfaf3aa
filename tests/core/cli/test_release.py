"""`privcfs release` and `privcfs verify`: paid once, written whole, refused in one line."""

from __future__ import annotations

import json
import os
import shutil
from fractions import Fraction

import numpy as np
import pytest

from core.backbone.store import backbone_for, save
from core.cli import run
from core.datasets import load
from core.desk.ledger import Ledger
from tests.core.cli.commands import answer, refusal


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with a ledger that has an account `karate` of 1, and a real snapshot of half the ties and a non-tie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("core.desk.release.waited", lambda work, _: work())
    dataset = load("karate")
    with Ledger.create("l.db") as ledger:
        ledger.open_account("karate", "karate", Fraction(1))
    ids = dataset.nodes.ids
    order = np.random.default_rng(0).permutation(dataset.graph.m)[:40]
    pairs = [*dataset.graph.edges[order].tolist(), [8, 9]]
    rows = [f"{ids[u]},{ids[w]}" for u, w in pairs]
    (tmp_path / "snap.csv").write_text("\n".join(["source,target", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def ask(*more, **changes):
    given = {"dataset": "karate", "target": "8", "epsilon": "0.25", "ledger": "l.db", "out": "c.json"} | changes
    options = [part for name, value in given.items() if value is not None for part in (f"--{name}", value)]
    return ["release", *options, *more]


def spent():
    with Ledger.open("l.db") as ledger:
        return ledger.account("karate").spent


SNAPSHOT = ("--snapshot", "snap.csv")


@pytest.mark.parametrize("prior", ["uniform", "guided"])
def test_a_certified_card_is_released_and_verified(desk, capsys, prior):
    said = answer(capsys, *ask(*SNAPSHOT, prior=prior))
    assert said.keys() >= {"out", "key", "account", "entry", "epsilon", "spent", "remaining", "card"}
    assert (said["account"], said["epsilon"], said["spent"], said["remaining"]) == ("karate", "0.25", "0.25", "0.75")
    card = json.loads((desk / "c.json").read_text(encoding="utf-8"))
    assert (
        card == said["card"]
        and card["certified"]
        and card["snapshot"]["rho"] == 1.0
        and card["snapshot"]["pairs"] == 41
    )
    assert card["prior"]["kind"] == prior
    checked = answer(capsys, "verify", "c.json", "--dataset", "karate", *SNAPSHOT)
    assert checked["valid"] and checked["complete"] and checked["certified"]
    alone = answer(capsys, "verify", "c.json")
    assert alone["valid"] and not alone["complete"]


def test_a_simulated_snapshot_gives_a_demonstration_that_its_owner_can_verify(desk, capsys):
    assert run(ask("--seed", "5")) == 0
    assert "A demonstration, not certified" in capsys.readouterr().out
    card = json.loads((desk / "c.json").read_text(encoding="utf-8"))
    assert not card["certified"]
    assert card["snapshot"] == {"kind": "simulated", "pairs": None, "rho": 0.5, "seed": 5}
    checked = answer(capsys, "verify", "c.json", "--dataset", "karate")
    assert checked["valid"] and not checked["certified"]
    assert [check["name"] for check in checked["checks"] if check["passed"] is None] == ["pairs"]


def test_an_altered_card_is_refused(desk, capsys):
    answer(capsys, *ask(*SNAPSHOT))
    text = (desk / "c.json").read_text(encoding="utf-8")
    (desk / "d.json").write_text(text.replace('"epsilon": "0.25"', '"epsilon": "0.2"'), encoding="utf-8")
    assert run(["verify", "d.json"]) == 2
    printed = capsys.readouterr()
    assert "FAILED       consistency" in printed.out and "not what it says" in printed.out
    assert printed.err.count("\n") == 1 and "card d.json: consistency" in printed.err
    assert run(["verify", "d.json", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["valid"] is False
    assert "found no JSON" in refusal(capsys, "verify", "snap.csv")
    assert "can't be read" in refusal(capsys, "verify", "nowhere.json")
    assert "can't be read" in refusal(capsys, "verify", ".")
    assert "--dataset beside it" in refusal(capsys, "verify", "c.json", *SNAPSHOT)


def test_an_analyst_verifies_without_the_ties(desk, capsys):
    """Node table, snapshot and weights are enough; there is no edges.csv."""
    with Ledger.create("l.db") as ledger:
        example = os.path.join(os.path.dirname(__file__), "../../../data/example")
        ledger.open_account("example", example, Fraction(1))
    answer(capsys, *ask("--account", "example", dataset=example, target="Vonulo", prior="guided"))
    (desk / "public").mkdir()
    for name in ("nodes.csv", "snapshot.csv"):
        shutil.copy(f"{example}/{name}", desk / "public")
    save(backbone_for(load(example)).weights, desk / "weights.pt")
    checked = answer(capsys, "verify", "c.json", "--dataset", "public", "--backbone", "weights.pt")
    assert checked["valid"] and checked["complete"] and checked["certified"]
    assert not answer(capsys, "verify", "c.json", "--dataset", "public")["complete"]


def test_a_key_pays_once_and_gives_the_same_file(desk, capsys):
    first = answer(capsys, *ask("--key", "mine"))
    before = (desk / "c.json").read_bytes()
    again = answer(capsys, *ask("--key", "mine"))
    assert again["card"] == first["card"] and (desk / "c.json").read_bytes() == before and again["spent"] == "0.25"
    answer(capsys, *ask("--key", "mine", out="elsewhere.json"))
    assert (desk / "elsewhere.json").read_bytes() == before
    assert "another request" in refused(capsys, *ask("--key", "mine", target="9"))
    assert "another request" in refused(capsys, *ask("--key", "mine", epsilon="0.5"))
    assert "isn't the card of key" in refused(capsys, *ask())  # a new key would overwrite the old card
    assert spent() == Fraction(1, 4) and (desk / "c.json").read_bytes() == before


def refused(capsys, *arguments):
    """Exit code 2, and notes besides the one line of the error."""
    code = run(list(arguments))
    printed = capsys.readouterr()
    assert code == 2 and printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith("privcfs: note: ")]
    assert len(lines) == 1 and lines[0].startswith("privcfs: ")
    return lines[0]


def test_an_exhausted_budget_leaves_with_3(desk, capsys):
    answer(capsys, *ask(epsilon="0.9"))
    assert run(ask(epsilon="0.2", out="d.json")) == 3
    printed = capsys.readouterr()
    assert "0.1 of 1 left" in printed.err and "Traceback" not in printed.err
    assert not (desk / "d.json").exists() and spent() == Fraction(9, 10)
    answer(capsys, *ask(epsilon="0.1", out="d.json"))
    assert spent() == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": "0"}, "epsilon: found"),
        ({"epsilon": "1e-400"}, "epsilon: found"),
        ({"epsilon": "nan"}, "epsilon: found"),
        ({"epsilon": "much"}, "epsilon: found"),
        ({"rho": "1.5"}, "rho: found"),
        ({"target": "nobody"}, "target: found 'nobody'"),
        ({"target": None}, "found neither of"),
        ({"targets": "snap.csv"}, "found both of"),
        ({"limits": "0,0,0,0"}, "universe limits"),
        ({"ledger": "nowhere.db"}, "no such file"),
        ({"account": "nobody"}, "found no account nobody"),
        ({"out": "no/folder/c.json"}, "can't be written"),
        ({"out": "."}, "found a folder"),
        ({"out": "snap.csv"}, "isn't the card of key"),
        ({"snapshot": "nowhere.csv"}, "found no such file"),
        ({"snapshot": "strange.csv"}, "strange.csv line 2: found node"),
        ({"snapshot": "empty.csv"}, "found no pair"),
        ({"key": ""}, "key: found"),
    ],
)
def test_bad_input_is_refused_before_anything_is_paid(desk, capsys, changes, message):
    (desk / "strange.csv").write_text("source,target\n1,nobody\n", encoding="utf-8")
    (desk / "empty.csv").write_text("source,target\n1,1\n", encoding="utf-8")
    assert message in refused(capsys, *ask(**changes))
    assert spent() == 0
    assert not (desk / "c.json").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused_before_anything_is_paid(desk, capsys):
    (desk / "closed").mkdir(mode=0o500)
    assert "can't be written" in refused(capsys, *ask(out="closed/c.json"))
    assert spent() == 0


def test_the_account_has_to_be_that_of_the_data_set(desk, capsys):
    with Ledger.open("l.db") as ledger:
        ledger.open_account("other", "lastfm", Fraction(1))
        ledger.open_account("second", "karate", Fraction(1))
    assert answer(capsys, *ask())["account"] == "karate"
    assert answer(capsys, *ask(out="d.json", account="second"))["account"] == "second"
    assert "for the data set lastfm" in refused(capsys, *ask(out="e.json", account="other"))
    said = refused(capsys, *ask(out="e.json", dataset="data", target="1"))
    assert "data set" in said
    with Ledger.create("m.db") as ledger:
        ledger.open_account("a", "karate", Fraction(1))
        ledger.open_account("b", "karate", Fraction(1))
    assert "a (karate), b (karate)" in refused(capsys, *ask(out="e.json", ledger="m.db"))


def test_a_person_is_asked_before_the_budget_is_spent(desk, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(ask()) == 130
    assert spent() == 0
    assert run(ask("--yes")) == 0
    assert spent() == Fraction(1, 4)


def test_a_batch_is_resumed_and_stops_with_3_where_the_budget_ends(desk, capsys):
    (desk / "t.csv").write_text("id\n8\n9\n13\n", encoding="utf-8")
    arguments = ask(*SNAPSHOT, target=None, targets="t.csv", out="cards")
    said = answer(capsys, *arguments)
    assert len(said["cards"]) == 3 and said["spent"] == "0.75"
    again = answer(capsys, *arguments)
    assert again == said
    (desk / "t.csv").write_text("8\n9\n13\n14\n15\n", encoding="utf-8")
    assert run(arguments) == 3
    assert "4 of 5 releases done" in capsys.readouterr().err and spent() == 1
    assert len(list((desk / "cards").glob("card-*.json"))) == 4
    for path in said["cards"]:
        assert answer(capsys, "verify", path, "--dataset", "karate", *SNAPSHOT)["complete"]
    assert "found the batch of key" in refused(capsys, *arguments, "--key", "another")


def test_a_named_snapshot_is_the_one_that_inspect_shows(desk, capsys):
    said = answer(
        capsys, "inspect", "--dataset", "karate", *SNAPSHOT, "--target", "8", "--rho", "1", "--epsilon", "1"
    )  # fmt: skip
    assert (said["snapshot"], said["snapshot_disclosed"], said["snapshot_ties"]) == ("given", 41, 40)
