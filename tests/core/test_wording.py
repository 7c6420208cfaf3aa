import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.wording import backbone_notes, edges_add, odds


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0, "none"),
        (5e-324, "fewer than 1 in 10,000"),
        (0.9999e-4, "fewer than 1 in 10,000"),
        (1e-4, "about 1 in 10,000"),
        (0.00236, "about 1 in 420"),
        (0.0025, "about 1 in 400"),
        (0.05, "about 1 in 20"),
        (0.102, "about 1 in 10"),
        (0.106, "about 1 in 9"),
        (0.15, "about 1 in 7"),
        (0.0999, "about 1 in 10"),
        (0.3333, "about 1 in 3"),
        (0.4, "about 2 in 5"),
        (0.43, "about 43 in 100"),
        (0.5, "about 1 in 2"),
        (0.75, "about 3 in 4"),
        (0.9, "about 9 in 10"),
        (0.98, "about 98 in 100"),
        (0.9949, "about 99 in 100"),
        (0.995, "nearly every"),
        (1 - 1e-12, "nearly every"),
        (1.0, "every"),
        (1 + 1e-12, "every"),
    ],
)
def test_wording(p, words):
    assert odds(p) == words


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0, "no release"),
        (1e-5, "fewer than 1 release in 10,000"),
        (0.34, "about 1 release in 3"),
        (0.9, "about 9 releases in 10"),
        (0.999, "nearly every release"),
        (1.0, "every release"),
    ],
)
def test_wording_with_a_noun(p, words):
    assert odds(p, "release") == words


@given(st.floats(1e-4, 0.995, exclude_max=True))
def test_the_fraction_said_is_near_the_chance(p):
    k, n = re.fullmatch(r"about (\d+) in ([\d,]+)", odds(p)).groups()
    said = int(k) / int(n.replace(",", ""))
    assert abs(said - p) <= (0.0101 if p >= 0.1 else 0.051 * p)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_not_a_probability(p):
    with pytest.raises(BadInput, match="probability from 0 to 1"):
        odds(p)


MORE = "The private edges add {} of validity to what the public snapshot alone gives: that is all that {} buys."
NONE = "The private edges add nothing to what the public snapshot alone gives: {} buys no validity here."
LESS = "The private edges add nothing: the public snapshot alone does {} better, so {} buys no validity here."


@pytest.mark.parametrize(
    ("valid", "public", "epsilon", "sentence"),
    [
        (0.37, 0.25, 1.0, MORE.format("12 percentage points", "a privacy budget of 1")),
        (0.27, 0.25, 0.1, MORE.format("2.0 percentage points", "a privacy budget of 0.1")),
        (0.0994, 0.0, 8.0, MORE.format("9.9 percentage points", "a privacy budget of 8")),
        (0.0996, 0.0, 8.0, MORE.format("10 percentage points", "a privacy budget of 8")),
        (1.0, 0.0, 20.0, MORE.format("100 percentage points", "a privacy budget of 20")),
        (0.2505, 0.25, 1.0, MORE.format("less than 0.1 percentage points", "a privacy budget of 1")),
        (0.25, 0.25, 0.5, NONE.format("a privacy budget of 0.5")),
        (0.25 + 1e-12, 0.25, 0.5, NONE.format("a privacy budget of 0.5")),
        (0.0, 0.0, 2.0, NONE.format("a privacy budget of 2")),
        (1.0, 1.0 + 1e-12, 2.0, NONE.format("a privacy budget of 2")),
        (0.11, 0.36, 0.1, LESS.format("25 percentage points", "a privacy budget of 0.1")),
        (0.25, 0.2501, 0.1, LESS.format("less than 0.1 percentage points", "a privacy budget of 0.1")),
    ],
)
def test_what_the_edges_add(valid, public, epsilon, sentence):
    assert edges_add(valid, public, epsilon) == sentence


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_points_said_are_the_difference(valid, public):
    sentence = edges_add(valid, public, 1.0)
    said = re.search(r"(less than )?([\d.]+) percentage points", sentence)
    share = valid - public
    gain = 100 * share
    assert ("add nothing" in sentence) == (share <= 1e-9)
    assert ("better" in sentence) == (share < -1e-9)
    if said is None:
        assert abs(share) <= 1e-9
    elif said[1]:
        assert abs(gain) < float(said[2]) == 0.1
    else:
        assert abs(abs(gain) - float(said[2])) <= (0.0501 if abs(gain) < 9.95 else 0.5)


@pytest.mark.parametrize(
    ("valid", "public", "epsilon", "message"),
    [
        (1.1, 0.5, 1.0, "probability from 0 to 1"),
        (0.5, -0.1, 1.0, "probability from 0 to 1"),
        (0.5, float("nan"), 1.0, "probability from 0 to 1"),
        (0.5, 0.5, 0.0, "epsilon"),
        (0.5, 0.5, float("inf"), "epsilon"),
    ],
)
def test_what_the_edges_add_to_no_rate_or_at_no_budget(valid, public, epsilon, message):
    with pytest.raises(BadInput, match=message):
        edges_add(valid, public, epsilon)


@pytest.mark.parametrize(
    ("accuracy", "majority", "structural", "said"),
    [
        (0.8, 0.3, False, []),
        (0.3, 0.3, False, ["right for 30.0% of the test nodes"]),
        (0.2, 0.4, True, ["the most frequent class for 40.0%", "no guarantee holds"]),
        (float("nan"), float("nan"), False, ["no labelled test node"]),
    ],
)
def test_what_an_owner_must_know_of_a_backbone(accuracy, majority, structural, said):
    notes = backbone_notes(accuracy, majority, structural)
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))
