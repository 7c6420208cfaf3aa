"""Range checks shared by every entry point, so that the same mistake gets the same message."""

from __future__ import annotations

import math
import numbers
from enum import StrEnum
from typing import TypeVar

from core.errors import BadInput

E = TypeVar("E", bound=StrEnum)


def epsilon(value: object, what: str = "epsilon") -> float:
    """Return a privacy budget as a float: finite, positive and a normal number.

    Raises `BadInput` for everything else (zero, negative, NaN, infinite, subnormal, not a number).
    """
    number = _real(value, what, "a finite number above 0, for example 1.0")
    if not math.isfinite(number) or number < 2.3e-308:
        raise BadInput.number(what, value, "a finite number above 0, for example 1.0")
    return number


def rho(value: object, what: str = "rho") -> float:
    """Return a snapshot strength as a float in [0, 1]; raises `BadInput` outside."""
    number = _real(value, what, "a share between 0 and 1, for example 0.5")
    if not 0.0 <= number <= 1.0:
        raise BadInput.number(what, value, "a share between 0 and 1, for example 0.5")
    return number


def count(value: object, what: str, low: int, high: int) -> int:
    """Return a whole number in [low, high]; raises `BadInput` outside."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise BadInput.number(what, value, f"a whole number from {low} to {high}")
    if not low <= int(value) <= high:
        raise BadInput.number(what, value, f"a whole number from {low} to {high}")
    return int(value)


def choice(kind: type[E], value: str, what: str) -> E:
    """Return the member of the enumeration `kind` of that value; raises `BadInput` with the allowed ones."""
    try:
        return kind(value)
    except ValueError:
        raise BadInput.choice(what, value, [member.value for member in kind]) from None


def _real(value: object, what: str, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise BadInput.number(what, value, expected)
    return float(value)
