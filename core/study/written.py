"""Frontier tables read back to be shown: checked, side by side, and without any graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from core.errors import BadInput
from core.prior.prior import PriorKind
from core.study.tables import read_made, read_table
from core.universe import Arm

CELL = ["dataset", "population", "arm", "prior", "rho", "epsilon"]
RATES = ["ceiling", "valid", "public_only", "collision"]
SPREADS = ["ceiling_std", "valid_std", "size"]
COUNTS = ["seeds", "targets"]
COLUMNS = [*CELL, "mechanism", "sensitivity", *RATES, *SPREADS, *COUNTS]
OF_DATA = ["dataset_sha256", "backbone_sha256", "snapshot", "limits", "utility_weights", "soft", "size_penalty"]
OF_ROWS = ["mechanism", "sensitivity", "seeds", "targets"]  # one value for each population


@dataclass(frozen=True, eq=False)
class Written:
    """One file of `privcfs frontier`: its rows, and what its header says it was made from and with."""

    path: Path
    rows: pd.DataFrame
    made: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Frontiers:
    """Frontiers that may stand side by side (owner-only figures, computed before and elsewhere).

    `rows`: those of all files, in the columns of `core.study.frontier`. Raises `BadInput` for no file, for
    two files that hold one cell, and for parameters that differ within one data set or population.
    """

    files: tuple[Written, ...]

    def __post_init__(self) -> None:
        if not self.files:
            raise BadInput("tables: found no file to show, expected at least one that privcfs frontier wrote")
        for place, file in enumerate(self.files):
            for other in self.files[:place]:
                _check_together(other, file)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of all files."""
        return pd.concat([file.rows for file in self.files], ignore_index=True)

    def of(self, dataset: str, population: str) -> pd.DataFrame:
        """The rows of one population."""
        rows = self.rows
        return rows[(rows["dataset"] == dataset) & (rows["population"] == population)]


def read_frontiers(paths: Sequence[Path]) -> Frontiers:
    """Read files of `privcfs frontier`; raises `BadInput`, one line that names the file and what is amiss."""
    return Frontiers(tuple(read_written(path) for path in dict.fromkeys(paths)))


def read_written(path: Path) -> Written:
    """Read one file of `privcfs frontier`; raises `BadInput` for any other."""
    made = read_made(path)
    rows = read_table(path)
    if missing := [name for name in COLUMNS if name not in rows.columns]:
        raise BadInput(f"table {path}: found no column {', '.join(missing)}; expected a file of privcfs frontier")
    if rows.empty:
        raise BadInput(f"table {path}: found no row; write it anew with privcfs frontier")
    texts, figures = ["dataset", "population"], ["rho", "epsilon", *RATES, *SPREADS, *COUNTS]
    rows = rows.astype(dict.fromkeys(texts, str))
    for name in figures:
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
        allowed = rows[name] >= 0
        if name in RATES or name == "rho":
            allowed &= rows[name] <= 1 + 1e-9
        if name == "public_only":
            allowed |= rows[name].isna()  # not asked for
        if name in ("epsilon", *COUNTS):
            allowed &= rows[name] > 0
        if not allowed.all():
            wrong = read_table(path)[name][~allowed].iloc[0]
            raise BadInput(f"table {path}: found {name} {wrong}, out of its range; write it anew")
    for name, known in (("arm", Arm), ("prior", PriorKind)):
        for value in rows[name].unique():
            try:
                known.parse(value)
            except BadInput as error:
                raise BadInput(f"table {path}: {error}") from None
    if set(rows["dataset"]) != {made["dataset"]}:
        found = ", ".join(sorted(set(rows["dataset"])))
        raise BadInput(f"table {path}: found rows of {found} under a header of {made['dataset']}; write it anew")
    if rows.duplicated(CELL).any():
        raise BadInput(f"table {path}: found two rows of {_named(rows[rows.duplicated(CELL)].iloc[0])}; write it anew")
    for _, own in rows.groupby(["dataset", "population"]):
        for name in OF_ROWS:
            if own[name].nunique() > 1:
                raise BadInput(f"table {path}: found several {name} in one population; write it anew")
    return Written(path, rows, made)


def _check_together(one: Written, other: Written) -> None:
    if one.made["dataset"] != other.made["dataset"]:
        return
    for name in OF_DATA:
        found = [file.made.get(name) for file in (one, other)]
        if found[0] != found[1]:
            _refuse(one, other, name, found)
    for population in set(one.rows["population"]) & set(other.rows["population"]):
        mine, theirs = (file.rows[file.rows["population"] == population] for file in (one, other))
        for name in OF_ROWS:
            if mine[name].iloc[0] != theirs[name].iloc[0]:
                _refuse(one, other, name, [mine[name].iloc[0], theirs[name].iloc[0]])
        for name in ("seeds", "targets_sha256"):
            if one.made.get(name) != other.made.get(name):
                _refuse(one, other, name, [one.made.get(name), other.made.get(name)])
        twice = mine.merge(theirs, on=CELL)
        if not twice.empty:
            raise BadInput(
                f"tables {one.path} and {other.path}: both hold {_named(twice.iloc[0])}; show one of them at a time"
            )


def _refuse(one: Written, other: Written, name: str, found: list[Any]) -> None:
    first, second = (_short(value) for value in found)
    raise BadInput(
        f"tables {one.path} and {other.path}: found {name} {first} and {second} for {one.made['dataset']}, expected "
        "the same in both; show one of them at a time"
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:12]}…"


def _named(row: pd.Series) -> str:
    return f"{row['population']}, {row['arm']}, {row['prior']}, rho {row['rho']:g}, ε {row['epsilon']:g}"
