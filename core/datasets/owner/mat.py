"""MATLAB files in the layout of Facebook100 (Traud, Mucha & Porter 2012)."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.owner import limits, matlab
from core.datasets.owner.attributes import cast_attributes
from core.datasets.owner.normalise import normalise
from core.datasets.owner.opening import whole
from core.datasets.owner.raw import Kind, Pairs, RawGraph
from core.datasets.owner.refusal import check_count, unreadable, wrong
from core.datasets.owner.roles import Casting, Roles

COLUMNS = ("status", "gender", "major", "second major", "dorm", "year", "high school")
PATIENCE = 600  # seconds
PARTS = ("label", "features", "ignore")


def load_mat(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of a Facebook100 file: sparse `A`, N x N, and perhaps `local_info`, N x 7 numbers, 0 missing.

    The label is the column `gender` unless `roles` say otherwise; every other column becomes one
    feature a value. Ids are row numbers from 0. Raises `BadInput`, one line with file, what was
    found, what was expected and what to do.
    """
    roles = roles or Roles()
    roles.only(PARTS, path.name, "the layout says what is what")
    ends, table = _read(path)
    n = len(table)
    check_count(path.name, "nodes", n, limits.MOST_NODES)
    check_count(path.name, "edges", len(ends), limits.MOST_EDGES)
    columns = COLUMNS if table.shape[1] == len(COLUMNS) else [f"info {place + 1}" for place in range(table.shape[1])]
    cells = [[str(value) if value else "" for value in column.tolist()] for column in table.T]
    casting = Casting(path.name, columns, roles, None)
    usual = COLUMNS.index("gender") if columns == COLUMNS else None
    attributes = cast_attributes(casting, cells, roles, [Kind.CATEGORICAL] * len(columns), usual=usual)
    ids = [str(row) for row in range(n)]
    raw = RawGraph(
        file=path.name,
        edges=Pairs(path.name, ids, None, ends),
        ids=ids,
        columns=attributes.columns,
        labels=attributes.labels,
        roles=casting.roles,
        notes=attributes.notes,
    )
    return normalise(raw, name, path)


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the ties, k x 2 rows, and the table of attributes, N x F int64."""
    data = whole(path)
    if data[:10] == b"MATLAB 7.3":
        found, remedy = "found a MATLAB 7.3 (HDF5) file", "save it with the option '-v7'"
        raise wrong(path.name, None, found, "MATLAB 5 to 7.2", remedy)
    if data[126:128] not in (b"IM", b"MI"):
        raise wrong(path.name, None, "found no MATLAB header", "a .mat file of MATLAB 5 to 7.2", "save it as .mat")
    # SciPy's reader can crash the process on a damaged file, so it works in one of its own.
    reader = [sys.executable, "-P", matlab.__file__]
    remedy = "save sparse A and whole numbers in local_info again"
    try:
        child = subprocess.run(reader, input=data, capture_output=True, check=False, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError) as error:
        raise unreadable(path.name, "Facebook100", error, remedy) from error
    if child.returncode:
        said = child.stderr.decode("utf-8", "replace").strip().splitlines() if child.returncode > 0 else []
        fault = ValueError(said[-1] if said else "the reader crashed on it")
        raise unreadable(path.name, "Facebook100", fault, remedy)
    with np.load(io.BytesIO(child.stdout), allow_pickle=False) as parts:
        return parts["ends"], parts["info"]
