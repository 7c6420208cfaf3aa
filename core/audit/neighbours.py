"""Scores of one target on a neighbouring graph, at a cost that doesn't depend on the size of the graph.

Toggling the pair `(a, b)` moves the degrees of `a` and `b`, and with them the rows of `Â X W1` at `a`, at `b`
and at what is tied to either. Of those the target sees its own and its neighbours'; everything else is taken
from the scorer of the graph itself, bit for bit.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from core.errors import BadInput
from core.graph import Graph, PrivateGraph
from core.scoring.deletions import Deletions, deletions
from core.scoring.factorised import GCNScorer, margins_of, spread
from core.scoring.masks import masked_rows
from core.scoring.messages import CandidateLogits, Surroundings
from core.scoring.scorer import Scorer
from core.scoring.scores import Scores
from core.universe import Universe


class ToggledTies:
    """Neighbour lists of the graph in which the status of one pair `(a, b)` differs (edge level)."""

    def __init__(self, graph: Graph, pair: tuple[int, int]) -> None:
        self._graph = graph
        self.pair = pair
        self.added = not np.isin(pair[1], graph.neighbours(pair[0]))

    def neighbours(self, v: int) -> np.ndarray:
        """Rows of the neighbours of `v`, ascending."""
        rows = self._graph.neighbours(v)
        if v not in self.pair:
            return rows
        other = self.pair[0] if v == self.pair[1] else self.pair[1]
        place = int(np.searchsorted(rows, other))
        return np.insert(rows, place, other) if self.added else np.delete(rows, place)

    def degrees(self, rows: np.ndarray) -> np.ndarray:
        """`d_u`, degree + 1, of some rows, float64."""
        return self._graph.degree[rows] + 1.0 + np.isin(rows, self.pair) * (1.0 if self.added else -1.0)


def score_neighbour(scorer: Scorer, universe: Universe, pair: tuple[int, int], margins: bool = False) -> Scores:
    """What `scorer.on(graph.toggled(*pair)).score(universe, margins)` says, without its pass over the graph.

    Only for the two-layer GCN and universes at their target; any other takes that pass. Raises `BadInput` for
    the scorer of a public graph, which has no neighbours.
    """
    graph = scorer.graph
    if not isinstance(graph, PrivateGraph):
        raise BadInput("neighbour: found the scorer of a public graph, expected one of a private graph")
    if not isinstance(scorer, GCNScorer) or not universe.incident:
        return scorer.on(graph.toggled(*pair)).score(universe, margins)
    scorer.check(universe)
    ties = ToggledTies(graph, pair)
    resolved = deletions(ties, universe)
    clean, logits = _logits(scorer, ties, universe, resolved)
    margin = margins_of(logits, int(clean.argmax())) if margins else torch.full((1, 1), torch.nan)
    return Scores(
        universe,
        clean,
        spread(logits.argmax(dim=2).to(torch.int16), universe, resolved),
        resolved.exists,
        spread(margin, universe, resolved),
    )


def _logits(
    scorer: GCNScorer, ties: ToggledTies, universe: Universe, resolved: Deletions
) -> tuple[np.ndarray, torch.Tensor]:
    """Clean logits of the target (C), and those of each distinct candidate (nR x (nF or 1) x C)."""
    weights, hidden, target = scorer.weights, scorer.states.hidden, universe.target
    place = int(np.searchsorted(resolved.neighbours, target))
    rows = np.insert(resolved.neighbours, place, target)
    first = _first(scorer, ties, rows)
    degree = ties.degrees(rows)
    scale = 1.0 / np.sqrt(degree)
    row = sparse.csr_array((scale[place] * scale, np.arange(len(rows)), [0, len(rows)]), shape=(1, len(rows)))
    clean = (row @ (np.maximum(first + weights.b1, 0.0) @ weights.w2))[0] + weights.b2

    others = np.arange(len(rows)) != place
    back = hidden[target] / np.sqrt(degree[others] * degree[place])[:, None]
    offset = first[others] - back + weights.b1
    alone = (degree[place], degree[others], hidden[rows[others]], offset, np.ones(others.sum()))
    near = Surroundings(*(torch.tensor(part, dtype=scorer.dtype, device=scorer.device)[None] for part in alone))
    masked = torch.tensor(masked_rows(scorer.graph.nodes, weights, universe), dtype=scorer.dtype, device=scorer.device)
    return clean, CandidateLogits(weights, scorer.device, scorer.dtype).logits(near, resolved, masked)[0]


def _first(scorer: GCNScorer, ties: ToggledTies, rows: np.ndarray) -> np.ndarray:
    """Rows of `Â X W1` on the neighbouring graph, k x h: those that the pair moves are summed anew."""
    first = scorer.states.first[rows]
    moved = np.isin(rows, np.concatenate([ties.pair, *(scorer.graph.neighbours(end) for end in ties.pair)]))
    if not moved.any():
        return first
    lists = [np.sort(np.append(ties.neighbours(int(u)), u)) for u in rows[moved]]
    starts = np.cumsum([0, *map(len, lists)])
    columns = np.concatenate(lists)
    scale = 1.0 / np.sqrt(ties.degrees(rows[moved]))
    data = np.repeat(scale, np.diff(starts)) * (1.0 / np.sqrt(ties.degrees(columns)))
    first[moved] = sparse.csr_array((data, columns, starts), shape=(len(lists), scorer.graph.n)) @ scorer.states.hidden
    return first
