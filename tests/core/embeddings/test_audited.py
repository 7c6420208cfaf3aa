"""Audits of the real draw: nothing found as it is, a violation found when its sensitivity is halved on purpose.

At ρ = 0.5 the conversion claims ε = 2.65 at δ = 0.1. A halved sensitivity doubles the distance of the two normal laws
to 2 standard deviations, where the best event has `ln((α - δ)/β)` above 3.5.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.certified import audit
from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.embeddings import plan as planning
from core.embeddings import sensitivity
from core.embeddings.accounting import TCDP
from core.embeddings.audited import Along, EmbeddingRelease
from core.embeddings.domain import Domain, OverBound
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, TRIANGLE, cycle
from core.embeddings.plan import Spread, noise_plan

DELTA = 0.1
EPSILON = TCDP(0.5).epsilon(DELTA)
NODES = 8
PATH = bare_graph(NODES, np.array([[k, k + 1] for k in range(NODES - 1)]))


def audited(plan, draws: int = 9_000):
    pair = Pair("path and cycle", PATH, PATH.toggled(0, NODES - 1), Relation.EDGE)
    witness = Witness("likelihood", Along.between(plan, pair.one, pair.other))
    claim = Claim(EPSILON, Relation.EDGE, DELTA)
    [result] = audit(EmbeddingRelease(plan), pair, claim, [witness], select=3_000, evaluate=draws, seed=1)
    return result


@pytest.mark.parametrize(
    ("patterns", "domain", "settings"),
    [
        ((EDGE,), Domain(NODES), {}),
        ((EDGE,), Domain(NODES), {"smooth": True}),
        ((EDGE, TRIANGLE, cycle(4)), Domain(NODES, 2), {"spread": Spread.OWN}),
        ((EDGE,), Domain(NODES, 2, OverBound.PROJECT), {}),
    ],
)
def test_no_violation_is_found(patterns, domain, settings):
    """Each rejects a correct mechanism with probability 0.01 at most; the seeds don't reach OpenDP's randomness."""
    result = audited(noise_plan(patterns, domain, EPSILON, DELTA, **settings), draws=2_000)
    assert not result.rejected


def test_a_halved_sensitivity_is_found(monkeypatch):
    monkeypatch.setattr(planning, "bound", lambda pattern, domain: sensitivity.bound(pattern, domain) / 2)
    result = audited(noise_plan((EDGE,), Domain(NODES), EPSILON, DELTA))
    assert result.rejected
    assert result.epsilon_lb > EPSILON
