"""CSV tables whose every complaint names the file and the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput


@dataclass(frozen=True)
class Table:
    """A CSV file with a header; every row has one cell a column.

    `file`: name to quote in messages. `columns`: header cells. `rows`: (line number, cells), lines
    counted from 1, the header included; blank lines are left out.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def find(self, *aliases: str) -> int | None:
        """Return the place of the first column that bears one of `aliases`, in any case, or None."""
        lowered = [column.lower() for column in self.columns]
        return next((lowered.index(alias) for alias in aliases if alias in lowered), None)

    def column(self, *aliases: str) -> int:
        """Like `find`, but raises `BadInput` when no column bears one of `aliases`."""
        place = self.find(*aliases)
        if place is None:
            found = ", ".join(map(repr, self.columns[:8])) + (", ..." if len(self.columns) > 8 else "")
            raise self.wrong(1, f"found columns {found}", f"a column {aliases[0]!r}", "name it in the first line")
        return place

    def wrong(self, line: int, found: str, expected: str, remedy: str) -> BadInput:
        """The error for `line`: what was found, what was expected, what to do."""
        return BadInput(f"{self.file} line {line}: {found}, expected {expected}; {remedy}")


def read_table(path: Path) -> Table:
    """Read a comma-separated UTF-8 file (with or without BOM, any line ends) whole.

    Cells lose the blanks around them. Raises `BadInput` naming file and line for a missing, empty
    or undecodable file, an unnamed or repeated column, broken quoting and a row of another length.
    """
    lines = _lines(path)
    line, header = next(lines, (1, ()))
    table = Table(path.name, header, ())
    if not header:
        raise table.wrong(line, "found an empty file", "a header line", "write the column names first")
    lowered = [column.lower() for column in header]
    for place, column in enumerate(lowered):
        if not column:
            raise table.wrong(line, f"found no name for column {place + 1}", "a name for each column", "name it")
        if column in lowered[:place]:
            raise table.wrong(line, f"found column {column!r} twice", "each column once", "rename one of them")
    rows = []
    for line, cells in lines:
        if len(cells) != len(header):
            expected = f"{len(header)} as in the header"
            raise table.wrong(line, f"found {len(cells)} cells", expected, "add or remove commas, or quote the cell")
        rows.append((line, cells))
    return Table(path.name, header, tuple(rows))


def _lines(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadInput(
                f"{path.name} line {reader.line_num}: found broken CSV ({error}), expected comma-separated cells; "
                "close or double the quotes there"
            ) from None
        if any(cell.strip() for cell in cells):
            yield reader.line_num, tuple(cell.strip() for cell in cells)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{path.name}: found no such file in {str(path.parent)!r}, expected one; add it") from None
    except OSError as error:
        raise BadInput(
            f"{path.name}: can't be read ({error.strerror}), expected a readable file; mend its permissions"
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path.name} line {line}: found a byte that is not UTF-8, expected UTF-8 text; save the file as UTF-8"
        ) from None
