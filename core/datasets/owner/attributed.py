"""From a graph whose nodes bear attributes, as NetworkX reads them, to a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.owner.attributes import cast_attributes
from core.datasets.owner.ids import NodeIndex, plain_name
from core.datasets.owner.normalise import normalise
from core.datasets.owner.raw import Kind, Pairs, RawGraph
from core.datasets.owner.refusal import first_repeat, listed, quoted, wrong
from core.datasets.owner.roles import Casting, Roles

PARTS = ("id", "label", "split", "features", "ignore", "categorical", "numeric")


def attributed_graph(
    path: Path,
    name: str,
    roles: Roles,
    ids: Sequence[str],
    lines: Sequence[int] | None,
    rows: Sequence[Mapping[str, object]],
    edges: Pairs,
    notes: Sequence[str],
    called: str | None = None,
) -> Dataset:
    """Return the data set of a graph file: `rows` are the attributes of each node, by the type of their values.

    Texts are categories or lists, numbers are numeric, nested values are left out. The attribute
    that `roles.id` names, or else `called`, becomes the id. Raises `BadInput` for ids that are
    empty or repeated, and for what `normalise` refuses.
    """
    roles.only(PARTS, path.name, "the format says itself what its ends are")
    names = list(dict.fromkeys(key for row in rows for key in row))
    nested = [key for key in names if any(isinstance(row.get(key), list | tuple | dict) for row in rows)]
    names = [key for key in names if key not in nested]
    clean = [plain_name(key) for key in names]
    again = first_repeat(clean)
    if again is not None:
        raise wrong(path.name, None, f"found attribute {quoted(clean[again])} twice", "each once", "rename one of them")
    cells = [[_text(row.get(key)) for row in rows] for key in names]
    kinds = [_kind([row[key] for row in rows if row.get(key) is not None]) for key in names]
    casting = Casting(path.name, clean, roles, None)
    index = NodeIndex(ids, lines, path.name)
    if roles.id:
        place = casting.given("id", roles.id)
    elif roles.id is None and called in clean:
        place = clean.index(called)
        casting.cast("id", place)
    else:
        place = -1
    if place >= 0:
        chosen = dict(zip(index.ids, cells[place], strict=True))
        spelt = (index.find(text) for text in edges.names)
        ends = [text if row is None else chosen[index.ids[row]] for row, text in zip(spelt, edges.names, strict=True)]
        ids, edges = cells[place], Pairs(edges.file, ends, edges.lines, edges.ends)
    attributes = cast_attributes(casting, cells, roles, kinds)
    left = [f"{path.name}: nested attributes {listed(nested)} left out"] if nested else []
    raw = RawGraph(
        file=path.name,
        edges=edges,
        ids=ids,
        lines=lines,
        columns=attributes.columns,
        labels=attributes.labels,
        split=attributes.split,
        roles=casting.roles,
        notes=[*notes, *attributes.notes, *left],
    )
    return normalise(raw, name, path)


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _kind(values: Sequence[object]) -> Kind | None:
    if all(isinstance(value, bool) for value in values):
        return None
    return Kind.TEXT if any(isinstance(value, str) for value in values) else Kind.NUMERIC
