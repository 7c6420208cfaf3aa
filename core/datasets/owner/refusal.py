"""How a file is refused: one line with file, line, what was found, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import BadInput

SHOWN = 60


def wrong(file: str, line: int | None, found: str, expected: str, remedy: str) -> BadInput:
    """The error for `line` of `file` (None or 0 where the format has no lines)."""
    return BadInput(f"{file}{f' line {line}' if line else ''}: {found}, expected {expected}; {remedy}")


def too_many(file: str, line: int | None, what: str, most: int) -> BadInput:
    """The error for a file that holds more than `most` of `what`."""
    return wrong(file, line, f"found more than {most:,} {what}", "at most that many", "load a part of the graph")


def unreadable(file: str, kind: str, error: Exception, remedy: str, line: int | None = None) -> BadInput:
    """The error for a file that the reader of its kind gave up on."""
    return wrong(file, line, f"found what can't be read as {kind} ({one_line(error)})", f"a whole {kind} file", remedy)


def quoted(text: str) -> str:
    """`text` in quotes, printable, no longer than a message bears."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first names in quotes, as messages list columns."""
    return ", ".join(map(quoted, names[:most])) + (", ..." if len(names) > most else "") if names else "none"


def one_line(error: Exception) -> str:
    """The first line of what an error says, else its kind."""
    said = str(error).strip().splitlines()
    text = "".join(sign for sign in said[0] if sign.isprintable())[:160] if said else ""
    return text or type(error).__name__


def first_repeat(names: Sequence[str]) -> int | None:
    """Return the place of the first name that stood before, or None."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            return place
        seen.add(name)
    return None


def check_count(file: str, what: str, found: int, most: int) -> None:
    """Raise `BadInput` when `found` is more than `most`."""
    if found > most:
        raise too_many(file, None, what, most)
