"""Where a card is written: looked at before any budget is spent, so that no answer is paid for and lost."""

from __future__ import annotations

from pathlib import Path

from core.desk.card import ReleaseCard, checked
from core.errors import BadInput
from core.files import check_output, whole_file

MOST_BYTES = 1_000_000


def check_place(path: Path, key: str) -> None:
    """Raise `BadInput` unless a card under `key` can be written to `path`: a new file, or that card already."""
    check_output(path, lambda: _is_card(path, key), f"the card of key {key}")


def write_card(card: ReleaseCard, path: Path) -> None:
    """Write a card whole or not at all; raises `BadInput`."""
    with whole_file(path) as stream:
        stream.write(card.text.encode("utf-8"))


def read_text(path: Path) -> str:
    """The text of a card's file; raises `BadInput` for one that can't be read, is no UTF-8 or far too long."""
    try:
        with path.open("rb") as stream:
            found = stream.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise BadInput(f"card {path}: found more than {MOST_BYTES:,} bytes, expected a release card")
        return found.decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"card {path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise BadInput(f"card {path}: found bytes that are no UTF-8, expected a release card") from None


def _is_card(path: Path, key: str) -> bool:
    try:
        return bool(checked(read_text(path))["key"] == key)
    except BadInput:
        return False
