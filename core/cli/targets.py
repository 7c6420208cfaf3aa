"""The options that say which nodes are asked about, the same for every subcommand."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from core.datasets.dataset import Dataset
from core.errors import BadInput
from core.study import populations
from core.study.populations import Population
from core.study.study import Study

Decorator = Callable[[Any], Any]


@dataclass(frozen=True)
class Asked:
    """What the owner named: one node, a population, or a file of ids; a random population unless she did."""

    target: str | None
    population: str | None
    size: int | None
    file: Path | None

    def __post_init__(self) -> None:
        given = {"--target": self.target, "--population": self.population, "--targets": self.file}
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise BadInput(f"targets: found {' and '.join(named)}, expected one of them")
        if self.size is not None and (self.target is not None or self.file is not None):
            raise BadInput(f"size: found --size beside {named[0]}, expected it with a population only")

    @property
    def single(self) -> bool:
        """Whether one node was named."""
        return self.target is not None

    def rows(self, study: Study) -> tuple[np.ndarray, str]:
        """Rows, and what to call them; raises `BadInput`. How an id was read goes to stderr where in doubt."""
        if self.target is not None:
            row, note = study.dataset.resolve(self.target)
            _noted(note)
            return np.array([row]), f"node {study.dataset.nodes.ids[row]}"
        if self.file is not None:
            return listed_rows(study.dataset, self.file), Population.LISTED.value
        kind = Population.parse(self.population or Population.RANDOM.value)
        return populations.population(study, kind, self.size), kind.value


def targets(single: bool = False) -> Decorator:
    """`--population`, `--size`, `--targets` and, with `single`, `--target`, handed on as one `asked: Asked`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*, population: str | None, size: int | None, targets_file: Path | None, **values: Any) -> Any:
            return command(asked=Asked(values.pop("target", None), population, size, targets_file), **values)

        options = [
            click.option(
                "--targets", "targets_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                help="Node ids to ask about, one a line; #12 is row 12.",
            ),
            click.option(
                "--size", type=click.IntRange(min=1), help="Targets in the population, if not its usual number."
            ),
            click.option(
                "--population", type=click.Choice([kind.value for kind in Population]),
                help="Which targets: random unless given.",
            ),
        ]  # fmt: skip
        if single:
            options.append(click.option("--target", metavar="ID", help="One node; #12 is row 12."))
        return functools.reduce(lambda decorated, option: option(decorated), options, run)

    return decorate


def listed_rows(dataset: Dataset, path: Path) -> np.ndarray:
    """Rows of the nodes that a file names, one a line, in its order; empty lines and a heading "id" don't count.

    Raises `BadInput` with the line for an id that isn't there or stands there twice.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"targets {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"targets {path}: found bytes that are no UTF-8, expected a text of ids, one a line") from None
    first: dict[int, int] = {}
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or (number == 1 and line == "id" and line not in dataset.nodes.ids):
            continue
        try:
            row, note = dataset.resolve(line)
        except BadInput as error:
            raise BadInput(f"targets {path}, line {number}: {str(error).removeprefix('target: ')}") from None
        if row in first:
            raise BadInput(
                f"targets {path}, line {number}: found node {dataset.nodes.ids[row]!r} again, it stands in line "
                f"{first[row]}; drop one of them"
            )
        _noted(note)
        first[row] = number
    if not first:
        raise BadInput(f"targets {path}: found no id, expected at least one, one a line")
    return np.array(list(first), dtype=np.int64)


def _noted(note: str | None) -> None:
    if note:
        click.echo(f"privcfs: note: {note}", err=True)
