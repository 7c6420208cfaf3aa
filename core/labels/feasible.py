"""Which p_s a plan can take: walls from the stability test, the halting step, and the accuracy of thin subgraphs.

- *Stability*: `c1 - c2 <= m`, so d̂ is at most `1/(4 p_s) - 1`, and a release needs `p_s < 1/(4 (1 + ln(1/δ)/ε))`.
- *Halting*: one edge trips the halting step with chance `P(Bin(m, p_s) > 2 m p_s)`, which takes part in δ and must
  stay within δ/2; m moves this wall.
- *Accuracy*: thin subgraphs lose what the edges say. Two bounds on the share of wrong labels in one subgraph: the
  paper's, over the whole vector (`theorem_bound`), and one node by node that needs no matrix norm (`node_bound`).

The first two are public, the last reads the private graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt

import numpy as np
from scipy import sparse

from core.errors import BadInput
from core.graph import PrivateGraph
from core.labels.classifier import FilterClassifier
from core.labels.plan import Cap, Plan, least_cap
from core.labels.stability import check_fits

POINTS = 200


@dataclass(frozen=True, eq=False)
class Walls:
    """Curves over p_s and the interval between them; `theorem` and `wrong` read the private graph, owner-only.

    `p_s`: P float64, ascending. `best_stability`: d̂ of full agreement, `1/(4 p_s) - 1` with the paper's cap;
    `threshold`: `ln(1/δ)/ε`. `overflow`: chance that one edge trips the halting step; `halted`: that any of M does.
    `theorem`, `wrong`: bounds on the share of wrong labels, the paper's and node by node, 1 where they say
    nothing; None without a one-layer filter. `accuracy`, `halting`, `stability`: the walls; `accuracy` is 0 where no
    error target was set, 1 where the bound reaches it nowhere below the stability wall.
    """

    plan: Plan
    p_s: np.ndarray
    best_stability: np.ndarray
    threshold: float
    overflow: np.ndarray
    halted: np.ndarray
    theorem: np.ndarray | None
    wrong: np.ndarray | None
    accuracy: float
    halting: float
    stability: float

    @property
    def low(self) -> float:
        """The wall on the left: too few edges to be right, or too few subgraphs to halt rarely."""
        return max(self.accuracy, self.halting)

    @property
    def high(self) -> float:
        """The wall on the right: even full agreement doesn't clear the threshold."""
        return self.stability

    @property
    def empty(self) -> bool:
        """Whether the walls leave no p_s."""
        return self.low >= self.high


def walls(
    graph: PrivateGraph,
    plan: Plan,
    classifier: FilterClassifier | None = None,
    labels: np.ndarray | None = None,
    most_wrong: float | None = None,
) -> Walls:
    """The feasible interval of p_s for the owner's graph, at the plan's m, ε, δ and cap.

    `classifier`: a one-layer filter, the only one that has bounds. `labels`: N int64, the truth. `most_wrong`: the
    share of wrong labels that the owner accepts. Raises `BadInput` for a share outside (0, 1], or one without filter
    and labels.
    """
    bounded = classifier is not None and labels is not None
    if most_wrong is not None and not (bounded and 0 < most_wrong <= 1):
        raise BadInput.number("accepted share of wrong labels", most_wrong, "a share above 0, with a one-layer filter")
    halting, high = public_walls(plan)
    p_s = np.geomspace(min(high, max(halting, 1 / plan.m)) / 8, 1.0, POINTS)
    plans = [_at(plan, p) for p in p_s]
    theorem = wrong = None
    accuracy = 0.0
    if classifier is not None and labels is not None:
        wrong = node_bound(graph, classifier, labels, p_s)
        theorem = theorem_bound(graph, classifier, p_s)
        if most_wrong is not None:
            fine = np.flatnonzero((wrong <= most_wrong) & (p_s < high))
            accuracy = 1.0 if not len(fine) else 0.0 if fine[0] == 0 else float(p_s[fine[0]])
    overflow = np.array([one.overflow for one in plans])
    return Walls(
        plan=plan,
        p_s=p_s,
        best_stability=np.array([one.stability(one.m) for one in plans]),
        threshold=plan.threshold,
        overflow=overflow,
        halted=-np.expm1(graph.m * np.log1p(-np.minimum(overflow, 1 - 1e-16))),
        theorem=theorem,
        wrong=wrong,
        accuracy=accuracy,
        halting=halting,
        stability=high,
    )


def public_walls(plan: Plan) -> tuple[float, float]:
    """The halting and the stability wall at the plan's m, ε, δ and cap: no graph is read.

    A fitted cap has no halting wall, and its stability wall is where full agreement no longer gets `votes_needed`.
    """
    if plan.rule is Cap.PAPER:
        return min(1.0, least_cap(plan.delta) / (2 * plan.m)), stability_wall(float(plan.epsilon), float(plan.delta))
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _at(plan, middle).reachable else (low, middle)
    return 0.0, low


def _at(plan: Plan, p_s: float) -> Plan:
    return replace(plan, p_s=max(Fraction(p_s).limit_denominator(10**9), Fraction(1, 10**9)))


