"""The inverse question and the advice on the screen: what the buttons set holds, and nothing stale is shown."""

from __future__ import annotations

import time

import numpy as np
import pytest

from core.datasets import Dataset
from core.study.advice import WARNING, advise
from core.study.inverse import epsilon_for, rho_for
from core.study.populations import Population, population
from explorer.app import Explorer
from explorer.state import Desk
from explorer.views.reach import ReachLine


@pytest.fixture
def line(desk: Desk) -> ReachLine:
    assert desk.choose(target=9, rho=0.6, epsilon=2.0)
    return ReachLine(desk)


def test_the_buttons_set_what_reaches_the_rate(line: ReachLine, desk: Desk) -> None:
    line.valid.value = 0.7
    answer = epsilon_for(desk.study, [9], 0.7, 0.6, desk.decisions.settings)
    assert line.epsilon.label == f"set ε = {answer.shown:.6g}" and not line.epsilon.disabled
    line.epsilon.param.trigger("clicks")
    assert desk.decisions.epsilon == answer.shown and desk.decisions.rho == 0.6
    assert 0.7 <= desk.inspection.metrics.valid < 0.71
    assert desk.choose(epsilon=4.0, rho=0.0)
    line.valid.value = 0.3
    other = rho_for(desk.study, [9], 0.3, 4.0, desk.decisions.settings)
    line.rho.param.trigger("clicks")
    assert desk.decisions.rho == other.shown and desk.inspection.metrics.valid >= 0.3


def test_a_rate_that_nothing_reaches_is_said_with_its_ceiling(line: ReachLine, desk: Desk) -> None:
    assert desk.choose(target=0, rho=0.6)
    assert desk.inspection.metrics.ceiling == 0
    assert "not reachable at this ρ: ceiling 0" in line._line.object
    assert line.epsilon.disabled and line.epsilon.label == "no ε does"


def test_any_budget_is_no_number_to_set(line: ReachLine, desk: Desk) -> None:
    line.valid.value = 0.01
    assert line.epsilon.label == "any ε does" and line.epsilon.disabled and "any ε at this ρ" in line._line.object


@pytest.mark.parametrize("change", [{"prior": "guided"}, {"mechanism": "pf"}, {"arm": "two-hop"}])
def test_slow_questions_are_answered_on_request_only(line: ReachLine, desk: Desk, change: dict) -> None:
    assert line.quick and not line.ask.visible
    assert desk.choose(**change)
    assert not line.quick and line.ask.visible and not line.ask.disabled and line.epsilon.disabled and line.rho.disabled
    assert "ask for it" in line._line.object
    line.start()
    line.job.wait()
    expected = epsilon_for(desk.study, [9], 0.5, 0.6, desk.decisions.settings)
    assert str(0.5) in line._line.object and ("any ε" in line._line.object) == (expected.value == 0)
    assert desk.choose(epsilon=3.0)
    assert "ask for it" in line._line.object and line.rho.disabled
    assert desk.choose(prior="uniform", mechanism="em", arm="full")
    assert "ask for it" not in line._line.object


def test_an_answer_to_an_earlier_question_is_not_shown(line: ReachLine, desk: Desk) -> None:
    assert desk.choose(prior="guided")
    work, finish = line._work()
    late = work(None, None)
    assert desk.choose(epsilon=5.0)
    finish(late)
    assert line._answers == {} and "ask for it" in line._line.object


def test_a_rate_that_was_emptied_is_asked_for(line: ReachLine) -> None:
    line.valid.value = None
    assert "between 0.01 and 0.99" in line._line.object and line.epsilon.disabled and line.ask.disabled


def test_the_uniform_answers_are_quick_on_cora(cora: Dataset, cora_backbone) -> None:
    from core.study.study import Study

    desk = Desk(Study(cora, cora_backbone), rho=0.7)
    line = ReachLine(desk)
    spent = []
    for epsilon in np.geomspace(0.5, 5, 9):
        desk.choose(epsilon=float(epsilon))
        start = time.perf_counter()
        line._moved()
        spent.append(time.perf_counter() - start)
    assert line._answers and min(spent) < 0.1  # 20 ms on an idle machine


def test_the_advice_shows_the_present_limits_first_and_whom_it_is_for(karate: Dataset) -> None:
    explorer = Explorer(karate, k_edges=4, k_features=4)
    view = explorer.prices.advice
    explorer.prices.seeds.value = 1
    view.runner.start()
    view.runner.job.wait()
    shown = view._table.object
    now = explorer.desk.decisions
    rows = population(explorer.desk.study, Population.RANDOM)
    table = advise(explorer.desk.study, rows, now.rho, now.epsilon, now.settings)
    assert view._table.visible and "Owner-only" in shown and WARNING in shown
    first, second = (row.split("</tr>")[0] for row in shown.split("<tbody><tr>")[1].split("<tr>")[:2])
    assert "present" in first and f"{table['valid'][0]:.4f}" in first
    assert f"{table['change'].max():+.4f}" in second
    assert "Done" in view.runner._line.object
