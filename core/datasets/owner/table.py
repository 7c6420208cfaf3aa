"""A whole delimited file by columns, its header told from its rows."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.datasets.owner import limits
from core.datasets.owner.delimited import Rows, delimited
from core.datasets.owner.ids import plain_name
from core.datasets.owner.refusal import first_repeat, quoted, too_many, wrong

BLOCK = 1000

Sample = Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True)
class Table:
    """`columns`: names. `cells`: one list a column. `lines`: of the rows. `line`: of the first one, header or not."""

    file: str
    columns: tuple[str, ...]
    cells: tuple[list[str], ...]
    lines: Sequence[int]
    line: int
    header: bool
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)


def read_table(path: Path, has_header: Callable[[Sample], bool], most_rows: int, spaces: bool = True) -> Table:
    """Read all of a delimited file; `has_header` decides from the first rows.

    Raises `BadInput` as `delimited` does, for a column named twice, and for more than `most_rows`
    rows or `limits.MOST_CELLS` cells.
    """
    with delimited(path, spaces) as rows:
        header = has_header(rows.sample)
        names, body = split_header(rows, header)
        cells: tuple[list[str], ...] = tuple([] for _ in names)
        lines = array("q")
        while block := list(itertools.islice(body, BLOCK)):
            lines.extend(line for line, _ in block)
            if len(lines) > most_rows:
                raise too_many(rows.file, lines[most_rows], "rows", most_rows)
            if len(lines) * len(names) > limits.MOST_CELLS:
                raise too_many(rows.file, lines[-1], "cells", limits.MOST_CELLS)
            for column, part in zip(cells, zip(*(row for _, row in block), strict=True), strict=True):
                column.extend(part)
        return Table(rows.file, names, cells, lines, rows.sample[0][0], header, comment_note(rows))


def split_header(rows: Rows, header: bool) -> tuple[tuple[str, ...], itertools.chain[tuple[int, list[str]]]]:
    """Return the columns' names, `column 1` and so on where there are none, and the rows below them."""
    body = iter(rows)
    line, first = next(body)
    if not header:
        return tuple(f"column {place + 1}" for place in range(rows.width)), itertools.chain([(line, first)], body)
    names = tuple(plain_name(cell) or f"column {place + 1}" for place, cell in enumerate(first))
    again = first_repeat(names)
    if again is not None:
        found = f"found column {quoted(names[again])} twice"
        raise wrong(rows.file, line, found, "each column once", "rename one of them")
    return names, itertools.chain(body)


def comment_note(rows: Rows) -> tuple[str, ...]:
    """A note on the comment lines that were left out, if any were."""
    return (f"{rows.file}: {rows.comments} comment lines left out",) if rows.comments else ()
