"""Which column plays which part: given by the owner, or guessed from its name and kept for the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from core.datasets.owner.refusal import listed, wrong
from core.datasets.report import Role
from core.errors import BadInput

# Names of the two ends of a tie, in pairs; letters and digits only, without case.
ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("sourceid", "targetid"),
    ("sourcenode", "targetnode"),
    ("sourcenodeid", "targetnodeid"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("nodeid1", "nodeid2"),
    ("id1", "id2"),
    ("user1", "user2"),
    ("userid1", "userid2"),
    ("userid", "friendid"),
    ("person1", "person2"),
    ("name1", "name2"),
    ("vertex1", "vertex2"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("start", "end"),
    ("head", "tail"),
)
ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "nodeid", "node", "vertexid", "vertex", "userid", "user", "personid", "person", "key", "name"),
    "label": (
        "label",
        "labels",
        "class",
        "classlabel",
        "y",
        "category",
        "group",
        "community",
        "department",
        "subject",
        "club",
    ),
    "order": ("order", "date", "time", "timestamp", "datetime", "since", "year", "created", "createdat", "rank"),
    "weight": ("weight", "weights", "w", "strength", "weightdouble"),
    "feature": ("feature", "featureid", "attribute", "attributeid", "item", "itemid", "word", "dimension", "column"),
    "value": ("value", "val", "count", "weight", "x"),
}


@dataclass(frozen=True)
class Roles:
    """Column names an owner gives; None: guessed. An empty name: no column plays this part.

    `source`, `target`, `order`: of edges and snapshot; `order` is a snapshot's disclosure order.
    `id`, `label`, `split` (train, validation, test): of the node table, or attributes of a graph
    file. `features`: the only columns that become features, in order; `ignore`: columns that don't;
    `categorical`, `numeric`: features whose kind would be guessed otherwise. `header`: whether the
    first line of the delimited files names the columns.
    """

    source: str | None = None
    target: str | None = None
    order: str | None = None
    id: str | None = None
    label: str | None = None
    split: str | None = None
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    header: bool | None = None

    def only(self, allowed: Iterable[str], file: str, why: str) -> None:
        """Raise `BadInput` when a role is given that `file` can't have."""
        for field in fields(self):
            if field.name not in allowed and getattr(self, field.name) != field.default:
                raise wrong(file, None, f"found the role {field.name!r}", f"none, since {why}", "leave it out")


class Casting:
    """Casts the columns of one file, each once, and keeps who got which part."""

    def __init__(self, file: str, columns: Sequence[str], roles: Roles, line: int | None = 1) -> None:
        self.file = file
        self.columns = tuple(columns)
        self.roles: list[Role] = []
        self.free = list(range(len(columns)))
        self._line = line
        self._kept = {name.casefold() for name in (*(roles.features or ()), *roles.ignore)}

    def given(self, part: str, wanted: str) -> int:
        """Cast the column called `wanted`, by its exact name or else in any case; raises `BadInput` without one."""
        place = self.place(part, wanted)
        self.cast(part, place, guessed=False)
        return place

    def place(self, part: str, wanted: str) -> int:
        """Return where the column called `wanted` stands; raises `BadInput` without one."""
        lowered = [column.casefold() for column in self.columns]
        if wanted in self.columns:
            return self.columns.index(wanted)
        if lowered.count(wanted.casefold()) == 1:
            return lowered.index(wanted.casefold())
        raise self.wrong(f"a column {wanted!r} for the {part}", "name one of them")

    def guess(self, part: str) -> int | None:
        """Cast the free column with the best-known name for `part`, or none."""
        free = [place for place in self.free if self.columns[place].casefold() not in self._kept]
        keys = {plain_key(self.columns[place]): place for place in reversed(free)}
        place = next((keys[alias] for alias in ALIASES[part] if alias in keys), None)
        if place is not None:
            self.cast(part, place)
        return place

    def find(self, part: str, wanted: str | None) -> int | None:
        """Cast the given column, else guess one; the empty name casts none."""
        if wanted is None:
            return self.guess(part)
        return self.given(part, wanted) if wanted else None

    def cast(self, part: str, place: int, guessed: bool = True) -> None:
        """Give `part` to the column at `place`."""
        if place not in self.free:
            played = next(role.part for role in self.roles if role.column == self.columns[place])
            found = f"found column {self.columns[place]!r} as {played} and as {part}"
            raise wrong(self.file, self._line, found, "one part a column", "give another one")
        self.free.remove(place)
        self.roles.append(Role(self.file, part, self.columns[place], guessed))

    def drop(self, place: int) -> None:
        """Take the column at `place` out of the play: it has no part and becomes no feature."""
        self.roles = [role for role in self.roles if role.column != self.columns[place]]
        self.free = [other for other in self.free if other != place]

    def wrong(self, expected: str, remedy: str) -> BadInput:
        """The error that lists the columns found."""
        return wrong(self.file, self._line, f"found columns {listed(self.columns)}", expected, remedy)


def ends_by_name(columns: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of the two columns whose names say that they are the ends of a tie, or None."""
    keys = [plain_key(column) for column in columns]
    for source, target in ENDS:
        if source in keys and target in keys:
            return keys.index(source), keys.index(target)
    firsts, seconds = zip(*ENDS, strict=True)
    one = next((keys.index(name) for name in firsts if name in keys), None)
    two = next((keys.index(name) for name in seconds if name in keys), None)
    return None if one is None or two is None or one == two else (one, two)


def plain_key(column: str) -> str:
    """Return a column's name as the tables above have it: `Node_ID` and `node id` as `nodeid`."""
    return re.sub(r"[\W_]+", "", column.casefold())
