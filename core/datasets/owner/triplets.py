"""Reading a list of features, one entry a line: node, feature and, if there is one, its value."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from core.datasets.owner import limits
from core.datasets.owner.delimited import delimited
from core.datasets.owner.ids import NodeIndex, plain_name
from core.datasets.owner.raw import Triplets
from core.datasets.owner.refusal import listed, quoted, too_many, wrong
from core.datasets.owner.roles import Casting, Roles
from core.datasets.owner.table import Sample, comment_note, split_header
from core.datasets.report import Role


def read_triplets(path: Path, roles: Roles, known: NodeIndex) -> tuple[Triplets, list[Role], list[str]]:
    """Return the entries of a feature list, the roles of its columns and notes on it.

    Columns `id`, `feature` and perhaps `value`, by name or in this order; without a value an entry
    counts 1. Raises `BadInput` as `delimited` does, for a file without these columns, a value that
    is no finite number and for too many entries.
    """
    with delimited(path) as rows:
        header = roles.header if roles.header is not None else _has_header(rows.sample, known)
        columns, body = split_header(rows, header)
        casting = Casting(rows.file, columns, Roles(), rows.sample[0][0])
        node, feature, value = _places(casting, header)
        nodes: dict[str, int] = {}
        names: dict[str, int] = {}
        lines, at, across, where = array("q"), array("q"), array("q"), array("q")
        values = array("d")
        for line, cells in body:
            text, name = cells[node], plain_name(cells[feature])
            if not name:
                raise wrong(rows.file, line, "found no feature", "its name", "name it or drop the row")
            if text not in nodes:
                nodes[text] = len(nodes)
                lines.append(line)
            at.append(nodes[text])
            across.append(names.setdefault(name, len(names)))
            where.append(line)
            if value is not None:
                values.append(_value(rows.file, line, cells[value]))
            if len(at) > limits.MOST_CELLS:
                raise too_many(rows.file, line, "entries", limits.MOST_CELLS)
            if len(names) > limits.MOST_FEATURES:
                raise too_many(rows.file, line, "features", limits.MOST_FEATURES)
        notes = [*comment_note(rows)]
        if casting.free:
            notes.append(f"{rows.file}: left out {listed([columns[place] for place in casting.free])}")
        numbers = None if value is None else np.array(values)
        at_row, at_column, on_line = (np.array(part, dtype=np.int64) for part in (at, across, where))
        found = Triplets(rows.file, list(nodes), lines, list(names), at_row, at_column, on_line, numbers)
        return found, casting.roles, notes


def _has_header(sample: Sample, known: NodeIndex) -> bool:
    return known.find(sample[0][1][0]) is None


def _places(casting: Casting, header: bool) -> tuple[int, int, int | None]:
    if len(casting.columns) < 2:
        raise casting.wrong("columns 'id', 'feature' and perhaps 'value'", "write node and feature on each line")
    if header:
        node, feature = casting.guess("id"), casting.guess("feature")
        if node is None or feature is None:
            raise casting.wrong("columns 'id', 'feature' and perhaps 'value'", "rename them")
        return node, feature, casting.guess("value")
    parts = ("id", "feature", "value")[: len(casting.columns)]
    for place, part in enumerate(parts):
        casting.cast(part, place)
    return 0, 1, 2 if len(parts) == 3 else None


def _value(file: str, line: int, text: str) -> float:
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise wrong(file, line, f"found value {quoted(text)}", "a finite number", "correct it or drop the row")
    return number
