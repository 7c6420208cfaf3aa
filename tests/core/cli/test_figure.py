"""`privcfs figure`: written curves as files that hold every curve, and refusals."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from matplotlib.image import imread

from core.cli import run
from tests.core.cli.commands import refusal


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arms of the karate club at two rho."""
    out = tmp_path_factory.mktemp("figure") / "f.csv"
    asked = ["frontier", "--dataset", "karate", "--rho", "0.5", "--rho", "1", "--epsilon", "1", "--epsilon", "8"]
    assert run([*asked, "--arm", "full", "--arm", "edge-only", "--seeds", "2", "--out", str(out)]) == 0
    return out


def test_an_svg_holds_every_panel_and_word(table: Path, tmp_path: Path) -> None:
    first, again = tmp_path / "a.svg", tmp_path / "b.svg"
    for out in (first, again):
        assert run(["figure", str(table), "--out", str(out)]) == 0
    drawn = first.read_text()
    assert first.read_bytes() == again.read_bytes()
    said = re.findall(r"<!-- (.*?) -->", drawn)  # every text, which is drawn as paths beside it
    for title in ("ρ = 0.5, full arm", "ρ = 1†, full arm", "ρ = 0.5, edge-only arm", "ρ = 1†, edge-only arm"):
        assert said.count(title) == 1
    for word in ("valid-CF", "ε, budget of one release", "guided prior", "uniform prior", "ceiling"):
        assert word in said
    assert any("Owner-only" in words for words in said)
    assert any("karate, 11 targets (random), 2 snapshot seeds" in words for words in said)


def test_nothing_is_cut_off(table: Path, tmp_path: Path) -> None:
    """What touches the edge of the sheet would go on beyond it."""
    out = tmp_path / "f.png"
    assert run(["figure", str(table), "--out", str(out)]) == 0
    drawn = imread(out)[:, :, :3]
    assert drawn.min() < 0.3
    edges = (drawn[:3], drawn[-3:], drawn[:, :3], drawn[:, -3:])
    assert all((edge == 1).all() for edge in edges)


def test_a_png_is_large_enough_to_print(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "f.PNG"
    assert run(["figure", str(table), "--out", str(out)]) == 0
    head = out.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", head[16:])
    assert width >= 1100 and height >= 1000


def test_an_html_figure_has_a_panel_a_rho_and_arm(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "f.html"
    assert run(["figure", str(table), "--out", str(out)]) == 0
    page = out.read_text()
    assert page.count('data-root-id="') == 4


def test_one_of_several_populations_is_drawn(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "all.csv"
    asked = ["frontier", "--dataset", "karate", "--population", "all", "--rho", "0.5", "--epsilon", "1"]
    assert run([*asked, "--seeds", "2", "--out", str(other)]) == 0
    capsys.readouterr()
    out = tmp_path / "f.svg"
    said = refusal(capsys, "figure", str(table), str(other), "--out", str(out))
    assert "all targets of karate, random targets of karate" in said
    assert not out.exists()
    assert run(["figure", str(table), str(other), "--population", "all", "--out", str(out)]) == 0
    assert "34 targets (all)" in out.read_text()


def test_what_cannot_be_drawn_is_refused(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ".gif" in refusal(capsys, "figure", str(table), "--out", str(tmp_path / "f.gif"))
    assert "none.csv" in refusal(capsys, "figure", str(tmp_path / "none.csv"), "--out", str(tmp_path / "f.svg"))
    assert "borderline" in refusal(
        capsys, "figure", str(table), "--population", "borderline", "--out", str(tmp_path / "f.svg")
    )
    assert "nowhere" in refusal(capsys, "figure", str(table), "--out", str(tmp_path / "nowhere" / "f.svg"))
    assert "FILE" in refusal(capsys, "figure", "--out", str(tmp_path / "f.svg"))
