"""`privcfs embed`: the keys, their arithmetic, what is released and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.cli import run
from core.datasets import load
from core.embeddings.accounting import TCDP
from core.embeddings.counting import densities
from core.embeddings.samplers import PatternClass, sample
from tests.core.cli.commands import answer, refusal

KEYS = {"patterns", "rho", "omega", "epsilon", "delta", "noise_std", "sensitivity", "domain"}


def test_a_demonstration_needs_no_data_set(capsys):
    said = answer(capsys, "embed")
    assert said.keys() >= KEYS
    assert said["demonstration"] is True and said["owner_only"] is True
    assert [pattern["vertices"] for pattern in said["patterns"]] == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("patterns", ["tree", "cycle", "treewidth:2", "full"])
def test_figures_are_those_of_the_library(capsys, patterns):
    said = answer(capsys, "embed", "--dataset", "karate", "--patterns", patterns, "--d", "8", "--epsilon", "0.5")
    chosen = sample(PatternClass.parse(patterns), 8, 0)
    assert [one["density"] for one in said["patterns"]] == pytest.approx(densities(chosen, load("karate").graph))
    assert said["omega"] is None and said["epsilon"] == 0.5 and said["delta"] == 1e-5
    assert TCDP(said["rho"]).epsilon(1e-5) == pytest.approx(0.5, rel=1e-6)
    bounds = np.array([2 * pattern.size / 34**2 for pattern in chosen])
    assert said["sensitivity"] == pytest.approx(np.linalg.norm(bounds), rel=1e-5)
    assert said["noise_std"] == pytest.approx(said["sensitivity"] / math.sqrt(2 * said["rho"]), rel=1e-9)


def test_a_degree_bound_projection_and_smooth_noise(capsys):
    common = ("embed", "--dataset", "karate", "--d", "4")
    free, bounded = answer(capsys, *common), answer(capsys, *common, "--degree-bound", "17")
    assert bounded["noise_std"] < 0.6 * free["noise_std"]
    assert "degree at most 17" in bounded["domain"]
    projected = answer(capsys, *common, "--degree-bound", "17", "--project")
    assert projected["sensitivity"] == pytest.approx(3 * bounded["sensitivity"], rel=1e-5)
    assert projected["patterns"][0]["density"] == bounded["patterns"][0]["density"]
    smooth = answer(capsys, *common, "--smooth")
    assert smooth["omega"] == pytest.approx(1 / (4 * smooth["beta"]))
    assert smooth["rho"] == pytest.approx(2 * smooth["rho_noise"] + 4 * smooth["dimensions"] * smooth["beta"] ** 2)
    own = answer(capsys, *common, "--degree-bound", "17", "--spread", "own")
    assert own["patterns"][3]["noise_std"] < bounded["patterns"][3]["noise_std"]


def test_text_says_what_it_reads_and_that_nothing_was_spent(capsys):
    assert run(["embed", "--dataset", "karate", "--smooth"]) == 0
    printed = capsys.readouterr().out
    for words in ("cycle of 3", "tCDP", "depends on the graph", "Owner-only", "no budget was spent"):
        assert words in printed


def test_a_release_is_paid_written_and_repeated(capsys, tmp_path):
    url, out = str(tmp_path / "ledger.db"), tmp_path / "embedding.json"
    answer(capsys, "ledger", "init", "--ledger", url, "--dataset", "karate", "--budget", "2", "--delta", "0.0001")
    paid = ("embed", "--dataset", "karate", "--ledger", url, "--key", "k", "--out", str(out), "--yes")
    assert run([*paid, "--json"]) == 0
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    assert "--key k" in printed.err
    assert (said["spent"], said["remaining"], said["delta_remaining"]) == ("1", "1", "0.00009")
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written == said["embedding"]
    assert written["vector"][-1] == 34 and len(written["vector"]) == 7
    assert run([*paid, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["embedding"] == written
    history = answer(capsys, "ledger", "show", "--ledger", url)
    assert (history["spent"], history["entries"][0]["mechanism"]) == ("1", "discrete-gaussian")
    refused = refusal(capsys, *paid[:5], "--key", "other", "--out", str(out), "--yes")
    assert "isn't the embedding of key" in refused
    assert run([*paid[:5], "--key", "more", "--epsilon", "1.5", "--out", str(tmp_path / "more.json"), "--yes"]) == 3
    assert not (tmp_path / "more.json").exists()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--patterns", "clique"), "expected one of: tree, cycle, full"),
        (("--epsilon", "0"), "epsilon"),
        (("--delta", "2"), "delta"),
        (("--dataset", "karate", "--degree-bound", "5"), "over the public bound of 5"),
        (("--project",), "without a bound"),
        (("--degree-bound", "200", "--project", "--smooth"), "expected one that refuses"),
        (("--out", "x.json"), "without --ledger"),
        (("--ledger", "x.db"), "without --out or --dataset"),
        (("--ledger", "x.db", "--dataset", "karate", "--out", "/no/such/folder/x.json"), "choose another folder"),
    ],
)
def test_what_is_refused(capsys, arguments, found):
    assert found in refusal(capsys, "embed", *arguments)
