"""Decisions stand alone, bad ones leave everything as it was, and sessions share nothing that changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from core.datasets import Dataset, Split
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph
from core.study.study import Study
from explorer.state import Desk, first_target, target_table
from explorer.studies import shared_study

CHANGES = {
    "target": 5,
    "epsilon": 2.5,
    "rho": 0.7,
    "seed": 3,
    "prior": "guided",
    "size_penalty": 1.5,
    "arm": "edge-only",
    "mechanism": "pf",
    "soft": True,
    "sensitivity": "paper",
    "k_edges": 4,
    "k_features": 2,
    "max_edges": 1,
    "max_features": 1,
}


def everything(desk: Desk) -> dict[str, object]:
    now, settings = desk.decisions, desk.decisions.settings
    limits = settings.limits
    return {
        "target": now.target,
        "epsilon": now.epsilon,
        "rho": now.rho,
        "seed": now.seed,
        "prior": settings.prior.kind.value,
        "size_penalty": settings.prior.size_penalty,
        "arm": settings.arm.value,
        "mechanism": settings.mechanism.value,
        "soft": settings.utility.soft,
        "sensitivity": settings.utility.sensitivity,
        "k_edges": limits.k_edges,
        "k_features": limits.k_features,
        "max_edges": limits.max_edges,
        "max_features": limits.max_features,
    }


@pytest.mark.parametrize("field", CHANGES)
def test_a_decision_changes_itself_and_nothing_else(desk: Desk, field: str) -> None:
    for other in CHANGES:  # away from the defaults, so that a reset would show
        assert desk.choose(**{other: CHANGES[other]}), desk.problem
    default = everything(Desk(desk.dataset))[field]
    expected = everything(desk) | {field: default}
    assert desk.choose(**{field: default})
    assert everything(desk) == expected


def test_the_inspection_is_that_of_the_decisions(desk: Desk) -> None:
    assert desk.choose(epsilon=3.0, rho=0.3, target=7, arm="edge-only")
    seen = desk.inspection
    direct = Study(desk.dataset).inspect(7, 0.3, 3.0, desk.decisions.settings)
    assert (seen.universe.target, seen.rho, seen.distribution.epsilon) == (7, 0.3, 3.0)
    np.testing.assert_array_equal(seen.distribution.probability, direct.distribution.probability)


@pytest.mark.parametrize("mechanism", ["em", "pf"])
@pytest.mark.parametrize("kind", ["uniform", "guided"])
def test_the_other_prior_is_what_the_switch_would_show(desk: Desk, kind: str, mechanism: str) -> None:
    assert desk.choose(prior=kind, mechanism=mechanism, size_penalty=0.4, target=9, rho=0.6, epsilon=2.0)
    other, figures = desk.other_prior
    assert {kind, other.value} == {"uniform", "guided"}
    assert figures != desk.inspection.metrics
    assert desk.choose(prior=other.value)
    assert desk.inspection.metrics == figures
    assert desk.decisions.settings.prior.size_penalty == 0.4


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": "one"},
        {"rho": 1.2},
        {"rho": float("nan")},
        {"target": 10_000},
        {"target": 1.5},
        {"seed": -1},
        {"arm": "both"},
        {"mechanism": "laplace"},
        {"max_edges": 9},
        {"sensitivity": "loose"},
        {"prior": "clever"},
        {"prior": None},
        {"size_penalty": -0.1},
        {"size_penalty": 20.1},
        {"size_penalty": float("nan")},
        {"size_penalty": None},
    ],
)
def test_a_bad_decision_is_one_line_and_leaves_the_state(desk: Desk, change: dict[str, object]) -> None:
    before, seen = everything(desk), desk.inspection
    assert not desk.choose(**change)
    assert desk.problem and "\n" not in desk.problem
    assert desk.problem_field == next(iter(change))
    assert everything(desk) == before
    assert desk.inspection is seen
    assert desk.choose(epsilon=1.5)
    assert desk.problem == ""


def test_limits_that_allow_nothing_are_refused_together(desk: Desk) -> None:
    assert desk.choose(max_features=0)
    assert not desk.choose(max_edges=0)
    assert desk.decisions.settings.limits.max_edges == 2


def test_target_by_id_or_row(desk: Desk) -> None:
    node = desk.dataset.nodes.ids[9]
    assert desk.choose_target(f"  {node} ")
    assert desk.decisions.target == 9
    assert desk.choose_target("#4")
    assert desk.decisions.target == 4
    assert not desk.choose_target("nobody")
    assert "nobody" in desk.problem
    assert desk.decisions.target == 4


def test_another_data_set_keeps_the_decisions_and_remembers_targets(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVCFS_CACHE", str(tmp_path))
    assert desk.choose(target=6, epsilon=4.0, rho=0.3, arm="edge-only")
    other = replace(desk.dataset, name="twin", graph=desk.dataset.graph.toggled(0, 33))
    first = desk.study
    desk.replace_study(shared_study(other))
    assert desk.decisions.target == first_target(desk.study)
    assert desk.choose(target=2)
    desk.replace_study(first)
    assert everything(desk) == everything(Desk(desk.dataset, target="#6", epsilon=4.0, rho=0.3, arm="edge-only"))
    desk.replace_study(shared_study(other))
    assert desk.decisions.target == 2


def test_an_unknown_data_set_names_itself() -> None:
    with pytest.raises(BadInput, match="atlantis"):
        Desk("atlantis")


def test_neighbouring_graphs_never_share_a_study(
    karate: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVCFS_CACHE", str(tmp_path))
    twins = [replace(karate, graph=karate.graph.toggled(0, w)) for w in range(1, 8)]
    studies = [shared_study(twin) for twin in twins]
    assert all(study.dataset.graph.digest == twin.graph.digest for study, twin in zip(studies, twins, strict=True))
    assert shared_study(twins[-1]) is studies[-1]


def test_sessions_share_the_study_but_no_decision(karate: Dataset) -> None:
    one, other = Desk(karate), Desk(karate)
    assert one.study is other.study
    assert one.choose(epsilon=7.0, max_edges=1, target=3)
    assert everything(other) == everything(Desk(karate))


def test_isolated_and_featureless_targets_are_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVCFS_CACHE", str(tmp_path))
    x = sparse.csr_array(np.array([[1.0, 0], [0, 1], [1, 1], [1, 0], [0, 0]]))
    nodes = Nodes(tuple("abcde"), x, ("one", "two"), ("left", "right"))
    graph = PrivateGraph(nodes, np.array([[0, 1], [1, 2], [0, 2]]))
    labels = np.array([0, 1, 0, 1, 0])
    dataset = Dataset(
        "tiny", "Tiny", graph, labels, Split(np.array([0, 1]), np.array([], int), np.array([2])), "made up"
    )
    desk = Desk(dataset)
    assert desk.choose_target("e")
    assert desk.inspection.universe.size == 1
    assert desk.inspection.metrics.empty == pytest.approx(1.0)
    assert desk.choose_target("d")
    assert len(desk.inspection.universe.edge_pairs) == 0


def test_target_table_has_one_row_a_node(desk: Desk) -> None:
    table = target_table(desk.study)
    assert list(table) == ["node", "class", "degree", "prediction", "margin"]
    assert {len(column) for column in table.values()} == {desk.dataset.nodes.n}
    assert table["degree"].sum() == 2 * desk.dataset.graph.m
