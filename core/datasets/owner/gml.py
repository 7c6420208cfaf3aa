"""GML files, read by NetworkX."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.owner import limits
from core.datasets.owner.attributed import attributed_graph
from core.datasets.owner.opening import whole
from core.datasets.owner.raw import Pairs
from core.datasets.owner.refusal import check_count, unreadable, wrong
from core.datasets.owner.roles import Roles

GRAPH = re.compile(r"^(\s*graph\s*\[)", re.MULTILINE)
DIRECTED = re.compile(r"^\s*directed\s+1", re.MULTILINE)


def load_gml(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of a GML file; nodes go by their `label` where each has one of its own, else by `id`.

    Raises `BadInput`, one line with file, line where NetworkX tells it, what was found, what was
    expected and what to do.
    """
    data = whole(path, limits.MOST_TREE_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found, remedy = "found a byte that is not UTF-8", "save the file as UTF-8"
        raise wrong(path.name, line, found, "UTF-8 text", remedy) from None
    ascii_text = text.encode("ascii", "xmlcharrefreplace").decode()
    try:
        # NetworkX keeps repeats in multigraphs only, and directions in directed ones.
        graph = nx.parse_gml(GRAPH.sub(r"\1 directed 1 multigraph 1 ", ascii_text, count=1), label=None)
        numbers = {node: place for place, node in enumerate(graph)}
        ends = np.array([(numbers[u], numbers[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
        ids = [str(node).strip() for node in graph]
        rows = [dict(graph.nodes[node]) for node in graph]
        weighted = bool(nx.get_edge_attributes(graph, "weight"))
    except Exception as error:
        place = re.search(r" at \((\d+), \d+\)", str(error))
        remedy = "save it as GML again"
        raise unreadable(path.name, "GML", error, remedy, int(place[1]) if place else None) from error
    check_count(path.name, "nodes", len(ids), limits.MOST_NODES)
    check_count(path.name, "edges", len(ends), limits.MOST_EDGES)
    notes = [f"{path.name}: ties are directed: directions dropped"] if DIRECTED.search(text) else []
    if weighted:
        notes.append(f"{path.name}: edge weights ignored, a tie counts once")
    labels = {str(row.get("label", "")).strip() for row in rows} - {""}
    called = "label" if len(labels) == len(rows) else None
    return attributed_graph(
        path, name, roles or Roles(), ids, None, rows, Pairs(path.name, ids, None, ends), notes, called
    )
