"""Amounts of privacy budget as exact rationals, so that ten releases at 0.1 fit a budget of 1."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from core.errors import BadInput

LARGEST = 10**6  # of one amount
LARGEST_DENOMINATOR = 10**12
LARGEST_COMMON_DENOMINATOR = 10**60  # of all amounts of an account: what keeps an exact total short

EXPECTED = f"a number above 0 and at most {LARGEST}, exact to twelve decimals or a fraction like 1/3"
_DECIMAL = re.compile(r"(\d{1,20})?(\.\d{0,40})?([eE][+-]?\d{1,2})?", re.ASCII)
_FRACTION = re.compile(r"(\d{1,20})/(\d{1,20})", re.ASCII)


def amount(value: str | int | float | Fraction, what: str) -> Fraction:
    """Return `value` as an exact amount: "0.1" and the float that prints as 0.1 are both 1/10.

    Raises `BadInput` for what is no number, NaN, infinite, subnormal, 0 or less, above 10^6, or has
    a denominator above 10^12 in lowest terms; `what` names it in the message.
    """
    exact = _exact(value)
    if exact is None or not 0 < exact <= LARGEST or exact.denominator > LARGEST_DENOMINATOR:
        raise BadInput(f"{what}: found {_shown(value)}, expected {EXPECTED}")
    return exact


def text(amount: Fraction) -> str:
    """The exact spelling of an amount or a total: "0.1", "2", or "1/3" where no decimal ends; `Fraction` reads it."""
    twos = fives = 0
    rest = amount.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{amount.numerator}/{amount.denominator}"
    places = max(twos, fives)
    digits = str(amount.numerator * 10**places // amount.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def as_epsilon(amount: Fraction) -> float:
    """The largest float that is at most `amount`: a mechanism never gets more than was paid."""
    nearest = float(amount)
    return nearest if Fraction(nearest) <= amount else math.nextafter(nearest, 0.0)


def _exact(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(float(value))) if math.isfinite(value) and abs(value) >= 2.3e-308 else None
    if not isinstance(value, str):
        return None
    written = value.strip()
    if parts := _FRACTION.fullmatch(written):
        above, below = (int(part) for part in parts.groups())
        return Fraction(above, below) if below else None
    # Matched before it is converted: 1e999999999 would be a number of a gigabyte.
    if _DECIMAL.fullmatch(written) and any(digit.isdigit() for digit in re.split("[eE]", written)[0]):
        return Fraction(written)
    return None


def _shown(value: object) -> str:
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator) >= 10**40:
        return f"{type(value).__name__} of more than 40 digits"
    shown = str(value) if isinstance(value, Fraction) else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
