"""Exact decisions on the universes of many targets at once, for the two-layer GCN on one graph.

Three steps. The deletion sets of a chunk of targets are resolved together (`sets`). Those that no mask can
flip are proved so by a bound that doesn't depend on the number of masks (`relaxation`). The others are scored,
target by target, in blocks that stay in cache. A decision that rounding could turn is taken in float64,
and one that its rounding could still turn by the scorer of one target.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator

import numpy as np
import torch

from core.graph import Nodes
from core.scoring.factorised import GCNScorer, margins_of
from core.scoring.messages import CandidateLogits
from core.scoring.relaxation import bounds
from core.scoring.scorer import Scorer
from core.scoring.scores import Scores
from core.scoring.sets import Sets, deletion_sets, spans
from core.universe import Universe, subsets

CHUNK_BYTES = 1 << 27  # at worst; where few neighbours are tied, a quarter of it, which the last cache holds
MORE_MESSAGES = 128  # than a target has sets, where sorted sums over its neighbours become cheaper
COPIES = 12  # of the hidden states of its messages that a chunk holds at its peak
ROUNDING = 8  # machine epsilons that either way to score stays within, in units of the terms added up


def score_many(
    scorer: Scorer, universes: Iterable[Universe], margins: bool = False, memory: int | None = None
) -> Iterator[Scores]:
    """Score universes in the order given, with the very decisions of `scorer.score` in float64.

    `memory`: bytes that a chunk may take besides the logits and results of one target; a quarter of the free
    memory, at most `CHUNK_BYTES`, unless given. Targets that need more, universes with pairs away from their
    target and all of a foreign module are scored one by one, and so is a target with more neighbours in
    open sets than pay. Without `margins`, for which every candidate must be scored, their array is NaN.
    Raises `BadInput` for a universe of another node set.
    """
    if not isinstance(scorer, GCNScorer):
        yield from (scorer.score(universe, margins) for universe in universes)
        return
    memory = free_memory() if memory is None else memory
    many = _Many(scorer, margins)
    chunk: list[Universe] = []
    taken = 0
    for universe in universes:
        scorer.check(universe)
        size = many.bytes(universe)
        alone = size > memory or not universe.incident
        if chunk and (alone or taken + size > memory or _kind(universe) != _kind(chunk[0])):
            yield from many.score(chunk)
            chunk, taken = [], 0
        if alone:
            yield many.alone.score(universe, margins)
            continue
        chunk.append(universe)
        taken += size
    if chunk:
        yield from many.score(chunk)


def free_memory() -> int:
    """Bytes that a chunk may take: a quarter of what is free, at most `CHUNK_BYTES`."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not told on every system
        return CHUNK_BYTES
    return min(CHUNK_BYTES, free // 4)


class _Many:
    """Scores chunks, in the scorer's own precision first and then, where that leaves doubt, in float64."""

    def __init__(self, scorer: GCNScorer, margins: bool) -> None:
        self._scorer = scorer
        self._margins = margins
        self._steps = [CandidateLogits(scorer.weights, scorer.device, scorer.dtype)]
        if scorer.dtype != torch.float64:
            self._steps.append(CandidateLogits(scorer.weights, torch.device("cpu"), torch.float64))

    def bytes(self, universe: Universe) -> int:
        """Bytes that a target takes in a chunk at most: every set might have messages of its own."""
        n_sets, (h, c) = universe.shape[0], self._scorer.weights.w2.shape
        messages = n_sets * (int(self._scorer.graph.degree[universe.target]) + 4)
        return 8 * (COPIES * messages * (h + 8) + n_sets * h * (c + len(universe.feature_dims)))

    def score(self, chunk: list[Universe]) -> Iterator[Scores]:
        """Score the universes of a chunk, in order."""
        scorer, target = self._scorer, np.array([universe.target for universe in chunk])
        sets = deletion_sets(scorer.states, chunk)
        whole = scorer.states.hidden[target]
        parts = _parts(scorer.graph.nodes, scorer.weights.w1, chunk)
        original = scorer.clean[target].argmax(axis=1)
        lead, scale = bounds(sets, scorer.weights, whole, parts, chunk[0].feature_subsets.shape[1], original)
        undecided = self._margins | (lead >= -_doubt(torch.float64) * scale)
        for place, universe in enumerate(chunk):
            rows = sets.start[place] + np.flatnonzero(undecided[sets.start[place] : sets.start[place + 1]])
            masked = whole[place, None]
            if not universe.arm.inert:
                choice = _choice(len(universe.feature_dims), universe.feature_subsets.shape[1])
                masked = masked - choice @ parts[place, : choice.shape[1]]
            found = self._decided(place, sets, rows, masked, int(original[place]), scale)
            if found is None:
                yield self.alone.score(universe, self._margins)
                continue
            yield Scores(
                universe,
                scorer.clean[universe.target],
                _spread(found[0], universe, sets.inverse[place]),
                sets.exists[place],
                _spread(found[1], universe, sets.inverse[place]),
            )

    def _decided(
        self, place: int, sets: Sets, rows: np.ndarray, masked: np.ndarray, original: int, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Classes and margins of the sets of one target, of which `rows` are open; None where doubt remains."""
        if not len(rows):
            return np.full((1, 1), original, dtype=np.int16), np.full((1, 1), np.nan)
        start, shape = sets.start[place], (sets.start[place + 1] - sets.start[place], len(masked))
        predicted = np.full(shape, original, dtype=np.int16)
        margin = np.empty(shape) if self._margins else np.full((1, 1), np.nan)
        for step in self._steps:
            messages, kept = sets.summed(rows)
            if len(messages) > MORE_MESSAGES + shape[0]:
                return None
            logits = step.sums(sets.offset[messages], sets.weight[messages], kept, masked)
            best, label = logits.max(dim=2)
            predicted[rows - start] = label.cpu().numpy()
            if self._margins:
                margin[rows - start] = margins_of(logits, original).cpu().numpy()
            slack = torch.as_tensor(_doubt(step.dtype) * scale[rows], device=step.device)
            close = logits.ge_((best - slack[:, None])[..., None]).sum(dim=2) > 1
            rows = rows[close.any(dim=1).cpu().numpy()]
            if not len(rows):
                return predicted, margin
        return None

    @functools.cached_property
    def alone(self) -> GCNScorer:
        """The scorer of one target, in float64."""
        scorer = self._scorer
        return scorer if scorer.dtype == torch.float64 else GCNScorer(scorer.graph, scorer.weights)


def _doubt(dtype: torch.dtype) -> float:
    """How far two logits may be off, in units of the `scale` that `bounds` gives."""
    return ROUNDING * torch.finfo(dtype).eps


def _kind(universe: Universe) -> tuple[int, int]:
    return universe.edge_subsets.shape[1], universe.feature_subsets.shape[1]


def _spread(values: np.ndarray, universe: Universe, inverse: np.ndarray) -> np.ndarray:
    """Results of a target's sets (nR or 1) x (nF or 1) as those of all its candidates, nE x nF."""
    if len(values) > 1 and len(values) != len(inverse):
        values = values[inverse]
    return np.broadcast_to(values, universe.shape)


def _parts(nodes: Nodes, w1: np.ndarray, chunk: list[Universe]) -> np.ndarray:
    """`x_vd W1[d]` of each candidate feature, B x k x h: what its mask takes from `z_v`, 0 where masks are inert."""
    target = np.array([universe.target for universe in chunk])
    count = np.array([0 if universe.arm.inert else len(universe.feature_dims) for universe in chunk])
    dims = np.concatenate([universe.feature_dims[:k] for universe, k in zip(chunk, count, strict=True)])
    owner, place = np.repeat(np.arange(len(chunk)), count), spans(np.zeros_like(count), count)
    held = np.diff(nodes.x.indptr)[target]
    stored = spans(nodes.x.indptr[target], held)
    keys = np.repeat(np.arange(len(chunk)), held) * np.int64(nodes.n_features) + nodes.x.indices[stored]
    values = nodes.x.data[stored[np.searchsorted(keys, owner * np.int64(nodes.n_features) + dims)]]
    parts = np.zeros((len(chunk), max(1, int(count.max())), w1.shape[1]))
    parts[owner, place] = values[:, None] * w1[dims]
    return parts


@functools.lru_cache(maxsize=64)
def _choice(k: int, most: int) -> np.ndarray:
    """Which of `k` features each mask set holds, nF x k of ones."""
    table = subsets(k, most)
    choice = np.zeros((len(table), k))
    row, place = np.nonzero(table >= 0)
    choice[row, table[row, place]] = 1.0
    choice.setflags(write=False)
    return choice
