import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.wording import odds


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
