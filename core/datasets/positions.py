"""Node positions computed ahead of time, for drawing: owner-only, since private edges shape them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import core
from core.graph import Nodes


def positions_file(name: str) -> Path:
    """Where the positions of data set `name` lie in a checkout of the project."""
    return Path(core.__file__).parent.parent / "data" / "positions" / f"{name}.npz"


def stored_positions(name: str, nodes: Nodes) -> np.ndarray | None:
    """Return the stored positions (N x 2 in the unit square), None when absent or of other nodes.

    The file holds `positions` (N x 2 float32, row order of `nodes`) and `digest`, the digest of the
    nodes it was made for.
    """
    path = positions_file(name)
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        return stored["positions"] if str(stored["digest"]) == nodes.digest else None
