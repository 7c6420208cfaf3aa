"""Chances in words, rounded honestly."""

from __future__ import annotations

import math

from core import checks
from core.errors import BadInput

RARE = 1e-4
ROUNDING = 1e-9
_SIMPLE = [(1, n) for n in range(2, 11)] + [(2, 3), (3, 4), (2, 5), (3, 5), (4, 5), (3, 10), (7, 10), (9, 10)]


def odds(p: float, noun: str = "") -> str:
    """Say a chance in words: the nearest simple fraction within 0.01, else two significant digits.

    `odds(0.33)` is "about 1 in 3", `odds(0.33, "release")` "about 1 release in 3", `odds(0.9)` "about
    9 in 10", `odds(0.43)` "about 43 in 100". Ends: "none" (or "no release") for exactly 0, "fewer
    than 1 in 10,000" below that, "nearly every" from 0.995, "every" for exactly 1. `noun` is singular,
    with a plural in s. Raises `BadInput` for a number outside [0, 1] by more than rounding.
    """
    _check(p)
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


def edges_add(valid: float, public: float, epsilon: float) -> str:
    """One sentence: what the private edges add to the public snapshot alone, which is all that ε buys.

    `valid`: valid rate of a release at `epsilon` (pure ε, edge level). `public`: that of the guided prior
    at ε = 0, which reads no private edge. Their difference is said in percentage points: "nothing" up to
    rounding, a negative one as what the public does better. Raises `BadInput` for anything but two
    probabilities and an ε.
    """
    _check(valid)
    _check(public)
    budget = f"a privacy budget of {checks.epsilon(epsilon):g}"
    gain = valid - public
    if abs(gain) <= ROUNDING:
        return f"The private edges add nothing to what the public snapshot alone gives: {budget} buys no validity here."
    if gain < 0:
        return (
            f"The private edges add nothing: the public snapshot alone does {_points(-gain)} better, "
            f"so {budget} buys no validity here."
        )
    return (
        f"The private edges add {_points(gain)} of validity to what the public snapshot alone gives: "
        f"that is all that {budget} buys."
    )


def disclosed(pairs: int, ties: int) -> str:
    """One sentence for the owner: how many snapshot pairs are public, and how many of these are ties still."""
    if not pairs:
        return "No snapshot pair is public."
    verb = "pair is" if pairs == 1 else "pairs are"
    if ties == pairs:
        return f"{pairs:,} snapshot {verb} public, and {'a tie' if pairs == 1 else 'all ties'} still."
    return f"{pairs:,} snapshot {verb} public; {ties:,} of them {'is a tie' if ties == 1 else 'are ties'} still."


def backbone_notes(accuracy: float, majority: float, structural: bool) -> list[str]:
    """What an owner must know of a backbone before she explains it, a line each; none where all is well.

    `accuracy`, `majority`: share of labelled test nodes that the model, and the most frequent training
    class, get right; NaN where there is none. `structural`: whether features are made of private edges.
    """
    notes = []
    if math.isnan(accuracy):
        notes.append("no labelled test node: nobody knows how good the backbone is")
    elif accuracy <= majority:
        notes.append(
            f"the backbone is right for {accuracy:.1%} of the test nodes, the most frequent class for {majority:.1%}: "
            "its decisions hardly deserve an explanation"
        )
    if structural:
        notes.append("features are computed from the private edges: no guarantee holds for a release")
    return notes


def _check(p: float) -> None:
    if not -ROUNDING <= p <= 1 + ROUNDING:
        raise BadInput.number("chance", p, "a probability from 0 to 1")


def _points(share: float) -> str:
    points = 100 * share
    if points < 0.1:
        return "less than 0.1 percentage points"
    return f"{points:.0f} percentage points" if points >= 9.95 else f"{points:.1f} percentage points"


def _fraction(p: float) -> tuple[int, int]:
    if p < 0.1:
        n = 1 / p
        unit = 10 ** (math.floor(math.log10(n)) - 1)
        return 1, round(n / unit) * unit
    k, n = min(_SIMPLE, key=lambda fraction: abs(p - fraction[0] / fraction[1]))
    return (k, n) if abs(p - k / n) <= 0.01 else (round(100 * p), 100)
