"""Draws of a release on neighbouring inputs: each with a seed of its own, in parallel, kept as they come.

A selection and an evaluation sample are different types of sample from different seeds, so that no draw can
serve both. Only what the witnesses say of an output is kept, n x W float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from core import checks
from core.audit.claims import Pair
from core.audit.identity import digest, identity
from core.audit.workers import Workers
from core.errors import BadInput
from core.progress import Progress, Stop

if TYPE_CHECKING:
    from core.study.pricestore import PriceStore

Release = Callable[[Any, np.random.Generator], Any]

BATCH = 500  # draws of a release that makes many at once, from one seed
MOST_DRAWS = 10_000_000


class Role(IntEnum):
    """What a sample may be used for; part of the seed of each of its draws."""

    SELECTION = 0
    EVALUATION = 1


@dataclass(frozen=True)
class Witness:
    """A number that tells outputs apart: a plain function of the output, which may return NaN where undefined.

    `finite`: the numbers are names of outcomes and have no order; the event is then a set of them.
    """

    name: str
    value: Callable[[Any], float]
    finite: bool = False


@dataclass(frozen=True, eq=False)
class Sample:
    """What the witnesses said of the draws on either side of a pair: two arrays of n x W float64."""

    role: Role
    one: np.ndarray
    other: np.ndarray


@dataclass(frozen=True)
class Stretch:
    """Units `start` to `stop` of one side of a pair, the piece of work that a process gets at a time."""

    pair: int
    side: int
    role: Role
    start: int
    stop: int

    def part(self, start: int, stop: int) -> Stretch:
        """Some of its units."""
        return replace(self, start=start, stop=stop)


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines a draw but its place. A unit is one draw, or `BATCH` of a release with `release_many`.

    Draws must be independent, also those of one batch: the bounds are binomial.

    Output k of side s of a pair comes from `SeedSequence(seed, spawn_key=(pair, role, s, unit))`, whatever the
    number of processes, and whether the run was stopped in between.
    """

    release: Release
    pairs: tuple[Pair, ...]
    witnesses: tuple[Witness, ...]
    seed: int

    @property
    def unit(self) -> int:
        """Draws of a unit."""
        return BATCH if hasattr(self.release, "release_many") else 1

    def run(self, stretch: Stretch) -> np.ndarray:
        """Witness values of the draws of a stretch, units x draws x W. Raises what the release raises."""
        pair = self.pairs[stretch.pair]
        data = (pair.one, pair.other)[stretch.side]
        name = int(digest(pair.name)[:12], 16)
        found = np.empty((stretch.stop - stretch.start, self.unit, len(self.witnesses)))
        for row, unit in enumerate(range(stretch.start, stretch.stop)):
            key = (name, int(stretch.role), stretch.side, unit)
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))
            if self.unit == 1:
                outputs = [self.release(data, rng)]
            else:
                outputs = self.release.release_many(data, self.unit, rng)  # type: ignore[attr-defined]
            found[row] = self.measured(outputs)
        return found

    def measured(self, outputs: Sequence[Any]) -> np.ndarray:
        """What each witness says of each output, n x W."""
        if len(outputs) != self.unit:
            raise BadInput(f"release: found {len(outputs)} outputs for {self.unit} draws, expected one a draw")
        values = np.empty((len(outputs), len(self.witnesses)))
        for column, witness in enumerate(self.witnesses):
            many = getattr(witness.value, "many", None)
            try:
                values[:, column] = many(outputs) if many else [witness.value(output) for output in outputs]
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
                raise BadInput(
                    f"witness {witness.name}: found an output of type {type(outputs[0]).__name__} that it can't read "
                    f"({type(error).__name__}: {error}); take a witness that fits, and return NaN where it is undefined"
                ) from error
        return values

    def label(self, pair: int, side: int, role: Role) -> str:
        """Everything that kept values depend on but the unit, as a text."""
        data = (self.pairs[pair].one, self.pairs[pair].other)[side]
        parts = (
            identity(self.release),
            self.pairs[pair].name,
            digest(data),
            role.name,
            str(side),
            str(self.seed),
            str(self.unit),
            *(f"{witness.name}={identity(witness.value)}" for witness in self.witnesses),
        )
        return digest("\n".join(parts))


