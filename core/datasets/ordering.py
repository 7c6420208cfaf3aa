"""In which order an owner's snapshot discloses its pairs."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np

from core.datasets.table import Table


def disclosure_order(table: Table) -> np.ndarray:
    """Return row places of a snapshot table in disclosure order, earliest first, ties in file order.

    The column `order` (or `date`) holds numbers throughout or ISO 8601 dates throughout; without it
    the file's own order stands. Raises `BadInput` with the line of the first cell that is neither.
    """
    place = table.find("order", "date")
    if place is None or not table.rows:
        return np.arange(len(table.rows))
    read = _number if _number(table.rows[0][1][place]) is not None else _timestamp
    keys = []
    for line, cells in table.rows:
        key = read(cells[place])
        if key is None:
            expected = "a finite number as in the rows above" if read is _number else "an ISO date such as 2024-03-01"
            what = table.columns[place]
            raise table.wrong(
                line, f"found {what} {cells[place]!r}", expected, "use numbers throughout or dates throughout"
            )
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
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
