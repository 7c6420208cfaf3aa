"""A card that was altered in anything that can be checked is found out."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from core.backbone.gcn import GCNWeights
from core.desk.card import ReleaseCard, software
from core.desk.outcome import Outcome, outcome_of
from core.desk.release import asked
from core.desk.verify import Public, verify
from core.errors import BadInput
from core.prior.prior import PriorKind, PriorRule
from core.snapshot import Snapshot
from core.universe import Arm, Limits
from tests.core.desk.studies import GUIDED, SMALL, small_study
from tests.core.desk.test_card import paths, put

NAMES = [
    "schema", "consistency", "nodes", "snapshot", "backbone", "pairs", "target", "names", "universe", "membership",
    "prior",
]  # fmt: skip
FREE = {"dataset", "key", "issued", "software"}  # what no public object tells and nothing follows from
HALF = Fraction(1, 2)


def make(settings=GUIDED, rho=0.8, place=None, study=None):
    """A card of the last candidate, with pairs and features, and the public objects it was made from."""
    study = study or small_study()
    universe, _, request = asked(study, 2, rho, settings, HALF)
    edge, feature = place or (universe.shape[0] - 1, universe.shape[1] - 1)
    outcome = outcome_of(universe, study.dataset.nodes, edge, feature)
    card = ReleaseCard(request, outcome, "k", datetime(2026, 3, 1, tzinfo=UTC), software())
    return card, Public(study.dataset.nodes, study.snapshot, study.backbone.weights)


CARD, PUBLIC = make()
DOCUMENT = CARD.to_json()


def failed(text, public=PUBLIC):
    return [check.name for check in verify(text, public).checks if check.passed is False]


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        GUIDED,
        replace(SMALL, prior=PriorRule(size_penalty=0.5), arm=Arm.EDGE_ONLY),
        replace(GUIDED, arm=Arm.TWO_HOP, limits=Limits(6, 3, 2, 1)),
        replace(GUIDED, arm=Arm.FEATURE_ONLY),
    ],
    ids=["uniform", "guided", "edge-only", "two-hop", "feature-only"],
)
def test_a_true_card_passes_every_check(settings, rho):
    for place in ((0, 0), None):
        card, public = make(settings, rho, place)
        verdict = verify(card.text, public)
        assert [check.name for check in verdict.checks] == NAMES
        assert [check.name for check in verdict.checks if not check.passed] == []
        assert verdict.valid and verdict.complete and verdict.certified


def test_what_is_not_at_hand_is_said_and_does_not_fail():
    done = {
        "": Public(),
        "nodes target names": Public(nodes=PUBLIC.nodes),
        "snapshot pairs": Public(snapshot=PUBLIC.snapshot),
        "backbone": Public(weights=PUBLIC.weights),
        "nodes snapshot pairs target names": Public(PUBLIC.nodes, PUBLIC.snapshot),
    }
    for names, public in done.items():
        verdict = verify(CARD.text, public)
        assert verdict.valid and not verdict.complete
        expected = {"schema", "consistency", *names.split()}
        assert {check.name for check in verdict.checks if check.passed} == expected
        assert all(check.detail for check in verdict.checks)


def others(value):
    """Values that could stand in the place of a leaf and pass for one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, value / 2, 0]
    if isinstance(value, str):
        changed = [value + "x", value[::-1], "n3", "1/3", "uniform", "full", "paper", "soft", "pf"]
        return [*changed, "0" + value[1:] if len(value) == 64 else "f1"]
    return [[], value[:-1], value[::-1]] if isinstance(value, list) else []


LEAVES = [path for path in paths(DOCUMENT) if path and path[0] not in FREE]


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_any_altered_entry_is_found(path):
    where = DOCUMENT
    for key in path:
        where = where[key]
    for other in others(where):
        if other == where or other is where:
            continue
        text = json.dumps(put(DOCUMENT, path, other))
        try:
            assert failed(text, Public()) or failed(text), other
        except BadInput as error:  # the schema doesn't let it through
            assert str(error).startswith("card: ")


