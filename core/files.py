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

    Raises `BadInput` when the folder can't be written; `path` is then as it was.
    """
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise BadInput(f"output {path}: can't be written ({error.strerror}); choose another folder") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(partial, 0o666 & ~mask)
        os.replace(partial, path)
    except OSError as error:
        raise BadInput(f"output {path}: can't be written ({error.strerror}); choose another file") from error
    finally:
        Path(partial).unlink(missing_ok=True)
