"""The exact output distribution on a tiny graph, over every way to subsample it: an audit without a sample."""

from __future__ import annotations

import itertools
from math import comb, lgamma

import numpy as np

from core.errors import BadInput
from core.graph import PrivateGraph
from core.labels.classifier import Classifier
from core.labels.noise import tail
from core.labels.plan import Plan
from core.labels.stability import check_fits, node_rows

MOST_WAYS = 300_000

Distribution = dict[tuple[int, ...] | None, float]


def exact_distribution(
    graph: PrivateGraph, classifier: Classifier, plan: Plan, rows: np.ndarray | None = None
) -> Distribution:
    """Probability of each label vector over `rows`, and of ⊥ (None): private, owner-side.

    The m subgraphs are a multinomial draw from the 2^M edge subsets, of which subset S has chance
    `p_s^|S| (1 - p_s)^(M - |S|)`; each way to fill the m places is visited once, its noise summed in closed form.
    Raises `BadInput` when there are more than `MOST_WAYS`.
    """
    check_fits(classifier, graph.n)
    wanted = node_rows(rows, graph.n)
    subsets = 2**graph.m if graph.m < 20 else MOST_WAYS
    if comb(plan.m + subsets - 1, min(plan.m, subsets - 1)) > MOST_WAYS:
        raise BadInput(
            f"enumeration: found {graph.m} edges and {plan.m} subgraphs, expected at most {MOST_WAYS:,} ways to fill "
            "them; take fewer of either"
        )
    kept = np.array(list(itertools.product([False, True], repeat=graph.m)), dtype=bool).reshape(subsets, graph.m)
    vectors, member = np.unique(classifier.labels(graph.edges, kept)[:, wanted], axis=0, return_inverse=True)
    size, p = kept.sum(axis=1), float(plan.p_s)
    with np.errstate(divide="ignore"):
        log_chance = np.where(size > 0, size * np.log(p), 0.0)
        log_chance += np.where(size < graph.m, (graph.m - size) * np.log1p(-p), 0.0)
    filled = _fillings(plan.m, subsets)
    log_factorial = np.array([lgamma(k + 1) for k in range(plan.m + 1)])
    with np.errstate(invalid="ignore"):
        each = np.where(filled > 0, filled * log_chance, 0.0) - log_factorial[filled]
    chance = np.exp(log_factorial[plan.m] + each.sum(axis=1))
    votes = filled @ np.eye(len(vectors), dtype=np.int64)[member.ravel()]
    ordered = np.sort(votes, axis=1)
    difference = ordered[:, -1] - (ordered[:, -2] if len(vectors) > 1 else 0)
    halted = ((filled @ kept.astype(np.int64)) > plan.cap).any(axis=1)
    out = np.where(halted, 0.0, tail(plan.scale, plan.votes_needed - difference))
    named = np.bincount(votes.argmax(axis=1), weights=chance * out, minlength=len(vectors))
    found: Distribution = {tuple(vector): float(mass) for vector, mass in zip(vectors.tolist(), named, strict=True)}
    return {**found, None: float((chance * (1 - out)).sum())}


def hockey_stick(one: Distribution, other: Distribution, epsilon: float) -> float:
    """`max(D(one, other), D(other, one))`, `D(P, Q) = Σ max(0, P(o) - e^ε Q(o))`: the least δ at that ε."""
    outcomes = one.keys() | other.keys()
    factor = np.exp(epsilon)
    p, q = (np.array([side.get(outcome, 0.0) for outcome in outcomes]) for side in (one, other))
    return float(max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum()))


def _fillings(places: int, kinds: int) -> np.ndarray:
    """All ways to fill `places` alike places with `kinds`: rows of counts that sum to `places`, int64."""
    if kinds == 1:
        return np.array([[places]], dtype=np.int64)
    bars = np.array(list(itertools.combinations(range(places + kinds - 1), kinds - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), places + kinds - 1)
    return np.diff(np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1), axis=1) - 1
