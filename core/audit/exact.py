"""White-box audit of one pair of neighbouring graphs, from their exact release distributions."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from core import checks
from core.release.distribution import ReleaseDistribution


@dataclass(frozen=True)
class Comparison:
    """What two neighbouring graphs' releases give away (PrivCFS, section 4.4; edge level).

    `same_support`: same candidates in the same order. `delta_u`: `max |u - u'|` in [0, 1].
    `ratio`: `max_S max(P/P', P'/P)`, at most `e^ε` if the guarantee holds. `identical`: equal
    distributions. `auc`: of the likelihood-ratio attack, 0.5 is a guess. `advantage`: total variation
    distance, the attack's best true rate minus false rate.
    """

    same_support: bool
    delta_u: float
    ratio: float
    identical: bool
    auc: float
    advantage: float


def compare(one: ReleaseDistribution, other: ReleaseDistribution) -> Comparison:
    """Compare the releases of two neighbouring graphs; different supports give an infinite ratio."""
    if one.universe.digest != other.universe.digest:
        return Comparison(False, 1.0, float("inf"), False, 1.0, 1.0)
    p, q = one.probability.ravel(), other.probability.ravel()
    moved = np.abs(one.utility.fractions - other.utility.fractions).max()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p == q, 1.0, p / q)
    return Comparison(
        same_support=True,
        delta_u=float(moved),
        ratio=float(max(ratio.max(), 1.0 / ratio.min())) if ratio.min() > 0 else float("inf"),
        identical=bool((p == q).all()),
        auc=attack_auc(p, q),
        advantage=float(np.abs(p - q).sum() / 2),
    )


def attack_auc(p: np.ndarray, q: np.ndarray) -> float:
    """AUC of the likelihood-ratio attack between distributions `p` and `q` over the same outcomes.

    `P(L(S) > L(S')) + P(L(S) = L(S')) / 2` for `S ~ p`, `S' ~ q` and `L = p/q` (Neyman-Pearson).
    """
    in_p, in_q = _by_likelihood(p, q)
    below = np.cumsum(in_q) - in_q
    return float(in_p @ (below + in_q / 2))


def attack_roc(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ROC of that attack: false and true positive rate at each threshold, from (0, 0) to (1, 1).

    It says `p` when `L(S)` is at least the threshold; no attack on one release lies above the line through
    these points (Neyman-Pearson), and the area under it is `attack_auc`.
    """
    in_p, in_q = _by_likelihood(p, q)
    false, true = (np.concatenate([[0.0], np.cumsum(part[::-1])]) for part in (in_q, in_p))
    return false / false[-1], true / true[-1]


def allowed_roc(false: np.ndarray, epsilon: float) -> np.ndarray:
    """Largest true positive rate that pure ε allows at each false positive rate in [0, 1].

    `min(e^ε FPR, 1 - e^-ε (1 - FPR))` (Kairouz, Oh & Viswanath 2015, with δ = 0). Raises `BadInput` for a bad ε.
    """
    budget = checks.epsilon(epsilon)
    with np.errstate(over="ignore"):
        steep = np.where(false > 0, np.exp(budget + np.log(np.maximum(false, 5e-324))), 0.0)
    return np.minimum(steep, 1 - math.exp(-budget) * (1 - false))


def ratio_bound(epsilon: float) -> float:
    """`e^ε`, infinite where a float can't hold it; raises `BadInput` for a bad ε."""
    budget = checks.epsilon(epsilon)
    return math.exp(budget) if budget < math.log(sys.float_info.max) else math.inf


def posterior_bound(epsilon: float) -> float:
    """`e^ε / (1 + e^ε)`: from an even prior, nobody gets surer of an edge than this by one release.

    Also the largest AUC that pure ε allows, the area under `allowed_roc`. Raises `BadInput` for a bad ε.
    """
    return 1 / (1 + math.exp(-checks.epsilon(epsilon)))


def _by_likelihood(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass of `p` and of `q` on outcomes of equal `p/q`, ascending in it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = np.where(p == q, 1.0, p / q)
    _, member = np.unique(likelihood, return_inverse=True)
    return np.bincount(member, weights=p), np.bincount(member, weights=q)
