"""A single file of ties: the nodes are those it names."""

from __future__ import annotations

from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.owner.normalise import normalise
from core.datasets.owner.pairs import read_pairs
from core.datasets.owner.raw import RawGraph
from core.datasets.owner.roles import Roles

PARTS = ("source", "target", "header")


def load_edge_list(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of one delimited file, a tie a line; nodes without features or labels.

    Its nodes are the distinct ends, by value if all are whole numbers, else by sign. Raises
    `BadInput`, one line with file, line, what was found, what was expected and what to do.
    """
    roles = roles or Roles()
    roles.only(PARTS, path.name, "a list of edges has two columns that matter")
    edges, cast, notes = read_pairs(path, roles, None)
    beside = sorted(other.name for other in path.parent.glob("nodes.*"))
    if beside:
        notes = [*notes, f"{beside[0]} beside it left unread: name the folder to use it"]
    raw = RawGraph(file=path.name, edges=edges, roles=cast, notes=notes)
    return normalise(raw, name, path)
