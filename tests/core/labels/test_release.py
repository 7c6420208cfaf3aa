"""The real release: paid before it is drawn, ⊥ is paid too, and the card says no more than it may."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.desk.ledger import Ledger
from core.errors import BadInput, BudgetRefused, PrivCFSError
from core.labels import release as room
from core.labels.card import LabelOutcome, check_place, write_card
from core.labels.classifier import filter_for
from core.labels.csbm import Recipe, load_csbm
from core.labels.plan import Cap, Plan
from core.labels.release import asked, draw, release
from core.labels.subsample import system_words

PLAN = Plan(Fraction("0.07"), 400, Fraction(8), Fraction("1e-5"))
THICK = replace(PLAN, p_s=Fraction("0.3"))  # beyond the stability wall: ⊥ but for one in a million


@pytest.fixture(scope="module")
def dataset():
    return load_csbm(Recipe())


@pytest.fixture
def ledger(tmp_path, dataset, monkeypatch):
    monkeypatch.setattr(room, "SECONDS", 0.01)
    with Ledger.create(str(tmp_path / "ledger.db")) as ledger:
        ledger.open_account("life", dataset.name, Fraction(20), Fraction("3e-5"))
        yield ledger


def test_labels_come_out_and_are_paid_once(dataset, ledger):
    card, entry = release(dataset, filter_for(dataset), PLAN, ledger, "life", "k1")
    assert card.certified
    assert card.outcome.labels == tuple(dataset.labels.tolist())
    account = ledger.account("life")
    assert (account.spent, account.delta_spent) == (8, Fraction("1e-5"))
    assert (entry.mechanism, entry.what, entry.delta) == ("asamp", "labels of 100 nodes", Fraction("1e-5"))
    again, _ = release(dataset, filter_for(dataset), PLAN, ledger, "life", "k1")
    assert again == card
    assert ledger.account("life").spent == 8


def test_nothing_is_an_outcome_and_costs_as_much(dataset, ledger):
    card, _ = release(dataset, filter_for(dataset), THICK, ledger, "life", "k2")
    assert card.outcome.labels is None
    assert (card.to_json()["released"], card.to_json()["labels"]) == (False, None)
    assert ledger.account("life").spent == 8
    again, _ = release(dataset, filter_for(dataset), THICK, ledger, "life", "k2")
    assert again == card


def test_a_debit_without_a_draw_is_drawn_and_a_settled_one_never_again(dataset, ledger, monkeypatch):
    def crash(*_: object) -> None:
        raise RuntimeError("power cut")

    real = room.draw
    monkeypatch.setattr(room, "draw", crash)
    with pytest.raises(RuntimeError):
        release(dataset, filter_for(dataset), PLAN, ledger, "life", "k3")
    assert ledger.account("life").spent == 8
    monkeypatch.setattr(room, "draw", real)
    card, _ = release(dataset, filter_for(dataset), PLAN, ledger, "life", "k3")
    monkeypatch.setattr(room, "draw", crash)
    assert release(dataset, filter_for(dataset), PLAN, ledger, "life", "k3")[0] == card
    assert ledger.account("life").spent == 8


def test_what_cannot_hold_is_refused_before_it_is_paid(dataset, ledger):
    classifier = filter_for(dataset)
    with pytest.raises(BadInput, match="halting step with chance"):
        release(dataset, classifier, replace(PLAN, p_s=Fraction("0.02")), ledger, "life", "k4")
    for dear in (replace(PLAN, epsilon=Fraction(30)), replace(PLAN, delta=Fraction("1e-3"))):
        with pytest.raises(BudgetRefused):
            release(dataset, classifier, dear, ledger, "life", "k4")
    with pytest.raises(BadInput, match="one for 10 nodes"):
        release(dataset, filter_for(load_csbm(Recipe(nodes=10, degree=2))), PLAN, ledger, "life", "k4")
    with pytest.raises(BadInput, match="nodes: found"):
        release(dataset, filter_for(dataset), PLAN, ledger, "life", "k4", np.array([3, 3]))
    assert ledger.account("life").spent == 0
    release(dataset, filter_for(dataset), PLAN, ledger, "life", "k5")
    with pytest.raises(BadInput, match="has paid for another request"):
        release(dataset, filter_for(dataset), THICK, ledger, "life", "k5")


def test_a_fitted_cap_releases_where_the_papers_cannot(dataset, ledger):
    plan = replace(PLAN, p_s=Fraction("0.02"), rule=Cap.FITTED)
    card, _ = release(dataset, filter_for(dataset), plan, ledger, "life", "k6")
    assert card.outcome.labels is not None


def test_a_card_is_a_function_of_public_inputs_and_outcome(dataset, ledger):
    """Another private graph on the same nodes, same outcome: the same card but for time and key."""
    other = replace(dataset, graph=dataset.graph.with_edges(dataset.graph.edges[::2]))
    rows = np.arange(20)
    assert asked(dataset, filter_for(dataset), PLAN, rows) == asked(other, filter_for(other), PLAN, rows)
    cards = [
        release(one, filter_for(one), PLAN, ledger, "life", f"k{i}", rows)[0] for i, one in enumerate((dataset, other))
    ]
    assert cards[0].outcome == cards[1].outcome
    said = [{**card.to_json(), "key": "", "issued": ""} for card in cards]
    assert said[0] == said[1]
    said = json.loads(cards[0].text)
    assert list(said["labels"]) == [f"n{row}" for row in sorted(range(20), key=str)]
    told = {"stability", "accuracy", "agreement", "halted", "edges_max_count", "edges", "degree", "votes_first"}
    assert not told & set(said)
    assert said["guarantee"]["statement"] == "(8, 0.00001)-differentially private at the edge level."


def test_a_real_draw_takes_the_systems_randomness_and_exact_noise(dataset, monkeypatch):
    taken = {}
    real_tally, real_noise = room.tally, room.draw_exact

    def tallied(graph, classifier, plan, words, rows):
        taken["words"] = words
        return real_tally(graph, classifier, plan, words, rows)

    def noise(scale, sensitivity, epsilon):
        taken["noise"] = (scale, sensitivity, epsilon)
        return real_noise(scale, sensitivity, epsilon)

    monkeypatch.setattr(room, "tally", tallied)
    monkeypatch.setattr(room, "draw_exact", noise)
    draw(dataset.graph, filter_for(dataset), PLAN, np.arange(5))
    assert taken == {"words": system_words, "noise": (PLAN.scale, 112, Fraction(8))}


def test_an_error_on_the_private_graph_says_nothing_of_it(dataset):
    class Fails:
        n, classes, kind, width, digest = 100, 2, "filter", 1, "0"

        def labels(self, edges, kept):
            raise ValueError(f"{len(edges)} edges")

    with pytest.raises(PrivCFSError, match="couldn't be labelled") as refused:
        draw(dataset.graph, Fails(), PLAN, np.arange(100))
    assert "880" not in str(refused.value)
    assert refused.value.__cause__ is None and refused.value.__suppress_context__


def test_a_structural_feature_makes_a_demonstration(dataset):
    nodes = replace(dataset.nodes, feature_names=("structure: degree",))
    marked = replace(dataset, graph=type(dataset.graph)(nodes, dataset.graph.edges))
    assert asked(marked, filter_for(dataset), PLAN, np.arange(3)).doubts == (
        "features were computed from the private ties",
    )


def test_a_settled_text_that_is_no_answer_is_refused(dataset):
    request = asked(dataset, filter_for(dataset), PLAN, np.arange(3))
    assert LabelOutcome.read('{"labels":[0,1,1]}', request).labels == (0, 1, 1)
    assert LabelOutcome.read('{"labels":null}', request).labels is None
    for kept in ('{"labels":[0,1]}', '{"labels":[0,1,2]}', '{"labels":[0, 1, 1]}', "[]", "", '{"labels":"011"}'):
        with pytest.raises(BadInput, match="no labelling"):
            LabelOutcome.read(kept, request)


def test_a_card_is_written_whole_and_never_over_something_else(dataset, ledger, tmp_path):
    card, _ = release(dataset, filter_for(dataset), PLAN, ledger, "life", "k7", np.arange(5))
    place = tmp_path / "card.json"
    check_place(place, "k7")
    write_card(card, place)
    assert json.loads(place.read_text()) == card.to_json()
    check_place(place, "k7")
    with pytest.raises(BadInput, match="isn't the card of key k8"):
        check_place(place, "k8")
    with pytest.raises(BadInput, match="found a folder"):
        check_place(tmp_path, "k7")
    with pytest.raises(BadInput, match="nothing was debited"):
        check_place(tmp_path / "none" / "card.json", "k7")
