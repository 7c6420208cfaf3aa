"""Node ids as text: cleaned, told apart, found again under another spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.datasets.owner.refusal import quoted, wrong

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
WHOLE = re.compile(r"-?\d+(\.0+)?", re.ASCII)


class NodeIndex:
    """The ids of a node table and the row of each.

    `ids`: N distinct strings, in the order given. `respelt`: how many lost a `.0`; they do when all
    of them are whole numbers and some are typed as floats, as a table with a gap writes them. Raises
    `BadInput` for an empty or repeated id and one with control characters; `lines` (N, or None
    where the format has none) is for the message.
    """

    def __init__(self, ids: Sequence[str], lines: Sequence[int] | None, file: str) -> None:
        ids = [text.strip() for text in ids]
        plain = without_points(ids)
        self.respelt = sum(old != new for old, new in zip(ids, plain, strict=True))
        self.ids = tuple(plain)
        self._rows: dict[str, int] = {}
        for row, text in enumerate(plain):
            line = int(lines[row]) if lines is not None else None
            check_id(text, file, line)
            first = self._rows.setdefault(text, row)
            if first != row:
                where = f"line {lines[first]}" if lines is not None else f"node {first + 1} of the file"
                found = f"found id {quoted(text)} again, first on {where}"
                raise wrong(file, line, found, "each id once", "merge or rename them")

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, text: str) -> int | None:
        """Return the row of the node called `text`, or called so but for a `.0` at its end, or None."""
        row = self._rows.get(text)
        if row is None and WHOLE.fullmatch(text):
            row = self._rows.get(text.partition(".")[0])
        return row


def check_id(text: str, file: str, line: int | None) -> None:
    """Raise `BadInput` unless `text` can name a node."""
    if not text:
        raise wrong(file, line, "found an empty id", "a text that names the node", "fill it in or drop the row")
    if CONTROL.search(text):
        found = f"found a control character in id {quoted(text)}"
        raise wrong(file, line, found, "an id of printable signs", "rename the node")


def without_points(texts: Sequence[str]) -> list[str]:
    """Return `texts` with "12.0" written as "12" if all of them are whole numbers, else as they are."""
    if any("." in text for text in texts) and all(WHOLE.fullmatch(text) for text in texts):
        return [text.partition(".")[0] for text in texts]
    return list(texts)


def natural(texts: Iterable[str]) -> list[str]:
    """Return the distinct texts in order: by value if all are whole numbers, else by sign."""
    distinct = sorted(set(texts))
    if all(WHOLE.fullmatch(text) and len(text) < 300 for text in distinct):
        return sorted(distinct, key=lambda text: (int(text.partition(".")[0]), text))
    return distinct


def plain_name(text: str) -> str:
    """Return the name of a column, class or category on one line, without blanks around it."""
    return CONTROL.sub(" ", text).strip()
