"""`privcfs audit exact` and `audit small-graphs`: the figures of the audit, as text, JSON and a file of pairs."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from core.audit.exact import posterior_bound, ratio_bound
from core.audit.pairs import PairKind, population_pairs, target_pairs
from core.audit.population import audit_population
from core.audit.small_graphs import SMALL, check_small_graphs, release_on
from core.cli import run
from core.datasets import load
from core.prior.prior import PriorKind, PriorRule
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits
from core.utility import UtilityConfig
from tests.core.cli.commands import answer, refusal

ASKED = ["audit", "exact", "--dataset", "karate", "--rho", "0.5", "--epsilon", "4"]
LIVELY = "synthetic:nodes=80,classes=3,degree=3,features=40,homophily=0.6"  # where most near pairs move something
FIGURES = ("pairs", "max_delta_u", "max_ratio", "identical", "auc_mean", "auc_worst")


def test_json_holds_the_figures_of_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(
        arm=Arm.TWO_HOP, utility=UtilityConfig(sensitivity="paper"), prior=PriorRule(PriorKind.GUIDED),
        limits=Limits(6, 6, 2, 2),
    )  # fmt: skip
    study = Study(load(LIVELY))
    targets = population(study, Population.ALL)
    pairs = population_pairs(study.dataset.graph, targets, 30, np.random.default_rng(2))
    audit = audit_population(study, pairs, 0.5, 4.0, settings)
    found = answer(
        capsys, "audit", "exact", "--dataset", LIVELY, "--epsilon", "4", "--population", "all", "--pairs", "30",
        "--arm", "two-hop", "--prior", "guided", "--sensitivity", "paper", "--limits", "6,6,2,2", "--draw", "2",
    )  # fmt: skip
    assert audit.summary(PairKind.NEAR) != audit.summary(PairKind.ANYWHERE)
    for kind in PairKind:
        for part, edge in ((found[kind.value], None), (found[kind.value]["edges"], True)):
            summary = audit.summary(kind, edge)
            assert [part[name] for name in FIGURES] == [getattr(summary, name) for name in FIGURES]
        assert found[kind.value]["edges"]["pairs"] + found[kind.value]["absent"]["pairs"] == 30
    assert [found[name] for name in FIGURES] == [found["near"][name] for name in FIGURES]
    assert (found["kind"], found["pairs"], found["epsilon"], found["sensitivity_value"]) == ("near", 30, 4.0, 1.0)
    assert (found["ratio_bound"], found["posterior_bound"]) == (ratio_bound(4.0), posterior_bound(4.0))
    assert found["worst"]["ratio"] == max(found["near"]["max_ratio"], found["anywhere"]["max_ratio"]) > 1
    assert (found["passed"], found["violations"], found["owner_only"]) == (True, 0, True)


def test_one_target_and_its_file_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pairs.csv"
    found = answer(capsys, *ASKED, "--target", "12", "--pairs-file", str(out))
    study = Study(load("karate"))
    row, _ = study.dataset.resolve("12")
    pairs = target_pairs(study.dataset.graph, row, np.random.default_rng(0))
    assert found["near"]["edges"]["pairs"] == len([a for a in pairs if a.kind is PairKind.NEAR and a.edge])
    lines = out.read_text().splitlines()
    assert lines[0].startswith("# owner-only")
    rows = list(csv.DictReader(lines[1:]))
    assert len(rows) == len(pairs)
    ids = study.dataset.nodes.ids
    for written, asked in zip(rows, pairs, strict=True):
        assert (written["target"], written["u"], written["v"]) == ("12", ids[asked.pair[0]], ids[asked.pair[1]])
        assert (written["kind"], written["status"]) == (asked.kind.value, "edge" if asked.edge else "absent")
        assert written["distance"] == ("" if asked.distance is None else str(asked.distance))
    near = [float(written["ratio"]) for written in rows if written["kind"] == "near"]
    assert max(near) == found["max_ratio"]


def test_text_says_what_was_found_and_what_it_does_not_prove(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED, "--pairs", "6"]) == 0
    text = capsys.readouterr().out
    for words in ("near", "anywhere", "Worst pair:", "No violation found", "simulated", "Owner-only", "0.982"):
        assert words in text
    assert "REJECTED" not in text


def test_small_graphs_beside_it_and_alone(capsys: pytest.CaptureFixture[str]) -> None:
    alone = answer(capsys, "audit", "small-graphs", "--graphs", "2", "--nodes", "6", "--mechanism", "pf")
    settings = Settings(limits=SMALL.limits, mechanism=Settings().mechanism.parse("pf"))
    report = check_small_graphs(release_on(settings), 4.0, graphs=2, n=6)
    assert (alone["pairs"], alone["max_ratio"], alone["max_delta_u"]) == (90, report.max_ratio, report.max_delta_u)
    assert alone["passed"] and alone["same_supports"]
    assert run(["audit", "small-graphs", "--graphs", "1", "--nodes", "5"]) == 0
    assert "30 pairs" in capsys.readouterr().out


def test_a_huge_epsilon_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *ASKED[:-1], "900", "--pairs", "4")
    assert found["ratio_bound"] is None and found["passed"]


def test_what_cannot_be_audited_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "epsilon" in refusal(capsys, *ASKED[:-1], "0")
    assert "rho" in refusal(capsys, *ASKED[:4], "--rho", "1.5", "--epsilon", "1")
    assert "--epsilon" in refusal(capsys, *ASKED[:-2])
    assert "nobody" in refusal(capsys, *ASKED, "--target", "nobody")
    assert "written" in refusal(capsys, *ASKED, "--pairs", "2", "--pairs-file", str(tmp_path / "no" / "f.csv"))
    assert "--target and --population" in refusal(capsys, *ASKED, "--target", "12", "--population", "random")
