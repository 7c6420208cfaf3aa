"""Molecules of the Open Graph Benchmark as sets of graphs, read by the optional package `ogb`."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core import checks
from core.datasets.edges import simple_edges
from core.embeddings.graphset import GraphSet, bare_graph
from core.errors import BadInput

NAMES = ("ogbg-molhiv", "ogbg-molbace", "ogbg-molbbbp")


def load_molecules(name: str, root: Path | None = None, most: int = 2_000) -> GraphSet:
    """The first `most` molecules of a benchmark with a yes-or-no label; atoms are nodes, bonds edges, neither named.

    `root` (or the environment's `OGB_ROOT`): the folder with the benchmark's own; without one OGB downloads into
    the user's cache. Raises `BadInput` for an unknown name, without the package, and for files that can't be read.
    """
    if name not in NAMES:
        raise BadInput.choice("molecules", name, NAMES)
    checks.count(most, "molecules", 1, 1_000_000)
    try:
        from ogb.graphproppred import GraphPropPredDataset
    except ImportError:
        raise BadInput(
            f"molecules {name}: found no package 'ogb', which reads them; pip install 'privcfs-explorer[ogb]'"
        ) from None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcfs" / "ogb"
    folder = Path(root or os.environ.get("OGB_ROOT") or cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            benchmark = GraphPropPredDataset(name, root=str(folder))
            rows = [benchmark[place] for place in range(min(most, len(benchmark)))]
    except (Exception, SystemExit) as error:
        raise BadInput(
            f"molecules {name}: OGB can't read them in {folder} ({type(error).__name__}); go online once, or set "
            f"OGB_ROOT to a folder that holds {name.replace('-', '_')}"
        ) from error
    return molecules(name, [graph for graph, _ in rows], np.array([label for _, label in rows]))


def molecules(name: str, graphs: Sequence[dict[str, Any]], labels: np.ndarray) -> GraphSet:
    """Graphs as OGB gives them (`edge_index` 2 x E in both directions, `num_nodes`) with labels 0, 1 or none (NaN)."""
    answers = np.asarray(labels, dtype=np.float64).reshape(len(graphs), -1)[:, 0]
    kept = [place for place in range(len(graphs)) if np.isfinite(answers[place])]
    made = []
    for place in kept:
        n = int(graphs[place]["num_nodes"])
        made.append(bare_graph(n, simple_edges(np.asarray(graphs[place]["edge_index"]).T, n)))
    return GraphSet(name, tuple(made), answers[kept].astype(np.int64), ("no", "yes"))
