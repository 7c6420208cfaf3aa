"""The table over limits against previews of single releases."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest

from core.datasets import load
from core.errors import BadInput, Cancelled
from core.prior.prior import PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.study.advice import COLUMNS, advise, limits_grid
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits
from tests.core.smallgraphs import make_case
from tests.core.study.test_losschain import make_study

GRID = [Limits(2, 2, 1, 1), Limits(4, 1, 2, 1)]
TARGETS = [2, 8, 33]


@pytest.fixture(scope="module")
def karate() -> Study:
    return Study(load("karate"))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(limits=Limits(3, 3, 2, 2)),
        Settings(limits=Limits(3, 3, 2, 2), arm=Arm.INERT_MASKS, mechanism=Mechanism.PF),
        Settings(limits=Limits(3, 3, 2, 2), prior=PriorRule(PriorKind.GUIDED)),
    ],
    ids=["default", "inert-pf", "guided"],
)
def test_every_row_is_the_mean_of_single_previews_under_its_limits(karate, settings):
    table = advise(karate, TARGETS, 0.7, 3.0, settings, (0, 2), GRID)
    assert list(table.columns) == COLUMNS
    desks = [karate, karate.with_seed(2)]
    for limits, row in zip([settings.limits, *GRID], table.to_dict("records"), strict=True):
        under = replace(settings, limits=limits)
        seen = [desk.inspect(v, 0.7, 3.0, under) for desk in desks for v in TARGETS]
        assert tuple(row[name] for name in COLUMNS[:4]) == astuple(limits)
        assert row["present"] == (limits == settings.limits)
        assert row["candidates"] == np.mean([one.universe.size for one in seen])
        assert row["valid"] == pytest.approx(np.mean([one.metrics.valid for one in seen]), abs=1e-12)
        assert row["ceiling"] == np.mean([one.metrics.ceiling for one in seen])
    assert table["change"].to_numpy() == pytest.approx(table["valid"] - table["valid"][0])
    assert table["change"].abs().max() > 1e-3


@pytest.mark.parametrize(("arm", "many"), [(Arm.FULL, 36), (Arm.EDGE_ONLY, 6), (Arm.FEATURE_ONLY, 6)])
def test_the_grid_is_public_starts_with_the_present_and_varies_what_the_arm_holds(arm, many):
    present = Limits(5, 6, 2, 2)
    grid = limits_grid(present, arm)
    assert grid[0] == present and len(grid) == len(set(grid)) == many + 1
    if arm is Arm.EDGE_ONLY:
        assert {(one.k_features, one.max_features) for one in grid} == {(6, 2)}
    if arm is Arm.FEATURE_ONLY:
        assert {(one.k_edges, one.max_edges) for one in grid} == {(5, 2)}
    assert limits_grid(Limits(), Arm.FULL)[0] == Limits() and len(limits_grid(Limits(), Arm.FULL)) == 36


def test_a_real_snapshot_counts_once():
    study = make_study(make_case(3), real=True)
    once = advise(study, [0, 1], 0.5, 2.0, Settings(limits=Limits(2, 2, 1, 1)), (7,), GRID)
    again = advise(study, [0, 1], 0.5, 2.0, Settings(limits=Limits(2, 2, 1, 1)), (0, 1, 2), GRID)
    assert once.equals(again)


def test_progress_reaches_the_end_and_can_be_stopped(karate):
    seen: list[tuple[int, int]] = []
    settings = Settings(limits=Limits(2, 2, 1, 2))
    advise(karate, TARGETS, 0.5, 1.0, settings, (0, 1), GRID, progress=lambda *step: seen.append(step))
    assert seen == [(done, 18) for done in range(1, 19)]
    with pytest.raises(Cancelled, match="after 1 of 9"):
        advise(karate, TARGETS, 0.5, 1.0, settings, (0,), GRID, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([], 0.5, 1.0), "one target"),
        (([0], 0.5, 1.0, None, []), "one seed"),
        (([0], 1.5, 1.0), "rho"),
        (([0], 0.5, 0.0), "epsilon"),
        (([34], 0.5, 1.0), "target row"),
    ],
)
def test_bad_questions_are_refused(karate, arguments, said):
    with pytest.raises(BadInput, match=said):
        advise(karate, *arguments)
