"""`privcfs audit privdpr`: a row a canary and witness, as text, JSON and a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.audit.privdpr.canaries import canaries
from core.audit.privdpr.case import WITNESSES, audit_privdpr
from core.cli import run
from tests.core.cli.commands import answer, refusal

ASKED = ["audit", "privdpr", "--select", "4", "--evaluate", "6", "--epsilon", "0.5"]


def test_json_holds_a_row_for_every_canary_and_witness(capsys: pytest.CaptureFixture[str]) -> None:
    rows = answer(capsys, *ASKED, "--seed", "3")["rows"]
    names = [pair.name for pair in canaries()]
    assert [(row["canary"], row["witness"]) for row in rows] == [(a, b) for a in names for b in WITNESSES]
    results = audit_privdpr(0.5, select=4, evaluate=6, seed=3)
    for row, result in zip(rows, results, strict=True):
        assert (row["epsilon_lb"], row["rejected"]) == (result.epsilon_lb, result.rejected)
        assert (row["claimed_epsilon"], row["claimed_delta"]) == (0.5, 1e-5)
        assert row["relation"] == "node-bounded"


def test_text_marks_what_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty draws a side of an output that is always empty against one that never is: ε is at least 1.1."""
    out = tmp_path / "table.csv"
    assert run([*ASKED[:3], "10", "--evaluate", "20", "--epsilon", "0.1", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    star = next(line for line in text.splitlines() if line.lstrip().startswith("star"))
    assert star.split()[1].endswith("*")
    assert "no proof of privacy" in text
    assert all(witness in text for witness in WITNESSES)
    assert len([line for line in out.read_text().splitlines() if "edge count" in line]) == 6


def test_bad_arguments_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "epsilon" in refusal(capsys, *ASKED[:-1], "0")
    assert "delta" in refusal(capsys, *ASKED, "--delta", "2")
    assert ".txt" in refusal(capsys, *ASKED, "--out", str(tmp_path / "table.txt"))
    assert "confidence" in refusal(capsys, *ASKED, "--confidence", "1.5")
