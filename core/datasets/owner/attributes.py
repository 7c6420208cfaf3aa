"""The attributes of the nodes told apart: labels, split, and the columns that become features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.datasets.owner.features import MOST_UNFORCED, is_missing
from core.datasets.owner.normalise import PARTS
from core.datasets.owner.raw import Column, Kind
from core.datasets.owner.refusal import listed, quoted
from core.datasets.owner.roles import Casting, Roles


@dataclass(frozen=True)
class Attributes:
    """`labels`, `split`: N cells or None. `columns`: what becomes features. `notes`: for the report."""

    labels: Sequence[str] | None
    split: Sequence[str] | None
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


def cast_attributes(
    casting: Casting,
    cells: Sequence[Sequence[str]],
    roles: Roles,
    kinds: Sequence[Kind | None] | None = None,
    sure: bool = False,
    usual: int | None = None,
) -> Attributes:
    """Cast label, split and features among the free columns of `casting`, whose `cells` are given by column.

    A guessed label has values that repeat: a column with another text on each or most nodes is a
    name or a quantity, and is left out with a note, unless the label is `sure`. `usual`: the place
    that is the label where no name says so. `kinds`: declared kinds. Raises `BadInput` for a name
    in `roles` that is no column.
    """
    notes: list[str] = []
    label = casting.find("label", roles.label)
    while label is not None and roles.label is None and not sure and varied(cells[label]):
        column = quoted(casting.columns[label])
        notes.append(f"{casting.file}: column {column} differs on most nodes: no label, left out")
        casting.drop(label)
        label = casting.guess("label")
    if label is None and roles.label is None and usual in casting.free:
        label = usual
        casting.cast("label", usual)
    split = _split(casting, cells, roles)
    chosen = _features(casting, roles)
    left = [casting.columns[place] for place in casting.free if place not in chosen]
    if left:
        notes.append(f"{casting.file}: left out {listed(left)}")
    forced: dict[int, Kind | None] = dict(enumerate(kinds)) if kinds else {}
    forced |= {casting.place("categorical features", name): Kind.CATEGORICAL for name in roles.categorical}
    forced |= {casting.place("numeric features", name): Kind.NUMERIC for name in roles.numeric}
    columns = tuple(Column(casting.columns[place], cells[place], forced.get(place)) for place in chosen)
    labels = None if label is None else cells[label]
    return Attributes(labels, None if split is None else cells[split], columns, tuple(notes))


def _features(casting: Casting, roles: Roles) -> list[int]:
    ignored = {casting.place("ignored columns", name) for name in roles.ignore}
    if roles.features is None:
        return [place for place in casting.free if place not in ignored]
    chosen = [casting.place("features", name) for name in dict.fromkeys(roles.features)]
    for place in chosen:
        casting.cast("feature", place, guessed=False)
    return chosen


def _split(casting: Casting, cells: Sequence[Sequence[str]], roles: Roles) -> int | None:
    if roles.split is not None:
        return casting.find("split", roles.split)
    for place in casting.free:
        named = casting.columns[place].casefold() == "split"
        if named and all(is_missing(text) or text.casefold() in PARTS for text in cells[place]):
            casting.cast("split", place)
            return place
    return None


def varied(cells: Sequence[str]) -> bool:
    """Say whether most nodes have a value of their own, as names and quantities do."""
    present = [text for text in cells if not is_missing(text)]
    own = 2 < len(set(present)) == len(present) > len(cells) // 2
    return own or len(set(present)) > max(MOST_UNFORCED, len(present) // 2)
