"""White-box audit of one pair of neighbouring graphs, from their exact release distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = np.where(p == q, 1.0, p / q)
    _, member = np.unique(likelihood, return_inverse=True)
    in_p, in_q = np.bincount(member, weights=p), np.bincount(member, weights=q)
    below = np.cumsum(in_q) - in_q
    return float(in_p @ (below + in_q / 2))
