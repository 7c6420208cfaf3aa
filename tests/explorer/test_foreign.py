"""A foreign model on the desk: scored off the event loop, the last wish wins, nothing shown is ever half-taken."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from core.backbone.module import ModuleBackbone, freeze, measured_module
from core.datasets import Dataset
from core.datasets import names as built_in
from core.errors import UnsupportedBackbone
from core.progress import Progress, Stop
from core.study.study import Study
from explorer.app import Explorer
from explorer.state import Desk
from tests.core.foreign import sound


@pytest.fixture(scope="module")
def backbone(karate: Dataset) -> ModuleBackbone:
    module = sound("GraphSAGE", 5, karate.nodes.n_features, len(karate.nodes.classes))
    return measured_module(karate, freeze(module, karate.nodes))


@pytest.fixture
def study(karate: Dataset, backbone: ModuleBackbone) -> Study:
    return Study(karate, backbone)


def idle(desk: Desk) -> Desk:
    """The desk once nothing waits any more; one job may start the next."""
    while desk.scoring.state == "running" or desk.waiting:
        desk.scoring.wait()
    return desk


class Gate:
    """Holds up a study's scoring until it is opened, and counts what was asked for."""

    def __init__(self, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[int, float]] = []
        self.stopped: list[int] = []
        self.opened = threading.Event()
        prepare = study.prepare

        def held(target: int, rho: float, settings: object, progress: Progress, cancelled: Stop) -> None:
            self.asked.append((target, rho))
            while not self.opened.wait(0.01):
                if cancelled():
                    self.stopped.append(target)
                    break
            prepare(target, rho, settings, progress, cancelled)

        monkeypatch.setattr(study, "prepare", held)


