"""The baseline table: every method on the same targets at one ε, what it finds beside what it guarantees."""

from __future__ import annotations

import itertools
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core import checks
from core.baselines.method import Finding, Guarantee, Method
from core.errors import BadInput, Cancelled, UnsupportedBackbone
from core.progress import Progress, Stop
from core.study.settings import Settings
from core.study.study import Study

MOST_DRAWS = 1000
RATES = ("valid", "targeted", "spurious", "polluted", "found")


@dataclass(frozen=True, eq=False)
class Cell:
    """What one method found for one target: `seed` of snapshot and noise, `draw` of the noise from 0."""

    method: str
    seed: int
    draw: int
    finding: Finding


@dataclass(frozen=True, eq=False)
class Row:
    """One method over a population: means over targets, draws and seeds; `_std` over the means of the seeds.

    Rates in [0, 1], see `Finding`. `size`: mean over the findings that have one, in `size_currency`, None
    where none has. `spurious_polluted`: share of the spurious findings whose prediction the noise had
    changed, None without one. `milliseconds`: of one explanation, the session's own time shared among its
    targets. `std`: sample standard deviation over seeds of each rate and of `size`, 0 for one seed.
    """

    method: Method
    guarantee: Guarantee
    valid: float
    targeted: float
    spurious: float
    polluted: float
    found: float
    size: float | None
    spurious_polluted: float | None
    milliseconds: float
    draws: int
    std: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The row by the names that `privcfs compare --json` prints; ε and δ are those of the guarantee."""
        return {
            "method": self.method.name,
            "title": self.method.title,
            "placement": self.method.where.value,
            "certified": self.guarantee.certified,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "guarantee": self.guarantee.reason,
            **{name: getattr(self, name) for name in ("valid", "targeted", "size")},
            "size_currency": self.method.size_currency,
            **{name: getattr(self, name) for name in ("spurious", "polluted", "found", "spurious_polluted")},
            **{f"{name}_std": value for name, value in self.std.items()},
            "draws": self.draws,
            "milliseconds": self.milliseconds,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """The table and every cell behind it; reads private edges. `targets`: k rows, `seeds`: those that ran.

    `left_out`: methods that can't run on this backbone, or at this ε on a graph of this size, and why.
    """

    epsilon: float
    rho: float
    settings: Settings
    targets: np.ndarray
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    left_out: dict[str, str]

    def of(self, method: str, target: int | None = None) -> list[Cell]:
        """The cells of one method, in order of seed, draw and target; of one target row where it is given."""
        return [
            cell for cell in self.cells if cell.method == method and (target is None or cell.finding.target == target)
        ]


def compare(
    study: Study,
    targets: Sequence[int] | np.ndarray,
    epsilon: float,
    methods: Sequence[Method],
    *,
    rho: float = 0.5,
    draws: int = 3,
    seeds: Sequence[int] = (0, 1, 2),
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Comparison:
    """Run every method on `targets` (rows) at ε, edge level, and hold what it finds against G (owner-only).

    PrivCFS, section 4.4 and table 3. A seed draws the simulated snapshot and all noise; a real snapshot
    stays. `draws`: noise draws a seed, one for a method without any. `progress` counts explanations.
    Simulations throughout: nothing is released. Raises `BadInput`, also when no method can run, and `Cancelled`.
    """
    settings, budget, rho = settings or Settings(), checks.epsilon(epsilon), checks.rho(rho)
    checks.count(draws, "noise draws", 1, MOST_DRAWS)
    rows = np.array([checks.count(int(row), "target row", 0, study.dataset.nodes.n - 1) for row in targets])
    if not len(rows) or not len(seeds) or not len(methods):
        raise BadInput("compare: found nothing to do, expected at least one target, one seed and one method")
    left_out = _unfit(study, methods, budget, rho, settings)
    methods = [method for method in methods if method.name not in left_out]
    if not methods:
        raise BadInput(f"compare: found no method that can run here: {next(iter(left_out.values()))}")
    found: dict[str, list[Cell]] = {method.name: [] for method in methods}
    spent = dict.fromkeys(found, 0.0)
    each = {method.name: draws if method.random else 1 for method in methods}
    total, done = len(rows) * len(seeds) * sum(each.values()), 0
    for seed in seeds:
        desk = study if seed == study.seed or not study.snapshot.simulated else study.with_seed(seed)
        for method, draw in ((some, draw) for some in methods for draw in range(each[some.name])):
            start = time.perf_counter()
            for finding in _explained(method, desk, rows, budget, rho, settings, seed, draw):
                found[method.name].append(Cell(method.name, seed, draw, finding))
                done += 1
                if cancelled is not None and cancelled():
                    raise Cancelled(f"cancelled after {done} of {total}")
                if progress is not None:
                    progress(done, total)
            spent[method.name] += time.perf_counter() - start
    table = [
        _row(method, method.guarantee(budget, settings), found[method.name], each[method.name], spent[method.name])
        for method in methods
    ]
    cells = tuple(itertools.chain.from_iterable(found.values()))
    return Comparison(budget, rho, settings, rows, tuple(seeds), tuple(table), cells, left_out)


def noise(method: str, seed: int, draw: int) -> np.random.Generator:
    """The generator of one method's draw: the same whatever other methods run, so that a cell can be opened again."""
    return np.random.default_rng([checks.count(seed, "seed", 0, 2**63 - 1), draw, zlib.crc32(method.encode())])


def _unfit(study: Study, methods: Sequence[Method], epsilon: float, rho: float, settings: Settings) -> dict[str, str]:
    """Methods whose session refuses, with the reason: a session says at once what it can't do."""
    refused = {}
    for method in methods:
        try:
            method.session(study, epsilon, rho, settings, noise(method.name, 0, 0))
        except (BadInput, UnsupportedBackbone) as error:
            refused[method.name] = str(error)
    return refused


def _explained(
    method: Method, study: Study, rows: np.ndarray, epsilon: float, rho: float, settings: Settings, seed: int, draw: int
) -> Iterator[Finding]:
    explain = method.session(study, epsilon, rho, settings, noise(method.name, seed, draw))
    yield from (explain(int(row)) for row in rows)


def _row(method: Method, guarantee: Guarantee, cells: Sequence[Cell], draws: int, seconds: float) -> Row:
    by_seed: dict[int, list[Finding]] = {}
    for cell in cells:
        by_seed.setdefault(cell.seed, []).append(cell.finding)
    means = [{name: float(np.mean([getattr(f, name) for f in part])) for name in RATES} for part in by_seed.values()]
    sizes = [[f.size for f in part if f.size is not None] for part in by_seed.values()]
    size_means = [float(np.mean(part)) for part in sizes if part]
    spurious = sum(cell.finding.spurious for cell in cells)
    both = sum(cell.finding.spurious * cell.finding.polluted for cell in cells)
    return Row(
        method=method,
        guarantee=guarantee,
        **{name: float(np.mean([part[name] for part in means])) for name in RATES},
        size=float(np.mean(size_means)) if size_means else None,
        spurious_polluted=both / spurious if spurious else None,
        milliseconds=1000 * seconds / len(cells),
        draws=draws,
        std={name: _spread([part[name] for part in means]) for name in RATES} | {"size": _spread(size_means)},
    )


def _spread(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
