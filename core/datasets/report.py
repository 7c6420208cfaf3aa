"""What a reader of owner's files found and set right."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Role:
    """Which column plays a part, and whether that was guessed or given."""

    file: str
    part: str
    column: str
    guessed: bool

    def __str__(self) -> str:
        column = self.column if self.column.startswith("column ") else f"column {self.column!r}"
        return f"{self.file}: {self.part} = {column} ({'guessed' if self.guessed else 'given'})"


@dataclass(frozen=True)
class LoadReport:
    """Counts of what was normalised while a graph was read; owner-side, since it depends on private edges.

    `duplicates`: repeats of an edge in the same direction. `reversed`: repeats of an edge in the other
    direction. `self_loops`: edges from a node to itself, dropped. `isolated`: nodes without an edge.
    `unlabelled`: nodes without a label. `missing_features`: empty feature cells. `respelt_ids`:
    distinct ids, over all files, that lost a `.0`. `snapshot_*`: the same for the snapshot;
    `snapshot_absent` counts snapshot pairs that are no edge (legal: a tie since removed). `roles`:
    which column was taken for what. `notes`: whatever else an owner should know, a line each.
    """

    duplicates: int = 0
    reversed: int = 0
    self_loops: int = 0
    isolated: int = 0
    unlabelled: int = 0
    missing_features: int = 0
    respelt_ids: int = 0
    snapshot_repeats: int = 0
    snapshot_self_loops: int = 0
    snapshot_absent: int = 0
    roles: tuple[Role, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Every count by its name."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, int)}

    def to_json(self) -> dict[str, object]:
        """The report as plain values: the counts, `roles` as objects, `notes` as texts."""
        return {**self.counts, "roles": [asdict(role) for role in self.roles], "notes": list(self.notes)}

    def lines(self) -> list[str]:
        """The report for people: the roles, what was met and what was done with it, the notes."""
        met = [f"{count:,} {WORDS[name]}" for name, count in self.counts.items() if count]
        return [*map(str, self.roles), *met, *self.notes]


WORDS = {
    "duplicates": "repeated edges: merged",
    "reversed": "edges listed in both directions: merged, since ties are undirected",
    "self_loops": "edges from a node to itself: dropped",
    "isolated": "nodes without an edge: kept",
    "unlabelled": "nodes without a label: kept, out of training and test",
    "missing_features": "missing feature cells: read as 0, or as none of the column's values",
    "respelt_ids": 'ids typed as floats: "12.0" read as "12"',
    "snapshot_repeats": "repeated snapshot pairs: dropped after the first",
    "snapshot_self_loops": "snapshot pairs of a node with itself: dropped",
    "snapshot_absent": "snapshot pairs that are no edge now: kept, deleting one changes nothing",
}
