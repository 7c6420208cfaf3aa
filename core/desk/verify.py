"""Checking a release card against its schema, against itself, and against the public objects it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.backbone.gcn import GCNWeights
from core.backbone.module import FrozenModule
from core.desk.amount import as_epsilon
from core.desk.card import ReleaseCard, checked
from core.desk.request import PublicRequest, prior_digest
from core.errors import PrivCFSError
from core.graph import Nodes
from core.prior.guided import Guide
from core.prior.prior import Prior, PriorKind, uniform
from core.prior.scenarios import SnapshotModel, public_model
from core.snapshot import Snapshot
from core.universe import Universe, build_universe, edge_candidates


@dataclass(frozen=True)
class Public:
    """The public objects at hand, each None where it isn't: node table, whole snapshot, frozen backbone."""

    nodes: Nodes | None = None
    snapshot: Snapshot | None = None
    weights: GCNWeights | FrozenModule | None = None


@dataclass(frozen=True)
class Check:
    """One check: `passed` is None where it couldn't be done, and `detail` says why or what was found."""

    name: str
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """All checks of one card; `valid` when none failed. None says who issued the card: it isn't signed."""

    checks: tuple[Check, ...]
    certified: bool

    @property
    def valid(self) -> bool:
        """Whether no check failed; those that couldn't be done don't count."""
        return all(check.passed is not False for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether every check could be done."""
        return all(check.passed is not None for check in self.checks)


def verify(text: str, public: Public) -> Verdict:
    """Check a card's text: schema, what it says twice, digests of `public`, membership of S, the prior.

    Nothing private is read or needed. Raises `BadInput` where the text is no card at all.
    """
    document = checked(text)
    try:
        card = ReleaseCard.from_json(document)
    except PrivCFSError as error:
        return Verdict((SCHEMA, Check("consistency", False, str(error))), False)
    checks = [SCHEMA, _consistency(card, document), *_objects(card, public)]
    return Verdict(tuple(checks), card.certified)


SCHEMA = Check("schema", True, "the card has the layout of release cards")


def _consistency(card: ReleaseCard, document: dict[str, Any]) -> Check:
    """What the card says twice has to agree: words and certificate follow from the entries."""
    expected = card.to_json()
    wrong = sorted(name for name in expected if expected[name] != document[name])
    limits, request = card.request.limits, card.request
    if request.edge_candidates > limits.k_edges or request.feature_candidates > limits.k_features:
        wrong.append("universe")
    if len(card.outcome.pairs) > limits.max_edges or len(card.outcome.features) > limits.max_features:
        wrong.append("outcome")
    if request.disclosed.simulated and card.certified:
        wrong.append("certified")
    if wrong:
        return Check("consistency", False, f"{', '.join(wrong)}: not what follows from the rest of the card")
    return Check("consistency", True, "certificate, words and numbers follow from each other")


def _objects(card: ReleaseCard, public: Public) -> Iterator[Check]:
    request, digests = card.request, card.request.digests
    disclosed = None if public.snapshot is None else public.snapshot.prefix(request.disclosed.rho)
    yield _same("nodes", digests.nodes, None if public.nodes is None else public.nodes.digest)
    yield _same("snapshot", digests.snapshot, None if disclosed is None else disclosed.digest)
    yield _same("backbone", digests.backbone, None if public.weights is None else public.weights.digest)
    stated = request.disclosed.pairs
    if stated is None or disclosed is None:
        yield Check("pairs", None, "no number of pairs on the card" if stated is None else "no snapshot given")
    else:
        yield Check("pairs", len(disclosed) == stated, f"{len(disclosed)} disclosed, the card says {stated}")
    yield from _candidates(card, public, disclosed)


def _candidates(card: ReleaseCard, public: Public, disclosed: Snapshot | None) -> Iterator[Check]:
    request, names = card.request, ("target", "names", "universe", "membership", "prior")
    nodes, weights = public.nodes, public.weights
    if nodes is None or request.target not in nodes.ids:
        missing = nodes is None
        found = "no nodes given" if missing else f"{request.target!r} is no node id of the node table"
        yield Check("target", None if missing else False, found)
        yield from (Check(name, None, "no nodes given" if missing else "no such target") for name in names[1:])
        return
    yield Check("target", True, f"node {request.target} is in the node table")
    yield _names(card, nodes, disclosed)
    if disclosed is None or weights is None:
        lacking = "snapshot" if disclosed is None else "backbone"
        yield from (Check(name, None, f"no {lacking} given") for name in names[2:])
        return
    try:
        row = nodes.row(request.target)
        universe = build_universe(nodes, disclosed, weights, row, request.limits, request.arm)
    except PrivCFSError as error:
        yield Check("universe", False, str(error))
        yield from (Check(name, None, "no universe") for name in names[3:])
        return
    yield _universe(request, universe)
    place = card.outcome.place(universe, nodes)
    said = "isn't one of" if place is None else "is one of"
    yield Check("membership", place is not None, f"the answer {said} the {universe.size:,} candidates")
    yield _same("prior", request.digests.prior, prior_digest(_prior(request, universe, nodes, disclosed, weights)))


def _names(card: ReleaseCard, nodes: Nodes, disclosed: Snapshot | None) -> Check:
    """What the answer names has to be there, as far as node table and snapshot tell."""
    request, row = card.request, nodes.row(card.request.target)
    own = set(nodes.x.indices[nodes.x.indptr[row] : nodes.x.indptr[row + 1]].tolist())
    for column, name in card.outcome.features:
        if column not in own or nodes.feature_names[column] != name:
            return Check("names", False, f"feature {name!r} in column {column} is none that the target has")
    if disclosed is None:
        return Check("names", True, "the target has the features; pairs not looked at, no snapshot given")
    listed = edge_candidates(disclosed, row, request.limits.k_edges, request.arm.two_hop)
    among = {(nodes.ids[u], nodes.ids[w]) for u, w in listed}
    for u, w in card.outcome.pairs:
        if (u, w) not in among:
            return Check("names", False, f"pair {u!r} - {w!r} is no disclosed candidate of the target")
    return Check("names", True, "the target has the features, and the pairs were disclosed")


def _universe(request: PublicRequest, universe: Universe) -> Check:
    counts = (len(universe.edge_pairs), len(universe.feature_dims), universe.size)
    stated = (request.edge_candidates, request.feature_candidates, request.candidates)
    if counts != stated:
        return Check("universe", False, f"found {counts} pairs, features and candidates, the card says {stated}")
    return _same("universe", request.digests.universe, universe.digest)


def _prior(
    request: PublicRequest, universe: Universe, nodes: Nodes, disclosed: Snapshot, weights: GCNWeights | FrozenModule
) -> Prior:
    rule = request.prior
    if rule.kind is PriorKind.UNIFORM:
        return uniform(universe, rule.size_penalty)
    model = public_model(nodes, disclosed, weights, request.disclosed.rho)
    scenarios = model.scenarios(universe, None, None) if isinstance(model, SnapshotModel) else model.scenarios(universe)
    return Guide(universe, scenarios).prior(as_epsilon(request.epsilon), request.utility, rule.size_penalty)


def _same(name: str, stated: str, found: str | None) -> Check:
    if found is None:
        return Check(name, None, f"no {name} given")
    if found != stated:
        return Check(name, False, f"found digest {found[:12]}…, the card says {stated[:12]}…")
    return Check(name, True, f"digest {stated[:12]}… as on the card")
