"""An owner's graph as a folder of delimited text files."""

from __future__ import annotations

from pathlib import Path

from core.datasets.dataset import Dataset
from core.datasets.owner import limits
from core.datasets.owner.attributes import cast_attributes, varied
from core.datasets.owner.ids import NodeIndex, plain_name
from core.datasets.owner.normalise import normalise
from core.datasets.owner.pairs import read_pairs
from core.datasets.owner.raw import RawGraph, Targets
from core.datasets.owner.refusal import first_repeat, listed, quoted, wrong
from core.datasets.owner.roles import ALIASES, Casting, Roles, plain_key
from core.datasets.owner.table import Sample, Table, read_table
from core.datasets.owner.triplets import read_triplets
from core.errors import BadInput

STEMS = ("nodes", "edges", "snapshot", "targets", "features", "classes")
ENDINGS = tuple(kind + packed for kind in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))


def load_folder(folder: Path, name: str, roles: Roles | None = None, public: bool = False) -> Dataset:
    """Return the graph in `folder`; nothing is half-loaded.

    `nodes.csv`: an id, perhaps a label (empty: unlabelled) and a split, any other column a feature.
    `edges.csv`: the two ends of each tie. Optional: `snapshot.csv`, public pairs, perhaps with an
    order (numbers or ISO dates; file order without it), that need not be edges; `targets.csv`, ids;
    `features.csv`, id, feature and perhaps value; `classes.csv`, the class names in the order of a
    model's outputs. Each may end in `.csv`, `.tsv` or `.txt`, packed or not. Which column is which
    is told from its name, or by `roles`. `public`: what an analyst has; `edges.csv` is neither needed nor
    read, and the snapshot's pairs stand for the edges. Raises `BadInput`, one line with file, line, what was
    found, what was expected and what to do, for everything else.
    """
    roles = roles or Roles()
    found, others = _files(folder)
    ties = "snapshot" if public else "edges"
    for stem, remedy in ((ties, "add it"), ("nodes", "add it, or name the edges alone to take the nodes from them")):
        if stem not in found:
            raise BadInput(f"{stem}.csv: found no such file in {str(folder)!r}, expected one; {remedy}")
    if roles.order and "snapshot" not in found:
        expected = f"one with the order column {roles.order!r}"
        raise BadInput(f"snapshot.csv: found no such file in {str(folder)!r}, expected {expected}; add it")
    table = read_table(found["nodes"], lambda sample: _nodes_header(sample, roles), limits.MOST_NODES)
    casting = Casting(table.file, table.columns, roles, table.line)
    at = _id_column(casting, table, roles)
    if not len(table):
        raise wrong(table.file, table.line, "found no node", "at least one row below the header", "add the nodes")
    known = NodeIndex(table.cells[at], table.lines, table.file)
    notes = [*table.notes, *_row_numbers(casting, table)]
    if not table.header and roles.header is None:
        notes.append(f"{table.file}: no header line; its first line is read as node {quoted(known.ids[0])}")
    attributes = cast_attributes(casting, table.cells, roles, sure="classes" in found, usual=_last_texts(table))
    edges, edge_roles, edge_notes = read_pairs(found[ties], roles, known, snapshot=public)
    snapshot, pair_roles, pair_notes = (
        read_pairs(found["snapshot"], roles, known, snapshot=True) if "snapshot" in found else (None, [], [])
    )
    triplets, entry_roles, entry_notes = (
        read_triplets(found["features"], roles, known) if "features" in found else (None, [], [])
    )
    raw = RawGraph(
        file=table.file,
        edges=edges,
        ids=table.cells[at],
        lines=table.lines,
        columns=attributes.columns,
        triplets=triplets,
        labels=attributes.labels,
        classes=_classes(found["classes"]) if "classes" in found else None,
        split=attributes.split,
        snapshot=snapshot,
        targets=_targets(found["targets"]) if "targets" in found else None,
        roles=[*casting.roles, *edge_roles, *pair_roles, *entry_roles],
        notes=[*notes, *attributes.notes, *edge_notes, *pair_notes, *entry_notes, *others],
    )
    return normalise(raw, name, folder)


