"""How far one edge moves a homomorphism density: bounds that hold for every graph of a public domain, and a smooth one.

One edge uv more or less changes hom(F, G) by the maps that use uv. Such a map sends some edge ab of F onto uv, in one
of two directions. The other vertices of the component of ab follow along a spanning tree that starts at ab, at most Δ
choices each, and every other component of m' vertices has at most n Δ^(m'-1) maps. With c components in all,

    |hom(F, G) - hom(F, G')| <= 2 e(F) n^(c-1) Δ^(m-c-1),   so   |Δt| <= (2 e(F) / n^2) (Δ/n)^(m-c-1),

where Δ bounds the degrees of the larger of the two graphs: Theorem 4.5 for connected F (c = 1), and the counting lemma
2 e(F) / n^2 with Δ = n.

Smooth: with Δ(G) the largest degree, the larger of G and a neighbour has degrees of at most Δ(G) + 1, a graph at
distance k one of at most Δ(G) + k + 1, and never more than D, the bound of the domain or n - 1. So
`U_k(G) = (2 e(F)/n^2) (min(Δ(G) + k + 1, D)/n)^(m-c-1)` bounds the local sensitivity at distance k, and
`S(G) = max_k e^(-βk) U_k(G)` is a β-smooth upper bound on it, since `U_k(G) <= U_(k+1)(G')` for neighbours (Nissim,
Raskhodnikova & Smith 2007). It is data-dependent: neither it nor a noise level made of it may be shown to an analyst.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from core.embeddings.domain import Domain
from core.embeddings.patterns import Pattern
from core.errors import BadInput


def count_bound(pattern: Pattern, n: int, degree: int) -> int:
    """Largest change of hom(F, G) for one edge, both graphs on n nodes with degrees of at most `degree`; exact."""
    if not pattern.size:
        return 0
    parts = len(pattern.components)
    return 2 * pattern.size * n ** (parts - 1) * degree ** (pattern.vertices - parts - 1)


def bound(pattern: Pattern, domain: Domain) -> Fraction:
    """Largest change of t(F, G) for one edge of the private graph, over the whole domain; exact, public.

    The counting lemma where no degree is bounded. A projection multiplies it by its steps.
    """
    n = domain.nodes
    degree = n if domain.degree_bound is None else domain.degree_bound
    return domain.steps * Fraction(count_bound(pattern, n, degree), n**pattern.vertices)


def largest_density(pattern: Pattern, domain: Domain) -> Fraction:
    """Upper bound on t(F, G) over the domain, `(D/n)^(m-c)`; exact, public."""
    n = domain.nodes
    degree = n if domain.degree_bound is None else domain.degree_bound
    return Fraction(degree, n) ** (pattern.vertices - len(pattern.components))


def l2(bounds: Sequence[Fraction]) -> float:
    """l2 norm of per-pattern bounds, at most one part in 10^15 too small: S*."""
    return math.sqrt(float(sum((one**2 for one in bounds), Fraction(0))))


def smooth_bounds(patterns: Sequence[Pattern], domain: Domain, degree: int, beta: float) -> np.ndarray:
    """S(G) of each pattern for a graph whose largest degree is `degree`; d float64, private like the degree.

    Raises `BadInput` for a projecting domain: one edge is up to three there, so the bound would be 3β-smooth only.
    """
    if domain.steps > 1:
        raise BadInput("smooth sensitivity: found a domain that projects, expected one that refuses")
    most = domain.nodes - 1 if domain.degree_bound is None else domain.degree_bound
    return np.array([_smooth(pattern, domain.nodes, min(degree, most), most, beta) for pattern in patterns])


def _smooth(pattern: Pattern, n: int, degree: int, most: int, beta: float) -> float:
    """`max_k e^(-βk) U_k`: the exponent is concave in k, so only the ends and the two k beside its peak can win."""
    if not pattern.size:
        return 0.0
    power = pattern.vertices - len(pattern.components) - 1
    last = max(most - degree - 1, 0)
    peak = power / beta - degree - 1
    steps = {0, last, *(min(max(round_(peak), 0), last) for round_ in (math.floor, math.ceil))}
    return max(2 * pattern.size / n**2 * (min(degree + k + 1, most) / n) ** power * math.exp(-beta * k) for k in steps)
