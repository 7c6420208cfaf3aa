"""Where a card is written: looked at before any budget is spent, so that no answer is paid for and lost."""

from __future__ import annotations

import tempfile
from pathlib import Path

from core.desk.card import ReleaseCard, checked
from core.errors import BadInput
from core.files import whole_file

MOST_BYTES = 1_000_000


def check_place(path: Path, key: str) -> None:
    """Raise `BadInput` unless a card under `key` can be written to `path`: a new file, or that card already."""
    if path.is_dir():
        raise BadInput(f"output {path}: found a folder, expected a file name; name the card's file")
    if path.exists() and not _is_card(path, key):
        raise BadInput(f"output {path}: found a file that isn't the card of key {key}; choose another name")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise BadInput(
            f"output {path}: can't be written ({error.strerror}), and nothing was debited; choose another folder"
        ) from None


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