def test_a_new_target_is_scored_in_a_thread_and_taken_when_that_is_done(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    before, first = desk.inspection, desk.decisions.target
    gate = Gate(study, monkeypatch)
    other = (first + 1) % study.dataset.nodes.n
    assert desk.choose(target=other)
    assert desk.inspection is before and desk.decisions.target == first
    assert study.dataset.nodes.ids[other] in desk.waiting
    gate.opened.set()
    idle(desk)
    assert (desk.decisions.target, desk.inspection.universe.target, desk.problem) == (other, other, "")
    direct = Study(study.dataset, study.backbone).inspect(other, 0.5, 1.0)
    np.testing.assert_array_equal(desk.inspection.distribution.probability, direct.distribution.probability)


def test_epsilon_and_prior_never_wait(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(study)
    gate = Gate(study, monkeypatch)
    assert desk.choose(epsilon=3.0)
    assert desk.choose(prior="guided")
    assert desk.inspection.distribution.epsilon == 3.0
    assert desk.inspection.distribution.prior.name == "guided"
    assert gate.asked == []


def test_the_last_wish_wins_and_what_was_decided_meanwhile_is_kept(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    gate = Gate(study, monkeypatch)
    one, two = [row for row in range(5) if row != desk.decisions.target][:2]
    assert desk.choose(target=one)
    assert desk.choose(epsilon=2.0)
    assert desk.choose(target=two)
    gate.opened.set()
    idle(desk)
    assert (desk.decisions.target, desk.decisions.epsilon) == (two, 2.0)
    assert gate.stopped in ([], [one])
    assert [target for target, _ in gate.asked] == [one, two]


def test_a_wish_that_needs_no_other_scores_lets_the_scoring_go_on(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    gate = Gate(study, monkeypatch)
    other = (desk.decisions.target + 1) % 5
    assert desk.choose(target=other)
    assert desk.choose(epsilon=2.0)
    assert desk.choose(mechanism="pf")
    gate.opened.set()
    idle(desk)
    assert gate.stopped == [] and len(gate.asked) == 1
    assert (desk.decisions.target, desk.decisions.epsilon) == (other, 2.0)


def test_cancelling_leaves_everything_as_it_was(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(study)
    gate = Gate(study, monkeypatch)
    before, decisions = desk.inspection, desk.decisions.param.values()
    assert desk.choose(target=(desk.decisions.target + 1) % 5, rho=0.8)
    desk.cancel()
    idle(desk)
    assert gate.asked and gate.stopped
    assert desk.inspection is before and desk.decisions.param.values() == decisions
    gate.opened.set()
    assert desk.choose(rho=0.7)
    idle(desk)
    assert (desk.decisions.rho, desk.decisions.target) == (0.7, decisions["target"])


def test_a_bad_value_among_wishes_is_refused_and_the_others_still_come(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    gate = Gate(study, monkeypatch)
    other = (desk.decisions.target + 1) % 5
    assert desk.choose(target=other)
    assert not desk.choose(epsilon=-1)
    assert "epsilon" in desk.problem
    gate.opened.set()
    idle(desk)
    assert (desk.decisions.target, desk.decisions.epsilon) == (other, 1.0)


def test_a_model_that_fails_on_a_target_says_so_and_changes_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    before = desk.inspection

    def failing(*_: object) -> None:
        raise UnsupportedBackbone("backbone GraphSAGE: found no memory")

    monkeypatch.setattr(study, "prepare", failing)
    assert desk.choose(target=(desk.decisions.target + 1) % 5)
    idle(desk)
    assert desk.problem == "backbone GraphSAGE: found no memory"
    assert (desk.inspection, desk.waiting) == (before, "")
    assert desk.choose(epsilon=2.0)


def test_the_served_study_is_never_swapped_for_the_built_in_one(
    study: Study, karate: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(study)
    assert desk.names == built_in()
    desk.replace_study(Desk("lastfm").study)
    desk.replace_study(desk.opened("karate"))
    assert desk.study is study
    assert isinstance(desk.study.backbone, ModuleBackbone)
    assert desk.choose(seed=4)
    idle(desk)
    assert (desk.study.seed, desk.study.backbone) == (4, study.backbone)


def test_data_sets_of_the_session_are_listed_bounded_and_the_served_one_stays(karate: Dataset) -> None:
    desk = Desk(replace(karate, name="served"))
    assert desk.names == [*built_in(), "served"]
    for k in range(6):
        desk.replace_study(desk.prepare(replace(karate, name=f"mine {k}")))
        assert desk.dataset.name == f"mine {k}"
    assert desk.names == [*built_in(), "served", "mine 3", "mine 4", "mine 5"]
    assert desk.opened("served").dataset.name == "served"
    assert [desk.free_name(name) for name in ("cora", "mine 3", "new")] == ["cora 2", "mine 3 2", "new"]


def test_a_name_that_comes_back_with_a_smaller_graph_opens_at_a_node_it_has(karate: Dataset) -> None:
    desk = Desk("cora")
    assert desk.choose(target=2700)
    desk.replace_study(desk.prepare(replace(karate, name="cora")))
    assert desk.decisions.target < karate.nodes.n


def test_the_screen_names_the_model_and_what_is_wrong_with_it(study: Study) -> None:
    explorer = Explorer(study)
    text = explorer.rail._model.object
    assert "GraphSAGE" in text
    assert study.notes and all(note in text for note in study.notes)


def test_the_screen_shows_what_it_scores_and_forgets_a_cancelled_target(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = Explorer(study)
    ids, first = study.dataset.nodes.ids, explorer.desk.decisions.target
    gate = Gate(study, monkeypatch)
    explorer.rail.target.value = ids[(first + 1) % 5]
    assert "Scoring node" in explorer.answer.object
    assert explorer.cancel.visible
    explorer.cancel.clicks += 1
    idle(explorer.desk)
    assert gate.stopped == [(first + 1) % 5]
    assert explorer.rail.target.value == ids[first]
    assert f"node {ids[first]}" in explorer.answer.object
    assert not explorer.cancel.visible
