"""Automatic search: canaries over a grid of contexts, and the tests worth evaluating, ranked on selection samples.

Whatever is tried on selection samples costs no confidence, since the evaluation sample has not been seen. Only the
tests that are then evaluated count: with `simultaneous`, the Bonferroni factor is the number that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core import checks
from core.audit.canaries import (
    Context,
    cut_off,
    edge_scores,
    embedded,
    moved_edge,
    node_scores,
    spread,
    star,
    without_edge,
    without_node,
)
from core.audit.certified import Auditing
from core.audit.claims import Claim, Pair, Relation, as_networkx
from core.audit.evaluation import Result
from core.audit.sampling import Release, Witness
from core.errors import BadInput
from core.progress import Progress, Stop

MOST_CANARIES = 64


def canary_grid(
    graph: Any, relation: Relation, per: int = 3, contexts: Sequence[Context] = tuple(Context)
) -> list[Pair]:
    """Canaries in a graph: per context, `per` edges or nodes from its lowest to its highest value, each once.

    Edge level: the edge removed. Edge replace: moved to the first free pair at one of its ends. Node bounded:
    the node cut off, unbounded: removed (for graphs of NetworkX). Raises `BadInput` where the graph has none.
    """
    checks.count(per, "canaries per context", 1, MOST_CANARIES)
    on_edges = relation in (Relation.EDGE, Relation.EDGE_REPLACE)
    chosen: dict[Any, list[str]] = {}
    for context in contexts:
        scores = edge_scores(graph, context) if on_edges else node_scores(graph, context)
        for member in spread(scores, per):
            key = frozenset(member) if on_edges else member
            chosen.setdefault(key, [member]).append(f"{context.value} {scores[member]:.3g}")
    pairs = []
    for member, *where in chosen.values():
        pair = _pair(graph, member, relation)
        if pair is not None:
            pairs.append(Pair(f"{pair.name} ({', '.join(where)})", pair.one, pair.other, relation))
    if not pairs:
        raise BadInput(f"canary search: found nothing to change by relation {relation}, expected a graph with edges")
    return pairs


def synthetic_grid(
    relation: Relation, rng: np.random.Generator, nodes: int = 30, densities: Sequence[float] = (0.1, 0.3),
    leaves: Sequence[int] = (3, 10, 25),
) -> list[Pair]:  # fmt: skip
    """Stars of these degrees alone and in Erdős-Rényi graphs of these densities, connected and not."""
    pairs = [star(count, relation) for count in leaves]
    for density in densities:
        for count in leaves:
            pairs += [embedded(nodes, density, count, rng, connected, relation) for connected in (False, True)]
    return pairs


@dataclass(frozen=True)
class Scored:
    """How promising a test looked on the selection sample: `score` is no certificate."""

    pair: str
    witness: str
    event: str
    score: float


@dataclass(frozen=True)
class Found:
    """`tried`: every test in the order of its score. `results`: of those that were kept and evaluated."""

    tried: list[Scored]
    results: list[Result]


def search(
    release: Release,
    pairs: Sequence[Pair],
    claim: Claim,
    witnesses: Sequence[Witness],
    *,
    keep: int = 3,
    select: int = 1_000,
    evaluate: int = 10_000,
    confidence: float = 0.99,
    seed: int,
    workers: int = 1,
    store: Path | None = None,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Found:
    """Rank every pair and witness on small selection samples, and evaluate the best `keep` tests together.

    `confidence` is that of the whole search: the chance that it rejects a claim that is kept is
    `1 - confidence` at most. Evaluation draws are made for the pairs of kept tests only. Raises what
    `audit_pairs` raises.
    """
    with Auditing(
        release, pairs, claim, witnesses, select=select, confidence=confidence, simultaneous=True, keep=keep,
        looks=False, seed=seed, workers=workers, store=store,
    ) as run:  # fmt: skip
        results = run.more(evaluate, progress, cancelled)
        tried = [
            Scored(
                pairs[test.pair].name, witnesses[test.witness].name, test.choice.event.text, max(test.choice.score, 0.0)
            )
            for test in run.ranking
        ]
    return Found(tried, results)


def _pair(graph: Any, member: Any, relation: Relation) -> Pair | None:
    match relation:
        case Relation.EDGE:
            return without_edge(graph, member)
        case Relation.NODE_BOUNDED:
            return cut_off(graph, member) if as_networkx(graph).degree[member] else None
        case Relation.NODE_UNBOUNDED:
            return without_node(as_networkx(graph), member)
        case Relation.EDGE_REPLACE:
            plain = as_networkx(graph)
            for end in member:
                for free in plain:
                    if free != end and not plain.has_edge(end, free):
                        return moved_edge(graph, member, (end, free))
            return None
    raise BadInput(f"canary search: found relation {relation}, expected one of graphs")