def stability_wall(epsilon: float, delta: float) -> float:
    """`1 / (4 (1 + ln(1/δ)/ε))`: the p_s from which on full agreement isn't enough; public."""
    return 1 / (4 * (1 + log(1 / delta) / epsilon))


def theorem_bound(graph: PrivateGraph, classifier: FilterClassifier, p_s: np.ndarray, eta: float = 0.05) -> np.ndarray:
    """Bound on the share of labels that one subgraph gives otherwise than the whole graph, with chance 1 - η.

    `(|h1| ||x|| ||ΔL|| / γ_min)² / n`, clipped to 1, with
    `||ΔL|| <= (1 - p) ||L|| + sqrt(4 p (1 - p) ||L|| ln(2n/η)) + 4/3 ln(2n/η)` (Theorem 3: bias, and matrix Bernstein
    with σ² = 2p(1 - p)||L||, R = 2), and never above `||L||`, since `0 <= ΔL <= L`. γ_min: the least distance of a
    node's filtered value from the threshold. A label differs only where the value moved by γ_min, hence the
    count. For C columns the gap between two of them takes the place of the value. p_s -> P float64; private.
    """
    check_fits(classifier, graph.n)
    n = graph.n
    whole = classifier.values(graph.edges, np.ones((1, graph.m), dtype=bool))[0]
    if whole.shape[1] == 1:
        margin, size = float(np.abs(whole[:, 0] - classifier.tau).min()), float(np.linalg.norm(classifier.signal))
    else:
        ordered = np.sort(whole, axis=1)
        margin = float((ordered[:, -1] - ordered[:, -2]).min())
        size = sqrt(2.0) * float(np.linalg.norm(classifier.signal))
    norm = _laplacian_norm(graph)
    spread = log(2 * n / eta)
    moved = (1 - p_s) * norm + np.sqrt(4 * p_s * (1 - p_s) * norm * spread) + 4 / 3 * spread
    if margin == 0:
        return np.ones_like(p_s)
    return np.minimum(1.0, (abs(classifier.h1) * size * np.minimum(moved, norm) / margin) ** 2 / n)


def node_bound(graph: PrivateGraph, classifier: FilterClassifier, labels: np.ndarray, p_s: np.ndarray) -> np.ndarray:
    """Bound on the expected share of wrong labels in one subgraph, node by node; P float64, private.

    Node i's distance from the wrong side is a sum over its edges, `D_i = h0 x_i + h1 Σ_j B_ij (x_i - x_j) - tau`, with
    the sign turned so that D > 0 is right; B are independent Bernoulli(p). With mean μ, variance v and largest
    jump R, Bernstein gives `P(D <= 0) <= exp(-μ² / (2 (v + R μ / 3)))` where μ > 0, and 1 else. For C columns: the
    sum over the wrong ones. As in Theorem 3 it falls with the margin; with p_s it falls where the edges help. Of a
    released vector, which c1 of m subgraphs gave, at most m/c1 times as many labels are wrong on average (Markov).
    `labels`: N int64, the truth; unlabelled nodes don't count.
    """
    check_fits(classifier, graph.n)
    x, known = classifier.signal, labels >= 0
    p_s = np.asarray(p_s, dtype=np.float64)
    if not known.any():
        return np.ones_like(p_s)
    wrong = np.zeros((graph.n, len(p_s)))
    if x.shape[1] == 1:
        wrong = _beyond(graph, classifier, x[:, 0], np.where(labels == 1, 1.0, -1.0), known, p_s)
    else:
        for own in np.unique(labels[known]):
            rows = labels == own
            for other in np.delete(np.arange(x.shape[1]), own):
                wrong[rows] += _beyond(graph, classifier, x[:, own] - x[:, other], np.ones(graph.n), rows, p_s)
        wrong = wrong[known]
    return np.minimum(wrong, 1.0).mean(axis=0)


def _beyond(
    graph: PrivateGraph, classifier: FilterClassifier, x: np.ndarray, sign: np.ndarray, rows: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Bernstein's bound on the chance that `sign (h0 x + h1 L̂x - tau) <= 0`, marked rows x P."""
    u, w = graph.edges.T
    jump = classifier.h1 * (x[u] - x[w])
    ends, steps = np.concatenate([u, w]), np.concatenate([jump, -jump])
    largest = np.zeros(graph.n)
    np.maximum.at(largest, ends, np.abs(steps))
    added, squares = np.bincount(ends, steps, graph.n), np.bincount(ends, steps**2, graph.n)
    still = classifier.h0 * x - classifier.tau
    mean = sign[rows, None] * (still[rows, None] + p * added[rows, None])
    safe = np.maximum(mean, 0.0)
    spread = 2 * (p * (1 - p) * squares[rows, None] + np.maximum(p, 1 - p) * largest[rows, None] * safe / 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(spread > 0, safe**2 / spread, np.inf)
    return np.where(mean > 0, np.exp(-exponent), 1.0)


def _laplacian_norm(graph: PrivateGraph) -> float:
    laplacian = sparse.diags_array(graph.degree.astype(np.float64)) - graph.adjacency
    if graph.n <= 500:
        return float(np.linalg.eigvalsh(laplacian.toarray())[-1])
    from scipy.sparse.linalg import eigsh

    return float(eigsh(laplacian.tocsr(), k=1, which="LA", return_eigenvectors=False)[0])
