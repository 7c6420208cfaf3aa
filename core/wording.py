"""Chances in words, rounded honestly."""

from __future__ import annotations

import math

from core.errors import BadInput

RARE = 1e-4
_SIMPLE = [(1, n) for n in range(2, 11)] + [(2, 3), (3, 4), (2, 5), (3, 5), (4, 5), (3, 10), (7, 10), (9, 10)]


def odds(p: float, noun: str = "") -> str:
    """Say a chance in words: the nearest simple fraction within 0.01, else two significant digits.

    `odds(0.33)` is "about 1 in 3", `odds(0.33, "release")` "about 1 release in 3", `odds(0.9)` "about
    9 in 10", `odds(0.43)` "about 43 in 100". Ends: "none" (or "no release") for exactly 0, "fewer
    than 1 in 10,000" below that, "nearly every" from 0.995, "every" for exactly 1. `noun` is singular,
    with a plural in s. Raises `BadInput` for a number outside [0, 1] by more than rounding.
    """
    if not -1e-9 <= p <= 1 + 1e-9:
        raise BadInput.number("chance", p, "a probability from 0 to 1")
    one, many = (f" {noun}", f" {noun}s") if noun else ("", "")
    if p <= 0:
        return f"no{one}" if noun else "none"
    if p < RARE:
        return f"fewer than 1{one} in 10,000"
    if p >= 1:
        return f"every{one}"
    if p >= 0.995:
        return f"nearly every{one}"
    k, n = _fraction(p)
    return f"about {k}{one if k == 1 else many} in {n:,}"


def _fraction(p: float) -> tuple[int, int]:
    if p < 0.1:
        n = 1 / p
        unit = 10 ** (math.floor(math.log10(n)) - 1)
        return 1, round(n / unit) * unit
    k, n = min(_SIMPLE, key=lambda fraction: abs(p - fraction[0] / fraction[1]))
    return (k, n) if abs(p - k / n) <= 0.01 else (round(100 * p), 100)
