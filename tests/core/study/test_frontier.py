"""The frontier against its definition; stopped and gone on with, or split among processes, it ends the same."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.datasets import load
from core.errors import BadInput, Cancelled
from core.metrics import measure_cells
from core.prior.prior import PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.scale.cluster import local_workers, on_workers
from core.study import plan as plans
from core.study.frontier import frontier
from core.study.plan import Owned, Plan, price, price_elsewhere
from core.study.pricestore import PriceStore
from core.study.settings import Settings
from core.study.sheet import Sheet
from core.study.study import Study
from core.universe import Arm, Limits
from core.utility import UtilityConfig

TARGETS = np.array([33, 2, 8, 8, 0])
SMALL = Settings(limits=Limits(4, 3, 2, 2))
PLAN = Plan(
    rhos=(0.4, 1.0),
    epsilons=(0.5, 4.0),
    priors=(PriorKind.UNIFORM, PriorKind.GUIDED),
    arms=(Arm.FULL, Arm.TWO_HOP),
    seeds=(0, 3),
    settings=SMALL,
)


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(load("karate"))


@pytest.fixture(scope="module")
def table(study: Study) -> pd.DataFrame:
    return frontier(study, PLAN, TARGETS)


def one_by_one(study: Study, plan: Plan, arm: Arm, prior: PriorKind, rho: float, epsilon: float) -> dict[str, float]:
    """A row from its definition: each seed, each target, each figure by itself."""
    settings = replace(plan.settings, arm=arm, prior=PriorRule(prior))
    each: dict[str, list[float]] = {"valid": [], "ceiling": [], "size": [], "collision": [], "public_only": []}
    for seed in plan.seeds:
        desk = study.with_seed(seed)
        found = [measure_cells(desk.cells(int(v), rho, epsilon, settings), [epsilon]) for v in TARGETS]
        for name in ("valid", "ceiling", "size", "collision"):
            each[name].append(float(np.mean([figures[name][0] for figures in found])))
        alone = [
            desk.guide(int(v), rho, settings)
            .prior(0.0, settings.utility)
            .mass[desk.scores(int(v), rho, settings).flips]
            for v in TARGETS
        ]
        each["public_only"].append(float(np.mean([mass.sum() for mass in alone])))
    row = {name: float(np.mean(values)) for name, values in each.items()}
    retention = row["valid"] / row["ceiling"] if row["ceiling"] else float("nan")
    return {**row, "valid_std": float(np.std(each["valid"], ddof=1)), "retention": retention}


def test_every_row_is_what_it_says(study: Study, table: pd.DataFrame) -> None:
    cells = itertools.product(PLAN.arms, PLAN.rhos, PLAN.epsilons, PLAN.priors)
    assert len(table) == 16
    for (arm, rho, epsilon, prior), row in zip(cells, table.to_dict("records"), strict=True):
        assert (row["arm"], row["rho"], row["epsilon"], row["prior"]) == (arm.value, rho, epsilon, prior.value)
        assert (row["targets"], row["seeds"]) == (5, 2)
        for name, value in one_by_one(study, PLAN, arm, prior, rho, epsilon).items():
            assert row[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name


class Interrupted(Exception):
    """Ends a run between two tasks, as Ctrl+C might."""


def stopping_after(tasks: int, worked: list[plans.Task]):
    """Works out `tasks` tasks, notes them, then stops."""

    def run(owned: Owned, asked):
        for place, task in enumerate(asked):
            if len(worked) >= tasks:
                raise Interrupted
            worked.append(task)
            yield place, price_elsewhere(owned, task)

    return run


def cells_of(task: plans.Task) -> list[tuple]:
    """Every figure that a task works out."""
    priced = itertools.product(task.targets.tolist(), task.rhos, task.epsilons, task.settings, [task.seed])
    return [*priced, *itertools.product(task.targets.tolist(), task.public, [task.public_settings.arm], [task.seed])]


def test_a_stopped_run_goes_on_where_it_was_and_ends_the_same(study: Study, table: pd.DataFrame, tmp_path) -> None:
    path = tmp_path / "kept.sqlite"
    runs: list[list[plans.Task]] = []
    with PriceStore(path) as store:
        for tasks in (3, 4):
            runs.append([])
            with pytest.raises(Interrupted):
                frontier(study, PLAN, TARGETS, store=store, run=stopping_after(tasks, runs[-1]))
    with PriceStore(path) as store:
        runs.append([])
        whole = frontier(study, PLAN, TARGETS, store=store, run=stopping_after(1000, runs[-1]))
        pd.testing.assert_frame_equal(whole, table, check_exact=True)
        worked = [set(itertools.chain.from_iterable(map(cells_of, run))) for run in runs]
        assert not worked[0] & worked[1] and not (worked[0] | worked[1]) & worked[2]
        runs.append([])
        again = frontier(study, PLAN, TARGETS, store=store, run=stopping_after(0, runs[-1]))
        pd.testing.assert_frame_equal(again, table, check_exact=True)
    assert runs[-1] == []
    assert path.stat().st_mode & 0o077 == 0


def test_a_larger_plan_works_out_what_is_new_only(study: Study, tmp_path) -> None:
    small = Plan(rhos=(0.4,), epsilons=(1.0,), seeds=(0,), settings=SMALL)
    large = replace(small, epsilons=(1.0, 2.0), priors=(PriorKind.UNIFORM, PriorKind.GUIDED))
    with PriceStore(tmp_path / "kept") as store:
        frontier(study, small, TARGETS, store=store)
        worked: list[plans.Task] = []
        grown = frontier(
            study, replace(small, epsilons=(1.0, 2.0)), TARGETS, store=store, run=stopping_after(99, worked)
        )
        assert {task.epsilons for task in worked} == {(2.0,)} and {task.public for task in worked} == {()}
        pd.testing.assert_frame_equal(grown, frontier(study, replace(small, epsilons=(1.0, 2.0)), TARGETS))
        worked.clear()
        frontier(study, large, TARGETS, store=store, run=stopping_after(99, worked))
        assert {settings.prior.kind for task in worked for settings in task.settings} == {PriorKind.GUIDED}


@pytest.mark.parametrize(
    "other",
    [
        {"settings": Settings(limits=Limits(4, 3, 2, 1))},
        {"settings": replace(SMALL, prior=PriorRule(size_penalty=1.0))},
        {"settings": replace(SMALL, mechanism=Mechanism.PF)},
        {"settings": replace(SMALL, utility=UtilityConfig("0.6", "0.3", "0.1"))},
        {"settings": replace(SMALL, utility=UtilityConfig(soft=True))},
        {"settings": replace(SMALL, utility=UtilityConfig(sensitivity="paper"))},
        {"seeds": (1,)},
        {"rhos": (0.5,)},
        {"arms": (Arm.EDGE_ONLY,)},
    ],
)
def test_what_was_kept_is_never_taken_for_something_else(study: Study, tmp_path, other) -> None:
    first = Plan(rhos=(0.4,), epsilons=(1.0,), seeds=(0,), settings=SMALL, public_only=False)
    second = replace(first, **other)
    with PriceStore(tmp_path / "kept") as store:
        before = frontier(study, first, TARGETS, store=store)
        anew = frontier(study, second, TARGETS)
        pd.testing.assert_frame_equal(frontier(study, second, TARGETS, store=store), anew)
    assert (before["size"] - anew["size"]).abs().max() > 1e-6  # figures kept under one key would be seen


def test_a_neighbouring_graph_shares_nothing_that_was_kept(study: Study, tmp_path) -> None:
    plan = Plan(rhos=(0.4,), epsilons=(1.0,), seeds=(0,), settings=SMALL, public_only=False)
    dataset = replace(study.dataset, graph=study.dataset.graph.toggled(0, 1))
    neighbour = Study(dataset, study.backbone)
    with PriceStore(tmp_path / "kept") as store:
        frontier(study, plan, TARGETS, store=store)
        pd.testing.assert_frame_equal(
            frontier(neighbour, plan, TARGETS, store=store), frontier(neighbour, plan, TARGETS)
        )


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path) -> None:
    path = tmp_path / "notes"
    path.write_text("a shopping list\n" * 100)
    with pytest.raises(BadInput, match=r"notes: .*move it away"):
        PriceStore(path)
    assert path.read_text().startswith("a shopping list")
    with pytest.raises(BadInput, match="nowhere"):
        PriceStore(tmp_path / "no folder" / "nowhere")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rhos": (1.2,)}, "rho"),
        ({"epsilons": (0.0,)}, "epsilon"),
        ({"epsilons": ()}, "epsilons"),
        ({"priors": ()}, "priors"),
        ({"arms": ()}, "arms"),
        ({"seeds": (-1,)}, "seed"),
    ],
)
def test_bad_plans_are_refused(change: dict, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Plan(**change)


def test_repeated_values_count_once() -> None:
    assert Plan(rhos=(0.5, 0.5), seeds=(1, 1, 2)).rhos == (0.5,)


def test_progress_counts_targets_and_a_cancelled_run_keeps_what_it_found(study: Study, tmp_path) -> None:
    plan = replace(PLAN, arms=(Arm.FULL,), seeds=(0,))
    seen: list[tuple[int, int]] = []
    with PriceStore(tmp_path / "kept") as store:
        with pytest.raises(Cancelled, match="after 2 of 5"):
            frontier(study, plan, TARGETS, store=store, cancelled=iter([False, False, True]).__next__)
        frontier(study, plan, TARGETS, store=store, progress=lambda *step: seen.append(step))
    assert seen == [(done, 5) for done in (2, 3, 4, 5)]


def test_a_sheet_asks_for_each_missing_figure_once(study: Study) -> None:
    sheet = Sheet(study, PLAN, Arm.FULL, 0, TARGETS)
    for task in sheet.tasks():
        sheet.take(task, price(study, task), None)
    assert not np.isnan(sheet.figures).any() and not np.isnan(sheet.public).any()
    assert list(sheet.tasks()) == []


@pytest.mark.slow
def test_workers_find_the_very_same_figures_also_when_one_is_killed(study: Study, table: pd.DataFrame) -> None:
    pytest.importorskip("distributed")
    killed: list[int] = []

    with local_workers(2) as client:

        def run(owned: Owned, tasks):
            for place, figures in on_workers(client, price_elsewhere, owned, tasks):
                yield place, figures
                if not killed:
                    killed.append(next(iter(client.run(os.getpid).values())))
                    os.kill(killed[0], signal.SIGKILL)

        found = frontier(study, PLAN, TARGETS, run=run)
        assert killed and killed[0] not in client.run(os.getpid).values()
    pd.testing.assert_frame_equal(found, table, check_exact=True)


def test_what_workers_are_sent_comes_out_as_it_went_in(study: Study) -> None:
    owned = pickle.loads(pickle.dumps(Owned(study.dataset, study.backbone)))
    assert owned.dataset.digest == study.dataset.digest
    assert owned.backbone.weights.digest == study.backbone.weights.digest
