"""Node features from columns of text: numbers, categories (one-hot), lists, vectors, and entries listed one a line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from core.datasets.owner import limits
from core.datasets.owner.ids import NodeIndex, natural, plain_name
from core.datasets.owner.raw import Column, Kind, Matrix, Triplets
from core.datasets.owner.refusal import check_count, quoted, wrong
from core.errors import BadInput

MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "null"})
TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)
MOST_UNFORCED = 20


@dataclass(frozen=True)
class Block:
    """Some features: N x k float64 by columns, k names, the number of missing cells, notes for the report."""

    x: sparse.csc_array
    names: tuple[str, ...]
    missing: int = 0
    notes: tuple[str, ...] = ()


def is_missing(cell: str) -> bool:
    """Say whether a cell holds nothing, or what tables write for nothing: `NaN`, `NA`, `null`."""
    return cell.casefold() in MISSING


def encoded(column: Column, file: str, lines: Sequence[int] | None) -> Block:
    """Return the features of one column, by its kind or what its cells look like.

    Numbers, `true/false` and `yes/no` become one feature, 0 where missing; other texts one feature
    a value, `column=value`; cells with `|` or `;` and JSON lists one feature an element; JSON lists
    of numbers, equally long and not whole, one feature a place, `column[place]`. A text column with
    a different value on most nodes is no feature: none come of it, with a note. Raises `BadInput`
    with file, line and column for a number that isn't finite and for a text among numbers.
    """
    cells = column.cells
    values, texts, odd, missing = _parsed(cells, column.kind is not Kind.TEXT)
    found = [cells[place] for place in texts]
    if missing == len(cells):
        return _nothing(column, f"{file}: column {quoted(column.name)} is empty: no feature")
    if column.kind is Kind.CATEGORICAL:
        return _one_hot(column, file, missing, forced=True)
    if column.kind is Kind.NUMERIC or not texts:
        if odd or texts:
            raise _bad_cell(column, file, lines, min(odd + texts))
        return _single(column, values, missing)
    only_texts = missing + len(texts) == len(cells)
    if only_texts and all(text.casefold() in TRUTH for text in found):
        values[texts] = [TRUTH[text.casefold()] for text in found]
        return _single(column, values, missing)
    if only_texts and all(text[0] == "[" for text in found):
        return _json_lists(column, file, lines, missing)
    if any("|" in text or ";" in text for text in found):
        return _lists(column, file, missing)
    if column.kind is None and not odd and _decimal_commas(found):
        values[texts] = [float(text.replace(",", ".")) for text in found]
        return _single(column, values, missing, f"{file}: decimal commas in column {quoted(column.name)}")
    if len(texts) <= (len(cells) - missing) // 2:
        raise _bad_cell(column, file, lines, min(odd + texts))
    return _one_hot(column, file, missing, forced=False)


def from_matrix(matrix: Matrix, file: str) -> Block:
    """Return features that came as numbers, 0 where NaN; raises `BadInput` for infinite ones."""
    x = sparse.csc_array(matrix.x, dtype=np.float64, copy=True)
    gaps = np.isnan(x.data)
    x.data[gaps] = 0.0
    if not np.isfinite(x.data).all():
        raise wrong(file, None, "found an infinite feature", "finite numbers", "replace it")
    return Block(x, tuple(map(plain_name, matrix.names)), int(gaps.sum()))


def from_triplets(listed: Triplets, index: NodeIndex) -> Block:
    """Return the features of a list of entries, in order of their first appearance.

    Raises `BadInput` for an unknown node, and for an entry listed twice with values.
    """
    rows = np.empty(len(listed.nodes), dtype=np.int64)
    for place, text in enumerate(listed.nodes):
        row = index.find(text)
        if row is None:
            expected = f"one of {len(index)} node ids such as {quoted(index.ids[0])}"
            remedy = "add it to the nodes or drop the row"
            raise wrong(listed.file, listed.lines[place], f"found node {quoted(text)}", expected, remedy)
        rows[place] = row
    at = rows[listed.rows]
    keys = at * np.int64(max(len(listed.features), 1)) + listed.columns
    _, first = np.unique(keys, return_index=True)
    notes: tuple[str, ...] = ()
    if len(first) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first)
        if listed.values is not None:
            line, feature = int(listed.where[again[0]]), listed.features[listed.columns[again[0]]]
            found = f"found feature {quoted(feature)} of node {quoted(index.ids[at[again[0]]])} again"
            raise wrong(listed.file, line, found, "each entry once", "merge the rows")
        notes = (f"{listed.file}: {len(again):,} repeated entries dropped",)
    values = np.ones(len(first)) if listed.values is None else listed.values[first]
    shape = (len(index), len(listed.features))
    x = sparse.coo_array((values, (at[first], listed.columns[first])), shape=shape).tocsc()
    return Block(x, tuple(listed.features), 0, notes)


def _parsed(cells: Sequence[str], numbers: bool) -> tuple[np.ndarray, list[int], list[int], int]:
    """Return N values, 0 without a number, the places of texts and of infinite numbers, and how many are missing."""
    values = [0.0] * len(cells)
    texts, odd = [], []
    missing = 0
    for place, cell in enumerate(cells):
        try:
            value = float(cell) if numbers and "_" not in cell else None
        except ValueError:
            value = None
        if value is None and not is_missing(cell):
            texts.append(place)
        elif value is None or value != value:
            missing += 1
        elif math.isinf(value):
            odd.append(place)
        else:
            values[place] = value
    return np.array(values), texts, odd, missing


def _decimal_commas(texts: Sequence[str]) -> bool:
    """Say whether all texts are numbers with a decimal comma, and not all may be thousands."""
    return all(map(DECIMAL_COMMA.fullmatch, texts)) and not all(map(THOUSANDS.fullmatch, texts))


def _bad_cell(column: Column, file: str, lines: Sequence[int] | None, place: int) -> BadInput:
    found = f"found {quoted(column.cells[place])} in feature column {quoted(column.name)}"
    remedy = "write a number, or nothing where it is missing, or name the column as categorical"
    return wrong(file, int(lines[place]) if lines is not None else None, found, "a finite number", remedy)


def _single(column: Column, values: np.ndarray, missing: int, *notes: str) -> Block:
    return Block(sparse.csc_array(values[:, None]), (column.name,), missing, notes)


def _nothing(column: Column, note: str) -> Block:
    return Block(sparse.csc_array((len(column.cells), 0)), (), 0, (note,))


def _one_hot(column: Column, file: str, missing: int, forced: bool) -> Block:
    present = [plain_name(cell) for cell in column.cells if not is_missing(cell)]
    values = natural(present)
    if not forced and len(values) > max(MOST_UNFORCED, len(present) // 2):
        note = f"{file}: column {quoted(column.name)} has {len(values):,} different texts: no feature"
        return _nothing(column, note)
    return _members(column, file, [[] if is_missing(cell) else [plain_name(cell)] for cell in column.cells], missing)


def _lists(column: Column, file: str, missing: int) -> Block:
    sign = "|" if any("|" in cell for cell in column.cells) else ";"
    parts = [[] if is_missing(cell) else cell.split(sign) for cell in column.cells]
    return _members(column, file, [[plain_name(part) for part in row if part.strip()] for row in parts], missing)


def _json_lists(column: Column, file: str, lines: Sequence[int] | None, missing: int) -> Block:
    rows: list[list[object]] = []
    for place, cell in enumerate(column.cells):
        try:
            row = [] if is_missing(cell) else json.loads(cell)
            flat = isinstance(row, list) and not any(isinstance(part, list | dict) for part in row)
            if flat:
                [float(part) for part in row if isinstance(part, int)]  # a whole number may be too large for one
        except (ValueError, RecursionError, OverflowError):
            flat = False
        if not flat:
            found = f"found {quoted(cell)} in column {quoted(column.name)}"
            line = int(lines[place]) if lines is not None else None
            raise wrong(file, line, found, 'a JSON list such as ["a", "b"]', "mend its quotes and commas")
        rows.append(row)
    given = [row for row, cell in zip(rows, column.cells, strict=True) if not is_missing(cell)]
    parts = [part for row in given for part in row]
    if parts and len({len(row) for row in given}) == 1 and _are_values(parts):
        width = len(given[0])
        x = np.array([row or [0.0] * width for row in rows], dtype=np.float64)
        block = from_matrix(Matrix(sparse.csr_array(x), [f"{column.name}[{place}]" for place in range(width)]), file)
        return replace(block, missing=block.missing + missing)
    return _members(column, file, [[plain_name(_spelt(part)) for part in row] for row in rows], missing)


def _are_values(parts: list[object]) -> bool:
    """Say whether equally long lists hold values: zeros and ones, or numbers that aren't all whole."""
    numbers = [part for part in parts if isinstance(part, int | float) and not isinstance(part, bool)]
    return len(numbers) == len(parts) and (set(numbers) <= {0, 1} or any(number % 1 for number in numbers))


def _spelt(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part)


def _members(column: Column, file: str, rows: list[list[str]], missing: int) -> Block:
    """One feature a distinct text: 1 where the node's row holds it."""
    values = natural(text for row in rows for text in row)
    check_count(file, f"different values in column {quoted(column.name)}", len(values), limits.MOST_FEATURES)
    places = {value: place for place, value in enumerate(values)}
    held = [sorted({places[text] for text in row}) for row in rows]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in held])])
    columns = np.array([at for row in held for at in row], dtype=np.int64)
    x = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), len(values)))
    return Block(x.tocsc(), tuple(f"{column.name}={value}" for value in values), missing)
