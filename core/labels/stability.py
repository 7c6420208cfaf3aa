"""Votes of the subgraphs: the two most frequent label vectors, and whether an edge sat in too many subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import BadInput
from core.graph import PrivateGraph
from core.labels.classifier import Classifier
from core.labels.noise import tail
from core.labels.plan import Plan
from core.labels.subsample import Words, subsamples


@dataclass(frozen=True, eq=False)
class Votes:
    """The most frequent label vector and the counts of the first two: private.

    `labels`: R int64, of equally frequent ones the lexicographically first. `first` (c1), `second` (c2, 0 when
    all agree), `vectors`: how many different ones there were.
    """

    labels: np.ndarray
    first: int
    second: int
    vectors: int

    @property
    def difference(self) -> int:
        """`c1 - c2`: moving one vote moves it by at most 2."""
        return self.first - self.second


@dataclass(frozen=True, eq=False)
class Tally:
    """What m subgraphs of one private graph said: private, before any noise.

    `most`: the largest number of subgraphs that one edge sat in. `frequency`: R x C, the share of subgraphs that
    gave each node each label.
    """

    plan: Plan
    votes: Votes
    most: int
    frequency: np.ndarray

    @property
    def halted(self) -> bool:
        """Whether an edge sat in more subgraphs than the cap allows: the outcome is ⊥, without noise."""
        return self.most > self.plan.cap

    @property
    def stability(self) -> float:
        """d̂, in steps of which `threshold` are needed."""
        return self.plan.stability(self.votes.difference)

    @property
    def release_probability(self) -> float:
        """Chance over the noise that the labels come out."""
        return release_probability(self.plan, self.votes.difference, self.halted)

    def released(self, noise: int) -> bool:
        """Whether the labels come out at that noise, in votes."""
        return not self.halted and self.votes.difference + noise >= self.plan.votes_needed


def release_probability(plan: Plan, difference: int, halted: bool) -> float:
    """`P(c1 - c2 + Z >= votes_needed)`, 0 when halted."""
    return 0.0 if halted else float(tail(plan.scale, plan.votes_needed - difference))


def count(labels: np.ndarray) -> Votes:
    """Count equal rows of `labels` (m x R int64)."""
    vectors, counts = np.unique(labels, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    second = int(counts[order[1]]) if len(order) > 1 else 0
    return Votes(vectors[order[0]], int(counts[order[0]]), second, len(order))


def tally(graph: PrivateGraph, classifier: Classifier, plan: Plan, words: Words, rows: np.ndarray) -> Tally:
    """Subsample `graph`, label each subgraph, count the label vectors over `rows` (R int64, the public nodes asked).

    Raises `BadInput` when the classifier was made for another number of nodes.
    """
    check_fits(classifier, graph.n)
    sat = np.zeros(graph.m, dtype=np.int64)
    found = []
    for kept in subsamples(graph.m, plan, words, classifier.width * graph.n):
        sat += kept.sum(axis=0)
        found.append(classifier.labels(graph.edges, kept)[:, rows])
    labels = np.concatenate(found)
    shares = np.stack([(labels == label).mean(axis=0) for label in range(classifier.classes)], axis=1)
    return Tally(plan, count(labels), int(sat.max(initial=0)), shares)


def check_fits(classifier: Classifier, n: int) -> None:
    """Raise `BadInput` unless the classifier labels graphs of `n` nodes."""
    if classifier.n != n:
        raise BadInput(f"classifier: found one for {classifier.n} nodes, the graph has {n}; make it from this data set")


def node_rows(rows: Sequence[int] | np.ndarray | None, n: int) -> np.ndarray:
    """The rows that a label vector covers, all unless named; raises `BadInput` for none, repeated or unknown ones."""
    found = np.arange(n) if rows is None else np.asarray(rows, dtype=np.int64)
    if found.ndim != 1 or not len(found) or len(np.unique(found)) != len(found):
        raise BadInput(f"nodes: found {found.size} of them, expected at least one, each once")
    if found.min() < 0 or found.max() >= n:
        raise BadInput(f"nodes: found a row outside 0..{n - 1}, expected rows of the node table")
    return found
