"""The certified auditor on the mechanism: it finds nothing, and finds a majority vote without the stability test."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from core.audit.certified import audit
from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.labels.classifier import FilterClassifier, filter_for
from core.labels.csbm import Recipe, load_csbm
from core.labels.plan import Plan
from core.labels.simulate import Simulation
from tests.core.labels.tiny import tiny_graph


@dataclass(frozen=True)
class Untested(Plan):
    """The mutant: the most frequent labels always come out."""

    @property
    def votes_needed(self):
        return -(10**9)


def came_out(outcome: tuple[int, ...] | None) -> float:
    return float(outcome is not None)


def second(outcome: tuple[int, ...] | None) -> float:
    return float("nan") if outcome is None else float(outcome[1])


WITNESSES = [Witness("came out", came_out), Witness("label of the second node", second)]
# the second and third node change their labels with the edge between them
HANGS_ON_IT = FilterClassifier(1.0, -0.6, np.array([[-1.0], [1.0], [-1.0]]))
PAIR = Pair("one edge that a label hangs on", tiny_graph(3, []), tiny_graph(3, [(1, 2)]), Relation.EDGE)


def rejected(plan: Plan) -> list[bool]:
    claim = Claim(float(plan.epsilon), Relation.EDGE, plan.delta_total)
    found = audit(Simulation(HANGS_ON_IT, plan), PAIR, claim, WITNESSES, select=150, evaluate=500, seed=1)
    return [result.rejected for result in found]


@pytest.mark.parametrize(("p_s", "m", "epsilon", "delta"), [("0.6", 20, 1, "0.01"), ("0.09", 60, 8, "0.01")])
def test_no_violation_is_found_in_the_mechanism(p_s, m, epsilon, delta):
    """Falsely red with chance 2 % at most, and seeded: it never is."""
    assert rejected(Plan(Fraction(p_s), m, Fraction(epsilon), Fraction(delta))) == [False, False]


def test_a_vote_without_the_stability_test_is_found():
    assert rejected(Untested(Fraction("0.6"), 20, Fraction(1), Fraction("0.01"))) == [False, True]


def test_no_violation_is_found_on_a_contextual_sbm():
    dataset = load_csbm(Recipe(nodes=40, degree=8, gap=3, margin=0.2))
    graph = dataset.graph
    pair = Pair("an edge less", graph, graph.toggled(*graph.edges[0]), Relation.EDGE)
    plan = Plan(Fraction("0.08"), 60, Fraction(8), Fraction("0.01"))
    claim = Claim(8.0, Relation.EDGE, plan.delta_total)
    release = Simulation(filter_for(dataset, 1, -0.1), plan)
    found = audit(release, pair, claim, WITNESSES, select=100, evaluate=300, seed=2)
    assert not any(result.rejected for result in found)
