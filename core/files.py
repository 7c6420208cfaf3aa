"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
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
