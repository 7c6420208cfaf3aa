"""What a placement diagnosis found: every (target, draw) cell, and the rates over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from core import checks
from core.errors import BadInput
from core.placement.explainer import Intervention
from core.placement.mechanisms import GraphRelease


class Operations(StrEnum):
    """Which pairs the explainer may delete on a noised graph.

    `NOISED`: edges of the noised graph at the target, in a seeded order: it runs unchanged on what was
    released. `PUBLIC`: the snapshot's pairs, the same operation space as explanation-level placement.
    """

    NOISED = "noised"
    PUBLIC = "public"

    @classmethod
    def parse(cls, value: str) -> Operations:
        """Return the kind of that name; raises `BadInput` with the allowed names."""
        return checks.choice(cls, value, "universe")


@dataclass(frozen=True, eq=False)
class Cell:
    """One target under one noise draw; G is the private graph, G̃ the noised one.

    `prediction`: `argmax f(G)[v]`. `noised_prediction`: `argmax f(G̃)[v]`. `noised_degree`: of the
    target in G̃. `intervention`: the best flip on G̃, None when none flips. `after`: the class on G
    after it, None without an intervention.
    """

    target: int
    draw: int
    prediction: int
    noised_prediction: int
    noised_degree: int
    intervention: Intervention | None
    after: int | None

    @property
    def polluted(self) -> bool:
        """Whether the noise alone changed the prediction that is to be explained."""
        return self.noised_prediction != self.prediction

    @property
    def found(self) -> bool:
        """Whether an intervention flips G̃."""
        return self.intervention is not None

    @property
    def valid(self) -> bool:
        """Whether the intervention found on G̃ flips G too: `f(G ⊖ S)[v] != f(G)[v]`."""
        return self.found and self.after != self.prediction

    @property
    def spurious(self) -> bool:
        """Whether an intervention was found on G̃ and does not flip G."""
        return self.found and not self.valid


@dataclass(frozen=True)
class DrawFigures:
    """One noised graph as a whole: edges in all, private edges kept, and test accuracy on it.

    `accuracy`: share of labelled test nodes, None when there are none.
    """

    edges: int
    kept: int
    accuracy: float | None

    @property
    def false_edges(self) -> int:
        """Edges of the noised graph that the private graph lacks."""
        return self.edges - self.kept


@dataclass(frozen=True)
class Rates:
    """Shares of `cells` (target, draw) pairs, each in [0, 1] (PrivCFS, section 3.2).

    `polluted`, `found`, `valid`, `spurious`: see `Cell`; the denominator is all cells, so `found =
    valid + spurious`. `spurious_polluted`: share of the spurious cells that are polluted, None when
    none is spurious.
    """

    cells: int
    polluted: float
    found: float
    valid: float
    spurious: float
    spurious_polluted: float | None


@dataclass(frozen=True)
class Explained:
    """Explanation-level placement of one target at the same ε: the exponential mechanism on G.

    `valid`: expected valid-CF, P(the released candidate flips G). `ceiling`: 1 when a candidate does.
    `empty`: P(∅). The explained prediction is that of G itself and no flip is claimed that G doesn't
    show, so `polluted` and `spurious` are 0 by construction; a release that flips nothing counts
    against `valid`.
    """

    target: int
    valid: float
    ceiling: float
    empty: float
    polluted: float = 0.0
    spurious: float = 0.0


@dataclass(frozen=True, eq=False)
class Placement:
    """Graph-level against explanation-level placement for the same targets and ε; reads private edges.

    `targets`: k rows. `cells`: draw by draw, targets in order. `draws`: one entry per noise draw.
    `explained`: one entry per target. `seed` and a draw's number give its noised graph again, see
    `noised`. `m`: number of private edges.
    """

    release: GraphRelease
    epsilon: float
    operations: Operations
    rho: float
    seed: int
    m: int
    targets: np.ndarray
    cells: tuple[Cell, ...]
    draws: tuple[DrawFigures, ...]
    explained: tuple[Explained, ...]
    clean_accuracy: float | None

    def cell(self, place: int, draw: int) -> Cell:
        """The cell of the target at `place` in `targets` under one draw."""
        return self.cells[draw * len(self.targets) + place]

    @property
    def rates(self) -> Rates:
        """Rates over all cells."""
        return rates(self.cells)

    def rates_at(self, place: int) -> Rates:
        """Rates over the draws of the target at `place` in `targets`."""
        return rates(self.cells[place :: len(self.targets)])

    @property
    def accuracy(self) -> float | None:
        """Mean accuracy of `f(G̃)` over draws; None without labelled test nodes."""
        found = [draw.accuracy for draw in self.draws if draw.accuracy is not None]
        return float(np.mean(found)) if found else None

    @property
    def kept(self) -> float | None:
        """Mean share of private edges that a noised graph keeps; None when there are no private edges."""
        return float(np.mean([draw.kept for draw in self.draws])) / self.m if self.m else None

    @property
    def false_edges(self) -> float:
        """Mean number of false edges in a noised graph."""
        return float(np.mean([draw.false_edges for draw in self.draws]))

    @property
    def explanation_valid(self) -> float:
        """Mean valid-CF of explanation-level placement over targets."""
        return float(np.mean([row.valid for row in self.explained]))

    @property
    def explanation_ceiling(self) -> float:
        """Share of targets that some candidate flips."""
        return float(np.mean([row.ceiling for row in self.explained]))

    def to_json(self) -> dict[str, Any]:
        """Figures by the names that `privcfs placement --json` prints."""
        return {
            "owner_only": True,
            "mechanism": self.release.kind.value,
            "epsilon": self.epsilon,
            **self.release.parameters(self.epsilon),
            "universe": self.operations.value,
            "rho": self.rho,
            "seed": self.seed,
            "draws": len(self.draws),
            "targets": len(self.targets),
            **asdict(self.rates),
            "accuracy": self.accuracy,
            "clean_accuracy": self.clean_accuracy,
            "kept": self.kept,
            "false_edges": self.false_edges,
            "explanation_valid": self.explanation_valid,
            "explanation_ceiling": self.explanation_ceiling,
            "explanation_polluted": 0.0,
            "explanation_spurious": 0.0,
        }


def rates(cells: Sequence[Cell]) -> Rates:
    """Count cells; raises `BadInput` when there are none."""
    if not cells:
        raise BadInput("placement: found no target, expected at least one")
    spurious = [cell for cell in cells if cell.spurious]
    return Rates(
        cells=len(cells),
        polluted=sum(cell.polluted for cell in cells) / len(cells),
        found=sum(cell.found for cell in cells) / len(cells),
        valid=sum(cell.valid for cell in cells) / len(cells),
        spurious=len(spurious) / len(cells),
        spurious_polluted=sum(cell.polluted for cell in spurious) / len(spurious) if spurious else None,
    )