def _last_texts(table: Table) -> int | None:
    """Return the last column of a table without a header if it holds texts that repeat, as labels do."""
    cells = table.cells[-1]
    texts = not varied(cells) and not any(map(_is_number, cells))
    return len(table.cells) - 1 if texts and not table.header else None


def _files(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the files by what they hold, and a note on those that are left unread."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise BadInput(f"folder {str(folder)!r}: can't be read ({error.strerror}); mend its permissions") from None
    found: dict[str, Path] = {}
    others = []
    for path in paths:
        stem, dot, rest = path.name.lower().partition(".")
        if stem not in STEMS or dot + rest not in ENDINGS:
            others.append(path.name)
        elif stem in found:
            names = f"found both {found[stem].name} and {path.name}"
            raise wrong(str(folder.name), None, names, "one of them", "remove the other")
        else:
            found[stem] = path
    return found, [f"left unread: {listed(others)}"] if others else []


def _nodes_header(sample: Sample, roles: Roles) -> bool:
    """Tell a line of column names from a node: by given names, by usual names, by its holding no number."""
    if roles.header is not None:
        return roles.header
    first = sample[0][1]
    given = {name.casefold() for name in (roles.id, roles.label, roles.split, *(roles.features or ())) if name}
    if given & {cell.casefold() for cell in first} or _named(sample, (*ALIASES["id"], *ALIASES["label"])):
        return True
    return not any(_is_number(cell) for cell in first)


def _named(sample: Sample, names: tuple[str, ...]) -> bool:
    return not {plain_key(cell) for cell in sample[0][1]}.isdisjoint(names)


def _id_column(casting: Casting, table: Table, roles: Roles) -> int:
    """Cast the id: as given, by name, or the first column if it has a name of its own and no cell twice."""
    place = casting.find("id", roles.id)
    if place is None and not (casting.columns and plain_key(casting.columns[0]) in ALIASES["label"]):
        cells = table.cells[0]
        if len(set(cells)) == len(cells):
            place = 0
            casting.cast("id", place)
    if place is None:
        raise casting.wrong("a column 'id'", "name it in the first line, or say which column it is")
    return place


def _row_numbers(casting: Casting, table: Table) -> list[str]:
    """Take out a first column without a name that only numbers the rows, as pandas and R write it."""
    cells = table.cells[0]
    if 0 in casting.free and casting.columns[0] == "column 1" and len(cells) > 1:
        for start in (0, 1):
            if cells == [str(row) for row in range(start, len(cells) + start)]:
                casting.drop(0)
                return [f"{table.file}: its first column only numbers the rows: left out"]
    return []


def _targets(path: Path) -> Targets:
    names = (*ALIASES["id"], "target", "targets", "targetid")
    table = read_table(path, lambda sample: _named(sample, names), limits.MOST_NODES, spaces=False)
    keys = [plain_key(column) for column in table.columns]
    place = next((keys.index(name) for name in names if name in keys), None)
    if place is None:
        if len(keys) > 1:
            raise Casting(table.file, table.columns, Roles(), table.line).wrong("a column 'id'", "name it in line 1")
        place = 0
    if not len(table):
        remedy = "add ids or remove the file"
        raise wrong(table.file, table.line, "found no target", "at least one row below the header", remedy)
    return Targets(table.file, table.cells[place], table.lines)


def _classes(path: Path) -> list[str]:
    table = read_table(path, lambda sample: _named(sample, ALIASES["label"]), limits.MOST_NODES, spaces=False)
    names = [plain_name(text) for text in table.cells[0]]
    again = first_repeat(names)
    if again is not None:
        found = f"found class {quoted(names[again])} again"
        raise wrong(table.file, int(table.lines[again]), found, "each class once", "drop the row")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
