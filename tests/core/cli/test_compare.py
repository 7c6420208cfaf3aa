"""`privcfs compare`: the keys, the cells, and refusals."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from core.baselines.compare import compare
from core.baselines.suite import method, suite
from core.cli import run
from core.datasets import load
from core.study.populations import Population, population
from core.study.study import Study
from tests.core.cli.commands import answer, refusal

ARGUMENTS = ["compare", "--dataset", "karate", "--population", "borderline", "--epsilon", "2", "--seeds", "2"]
QUICK = ["--method", "privcfs", "--method", "graph-rr", "--method", "optimum"]


def test_json_holds_the_figures_of_the_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cells = tmp_path / "cells.csv"
    said = answer(capsys, *ARGUMENTS, *QUICK, "--cells", str(cells))
    study = Study(load("karate"))
    targets = population(study, Population.BORDERLINE)
    methods = [method(name) for name in ("privcfs", "graph-rr", "optimum")]
    expected = compare(study, targets, 2.0, methods, seeds=range(2))
    for row, wanted in zip(said["rows"], (row.to_json() for row in expected.rows), strict=True):
        assert row.pop("milliseconds") > 0
        wanted.pop("milliseconds")
        assert row == wanted
    assert said["owner_only"] is True and said["population"] == "borderline"
    lines = cells.read_text().splitlines()
    assert lines[0].startswith("# owner-only")
    rows = list(csv.DictReader(lines[1:]))
    assert len(rows) == len(expected.cells)
    assert sum(float(row["valid"]) for row in rows) == pytest.approx(sum(c.finding.valid for c in expected.cells))


def test_text_says_what_is_certified_and_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ARGUMENTS, *QUICK]) == 0
    printed = capsys.readouterr()
    for words in ("PrivCFS", "certified", "±", "over 2 seeds", "Non-private optimum: ", "Owner-only"):
        assert words in printed.out
    assert run(["compare", "--dataset", "karate", "--epsilon", "1", "--seeds", "1", "--method", "graph-rr"]) == 0
    assert "±" not in capsys.readouterr().out


def test_every_method_is_on_offer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--help"]) == 0
    said = capsys.readouterr().out.replace("\n", "").replace(" ", "")
    assert all(some.name in said for some in suite())


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "1", "--method", "magic"], "magic"),
        (["--epsilon", "1", "--rho", "7"], "rho"),
        (["--epsilon", "1", "--cells", "/no/such/folder/cells.csv"], "/no/such/folder"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], changes: list[str], found: str) -> None:
    assert found in refusal(capsys, "compare", "--dataset", "karate", *changes)
