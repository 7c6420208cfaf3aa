"""The Audit view: figures of the exact audit, the worst pair as two graphs, and bounds that only tighten."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.audit.exact import allowed_roc
from core.audit.population import audit_population
from core.datasets import Dataset, load
from explorer.palette import palette
from explorer.state import Desk
from explorer.views.audit import AuditView


@pytest.fixture(scope="module")
def view() -> AuditView:
    shown = AuditView(Desk(load("karate"), epsilon=2.0), palette(False))
    shown.exact.start()
    shown.exact.job.wait()
    assert shown.exact.job.state == "done", shown.exact.job.message
    return shown


def test_the_verdict_is_worded_as_an_audit_may_word_it(view: AuditView) -> None:
    assert "No violation found" in view._said.object and "no proof" in view._said.object
    assert "private" not in view._said.object.lower().replace("owner", "")


def test_what_is_drawn_is_what_was_audited(view: AuditView) -> None:
    study, audit = view._shown
    again = audit_population(study, [record.asked for record in audit.records], audit.rho, audit.epsilon)
    assert [r.found for r in again.records] == [r.found for r in audit.records]
    counted = sum(
        int(top) - int(bottom)
        for part in (view.ratios._near, view.ratios._anywhere)
        for top, bottom in zip(part.data["top"], part.data["bottom"], strict=True)
    )
    assert counted == len(audit.records)
    assert view.ratios._bound.location == 2.0
    assert math.log(audit.worst.found.ratio) <= 2.0
    assert f"{audit.worst.found.ratio:.4g}" in view._table.object


def test_the_attack_stays_under_what_epsilon_allows(view: AuditView) -> None:
    false, true = (np.asarray(view.roc._attack.data[name]) for name in "xy")
    assert (true <= allowed_roc(false, 2.0) + 1e-9).all()
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)


def test_the_worst_pair_is_drawn_on_both_graphs(view: AuditView) -> None:
    _, audit = view._shown
    pair = audit.worst.asked
    assert {*pair.pair} <= {int(row) for row in view.one._nodes.data["row"]}
    there = len(view.other._ties["false"].data["x0"]) + len(view.other._ties["lost"].data["x0"])
    assert there == 1
    assert len(view.other._ties["lost" if pair.edge else "false"].data["x0"]) == 1
    assert len(view.one._ties["lost"].data["x0"]) == 0
    assert len(view.one._cuts.data["x"]) == pair.edge and not len(view.other._cuts.data["x"])


def test_a_live_audit_tightens_and_ends_with_a_verdict(karate: Dataset) -> None:
    view = AuditView(Desk(karate, epsilon=2.0), palette(False))
    assert not view._live_shown.visible
    view.most.value = 1_000
    view.drawing.start()
    view.drawing.job.wait()
    assert view.drawing.job.state == "done", view.drawing.job.message
    draws, bounds = (view.bound._certified.data[name] for name in ("draws", "bound"))
    assert draws == [250, 500, 1_000]
    assert bounds == sorted(bounds) and bounds[-1] <= 2.0
    assert "No violation found" in view._live_said.object and "so far" not in view._live_said.object
    assert view._live_shown.visible


def test_a_false_claim_is_rejected_in_plain_words(karate: Dataset) -> None:
    """PrivCF-out claims an ε that its noise doesn't give; where the audit finds that, the words must say so."""
    from explorer import audits
    from tests.explorer.results import result

    said = audits.live_sentence([result(epsilon_lb=3.0, claimed=1.0)], 1_000, True)
    assert "Claim rejected" in said and "at least 3" in said
    assert "claim rejected" in audits.live_table([result(epsilon_lb=3.0, claimed=1.0)], karate.nodes)


def test_another_dataset_empties_the_view(karate: Dataset) -> None:
    desk = Desk(karate, epsilon=2.0)
    view = AuditView(desk, palette(False))
    view.exact.start()
    view.exact.job.wait()
    assert view._results.visible
    desk.choose(epsilon=1.0)
    assert "Audit again" in view.exact._line.object
    desk.replace_study(desk.opened("synthetic:nodes=40,classes=2,degree=3,seed=0"))
    assert view._empty.visible and not view._results.visible
