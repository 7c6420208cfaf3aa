"""Owner's files that came as bytes, by name: read as if they lay in a folder, of which nothing remains."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.owner.refusal import quoted
from core.datasets.owner.roles import Roles
from core.datasets.registry import load
from core.errors import BadInput

MOST_RECEIVED = 256 * 2**20  # bytes of all files together
MOST_FILES = 64
WHERE = "the uploaded files"


def load_received(
    files: Mapping[str, bytes], name: str, roles: Roles | None = None, structural: bool = False
) -> Dataset:
    """Return the data set in `files`, bytes by file name, and call it `name`.

    One file is read by its ending, several as a folder (`nodes.csv`, `edges.csv`, ...); `roles` and
    `structural` as in `load`. Of a path only the last part counts. While they are read, the files lie
    in a folder that their owner alone may open; it is removed whatever happens, and neither the data
    set nor a message names it. Raises `BadInput` as `load` does, and for no file, an empty one, two
    under one name, a name that can't be a file's, more than `MOST_FILES` files or `MOST_RECEIVED` bytes.
    """
    named = _named(files)
    try:
        with tempfile.TemporaryDirectory(prefix="privcfs-") as made:  # mkdtemp: mode 0700
            folder = Path(made)
            for file, data in named.items():
                (folder / file).write_bytes(data)
            alone = folder / next(iter(named)) if len(named) == 1 else None
            try:
                dataset = load(str(alone or folder), roles=roles, structural=structural)
            except BadInput as error:
                raise BadInput(_without(folder, str(error))) from None
    except OSError as error:
        found = f"can't be kept while they are read ({error.strerror or type(error).__name__})"
        raise BadInput(f"{WHERE}: {found}; free disk space or shorten the file names") from None
    title = dataset.title if alone else name
    return replace(dataset, name=name, title=title, source=dataset.source.replace(folder.name, name))


def _named(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files by the last part of their names, checked."""
    if not files:
        raise BadInput(f"{WHERE}: found none, expected at least one; choose the file of a graph, or those of a folder")
    if len(files) > MOST_FILES:
        raise BadInput(f"{WHERE}: found {len(files):,}, expected at most {MOST_FILES}; choose those of one graph")
    check_size(sum(map(len, files.values())))
    named: dict[str, bytes] = {}
    for given, data in files.items():
        file = re.split(r"[/\\]", given)[-1]
        if file in ("", ".", "..") or not file.isprintable():
            raise BadInput(f"{WHERE}: found the name {quoted(given)}, expected that of a file; rename it")
        if file.casefold() in map(str.casefold, named):
            raise BadInput(f"{file}: found two files of this name, expected one; leave one of them out")
        if not data:
            raise BadInput(f"{file}: found an empty file, expected a graph's; fill it or leave it out")
        named[file] = data
    return named


def check_size(found: int) -> None:
    """Raise `BadInput` when files of `found` bytes together are too large to be received."""
    if found > MOST_RECEIVED:
        most = f"{MOST_RECEIVED // 2**20:,} MiB"
        remedy = "name their folder by its path, pack them with gzip, or load a part of the graph"
        raise BadInput(f"{WHERE}: found {found / 2**20:,.1f} MiB, expected at most {most}; {remedy}")


def _without(folder: Path, message: str) -> str:
    """Return `message` with the uploaded files in the place of the folder they lay in."""
    for spelt in (repr(str(folder)), str(folder), repr(folder.name), folder.name):
        message = message.replace(spelt, WHERE)
    return message
