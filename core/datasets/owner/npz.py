"""NumPy archives in the layout of gnn-benchmark (Shchur et al. 2018)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.owner import limits
from core.datasets.owner.arrays import Arrays, array_graph
from core.datasets.owner.opening import opened
from core.datasets.owner.refusal import listed, unreadable, wrong
from core.datasets.owner.roles import Roles
from core.errors import BadInput

LAYOUT = "adj_data, adj_indices, adj_indptr, adj_shape and perhaps attr_..., labels, node_names, class_names"
USED = (
    *(f"{matrix}_{part}" for matrix in ("adj", "attr") for part in ("data", "indices", "indptr", "shape", "matrix")),
    "labels",
    "node_names",
    "attr_names",
    "class_names",
)
REMEDY = "save it with numpy.savez, texts as text arrays (astype(str))"


def load_npz(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of an `.npz` file: `adj_*` and `attr_*` by rows (CSR) or as `..._matrix`, `labels`, names.

    Without `node_names` the ids are row numbers from 0. Nothing pickled is read. Raises `BadInput`,
    one line with file, what was found, what was expected and what to do.
    """
    (roles or Roles()).only((), path.name, "the layout says what is what")
    parts, unread = _read(path)
    adjacency = _matrix(parts, "adj", path.name)
    if adjacency is None:
        raise wrong(path.name, None, f"found arrays {listed(sorted(parts) + unread)}", LAYOUT, "save it in this layout")
    if adjacency.shape[0] != adjacency.shape[1]:
        found = f"found an adjacency of {adjacency.shape[0]} x {adjacency.shape[1]}"
        raise wrong(path.name, None, found, "a square one", "save the whole adjacency")
    ties = adjacency.tocoo()
    given = Arrays(
        n=adjacency.shape[0],
        ends=np.stack([ties.row, ties.col], axis=1)[ties.data != 0],
        x=_matrix(parts, "attr", path.name),
        labels=parts.get("labels"),
        ids=_texts(parts, "node_names"),
        features=_texts(parts, "attr_names"),
        classes=_texts(parts, "class_names"),
    )
    return array_graph(path, name, given, [f"{path.name}: left unread {listed(unread)}"] if unread else [])


def _read(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the arrays that are used and the names of the others."""
    try:
        with opened(path) as stream, zipfile.ZipFile(stream) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > limits.MOST_BYTES:
                size = f"{limits.MOST_BYTES / 2**30:g} GiB unpacked"
                raise wrong(path.name, None, f"found more than {size}", "at most that", "load a part of the graph")
        with opened(path) as stream, np.load(stream, allow_pickle=False) as arrays:
            used = {key: arrays[key] for key in arrays.files if key in USED}
            return used, [key for key in arrays.files if key not in USED]
    except BadInput:
        raise
    except zipfile.BadZipFile:
        raise wrong(path.name, None, "found no NumPy archive", "an .npz file", REMEDY) from None
    except Exception as error:
        if "pickle" in str(error):
            found = "found a pickled array, which could run code when it is read"
            raise wrong(path.name, None, found, "plain numbers and text", REMEDY) from None
        raise unreadable(path.name, ".npz", error, REMEDY) from error


def _matrix(parts: dict[str, np.ndarray], which: str, file: str) -> sparse.csr_array | None:
    try:
        if f"{which}_matrix" in parts:
            return sparse.csr_array(np.atleast_2d(parts[f"{which}_matrix"]).astype(np.float64))
        if f"{which}_data" not in parts:
            return None
        data, indices, indptr = (parts[f"{which}_{part}"] for part in ("data", "indices", "indptr"))
        shape = tuple(int(size) for size in parts[f"{which}_shape"])
        matrix = sparse.csr_array((data.astype(np.float64), indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        return matrix
    except Exception as error:
        raise unreadable(
            file, f"the sparse matrix {which}", error, "save the four arrays of a SciPy CSR matrix"
        ) from error


def _texts(parts: dict[str, np.ndarray], key: str) -> list[str] | None:
    return [str(text) for text in parts[key].ravel()] if key in parts else None
