from __future__ import annotations

import json
import sys

import pytest

from core.cli import run
from core.threads import single_threaded
from tests.core.cli.commands import answer, refusal

CERTIFIED = ("audit", "certified", "--select", "30", "--evaluate", "40")
OWN = """
import networkx as nx
from core.audit.canaries import star
from core.audit.claims import Relation
def degrees(graph, rng):
    return [degree for _, degree in graph.degree]
def largest(output):
    return max(output)
def pair():
    return star(4, Relation.NODE_BOUNDED)
def raises(output):
    return output.nothing
number = 3
"""


@pytest.fixture(scope="module", autouse=True)
def quick():
    with single_threaded(0):
        yield


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_mechanism.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_mechanism", None)


def test_the_zoo_as_json(capsys):
    names = ["laplace", "halved sensitivity", "clipped noise"]
    options = [part for name in names for part in ("--mechanism", name)]
    found = answer(capsys, "audit", "zoo", "--select", "1000", "--evaluate", "4000", *options)
    assert found["passed"] is True
    assert [row["mechanism"] for row in found["rows"]] == names
    keys = {"mechanism", "correct", "claimed_epsilon", "true_epsilon", "epsilon_lb", "rejected"}
    assert all(keys <= set(row) for row in found["rows"])
    assert [row["true_epsilon"] for row in found["rows"]] == [1.0, 2.0, None]
    assert [row["rejected"] for row in found["rows"]] == [False, True, True]


def test_the_zoo_for_a_person_and_an_auditor_without_power(capsys):
    assert run(["audit", "zoo", "--mechanism", "laplace", "--evaluate", "500", "--runs", "2"]) == 0
    printed = capsys.readouterr().out
    assert "correct" in printed
    assert "0 of 2" in printed
    code = run(["audit", "zoo", "--mechanism", "halved sensitivity", "--evaluate", "20", "--select", "20"])
    assert code == 2
    assert "found the auditor wrong about halved sensitivity" in capsys.readouterr().err
    assert "mechanism of the zoo: found 'lion'" in refusal(capsys, "audit", "zoo", "--mechanism", "lion")


def test_privcfs_on_karate(capsys):
    found = answer(capsys, *CERTIFIED, "--simultaneous")
    assert found["owner_only"] is True
    assert (found["dataset"], found["target"], found["release"]) == ("karate", "9", "privcfs-em")
    assert {row["verdict"] for row in found["rows"]} == {"no violation found"}
    assert {row["pair"] for row in found["rows"]} == {"edge 9 - 2", "edge 9 - 33"}
    assert {row["tests"] for row in found["rows"]} == {len(found["rows"])}


def test_a_graph_level_release_over_a_grid_for_a_person(capsys):
    assert run([*CERTIFIED, "--release", "graph-rr", "--canary", "triangles", "--canary", "degree", "--keep", "5",
                "--witness", "edge count", "--witness", "triangles"]) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert "5 tests, 30 selection and 40 evaluation draws a side" in printed
    assert "no violation found" in printed
    assert "is no proof of privacy" in printed.replace("it is", "is")
    assert "Owner-only" in printed


def test_an_own_release_witness_and_canary_are_audited_and_written(capsys, own):
    outs = [own / name for name in ("a.csv", "a.json", "a.html")]
    found = answer(
        capsys, *CERTIFIED, "--release", "own_mechanism:degrees", "--relation", "node-bounded",
        "--canary", "own_mechanism:pair", "--canary", "hub", "--witness", "own_mechanism:largest",
        "--store", str(own / "draws"), *[part for out in outs for part in ("--out", str(out))],
    )  # fmt: skip
    assert [row["pair"] for row in found["rows"]] == ["star 4", "hub 33"]
    assert all(row["rejected"] and row["relation"] == "node-bounded" for row in found["rows"])
    assert json.loads(outs[1].read_text(encoding="utf-8"))["rows"] == found["rows"]
    assert all(out.stat().st_size > 0 for out in (*outs, own / "draws"))


def test_what_cant_be_audited_is_refused_in_one_line(capsys, own):
    def refused(*options):
        return refusal(capsys, *CERTIFIED, *options)

    assert "release: found 'lap', expected one of: privcfs-em" in refused("--release", "lap")
    assert "canary: found 'dog', expected one of: target, hub" in refused("--canary", "dog")
    assert "witness: found 'eye', expected one of: edge count" in refused("--witness", "eye")
    assert "can't be imported (No module named 'nowhere')" in refused("--release", "nowhere:f")
    assert "found a int, expected a function" in refused("--release", "own_mechanism:number")
    assert "the claim that it makes is audited" in refused("--delta", "0.1")
    assert "confidence: found 1.5" in refused("--confidence", "1.5")
    assert "found the ending '.txt'" in refused("--out", "a.txt")
    message = refused("--release", "own_mechanism:degrees", "--witness", "own_mechanism:raises")
    assert "found an output of type list that it can't read" in message
    message = refused("--release", "own_mechanism:degrees", "--canary", "own_mechanism:largest")
    assert "canary own_mechanism:largest: can't be made" in message
