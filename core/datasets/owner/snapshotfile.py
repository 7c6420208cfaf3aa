"""A public snapshot in a file of its own, for a data set whose nodes are known already."""

from __future__ import annotations

from pathlib import Path

from core.datasets.owner.ids import NodeIndex
from core.datasets.owner.normalise import rows_of, snapshot_of
from core.datasets.owner.pairs import read_pairs
from core.datasets.owner.roles import Roles
from core.errors import BadInput
from core.graph import Nodes
from core.snapshot import Snapshot


def read_snapshot(path: Path, nodes: Nodes, roles: Roles | None = None) -> Snapshot:
    """Return the snapshot that a delimited file lists: pairs of node ids, in file order or by its order column.

    Self-loops and repeated pairs are left out, as in an owner's folder. Raises `BadInput`, one line with file and
    line, for an unknown node, a file without two ends or without a pair, and what `read_pairs` refuses.
    """
    if not path.is_file():
        raise BadInput(f"snapshot {path}: found no such file, expected a list of node pairs")
    index = NodeIndex(nodes.ids, None, "the node table")
    pairs, _, _ = read_pairs(path, roles or Roles(), index, snapshot=True)
    snapshot = snapshot_of(rows_of(pairs, index).rows, nodes.n) if len(pairs.ends) else None
    if snapshot is None or not len(snapshot):
        raise BadInput(f"{pairs.file}: found no pair of two nodes, expected at least one below the header")
    return snapshot