class Sampling:
    """Draws of one release on some pairs, in this process or in `workers`; a context that ends what it started.

    `store`: a file that keeps what was drawn; the same job goes on from there. It is taken to be of the same
    version of the mechanism as long as the source of the function named stays the same. Raises `BadInput`.
    """

    def __init__(
        self,
        release: Release,
        pairs: Sequence[Pair],
        witnesses: Sequence[Witness],
        seed: int,
        workers: int = 1,
        store: Path | None = None,
    ) -> None:
        for what, names in (("pairs", [pair.name for pair in pairs]), ("witnesses", [w.name for w in witnesses])):
            if not names or len(set(names)) < len(names):
                raise BadInput(f"{what}: found {len(names)} with {len(set(names))} names, expected distinct ones")
        self.job = Job(release, tuple(pairs), tuple(witnesses), checks.count(seed, "seed", 0, 2**63 - 1))
        self._workers = Workers(self.job, checks.count(workers, "workers", 1, 256))
        self._store = None if store is None else _opened(store)
        self._labels: dict[tuple[int, int, Role], str] = {}

    def __enter__(self) -> Sampling:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes and the file."""
        self._workers.close()
        if self._store is not None:
            self._store.__exit__(None, None, None)

    def take(
        self,
        role: Role,
        start: int,
        stop: int,
        pairs: Sequence[int] | None = None,
        progress: Progress | None = None,
        cancelled: Stop | None = None,
    ) -> dict[int, Sample]:
        """Draws `start` to `stop` of either side of `pairs` (their places; all unless given): a sample each.

        Raises `BadInput` for an output that a witness can't read, whatever the release raises, and `Cancelled`
        on request; what was drawn by then is kept in the store.
        """
        checks.count(stop, "draws", 0, MOST_DRAWS)
        checks.count(start, "first draw", 0, stop)
        unit, width = self.job.unit, len(self.job.witnesses)
        first, last = start // unit, -(-stop // unit)
        wanted = range(len(self.job.pairs)) if pairs is None else pairs
        places = [(pair, side) for pair in wanted for side in (0, 1)]
        found = {place: np.empty((last - first, unit, width)) for place in places}
        total = len(places) * (last - first)
        done = 0
        missing: list[Stretch] = []
        for place in places:
            kept = self._kept(*place, role, first, last)
            for k, values in kept.items():
                found[place][k - first] = values
            done += len(kept)
            missing += _gaps(*place, role, [k for k in range(first, last) if k not in kept])
        if progress is not None:
            progress(done * unit, total * unit)
        for stretch, values in self._workers.run(missing, cancelled):
            found[stretch.pair, stretch.side][stretch.start - first : stretch.stop - first] = values
            self._keep(stretch, values)
            done += stretch.stop - stretch.start
            if progress is not None:
                progress(done * unit, total * unit)
        cut = slice(start - first * unit, stop - first * unit)
        sides = {place: values.reshape(-1, width)[cut] for place, values in found.items()}
        return {pair: Sample(role, sides[pair, 0], sides[pair, 1]) for pair in wanted}

    def _kept(self, pair: int, side: int, role: Role, first: int, last: int) -> dict[int, np.ndarray]:
        if self._store is None:
            return {}
        found = self._store.get(self._label(pair, side, role), range(first, last))
        return {k: values.reshape(self.job.unit, -1) for k, values in found.items()}

    def _keep(self, stretch: Stretch, values: np.ndarray) -> None:
        if self._store is not None:
            label = self._label(stretch.pair, stretch.side, stretch.role)
            self._store.put((label, stretch.start + k, part.ravel()) for k, part in enumerate(values))

    def _label(self, pair: int, side: int, role: Role) -> str:
        place = (pair, side, role)
        if place not in self._labels:
            self._labels[place] = self.job.label(*place)
        return self._labels[place]


def _gaps(pair: int, side: int, role: Role, units: Sequence[int]) -> Iterator[Stretch]:
    """The units as stretches without holes."""
    start = 0
    for k in range(1, len(units) + 1):
        if k == len(units) or units[k] != units[k - 1] + 1:
            yield Stretch(pair, side, role, units[start], units[k - 1] + 1)
            start = k


def _opened(path: Path) -> PriceStore:
    from core.study.pricestore import PriceStore

    return PriceStore(path)