def rewritten(**changes):
    """A card whose words and numbers were all adapted to an altered request."""
    return replace(CARD, request=replace(CARD.request, **changes)).text


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"target": "n3"}, "names"),
        ({"target": "n77"}, "target"),
        ({"epsilon": Fraction(2)}, "prior"),
        ({"prior": PriorRule(PriorKind.GUIDED, 0.3)}, "prior"),
        ({"prior": PriorRule()}, "prior"),
        ({"arm": Arm.TWO_HOP}, "universe"),
        ({"limits": Limits(4, 3, 2, 3)}, "universe"),
        ({"limits": Limits(5, 3, 2, 2)}, "universe"),
        ({"edge_candidates": 2}, "universe"),
        ({"candidates": 13}, "universe"),
        ({"disclosed": replace(CARD.request.disclosed, rho=0.5)}, "snapshot"),
        ({"disclosed": replace(CARD.request.disclosed, pairs=3)}, "pairs"),
        ({"doubts": ("for a test",)}, None),
        *(({"digests": replace(CARD.request.digests, **{name: "0" * 64})}, name)
          for name in ("nodes", "snapshot", "backbone", "universe", "prior")),
    ],
)  # fmt: skip
def test_a_consistent_forgery_is_found_by_the_public_objects(changes, name):
    """A certified card can be made a demonstration, which claims less; that alone passes."""
    found = failed(rewritten(**changes))
    assert name in found if name else found == []


def test_a_simulated_snapshot_never_certifies():
    simulated, _ = make(study=small_study(simulated=True))
    assert not simulated.certified
    honest = replace(simulated, request=replace(simulated.request, doubts=()))
    assert "consistency" in failed(honest.text, Public())


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome((("n0", "n1"),), ()),
        Outcome((("n2", "n99"),), ()),
        Outcome(CARD.outcome.pairs[::-1], ()),
        Outcome(tuple((w, u) for u, w in CARD.outcome.pairs), ()),
        Outcome((), ((CARD.outcome.features[0][0], "another name"),)),
        Outcome((), ((99, "f99"),)),
    ],
    ids=["elsewhere", "nobody", "order", "direction", "name", "column"],
)
def test_an_answer_outside_the_universe_is_found(outcome):
    assert "membership" in failed(replace(CARD, outcome=outcome).text)


def test_an_answer_is_held_against_the_snapshot_without_a_backbone():
    outcome = Outcome((("n0", "n1"),), ())
    assert failed(replace(CARD, outcome=outcome).text, Public(PUBLIC.nodes, PUBLIC.snapshot)) == ["names"]


def test_other_public_objects_are_told_apart():
    nodes, snapshot, weights = PUBLIC.nodes, PUBLIC.snapshot, PUBLIC.weights
    renamed = replace(nodes, feature_names=("g0", *nodes.feature_names[1:]))
    assert "nodes" in failed(CARD.text, replace(PUBLIC, nodes=renamed))
    turned = Snapshot(snapshot.pairs[::-1], snapshot.n, False)
    assert "snapshot" in failed(CARD.text, replace(PUBLIC, snapshot=turned))
    moved = GCNWeights(weights.w1, weights.b1 + 1e-9, weights.w2, weights.b2)
    assert failed(CARD.text, replace(PUBLIC, weights=moved)) == ["backbone"]


def test_the_undisclosed_rest_of_a_snapshot_does_not_matter():
    stop = len(PUBLIC.snapshot.prefix(0.8))
    rest = np.r_[PUBLIC.snapshot.pairs[:stop], PUBLIC.snapshot.pairs[stop:][::-1]]
    other = Snapshot(rest, PUBLIC.snapshot.n, False)
    assert stop < len(rest) and failed(CARD.text, replace(PUBLIC, snapshot=other)) == []


def test_no_card_at_all_is_bad_input():
    with pytest.raises(BadInput, match=r"^card: found no JSON"):
        verify("no card", PUBLIC)
    with pytest.raises(BadInput, match="required property"):
        verify("{}", PUBLIC)


def test_numbers_that_cannot_go_together_fail_in_one_line():
    document = copy.deepcopy(DOCUMENT)
    document["utility"]["weights"] = ["0.5", "0.1", "0.1"]
    check = verify(json.dumps(document), PUBLIC).checks[-1]
    assert (check.name, check.passed) == ("consistency", False) and "weights" in check.detail
