"""The Planetoid citation networks with their public split, read by PyG."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset, Split
from core.datasets.edges import simple_edges
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data

# The files number the classes without naming them; Cora's and CiteSeer's names follow from the class
# sizes, which are all different and known by name from Sen et al. 2008.
CLASSES = {
    "Cora": (
        "Theory",
        "Reinforcement Learning",
        "Genetic Algorithms",
        "Neural Networks",
        "Probabilistic Methods",
        "Case Based",
        "Rule Learning",
    ),
    "CiteSeer": ("AI", "ML", "IR", "DB", "Agents", "HCI"),
    "PubMed": ("class 0", "class 1", "class 2"),
}
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


def load_planetoid(name: str, root: Path | None = None) -> Dataset:
    """Return `Cora`, `CiteSeer` or `PubMed` with the public split (Yang et al. 2016); ids `0`..`N-1`.

    `root` (or the environment's `PLANETOID_ROOT`) is a folder with `<name>/raw/ind.*`; it is only
    read. Without one PyG downloads into the user's cache. The raw files are pickles, so name only
    a folder you trust. CiteSeer's 15 nodes that the feature files leave out stay, without features or label.
    Raises `BadInput` for another name, missing files or a failed download.
    """
    if name not in CLASSES:
        raise BadInput.choice("data set planetoid", name, CLASSES)
    data = _read(_raw_folder(name, root), name)
    n = data.num_nodes
    x = sparse.csr_array(data.x.numpy().astype(np.float64))
    labels = data.y.numpy().astype(np.int64)
    split = Split(*(mask.numpy().nonzero()[0] for mask in (data.train_mask, data.val_mask, data.test_mask)))
    filled = np.setdiff1d(np.arange(split.test.min(), n), split.test)
    labels[filled] = -1
    words = tuple(f"word {column}" for column in range(x.shape[1]))
    nodes = Nodes(tuple(str(row) for row in range(n)), x, words, CLASSES[name])
    graph = PrivateGraph(nodes, simple_edges(data.edge_index.numpy().T, n))
    source = f"{name} of Planetoid (Yang et al. 2016), public split; no licence stated with the files"
    return Dataset(f"planetoid:{name}", f"{name} citations (Planetoid)", graph, labels, split, source)


def _raw_folder(name: str, root: Path | None) -> Path:
    given = root or os.environ.get("PLANETOID_ROOT")
    if given:
        folder = Path(given) / name / "raw"
        missing = [file for file in _files(name) if not (folder / file).is_file()]
        if missing:
            raise BadInput(
                f"data set planetoid:{name}: found no {missing[0]} in {folder}, expected the {len(PARTS)} raw files "
                "ind.*; correct PLANETOID_ROOT, or unset it to download them"
            )
        return folder
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcfs" / "planetoid"
    folder = cache / name / "raw"
    if not all((folder / file).is_file() for file in _files(name)):
        _download(name, cache)
    return folder


def _files(name: str) -> list[str]:
    return [f"ind.{name.lower()}.{part}" for part in PARTS]


def _download(name: str, cache: Path) -> None:
    """Fetch the raw files into `cache`, whole or not at all."""
    from torch_geometric.datasets import Planetoid

    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch, contextlib.redirect_stderr(io.StringIO()):
            Planetoid(scratch, name)
            (cache / name).mkdir(exist_ok=True)
            (Path(scratch) / name / "raw").rename(cache / name / "raw")
    except Exception as error:
        raise BadInput(
            f"data set planetoid:{name}: download into {cache} failed ({type(error).__name__}); go online once, "
            f"or set PLANETOID_ROOT to a folder that holds {name}/raw/ind.*"
        ) from error


def _read(folder: Path, name: str) -> Data:
    # PyG takes seconds to import, and only these two functions need it.
    from torch_geometric.io import read_planetoid_data

    try:
        return read_planetoid_data(str(folder), name.lower())
    except Exception as error:
        raise BadInput(
            f"data set planetoid:{name}: the raw files in {folder} can't be read ({type(error).__name__}); "
            "replace them with the Planetoid originals"
        ) from error
