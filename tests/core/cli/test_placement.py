"""`privcfs placement`: the keys, and that they are those of the diagnosis."""

from __future__ import annotations

import pytest

from core.cli import run
from core.datasets import load
from core.placement.diagnosis import diagnose
from core.placement.mechanisms import RandomizedResponse
from core.study.populations import Population, population
from core.study.study import Study
from tests.core.cli.commands import answer, refusal

KEYS = {
    "mechanism", "epsilon", "population", "draws", "polluted", "found", "spurious", "spurious_polluted", "accuracy",
    "delta", "certified", "kept", "false_edges", "targets", "explanation_valid", "owner_only",
}  # fmt: skip


def placement_arguments(**changes: str) -> list[str]:
    values = {"dataset": "karate", "population": "borderline", "epsilon": "2", "draws": "2"} | changes
    return ["placement", *(part for key, value in values.items() for part in (f"--{key}", value))]


@pytest.mark.parametrize(("mechanism", "noise"), [("gaussian", "sigma"), ("laplace", "scale"), ("rr", "flip")])
@pytest.mark.parametrize("universe", ["noised", "public"])
def test_json_holds_the_contract_for_every_mechanism(capsys, mechanism, noise, universe):
    said = answer(capsys, *placement_arguments(mechanism=mechanism, universe=universe))
    assert said.keys() >= KEYS | {noise}
    assert (said["mechanism"], said["universe"], said["draws"]) == (mechanism, universe, 2)
    for key in ("polluted", "found", "spurious", "accuracy", "kept", "explanation_valid"):
        assert 0 <= said[key] <= 1, key
    assert said["found"] == pytest.approx(said["valid"] + said["spurious"])


def test_json_holds_the_figures_of_the_diagnosis(capsys):
    said = answer(capsys, *placement_arguments(mechanism="rr", seed="3", rho="0.8"))
    study = Study(load("karate"), seed=3)
    targets = population(study, Population.BORDERLINE, seed=3)
    expected = diagnose(study, targets, 2.0, RandomizedResponse(), draws=2, seed=3, rho=0.8).to_json()
    assert said == {"dataset": "karate", "population": "borderline", **expected}


def test_text_names_both_placements_and_its_reader(capsys):
    assert run(placement_arguments()) == 0
    printed = capsys.readouterr()
    for words in ("graph-level", "explanation-level", "polluted", "spurious", "Owner-only", "epsilon 2", "sigma"):
        assert words in printed.out
    assert printed.err == ""


def test_the_classical_calibration_is_offered_and_marked(capsys):
    assert answer(capsys, *placement_arguments(epsilon="8"), "--calibration", "classical")["certified"] is False
    assert answer(capsys, *placement_arguments(epsilon="1"), "--calibration", "classical")["certified"] is True


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"dataset": "nope"}, "'nope'"),
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"epsilon": "inf"}, "epsilon"),
        ({"rho": "1.5"}, "rho"),
        ({"rho": "nan"}, "rho"),
        ({"draws": "0"}, "0"),
        ({"draws": "1.5"}, "1.5"),
        ({"seed": "-1"}, "-1"),
        ({"mechanism": "em"}, "'em'"),
        ({"population": "some"}, "'some'"),
        ({"universe": "own"}, "'own'"),
        ({"mechanism": "rr", "calibration": "classical"}, "calibration"),
    ],
)
def test_bad_input_is_one_line(capsys, changes, found):
    assert found in refusal(capsys, *placement_arguments(**changes))
