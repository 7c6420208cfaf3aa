"""GraphML and GEXF files: nodes, ties and lines by a scan, attributes and their types by NetworkX."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.owner import limits
from core.datasets.owner.attributed import attributed_graph
from core.datasets.owner.marks import scan
from core.datasets.owner.opening import whole
from core.datasets.owner.raw import Pairs
from core.datasets.owner.refusal import unreadable, wrong
from core.datasets.owner.roles import Roles


def load_graphml(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of a GraphML file: ids as they are, attributes by their declared types, directions dropped.

    Raises `BadInput`, one line with file, line, what was found, what was expected and what to do.
    """
    return _load(path, name, roles or Roles(), "GraphML", nx.read_graphml)


def load_gexf(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of a GEXF file (1.1 to 1.3), as `load_graphml` does; dynamic attributes are left out."""
    return _load(path, name, roles or Roles(), "GEXF", nx.read_gexf)


def _load(path: Path, name: str, roles: Roles, kind: str, read: Callable[[io.BytesIO], Any]) -> Dataset:
    data = whole(path, limits.MOST_TREE_BYTES)
    marks = scan(data, path.name, kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ElementTree.fromstring(data)
            weighted = marks.weighted or _has_weights(tree)
            _drop_edges(tree)
            graph = read(io.BytesIO(ElementTree.tostring(tree)))
        defaults = graph.graph.get("node_default", {})
        attributes = {str(node).strip(): {**defaults, **graph.nodes[node]} for node in graph}
    except Exception as error:
        raise unreadable(path.name, kind, error, f"save it as {kind} again") from error
    if set(attributes) != set(marks.ids):
        raise wrong(path.name, None, "found nodes in odd places", "all of them right in the graph", "save it flat")
    notes = [f"{path.name}: ties are directed: directions dropped"] if marks.directed else []
    if weighted:
        notes.append(f"{path.name}: edge weights ignored, a tie counts once")
    ends = np.array(marks.ends, dtype=np.int64).reshape(-1, 2)
    edges = Pairs(path.name, list(marks.names), marks.name_lines, ends)
    rows = [attributes[text] for text in marks.ids]
    return attributed_graph(path, name, roles, marks.ids, marks.lines, rows, edges, notes)


def _has_weights(tree: ElementTree.Element) -> bool:
    return any(part.get("for") == "edge" and part.get("attr.name") == "weight" for part in tree)


def _drop_edges(tree: ElementTree.Element) -> None:
    """Leave the ties to the scan: NetworkX refuses a file that mixes directed and undirected ones."""
    for part in tree.iter():
        part[:] = [
            child for child in part if not (isinstance(child.tag, str) and child.tag.rpartition("}")[2] == "edge")
        ]
