"""Reading files of node pairs: ties, or a snapshot's pairs in order of disclosure."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.datasets.owner import limits
from core.datasets.owner.delimited import delimited
from core.datasets.owner.ids import NodeIndex
from core.datasets.owner.ordering import disclosure_order
from core.datasets.owner.raw import Pairs
from core.datasets.owner.refusal import listed, quoted, too_many
from core.datasets.owner.roles import Casting, Roles, ends_by_name
from core.datasets.owner.table import Sample, comment_note, split_header
from core.datasets.report import Role


def read_pairs(
    path: Path, roles: Roles, known: NodeIndex | None, snapshot: bool = False
) -> tuple[Pairs, list[Role], list[str]]:
    """Return the pairs of a delimited file, the roles of its columns and notes on it.

    `known`: the ids of the node table, if there is one; they help to tell a header from a pair.
    `snapshot`: order the pairs by the order column, and guess where `roles` name what isn't there.
    Other columns are left out, with a note. Raises `BadInput` as `delimited` does, for a file
    without two ends and for too many pairs.
    """
    with delimited(path) as rows:
        header = _has_header(rows.sample, roles, known)
        columns, body = split_header(rows, header)
        casting = Casting(rows.file, columns, roles, rows.sample[0][0])
        if snapshot:
            roles = _present(roles, columns)
        source, target = _ends(casting, roles)
        order = casting.find("order", roles.order) if snapshot and (header or roles.order) else None
        weight = casting.guess("weight")
        names: dict[str, int] = {}
        lines, ends, keys, key_lines = array("q"), array("q"), [], array("q")
        zeros = 0
        for line, cells in body:
            for place in (source, target):
                text = cells[place]
                at = names.get(text)
                if at is None:
                    at = names[text] = len(names)
                    lines.append(line)
                ends.append(at)
            if order is not None:
                keys.append(cells[order])
                key_lines.append(line)
            if weight is not None and _is_zero(cells[weight]):
                zeros += 1
            if len(ends) > 2 * limits.MOST_EDGES:
                raise too_many(rows.file, line, "pairs", limits.MOST_EDGES)
            if known is None and len(names) > limits.MOST_NODES:
                raise too_many(rows.file, line, "nodes", limits.MOST_NODES)
        notes = [*comment_note(rows), *_notes(casting, weight, zeros)]
        if not header and roles.header is None and not _numeric(rows.sample[0][1][:2]):
            first = listed(rows.sample[0][1][:2])
            notes.append(f"{rows.file}: no header line; its first line {first} is read as a pair")
        places = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2) if ends else np.empty((0, 2), dtype=np.int64)
        if order is not None:
            places = places[disclosure_order(rows.file, columns[order], keys, key_lines)]
        return Pairs(rows.file, list(names), lines, places), casting.roles, notes


def _ends(casting: Casting, roles: Roles) -> tuple[int, int]:
    if len(casting.columns) < 2:
        raise casting.wrong("two, 'source' and 'target'", "write both ends of a tie on each line")
    named = ends_by_name(casting.columns)
    if named is None and (len(casting.columns) == 2 or casting.columns[0] == "column 1"):
        named = (0, 1)
    given = {part: name for part, name in (("source", roles.source), ("target", roles.target)) if name}
    places = {part: casting.given(part, name) for part, name in given.items()}
    for part in ("source", "target"):
        if part not in places:
            if named is None:
                raise casting.wrong(
                    "columns 'source' and 'target'", "rename them, or say which columns are source and target"
                )
            place = named[part == "target"]
            places[part] = named[part == "source"] if place in places.values() else place
            casting.cast(part, places[part])
    return places["source"], places["target"]


def _has_header(sample: Sample, roles: Roles, known: NodeIndex | None) -> bool:
    """Tell a line of column names from a pair: by given names, by known ids, by usual names, by its being no number."""
    if roles.header is not None:
        return roles.header
    first, rest = sample[0][1], [cells for _, cells in sample[1:]]
    given = {name.casefold() for name in (roles.source, roles.target, roles.order) if name}
    if given & {cell.casefold() for cell in first}:
        return True
    if known is not None and all(known.find(cell) is not None for cell in first[:2]):
        return False
    named = ends_by_name(first)
    later = {cell for cells in rest for cell in cells}
    if named and not later & {first[place] for place in named}:
        return True
    if known is not None:
        strange = all(known.find(cell) is None for cell in first)
        return strange and bool(rest) and sum(known.find(cell) is not None for cell in rest[0]) > 1
    return not _numeric(first[:2]) and bool(rest) and all(_numeric(cells[:2]) for cells in rest)


def _present(roles: Roles, columns: tuple[str, ...]) -> Roles:
    """Leave out given ends that aren't here: they are the names of the edges' columns."""
    lowered = {column.casefold() for column in columns}
    source, target = (name if name and name.casefold() in lowered else None for name in (roles.source, roles.target))
    return replace(roles, source=source, target=target)


def _notes(casting: Casting, weight: int | None, zeros: int) -> list[str]:
    notes = []
    if weight is not None:
        notes.append(f"{casting.file}: weights in column {quoted(casting.columns[weight])} ignored, a tie counts once")
    if zeros:
        notes.append(f"{casting.file}: {zeros:,} rows of weight 0 kept as ties; drop them if they mean none")
    if casting.free:
        notes.append(f"{casting.file}: left out {listed([casting.columns[place] for place in casting.free])}")
    return notes


def _is_zero(text: str) -> bool:
    return _numeric([text]) and float(text) == 0.0


def _numeric(cells: Sequence[str]) -> bool:
    for cell in cells:
        try:
            float(cell)
        except ValueError:
            return False
    return True
