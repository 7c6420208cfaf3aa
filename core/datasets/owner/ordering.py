"""In which order an owner's snapshot discloses its pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from core.datasets.owner.refusal import quoted, wrong


def disclosure_order(file: str, column: str, cells: Sequence[str], lines: Sequence[int]) -> np.ndarray:
    """Return row places of a snapshot in disclosure order, earliest first, ties in file order.

    `cells` of its order column hold numbers throughout or ISO 8601 dates throughout. Raises
    `BadInput` with the line of the first cell that is neither.
    """
    read = _number if cells and _number(cells[0]) is not None else _timestamp
    keys = []
    for line, text in zip(lines, cells, strict=True):
        key = read(text)
        if key is None:
            expected = "a finite number as in the rows above" if read is _number else "an ISO date such as 2024-03-01"
            remedy = "use numbers throughout or dates throughout"
            raise wrong(file, line, f"found {column} {quoted(text)}", expected, remedy)
        keys.append(key)
    return np.argsort(np.array(keys), kind="stable")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def _timestamp(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
