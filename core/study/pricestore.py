"""Figures of single targets kept in one file as they are found, so that a stopped run goes on where it was."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from core.errors import BadInput

APPLICATION = 0x50524346  # tells our files from other SQLite files
VERSION = 1
BATCH = 500  # parameters of one query; SQLite allows 999 everywhere
REMEDY = "move it away to start anew"


class PriceStore:
    """A file of (cell, target) -> float64 figures; owner-only, since every figure reads private edges.

    A cell is a text that names everything the figures depend on but the target. Opened as a context.
    What is put is on disk when `put` returns, all of it or nothing. Raises `BadInput` for a file that
    can't be opened, is damaged or is something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._explained():
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._file = sqlite3.connect(path, timeout=30)
            (kind,) = self._file.execute("PRAGMA application_id").fetchone()
            (tables,) = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            if tables and (kind, version) != (APPLICATION, VERSION):
                self._file.close()
                raise BadInput(f"{path.name}: found a file of another kind or version, expected kept figures; {REMEDY}")
            with self._file:
                self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                self._file.execute(f"PRAGMA user_version = {VERSION}")
                self._file.execute(
                    "CREATE TABLE IF NOT EXISTS figures (cell TEXT, target INTEGER, found BLOB, "
                    "PRIMARY KEY (cell, target)) WITHOUT ROWID"
                )

    def get(self, cell: str, targets: Sequence[int] | np.ndarray) -> dict[int, np.ndarray]:
        """Figures of those `targets` that the cell has, by target row."""
        found: dict[int, np.ndarray] = {}
        rows = [int(target) for target in targets]
        with self._explained():
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                marks = ",".join("?" * len(batch))
                query = f"SELECT target, found FROM figures WHERE cell = ? AND target IN ({marks})"
                for target, blob in self._file.execute(query, (cell, *batch)):
                    found[target] = np.frombuffer(blob, dtype=np.float64)
        return found

    def put(self, found: Iterable[tuple[str, int, np.ndarray]]) -> None:
        """Keep (cell, target row, figures) of each; those that are there already stay."""
        rows = [(cell, int(target), np.asarray(figures, np.float64).tobytes()) for cell, target, figures in found]
        with self._explained(), self._file:
            self._file.executemany("INSERT OR IGNORE INTO figures VALUES (?, ?, ?)", rows)

    def __enter__(self) -> PriceStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise BadInput(f"{self._path.name}: can't be used to keep figures ({error}); {REMEDY}") from None
