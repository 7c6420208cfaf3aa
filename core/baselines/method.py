"""What every baseline answers to: an explainer goes in, an intervention and the guarantee it states come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np

from core.errors import BadInput
from core.study.settings import Settings
from core.study.study import Study

NO_PAIRS, NO_FEATURES = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)


class Where(StrEnum):
    """Where a method puts its noise: on the explanation, on the graph before it, or nowhere."""

    EXPLANATION = "explanation"
    GRAPH = "graph"
    NONE = "none"


@dataclass(frozen=True)
class Guarantee:
    """What is proven of the complete release at the quoted budget, edge level.

    `epsilon`, `delta`: proven where `certified`. Where not, `epsilon` is None, or what the noise would
    give under the assumption that `reason` names. `reason`: one clause. Raises `BadInput` for a
    certificate without numbers.
    """

    certified: bool
    epsilon: float | None
    delta: float | None
    reason: str

    def __post_init__(self) -> None:
        if self.certified and (self.epsilon is None or self.delta is None):
            raise BadInput("guarantee: found a certified one without numbers, expected its epsilon and delta")


NOT_PRIVATE = Guarantee(False, None, None, "adds no noise: the intervention is a function of the private edges")


@dataclass(frozen=True, eq=False)
class Finding:
    """What came out for one target (row); reads private edges.

    `pairs`: r x 2 rows, the deletions, `features`: s dimensions, the masks; both empty where a closed
    form stands for all draws. `seen`: the class that the explainer saw, `argmax f(G̃)[v]`, or that on G
    where the graph isn't noised. The rates are 0 or 1 for a drawn intervention, expectations in [0, 1]
    for closed forms. `valid`: it flips G itself, `f(G ⊖ S)[v] != f(G)[v]`; `targeted`: to the runner-up
    class of G. `found`: it flips what the explainer saw. `spurious`: that, and not G. `polluted`: `seen`
    is not the class on G. `size`: of the intervention or its expectation, in the method's currency, ∅
    counting 0; None when there is no intervention at all.
    """

    target: int
    pairs: np.ndarray
    features: np.ndarray
    seen: int
    valid: float
    targeted: float
    spurious: float
    polluted: float
    found: float
    size: float | None

    def __post_init__(self) -> None:
        for name in ("valid", "targeted", "spurious", "polluted", "found"):
            value = getattr(self, name)
            if not -1e-9 <= value <= 1 + 1e-9:
                raise BadInput.number(f"finding, {name}", value, "a share between 0 and 1")


Explain = Callable[[int], Finding]


class Method(Protocol):
    """One row of the comparison. `size_currency`: what `Finding.size` counts. `random`: whether draws differ."""

    name: ClassVar[str]
    title: ClassVar[str]
    where: ClassVar[Where]
    size_currency: ClassVar[str]
    random: ClassVar[bool]

    def guarantee(self, epsilon: float, settings: Settings) -> Guarantee:
        """What the complete release of one explanation is proven to keep at ε; raises `BadInput` for a bad ε."""

    def session(
        self, study: Study, epsilon: float, rho: float, settings: Settings, rng: np.random.Generator
    ) -> Explain:
        """One draw of the noise: what it returns explains one target row after another (owner-only).

        A method at graph level noises the graph here, once. The generators are reproducible floating-point
        ones: a simulation, never a release. Raises `BadInput`, and `UnsupportedBackbone` for a backbone
        that the method can't read.
        """
