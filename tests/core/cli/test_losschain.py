"""`privcfs losschain`: the chain of the study, as bars, as JSON and as a figure."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from core.cli import run
from core.datasets import load
from core.prior.prior import PriorKind, PriorRule
from core.study.losschain import loss_chain
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from tests.core.cli.commands import answer, refusal

ASKED = ["losschain", "--dataset", "karate", "--population", "all", "--rho", "0.5", "--epsilon", "1", "--seeds", "2"]


def test_json_is_the_chain_of_the_study(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *ASKED, "--prior", "guided")
    study = Study(load("karate"))
    settings = Settings(prior=PriorRule(PriorKind.GUIDED))
    chain = loss_chain(study, population(study, Population.ALL), 0.5, 1.0, range(2), settings)
    assert found["stages"] == {
        "unrestricted": chain.unrestricted, "support": chain.support, "prior": chain.prior, "sampled": chain.sampled
    }  # fmt: skip
    assert found["steps"] == chain.steps
    assert sum(found["steps"].values()) == pytest.approx(found["stages"]["sampled"] - found["stages"]["unrestricted"])
    assert (found["targets"], found["seeds"], found["prior"], found["population"]) == (34, 2, "guided", "all")
    assert found["owner_only"] is True and found["figure"] is None


def test_the_bars_are_as_long_as_the_rates(capsys: pytest.CaptureFixture[str]) -> None:
    stages = answer(capsys, *ASKED)["stages"]
    assert run(ASKED) == 0
    lines = capsys.readouterr().out.splitlines()
    bars = [line for line in lines if "█" in line or "░" in line]
    assert len(bars) == 4
    for line, rate in zip(bars, stages.values(), strict=True):
        assert f"{rate:.4f}" in line
        assert line.count("█") == round(40 * rate)
    before = [round(40 * rate) for rate in stages.values()]
    assert [line.count("░") for line in bars[1:]] == [high - low for high, low in itertools.pairwise(before)]
    assert lines[-1].startswith("Owner-only")


def test_a_figure_is_drawn_with_every_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "chain.svg"
    stages = answer(capsys, *ASKED, "--figure", str(out))["stages"]
    drawn = out.read_text()
    for word in ("any private edge, no privacy", "public support, ρ = 0.5", "sampled at ε = 1", "34 targets (all)"):
        assert word in drawn
    assert all(f"{rate:.4f}" in drawn for rate in stages.values())


def test_what_cannot_be_measured_is_refused_before_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ".gif" in refusal(capsys, *ASKED, "--figure", str(tmp_path / "f.gif"))
    assert "rho" in refusal(capsys, *ASKED[:5], "--rho", "2", "--epsilon", "1")
    assert "epsilon" in refusal(capsys, *ASKED[:5], "--rho", "0.5", "--epsilon", "0")
    assert "--epsilon" in refusal(capsys, *ASKED[:5], "--rho", "0.5")
    assert "listed" in refusal(capsys, "losschain", "--dataset", "karate", "--population", "listed", *ASKED[5:])
