"""The Labels view: its words and picture are those of the sweep and the walls."""

from __future__ import annotations

from fractions import Fraction

import pytest

from core.datasets import Dataset, load
from core.labels.classifier import filter_for
from core.labels.csbm import FEATURES_SUFFICE, load_csbm
from core.labels.experiment import sweep
from core.labels.feasible import public_walls
from core.labels.plan import Plan
from explorer.palette import palette
from explorer.state import Desk
from explorer.views.labels import DEMO, HERE, P_S, LabelsView


def tried(desk: Desk, which: str, **fields: str) -> LabelsView:
    view = LabelsView(desk, palette(False))
    view.graph.value = which
    for name, value in fields.items():
        getattr(view, name).value = value
    view.runner.start()
    view.runner.job.wait()
    return view


@pytest.fixture(scope="module")
def view() -> LabelsView:
    return tried(Desk(load("karate")), DEMO)


def test_the_picture_is_the_sweep(view: LabelsView) -> None:
    assert view.runner.job.state == "done", view.runner.job.message
    dataset = load_csbm(FEATURES_SUFFICE)
    grid = [Fraction(p) for p in P_S]
    cells = sweep(dataset, filter_for(dataset), grid, [400], [Fraction(8)], [Fraction("1e-5")], draws=2)
    for name in ("p_s", "released", "halted", "accuracy"):
        assert list(view.figure._source.data[name]) == [getattr(cell, name) for cell in cells]
    assert f"{cells[6].stability:.2f}" in view._table.object


def test_the_walls_stand_where_the_plan_puts_them(view: LabelsView) -> None:
    low, high = public_walls(Plan(Fraction("0.07"), 400, Fraction(8), Fraction("1e-5")))
    left, right = view.figure._walls
    assert (left.right, right.left) == pytest.approx((low, high))
    assert f"p_s from {low:.3g} to {high:.3g} can work" in view._said.object
    assert "✗" in view._table.object  # below the left wall the claim doesn't hold, and the table says so


def test_the_owners_graph_is_asked_about_a_few_nodes(karate: Dataset) -> None:
    desk = Desk(karate)
    view = tried(desk, HERE)
    assert view.runner.job.state == "done", view.runner.job.message
    assert "labels of Zachary" in view._said.object
    desk.replace_study(desk.opened("synthetic:nodes=40,classes=2,degree=3,seed=0"))
    assert view._empty.visible


@pytest.mark.parametrize(("field", "value"), [("epsilon", "x"), ("epsilon", "0"), ("delta", "2"), ("delta", "")])
def test_bad_input_is_said_and_shows_nothing(karate: Dataset, field: str, value: str) -> None:
    view = tried(Desk(karate), DEMO, **{field: value})
    assert view.runner.job.state == "failed" and field in view.runner._line.object
    assert not view._results.visible
