"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from core.errors import BadInput


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary neighbour of `path` for writing and put it in place when the block succeeds.

    What the project writes derives from private edges, so the file is readable by its owner alone.
    Raises `BadInput` when it can't be written; `path` is then as it was, also when the block fails.
    """
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise BadInput(f"output {path}: can't be written ({error.strerror}); choose another folder") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.replace(partial, path)
    except OSError as error:
        raise BadInput(f"output {path}: can't be written ({error.strerror}); choose another file") from error
    finally:
        Path(partial).unlink(missing_ok=True)


def check_folder(path: Path) -> None:
    """Raise `BadInput` where `path` can't be written for want of a folder: before long work, not after it."""
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        found = "no such folder" if not folder.exists() else "a folder that can't be written to"
        raise BadInput(f"output {path}: found {found} at {folder}, expected one to write into; choose another")


def check_output(path: Path, own: Callable[[], bool], whose: str) -> None:
    """Raise `BadInput` unless `path` can be written: asked before a budget is spent, so that no answer is lost.

    A file that is there may be written again only if `own()` says that it is the same one; `whose`: what it should be.
    """
    if path.is_dir():
        raise BadInput(f"output {path}: found a folder, expected a file name; name the card's file")
    if path.exists() and not own():
        raise BadInput(f"output {path}: found a file that isn't {whose}; choose another name")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise BadInput(
            f"output {path}: can't be written ({error.strerror}), and nothing was debited; choose another folder"
        ) from None
