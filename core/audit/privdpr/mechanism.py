"""PrivDPR's data flow, re-implemented from its description (Zhang et al. 2025; graph-DP auditing, section 5).

What it does, step by step, and here as there:

1. Ties are stored once, from the earlier node to the later one, and random walks follow them that way.
2. Batches of nodes, in node order, learn a PageRank-like score for each node: `s_v = σ(E_v w + b)`, `w` scaled
   to a fixed norm, by Adam on the PageRank residual of the (start, visited) pairs of the batch's walks.
3. Gaussian noise goes onto the gradient of the embeddings `E`, and onto nothing else.
4. After each batch whose walks found a tie, every node draws one other node by Gumbel-softmax from `E E^T`;
   the draws are counted in a score matrix.
5. The output has an edge for each node, drawn by its scores, and more, until there are as many as 1/250 of the
   pairs whose score's sigmoid exceeds one half. Without scores it has no edge.

Steps 1, 4 and 5 read private ties and are not noised, so the claim, (ε, δ) at the node level, bounded, fails.

Left out: the depth of the score network (one layer here; the depth only scales the gradient that drowns in
noise), spectral normalisation by power iteration (a norm here), epochs beyond the first, and file handling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core import checks
from core.errors import BadInput

if TYPE_CHECKING:
    import networkx as nx

PAIRS_PER_EDGE = 250
BETA_1, BETA_2, TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class PrivDPR:
    """The mechanism as a release: a graph of NetworkX and a generator to a graph on the same nodes.

    `epsilon`, `delta`: claimed at the node level, bounded. `batch`: nodes. `walks` of `steps` each start at a
    node. `dimension`: of the embeddings. `rate`: of Adam. `damping`: of PageRank. `clip`: the claimed bound on
    the embedding gradient. `norm`: of `w`. The published defaults, ε apart. Raises `BadInput` for a bad budget.
    """

    epsilon: float = 1.0
    delta: float = 1e-5
    batch: int = 16
    walks: int = 2
    steps: int = 16
    dimension: int = 128
    rate: float = 1e-3
    damping: float = 0.85
    clip: float = 5.0
    norm: float = 1 / 8

    def __post_init__(self) -> None:
        checks.epsilon(self.epsilon)
        if not 0 < self.delta < 1:
            raise BadInput.number("delta", self.delta, "a probability above 0 and below 1, for example 1e-5")

    def __call__(self, graph: nx.Graph, rng: np.random.Generator) -> nx.Graph:
        """One synthetic graph."""
        import networkx as nx

        names = list(graph)
        made = nx.Graph()
        made.add_nodes_from(names)
        ends = self.edges(self.scores(StoredGraph.of(graph), rng), rng)
        made.add_edges_from((names[u], names[v]) for u, v in ends.tolist())
        return made

    def scores(self, stored: StoredGraph, rng: np.random.Generator) -> np.ndarray:
        """The symmetric score matrix, N x N float64 with a zero diagonal: how often either end drew the other."""
        n = stored.n
        learning = _Learning(self, n, rng)
        drawn = np.zeros((n, n))
        for start in range(0, n - self.batch + 1, self.batch):
            heads, tails = self._walked(stored, np.arange(start, start + self.batch), rng)
            if not len(heads):
                continue
            learning.step(stored, heads, tails)
            drawn[np.arange(n), _categorical(learning.embedding @ learning.embedding.T, rng)] += 1
        np.fill_diagonal(drawn, 0)
        return drawn + drawn.T

    def edges(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Edges drawn by their scores, M x 2, smaller end first."""
        n = len(scores)
        below = scores.cumsum(axis=1)
        row = np.flatnonzero(below[:, -1:].ravel() > 0)
        place = (below[row] > rng.random(len(row))[:, None] * below[row, -1:]).argmax(axis=1)
        chosen = np.unique(np.minimum(row, place) * n + np.maximum(row, place))
        upper = np.triu(scores, k=1).ravel()
        wanted = int(np.count_nonzero(1 / (1 + np.exp(-upper)) > 0.5)) / PAIRS_PER_EDGE
        upper[chosen] = 0
        more = min(round(wanted - len(chosen)), int(np.count_nonzero(upper)))
        if more > 0:
            chosen = np.append(chosen, rng.choice(n * n, size=more, replace=False, p=upper / upper.sum()))
        return np.column_stack([chosen // n, chosen % n])

    def _walked(
        self, stored: StoredGraph, nodes: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Start and visited node of every step of the walks from `nodes`; a walk ends where no tie leads on."""
        head = here = np.repeat(nodes, self.walks)
        heads, tails = [head[:0]], [head[:0]]
        for _ in range(self.steps):
            on = stored.out_degree[here] > 0
            head, here = head[on], here[on]
            if not len(here):
                break
            here = stored.ends[stored.start[here] + rng.integers(stored.out_degree[here])]
            heads.append(head)
            tails.append(here)
        return np.concatenate(heads), np.concatenate(tails)


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A graph as the mechanism stores it: every tie from the earlier node to the later.

    `start`: N, where the ends of a node's ties begin in `ends` (M). `out_degree`, `in_degree`: N int64.
    """

    start: np.ndarray
    ends: np.ndarray
    out_degree: np.ndarray
    in_degree: np.ndarray

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.out_degree)

    @classmethod
    def of(cls, graph: nx.Graph) -> StoredGraph:
        """A graph of NetworkX, in its own node order."""
        place = {node: row for row, node in enumerate(graph)}
        pairs = np.array([(place[u], place[v]) for u, v in graph.edges], dtype=np.int64).reshape(-1, 2)
        keys = np.sort(pairs.min(axis=1) * len(place) + pairs.max(axis=1))
        pairs = np.column_stack([keys // len(place), keys % len(place)])
        out, into = (np.bincount(ends, minlength=len(place)) for ends in pairs.T)
        return cls(np.cumsum(out) - out, pairs[:, 1], out, into)


class _Learning:
    """Embeddings and score weights while they are learnt: the private part of the mechanism that is noised."""

    def __init__(self, mechanism: PrivDPR, n: int, rng: np.random.Generator) -> None:
        d = mechanism.dimension
        self._mechanism = mechanism
        self._rng = rng
        self.embedding = rng.standard_normal((n, d), np.float32) * np.float32(math.sqrt(2 / (n + d)))
        self._weight = rng.normal(scale=math.sqrt(2 / (d + 1)), size=d)
        self._bias = 0.0
        rounds = max(1, n // mechanism.batch)
        self._noise = mechanism.clip * math.sqrt(2 * math.log(1.25 * rounds / mechanism.delta)) / mechanism.epsilon
        self._moments = [(np.zeros(shape, np.float32), np.zeros(shape, np.float32)) for shape in ((n, d), d, 1)]
        self._round = 0

    def step(self, stored: StoredGraph, heads: np.ndarray, tails: np.ndarray) -> None:
        """One step of Adam on the mean PageRank residual of (start, visited) pairs."""
        weight = self._weight * self._mechanism.norm / np.linalg.norm(self._weight)
        score = 1 / (1 + np.exp(-(self.embedding @ weight + self._bias)))
        slope = self._residual_slope(stored, score, heads, tails) * score * (1 - score)
        gradient = self._rng.standard_normal(self.embedding.shape, np.float32) * np.float32(self._noise)
        gradient += np.outer(slope, weight)
        others = slope @ self.embedding, np.array([slope.sum()])
        self._round += 1
        steps = [self._adam(k, part) for k, part in enumerate((gradient, *others))]
        self.embedding -= steps[0]
        self._weight -= steps[1]
        self._bias -= float(steps[2][0])

    def _residual_slope(
        self, stored: StoredGraph, score: np.ndarray, heads: np.ndarray, tails: np.ndarray
    ) -> np.ndarray:
        """Slope of `mean(in_t γ² r² + 2 γ (1 - γ) r / N)`, `r = s_h / out_h - s_t / (γ in_t)`, in each score."""
        damping, n = self._mechanism.damping, stored.n
        out, into = stored.out_degree[heads], stored.in_degree[tails]
        residual = score[heads] / out - score[tails] / (damping * into)
        outer = (2 * into * damping**2 * residual + 2 * damping * (1 - damping) / n) / len(heads)
        return np.bincount(heads, outer / out, n) - np.bincount(tails, outer / (damping * into), n)

    def _adam(self, k: int, gradient: np.ndarray) -> np.ndarray:
        first, second = self._moments[k]
        first += (1 - BETA_1) * (gradient - first)
        second += (1 - BETA_2) * (gradient**2 - second)
        scale = np.sqrt(second / (1 - BETA_2**self._round)) + TINY
        return self._mechanism.rate * first / (1 - BETA_1**self._round) / scale


def _categorical(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One column a row from `softmax(logits)`, N: the law of the largest entry under Gumbel noise, at any τ."""
    weight = np.exp(logits - logits.max(axis=1, keepdims=True))
    below = weight.cumsum(axis=1)
    return (below > rng.random(len(below))[:, None] * below[:, -1:]).argmax(axis=1)
