"""The core of ogbn-arxiv: its 15,000 nodes of highest degree, read by the optional package `ogb`."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset, Split
from core.datasets.edges import simple_edges
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph

NODES = 15_000
SOURCE = "ogbn-arxiv (Hu et al. 2020; Open Graph Benchmark, ODC-BY), nodes of highest degree, split by year"


def load_arxiv_core(root: Path | None = None) -> Dataset:
    """Return the subgraph of ogbn-arxiv on its `NODES` nodes of highest degree, ties to the lower row.

    Degrees count undirected citations. 128 averaged word vectors, 40 arXiv categories, the
    benchmark's split restricted to the nodes kept; ids are rows of ogbn-arxiv. `root` (or the
    environment's `OGB_ROOT`) is the folder with `ogbn_arxiv/`; without one OGB downloads into the
    user's cache. Raises `BadInput` without the package, and for a failed download or damaged files.
    """
    try:
        from ogb.nodeproppred import NodePropPredDataset
    except ImportError:
        raise BadInput(
            "data set ogbn-arxiv-core: found no package 'ogb', which reads it; pip install 'privcfs-explorer[ogb]'"
        ) from None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcfs" / "ogb"
    folder = Path(root or os.environ.get("OGB_ROOT") or cache)
    try:
        _prepare(folder)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            benchmark = NodePropPredDataset("ogbn-arxiv", root=str(folder))
            graph, labels = benchmark[0]
            parts = benchmark.get_idx_split()
    except (Exception, SystemExit) as error:
        raise BadInput(
            f"data set ogbn-arxiv-core: OGB can't read it in {folder} ({type(error).__name__}); go online once, or set "
            "OGB_ROOT to a folder that holds ogbn_arxiv"
        ) from error
    return arxiv_core(graph, np.asarray(labels).ravel(), parts)


def arxiv_core(graph: dict[str, Any], labels: np.ndarray, parts: dict[str, np.ndarray]) -> Dataset:
    """Return the core of a graph as OGB gives it (`edge_index` 2 x E, `node_feat` N x F), with its labels and split."""
    n = int(graph["num_nodes"])
    edges = simple_edges(np.asarray(graph["edge_index"]).T, n)
    degree = np.bincount(edges.ravel(), minlength=n)
    kept = np.sort(np.argsort(-degree, kind="stable")[:NODES])
    place = np.full(n, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    inside = place[edges]
    x = sparse.csr_array(np.asarray(graph["node_feat"])[kept].astype(np.float64))
    names = tuple(f"dimension {column}" for column in range(x.shape[1]))
    classes = tuple(f"category {label}" for label in range(int(labels.max()) + 1))
    nodes = Nodes(tuple(map(str, kept.tolist())), x, names, classes)
    rows = (place[np.asarray(parts[part])] for part in ("train", "valid", "test"))
    split = Split(*(part[part >= 0] for part in rows))
    core = PrivateGraph(nodes, inside[(inside >= 0).all(axis=1)])
    return Dataset("ogbn-arxiv-core", "arXiv citations, core", core, labels[kept].astype(np.int64), split, SOURCE)


def _prepare(folder: Path) -> None:
    """Make room for OGB's files, and drop its cache: a pickle, which torch refuses to load from 2.6 on."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "ogbn_arxiv").is_dir():
        if not any((folder / "ogbn_arxiv").glob("RELEASE_v*.txt")):
            raise FileNotFoundError("RELEASE_v1.txt")  # OGB would ask on the terminal whether to download it
        (folder / "ogbn_arxiv" / "processed" / "data_processed").unlink(missing_ok=True)
