"""What a reader of owner's files found and set right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoadReport:
    """Counts of what was normalised while a graph was read; owner-side, since it depends on private edges.

    `duplicates`: repeats of an edge in the same direction. `reversed`: repeats of an edge in the other
    direction. `self_loops`: edges from a node to itself, dropped. `isolated`: nodes without an edge.
    `unlabelled`: nodes without a label. `snapshot_*`: the same for the snapshot; `snapshot_absent`
    counts snapshot pairs that are no edge (legal: a tie since removed).
    """

    duplicates: int = 0
    reversed: int = 0
    self_loops: int = 0
    isolated: int = 0
    unlabelled: int = 0
    snapshot_repeats: int = 0
    snapshot_self_loops: int = 0
    snapshot_absent: int = 0
