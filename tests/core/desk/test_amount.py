"""Exact amounts: what is read, what is refused, and what a mechanism gets for them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk.amount import LARGEST, LARGEST_DENOMINATOR, amount, as_epsilon, text
from core.errors import BadInput

amounts = st.fractions(
    min_value=Fraction(1, LARGEST_DENOMINATOR), max_value=LARGEST, max_denominator=LARGEST_DENOMINATOR
)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        ("0.1", Fraction(1, 10)), (0.1, Fraction(1, 10)), (np.float64(0.1), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)), ("2/6", Fraction(1, 3)), (Fraction(1, 3), Fraction(1, 3)),
        ("2", Fraction(2)), (2, Fraction(2)), (2.0, Fraction(2)), (" .5 ", Fraction(1, 2)), ("5.", Fraction(5)),
        ("1e-3", Fraction(1, 1000)), ("2.5E2", Fraction(250)), ("000.10", Fraction(1, 10)),
        ("1e-12", Fraction(1, 10**12)), (1e-12, Fraction(1, 10**12)), (10**6, Fraction(10**6)),
    ],
)  # fmt: skip
def test_amounts_are_exact(value: object, exact: Fraction) -> None:
    assert amount(value, "budget") == exact


@pytest.mark.parametrize(
    "value",
    [
        0, -1, 0.0, -0.0, "0", "-0.1", "0/5", "-1/3", Fraction(0), Fraction(-1, 2),
        math.nan, math.inf, -math.inf, "nan", "inf", "-inf", "Infinity", "∞",
        5e-324, 2.2e-308, 1e-13, 1e-300, "1e-13", "1e-99", "1e-999999999", "1e999999999", "1e7", 1e7, 10**6 + 1,
        Fraction(1, 10**12 + 1), "1/1000000000001", "1/" + "9" * 5000, "9" * 5000, 1 / 3,
        "", " ", ".", "e5", "five", "0x1", "1_0", "+1", "--1", "1,5", "1/0", "1/2/3", "1 / 3", "1/3.0", "٣", "¹",
        True, False, None, b"1", [1], 1j, Decimal("0.1"), np.float32(0.1),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(BadInput) as refused:
        amount(value, "budget")
    message = str(refused.value)
    assert message.startswith("budget: found ")
    assert "expected a number above 0" in message
    assert "\n" not in message
    assert len(message) < 250


@pytest.mark.parametrize(
    "value", [10**5000, Fraction(1, 10**5000), Fraction(10**5000, 3)], ids=["int", "tiny", "third"]
)
def test_numbers_that_python_would_not_print_are_refused_too(value: Fraction | int) -> None:
    with pytest.raises(BadInput, match="of more than 40 digits"):
        amount(value, "budget")


@given(amounts)
def test_an_amount_is_read_back_from_its_text(exact: Fraction) -> None:
    assert amount(text(exact), "amount") == exact
    assert Fraction(text(exact)) == exact


@given(st.lists(amounts, max_size=5))
def test_a_total_is_read_back_from_its_text(several: list[Fraction]) -> None:
    assert Fraction(text(sum(several, Fraction(0)))) == sum(several)


@pytest.mark.parametrize(
    ("exact", "spelled"),
    [("1/10", "0.1"), ("2", "2"), ("0", "0"), ("1/3", "1/3"), ("5/4", "1.25"), ("1/8", "0.125"), ("7/6", "7/6")],
)
def test_texts_are_plain(exact: str, spelled: str) -> None:
    assert text(Fraction(exact)) == spelled


@given(st.floats(min_value=1e-3, max_value=1e6).map(lambda value: float(f"{value:.6g}")))
def test_a_float_is_what_it_prints_as(value: float) -> None:
    assert amount(value, "amount") == Fraction(str(value))


@given(amounts)
def test_a_mechanism_gets_the_largest_float_that_was_paid(exact: Fraction) -> None:
    got = as_epsilon(exact)
    assert 0 < Fraction(got) <= exact < Fraction(math.nextafter(got, math.inf))


def test_a_tenth_is_rounded_down() -> None:
    assert Fraction(0.1) > Fraction(1, 10)
    assert as_epsilon(Fraction(1, 10)) == math.nextafter(0.1, 0)


def test_ten_tenths_are_one() -> None:
    assert sum([amount(0.1, "amount")] * 10) == 1 != sum([0.1] * 10)
