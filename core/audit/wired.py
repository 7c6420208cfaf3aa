"""Everything of this project that releases, as mechanisms that the auditor can be handed: by name, at an ε."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core import checks
from core.audit.claims import Claim, Pair, Relation, as_networkx
from core.audit.frame import Frame, MethodRelease, NoisedGraph, PrivCFOutRelease, PrivCFSRelease, Released
from core.audit.published import embedding, labels
from core.audit.sampling import Release, Witness
from core.audit.witnesses import BATTERY, Degree, HasEdge
from core.errors import BadInput
from core.placement.mechanisms import Gaussian, GraphMechanism, graph_release
from core.prior.prior import PriorKind
from core.release.mechanism import Mechanism
from core.universe import Universe

MOST_CHANGED = 8  # changed pairs that get a witness of their own
CHEAP = ("edge count", "maximum degree", "isolated nodes", "triangles")


@dataclass(frozen=True)
class Bits:
    """A released intervention as one number: bit k for the k-th candidate pair, then the candidate dimensions."""

    pairs: tuple[tuple[int, int], ...]
    features: tuple[int, ...]

    def __call__(self, output: Released) -> float:
        held = [pair in output.pairs for pair in self.pairs] + [dim in output.features for dim in self.features]
        return float(sum(2**k for k, bit in enumerate(held) if bit))


@dataclass(frozen=True)
class Holds:
    """1 where the intervention deletes the pair, else 0."""

    pair: tuple[int, int]

    def __call__(self, output: Released) -> float:
        return float(self.pair in output.pairs)


def size(output: Released) -> float:
    """Deletions and masks of a released intervention."""
    return len(output.pairs) + len(output.features)


def deletions(output: Released) -> float:
    """Deletions of a released intervention."""
    return len(output.pairs)


@dataclass(frozen=True, eq=False)
class Wired:
    """A mechanism of this project with what it claims, and the witnesses that fit it and a pair.

    `kept`: whether the claim is proven of the complete release; where it isn't, the audit may well reject it.
    """

    name: str
    release: Release
    claim: Claim
    kept: bool
    witnesses: Callable[[Pair], tuple[Witness, ...]]


def _explanation(name: str, frame: Frame, epsilon: float) -> Wired:
    choices = {"privcfs-em": (Mechanism.EM, None), "privcfs-pf": (Mechanism.PF, None),
               "privcfs-guided": (Mechanism.EM, PriorKind.GUIDED)}  # fmt: skip
    mechanism, prior = choices[name]
    settings = replace(frame.settings, mechanism=mechanism)
    if prior is not None:
        settings = replace(settings, prior=replace(settings.prior, kind=prior))
    release = PrivCFSRelease(frame.under(settings), epsilon)
    return Wired(
        name, release, Claim(epsilon, Relation.EDGE), True, lambda pair: intervention_witnesses(frame.universe)
    )


def _baseline(name: str, frame: Frame, epsilon: float) -> Wired:
    from core.baselines.privcf_out import PrivCFOut
    from core.baselines.suite import method

    found = method(name)
    guarantee = found.guarantee(epsilon, frame.settings)
    claim = Claim(guarantee.epsilon or epsilon, Relation.EDGE, guarantee.delta or 0.0)
    release: Release = MethodRelease(frame, found, epsilon)
    if isinstance(found, PrivCFOut):  # its optimiser takes longer than a thousand draws of its noise
        release = PrivCFOutRelease(frame, found, epsilon)
    return Wired(name, release, claim, guarantee.certified, lambda pair: intervention_witnesses(frame.universe))


def _graph_level(name: str, frame: Frame, epsilon: float) -> Wired:
    mechanism = graph_release(GraphMechanism.parse(name.removeprefix("graph-")))
    delta = mechanism.delta if isinstance(mechanism, Gaussian) else 0.0
    claim = Claim(epsilon, Relation.EDGE, delta)
    return Wired(name, NoisedGraph(mechanism, claim.epsilon), claim, True, graph_witnesses)


def _published(name: str, frame: Frame, epsilon: float) -> Wired:
    release, claim, witnesses = {"labels": labels, "embedding": embedding}[name](frame, epsilon)
    return Wired(name, release, claim, True, witnesses)


WIRED: dict[str, Callable[[str, Frame, float], Wired]] = {
    "privcfs-em": _explanation,
    "privcfs-pf": _explanation,
    "privcfs-guided": _explanation,
    "privcf-sgd": _baseline,
    "privcf-out": _baseline,
    "rr-bits": _baseline,
    "graph-gaussian": _graph_level,
    "graph-laplace": _graph_level,
    "graph-rr": _graph_level,
    "labels": _published,
    "embedding": _published,
}


def wired(name: str, frame: Frame, epsilon: float) -> Wired:
    """A mechanism of this project at ε (edge level); raises `BadInput` with the known names, or for a bad ε."""
    if name not in WIRED:
        raise BadInput.choice("release", name, [*WIRED, "module:function"])
    return WIRED[name](name, frame, checks.epsilon(epsilon))


def intervention_witnesses(universe: Universe) -> tuple[Witness, ...]:
    """The intervention itself as an outcome, its sizes, and whether each candidate pair is deleted."""
    pairs = tuple((int(u), int(v)) for u, v in np.sort(universe.edge_pairs, axis=1))
    features = tuple(int(dim) for dim in universe.feature_dims)
    return (
        Witness("intervention", Bits(pairs, features), finite=True),
        Witness("size", size),
        Witness("deletions", deletions),
        *(Witness(f"deletes {u} - {v}", Holds((u, v))) for u, v in pairs),
    )


def graph_witnesses(pair: Pair) -> tuple[Witness, ...]:
    """Statuses of the pairs that differ, degrees of their ends, and the cheap part of the battery."""
    one, other = as_networkx(pair.one), as_networkx(pair.other)
    changed = sorted({tuple(sorted(edge)) for edge in set(one.edges) ^ set(other.edges)})[:MOST_CHANGED]
    ends = sorted({end for edge in changed for end in edge})[:MOST_CHANGED]
    return (
        *(Witness(f"edge {u} - {v}", HasEdge(u, v)) for u, v in changed),
        *(Witness(f"degree of {end}", Degree(end)) for end in ends),
        *(witness for witness in BATTERY if witness.name in CHEAP),
    )
