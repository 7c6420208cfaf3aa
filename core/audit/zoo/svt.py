"""The sparse vector technique: which queries exceed a threshold (Lyu, Su & Li 2017, whose numbering is used)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.audit.witnesses import Code, Coordinate, LabelCount
from core.audit.zoo.laws import laplace_cdf, laplace_pdf, over_line, widest
from core.audit.zoo.specimen import Specimen, Vectorised

BELOW, ABOVE, SILENT = 0, 1, 2
FEW = (Witness("outcome", Code(3), finite=True), Witness("positives", LabelCount(ABOVE)))


@dataclass(frozen=True)
class SparseVector(Vectorised):
    """Per query `q_i`: 1 where `q_i + Lap(query_scale) >= threshold + Lap(threshold_scale)`, else 0, 2 after the end.

    Records are tuples of one 0 or 1 a query, and a query is their sum. It ends after `cutoff` ones, or never.
    With `value` an exceeding query tells its own noisy value in the place of 1, and -inf and NaN stand for 0
    and 2. The threshold's noise is drawn once.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int | None
    value: bool = False

    def release_many(self, data: Sequence[Sequence[int]], n: int, rng: np.random.Generator) -> np.ndarray:
        queries = np.sum(data, axis=0)
        noisy = queries + rng.laplace(size=(n, len(queries))) * self.query_scale
        above = noisy >= self.threshold + rng.laplace(size=(n, 1)) * self.threshold_scale
        past = np.cumsum(above, axis=1) - above >= (math.inf if self.cutoff is None else self.cutoff)
        if self.value:
            return np.where(past, np.nan, np.where(above, noisy, -np.inf))
        return np.where(past, SILENT, np.where(above, ABOVE, BELOW))

    def outcomes(self, size: int) -> np.ndarray:
        """Every answer to `size` queries without values, one a row."""
        rows = []
        for answers in itertools.product((BELOW, ABOVE), repeat=size):
            seen, row = 0, []
            for answer in answers:
                row.append(SILENT if self.cutoff is not None and seen >= self.cutoff else answer)
                seen += answer
            rows.append(tuple(row))
        return np.array(sorted(set(rows)))

    def probability(self, data: Sequence[Sequence[int]]) -> np.ndarray:
        """Chance of each of `outcomes`, `∫ f(z) Π F(z + t - q_i) Π (1 - F(z + t - q_j)) dz` (Lyu et al. 2017, 4).

        z is the threshold's noise; the products run over the queries below (i) and above (j) the threshold t.
        """
        queries = np.sum(data, axis=0)
        answers = self.outcomes(len(queries))

        def density(z: float) -> np.ndarray:
            below = laplace_cdf(z + self.threshold - queries, self.query_scale)
            each = np.where(answers == BELOW, below, np.where(answers == ABOVE, 1 - below, 1.0))
            return laplace_pdf(z, self.threshold_scale) * each.prod(axis=1)

        kinks = np.append(queries - self.threshold, 0.0)
        return over_line(density, kinks, max(self.threshold_scale, self.query_scale))


def swapped(m: int, more: int | None = None) -> Pair:
    """One record moves from the last queries to the first `m`: answers (0^m, 1^more) become (1^m, 0^more)."""
    more = m if more is None else more
    return Pair(
        f"answers 0 x {m}, 1 x {more} and the opposite",
        ((0,) * m + (1,) * more,),
        ((1,) * m + (0,) * more,),
        Relation.RECORD,
    )


def svt(epsilon: float = 1.0) -> list[Specimen]:
    """The sparse vector techniques of the zoo at a claim of `epsilon`, threshold 1/2, on answers that swap.

    Without values the outcomes are few, so the truth at δ = 0 is the largest log ratio of two integrals
    (`SparseVector.probability`). Algorithm 1 halves ε between threshold and queries, whose noise has scale
    `4c/ε`. Algorithm 4 leaves the cutoff c out of it, algorithm 6 the cutoff altogether. Without noise on the
    threshold the queries are independent: `2m log((1 - e^-x/2) / (e^-x/2))`, `x = 1/(2 scale)`. Algorithm 5 has
    no noise on the queries: the answers (0, 1) need a threshold between 0 and 1, which (1, 0) can't give.
    """
    claim = Claim(epsilon, Relation.RECORD)
    tried = [
        ("svt", True, "Lyu et al. 2017, algorithm 1", SparseVector(0.5, 2 / epsilon, 4 / epsilon, 1), swapped(3)),
        (
            "svt, cutoff not paid for", False, "algorithm 4: query noise that doesn't grow with the cutoff",
            SparseVector(0.5, 4 / epsilon, 4 / (3 * epsilon), 3), swapped(3),
        ),
        (
            "svt, no cutoff", False, "algorithm 6: any number of positives",
            SparseVector(0.5, 2 / epsilon, 2 / epsilon, None), swapped(3),
        ),
    ]  # fmt: skip
    found = [
        Specimen(
            name, correct, flaw, release, pair, claim, FEW,
            widest(release.probability(pair.one), release.probability(pair.other)),
        )
        for name, correct, flaw, release, pair in tried
    ]  # fmt: skip
    m, scale = 4, 2 / epsilon
    miss = math.exp(-0.5 / scale) / 2
    bare = SparseVector(0.5, 0.0, scale, None)
    quiet = SparseVector(0.5, 2 / epsilon, 0.0, None)
    return [
        *found,
        Specimen(
            "svt, threshold without noise", False, "the threshold is public", bare, swapped(m), claim, FEW,
            2 * m * math.log((1 - miss) / miss),
        ),
        Specimen(
            "svt, queries without noise", False, "algorithm 5: noise on the threshold alone", quiet, swapped(1), claim,
            FEW, math.inf,
        ),
    ]  # fmt: skip


def svt_with_value(epsilon: float = 1.0, m: int = 5) -> Specimen:
    """Algorithm 3: the query that exceeds tells its value, under the very noise that it was compared with.

    For m answers 0 and then a value v on one input, and all answers larger by 1 on the other, both densities
    are `∫_{z <= v} f(z) Π F(z - q_i) dz · f(v - q)`. For v below all answers each of the m factors and f have the
    ratio `e^{1/b}`, which no other outcome exceeds: the truth is (m + 1)/b, b = 2/ε. Such outcomes are rare.
    """
    pair = Pair("a record in all queries more", ((0,) * (m + 1),), ((0,) * (m + 1), (1,) * (m + 1)), Relation.RECORD)
    return Specimen(
        "svt, value with the same noise", False, "algorithm 3: tells the noisy value that was compared",
        SparseVector(0.0, 2 / epsilon, 2 / epsilon, 1, value=True), pair, Claim(epsilon, Relation.RECORD),
        tuple(Witness(f"answer {place}", Coordinate(place)) for place in range(m + 1)), (m + 1) * epsilon / 2,
    )  # fmt: skip
