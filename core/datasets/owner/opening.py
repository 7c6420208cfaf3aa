"""Opening an owner's file as bytes: plain or gzip, told by its content, within the size limit."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from core.datasets.owner import limits
from core.datasets.owner.refusal import wrong
from core.errors import BadInput


@contextlib.contextmanager
def opened(path: Path, most: int | None = None) -> Iterator[io.BufferedReader]:
    """Open `path` for reading its bytes, unpacked if it is a gzip file under any name.

    `most` bytes (`limits.MOST_BYTES` if None) are allowed on disk and unpacked. Raises `BadInput`
    for a missing or unreadable file and for what is no file; while it is read, for a damaged or
    larger one.
    """
    most = limits.MOST_BYTES if most is None else most
    try:
        if path.exists() and not path.is_file():
            raise wrong(path.name, None, "found a folder or a device", "a file", "put the file in its place")
        if path.stat().st_size > most:
            raise _too_large(path.name, most)
        with path.open("rb") as stream:
            if stream.peek(2)[:2] == b"\x1f\x8b":
                yield io.BufferedReader(_Unpacked(path.name, gzip.GzipFile(fileobj=stream), most))
            else:
                yield stream
    except FileNotFoundError:
        raise BadInput(f"{path.name}: found no such file in {str(path.parent)!r}, expected one; add it") from None
    except OSError as error:
        found = f"can't be read ({error.strerror or type(error).__name__})"
        raise BadInput(f"{path.name}: {found}, expected a readable file; mend it or its permissions") from None


def whole(path: Path, most: int | None = None) -> bytes:
    """Return all bytes of `path`, unpacked; raises `BadInput` as `opened` does."""
    with opened(path, most) as stream:
        return stream.read()


class _Unpacked(io.RawIOBase):
    """A gzip stream that counts what it gives and turns every fault into `BadInput`."""

    def __init__(self, file: str, packed: BinaryIO | gzip.GzipFile, most: int) -> None:
        self._file = file
        self._packed = packed
        self._most = most
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._packed.read(len(buffer))
        except (OSError, EOFError, zlib.error):
            remedy = "pack it again, or save it unpacked"
            raise wrong(self._file, None, "found a damaged gzip file", "a whole one", remedy) from None
        self._given += len(data)
        if self._given > self._most:
            raise _too_large(self._file, self._most)
        buffer[: len(data)] = data
        return len(data)


def _too_large(file: str, most: int) -> BadInput:
    size = f"{most / 2**30:g} GiB" if most >= 2**30 else f"{most:,} bytes"
    return wrong(file, None, f"found more than {size}", "at most that, also unpacked", "load a part of the graph")
