"""What the screen says: right verbs, honest rounding, the special cases named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.metrics import Metrics
from explorer.wording import CARDS, answer, snapshot_note, two_digits

METRICS = Metrics(
    valid=0.33,
    ceiling=1.0,
    targeted=0.2,
    empty=0.001,
    valid_given_nonempty=0.33,
    size=3.4,
    regret=0.5,
    collision=0.05,
    effective_support=20.0,
    retention=0.33,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1, "1"), (0.333, "0.33"), (0.0999, "0.1"), (0.000449, "0.00045"), (12.34, "12"), (1234, "1,200")],
)
def test_two_digits(value: float, text: str) -> None:
    assert two_digits(value) == text


def test_answer_reads_as_a_sentence() -> None:
    said = answer("1358", 1.0, 0.5, 23_621, METRICS, replace(METRICS, valid=0.25))
    assert said == (
        "At ε = 1 with ρ = 0.5 public, about 1 release in 3 flips node 1358; "
        "the public snapshot alone gives 1 in 4; two releases agree 1 time in 20."
    )


def test_the_public_alone_is_named_whatever_the_release_starts_from() -> None:
    said = answer("7", 0.1, 1.0, 50, replace(METRICS, valid=0.9), replace(METRICS, valid=0.5))
    assert "about 9 releases in 10 flip node 7; the public snapshot alone gives 1 in 2;" in said


def test_answer_names_the_case_in_which_nothing_flips() -> None:
    said = answer("7", 2.0, 0.3, 598, replace(METRICS, valid=0.0, ceiling=0.0), METRICS)
    assert "no release can flip node 7: none of its 598 candidate interventions" in said


def test_answer_names_the_case_of_a_lone_empty_candidate() -> None:
    said = answer("7", 2.0, 0.3, 1, replace(METRICS, valid=0.0, ceiling=0.0), METRICS)
    assert "no public tie and no feature" in said


def test_certain_outcomes_are_worded_without_odds() -> None:
    said = answer("7", 20.0, 0.3, 9, replace(METRICS, valid=1.0, collision=1.0), METRICS)
    assert "every release flips node 7" in said
    assert "two releases agree every time" in said


def test_every_card_has_name_unit_and_definition() -> None:
    assert [card.key for card in CARDS] == [
        "valid", "size", "collision", "ceiling", "retention", "empty", "regret", "targeted",
    ]  # fmt: skip
    assert all(card.name and card.unit and card.definition.endswith((".", "}.")) for card in CARDS)
    assert [card.key for card in CARDS if card.compared] == ["valid", "size", "collision"]
    assert CARDS[4].text(None) == "–"
    assert CARDS[5].text(3e-6) == "<0.0001"


def test_snapshot_note_never_certifies_a_simulation() -> None:
    assert "information-condition experiment" in snapshot_note(True, 0.5, 0, 10, 10)
    assert "never certified" in snapshot_note(True, 1.0, 0, 20, 20)
    assert snapshot_note(False, 0.5, 0, 100, 87) == (
        "Snapshot: the owner's own list. 100 snapshot pairs are public; 87 of them are ties still."
    )
