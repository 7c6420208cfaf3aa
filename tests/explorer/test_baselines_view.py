"""The Baselines view: the table of the comparison, and a cell opened as what the method saw."""

from __future__ import annotations

import numpy as np
import pytest

from core.baselines.compare import Cell
from core.baselines.method import Finding
from core.baselines.suite import method
from core.datasets import load
from explorer import baselines
from explorer.palette import palette
from explorer.state import Desk
from explorer.views import baselines as module
from explorer.views.baselines import BaselinesView

CHOSEN = ("privcfs", "privcf-sgd", "graph-gaussian", "graph-rr", "public-only", "optimum")


@pytest.fixture(scope="module")
def view() -> BaselinesView:
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "suite", lambda: tuple(method(name) for name in CHOSEN))  # the slow ones show alike
    shown = BaselinesView(Desk(load("karate"), epsilon=1.0), palette(False))
    shown.population.value = "borderline"
    shown.draws.value, shown.seeds.value = 2, 2
    shown.runner.start()
    shown.runner.job.wait()
    shown._job.wait()
    patch.undo()
    assert shown.runner.job.state == "done", shown.runner.job.message
    return shown


def chosen(view: BaselinesView, name: str, target: int, draw: int) -> Cell:
    view.method.value, view.target.value = name, target
    view._job.wait()
    view.draw.value = draw
    view._job.wait()
    assert view._job.state == "done", view._job.message
    return view._shown[2].of(name, target)[draw]


def test_every_row_says_what_it_is_and_whether_it_is_certified(view: BaselinesView) -> None:
    said = view._table.object
    for name in CHOSEN:
        assert method(name).title in said
    assert said.count("✓") == 5 and "none claimed" in said and "reads no private edge" in said
    assert said.count("size in") == len(CHOSEN) and "±" in said
    assert "mean ± std over 2 seeds" in view._heading.object


def test_a_noised_cell_shows_its_own_graph_and_intervention(view: BaselinesView) -> None:
    target = int(view._shown[2].targets[0])
    for name, draw in (("graph-gaussian", 0), ("graph-gaussian", 3), ("graph-rr", 1)):
        cell = chosen(view, name, target, draw)
        cuts = int((cell.finding.pairs == target).any(axis=1).sum())
        assert len(view.seen._cuts.data["x"]) == cuts
        seen = view._shown[0].dataset.nodes.classes[cell.finding.seen]
        assert f"predicted <b>{seen}</b>" in view._seen_text.object
        for word, holds in (("polluted", cell.finding.polluted), ("spurious", cell.finding.spurious)):
            assert (f"<b>{word}</b>" in view._seen_text.object) == bool(holds)
    assert list(view.draw.options) == ["seed 0, draw 1", "seed 0, draw 2", "seed 1, draw 1", "seed 1, draw 2"]


def test_nothing_of_a_noised_graph_stays_on_a_true_one(view: BaselinesView) -> None:
    for target in view._shown[2].targets.tolist():
        chosen(view, "graph-gaussian", target, 0)
        if len(view.seen._ties["false"].data["x0"]):
            break
    else:
        pytest.fail("found no target with a tie made up by the noise")
    chosen(view, "optimum", target, 0)
    assert not len(view.seen._ties["false"].data["x0"]) and not len(view.seen._ties["lost"].data["x0"])
    assert list(view.draw.options) == ["seed 0", "seed 1"]
    assert "true graph" in view._seen_title.object


def test_other_decisions_are_pointed_out_and_another_dataset_empties_the_view(view: BaselinesView) -> None:
    desk = view._desk
    desk.choose(epsilon=2.0)
    assert "Compare again" in view.runner._line.object
    desk.replace_study(desk.opened("synthetic:nodes=40,classes=2,degree=3,seed=0"))
    assert view._empty.visible and not view._results.visible


@pytest.mark.parametrize(
    ("rates", "size", "said"),
    [
        ({"valid": 1.0, "found": 1.0}, 1.0, "flips the true graph."),
        ({"spurious": 1.0, "found": 1.0}, 1.0, "but <b>not</b> the true graph"),
        ({}, 1.0, "does not flip the true graph"),
    ],
)
def test_a_verdict_says_whether_it_flips_where_it_matters(rates: dict, size: float, said: str) -> None:
    nodes = load("karate").nodes
    values = dict.fromkeys(("valid", "targeted", "spurious", "polluted", "found"), 0.0) | rates
    finding = Finding(0, np.array([[0, 1]]), np.empty(0, dtype=np.int64), 0, **values, size=size)
    assert said in baselines.verdict(Cell("x", 0, 0, finding), "X", nodes, False)


def test_a_closed_form_and_an_empty_answer_have_words_of_their_own() -> None:
    nodes = load("karate").nodes
    none = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
    closed = Finding(0, *none, 0, 0.25, 0.1, 0.0, 0.0, 0.25, 2.0)
    assert "1 release in 4" in baselines.verdict(Cell("x", 0, 0, closed), "X", nodes, False)
    gave_up = Finding(0, *none, 0, 0.0, 0.0, 0.0, 1.0, 0.0, None)
    said = baselines.verdict(Cell("x", 0, 0, gave_up), "X", nodes, True)
    assert "found no intervention" in said and "polluted" in said
