"""All mechanisms of the zoo."""

from __future__ import annotations

from collections.abc import Iterable

from core.audit.zoo.choices import choices
from core.audit.zoo.counts import counts
from core.audit.zoo.degrees import degrees
from core.audit.zoo.specimen import Specimen
from core.audit.zoo.svt import svt, svt_with_value
from core.errors import BadInput


def specimens(epsilon: float = 1.0, names: Iterable[str] | None = None) -> list[Specimen]:
    """The mechanisms at a claim of `epsilon`, correct ones first; those of `names` if given. Raises `BadInput`."""
    everything = [*counts(epsilon), *choices(epsilon), *svt(epsilon), *degrees(epsilon)]
    known = {one.name: one for one in sorted(everything, key=lambda one: not one.correct)}
    if names is None:
        return list(known.values())
    wanted = list(names)
    for name in wanted:
        if name not in known:
            raise BadInput.choice("mechanism of the zoo", name, known)
    return [known[name] for name in wanted]


def elusive(epsilon: float = 1.0) -> list[Specimen]:
    """Broken mechanisms whose violations are too rare for tens of thousands of draws: why a pass proves nothing."""
    return [svt_with_value(epsilon)]
