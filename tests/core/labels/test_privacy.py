"""The guarantee, by the exact output distribution on tiny graphs, and mutants that must break it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from core.errors import BadInput
from core.labels.classifier import FilterClassifier
from core.labels.enumeration import exact_distribution, hockey_stick
from core.labels.plan import Cap, Plan
from core.labels.simulate import Simulation
from tests.core.labels.tiny import Table, brute_force, least_delta, tiny_graph

PATH, EDGE = [(0, 1)], (1, 2)


@dataclass(frozen=True)
class Halved(Plan):
    """The mutant: noise and threshold for half the sensitivity, under the same claim."""

    @property
    def unit(self):
        return 2 * self.m * self.p_s

    @property
    def votes_needed(self):
        return math.floor(self.unit * (1 + self.threshold)) + 1


def parity(edges):
    return [len(edges) % 2, 0, 0]


def presence(edges):
    return [int(EDGE in edges), 0, 0]


def claims(plan: Plan, one, other, classifier) -> tuple[float, float]:
    """The least δ at the plan's ε, exactly, and the δ that is claimed."""
    pair = [exact_distribution(graph, classifier, plan) for graph in (one, other)]
    for side in pair:
        assert sum(side.values()) == pytest.approx(1, abs=1e-9)
    return hockey_stick(*pair, float(plan.epsilon)), plan.delta_total


@pytest.mark.parametrize("rule", Cap)
@pytest.mark.parametrize(("p_s", "m"), [("0.25", 3), ("0.1", 4), ("0.4", 2), ("0.5", 3)])
@pytest.mark.parametrize("answer", [parity, presence])
def test_the_enumeration_is_the_definition(p_s, m, rule, answer):
    plan = Plan(Fraction(p_s), m, Fraction("1.5"), Fraction("0.2"), rule)
    edges = [(0, 1), (1, 2)]
    expected = brute_force(edges, answer, float(plan.p_s), m, plan.cap, plan.scale, plan.votes_needed)
    found = exact_distribution(tiny_graph(3, edges), Table(3, answer), plan)
    for outcome in expected.keys() | found.keys():
        assert found.get(outcome, 0.0) == pytest.approx(expected.get(outcome, 0.0), abs=1e-9)


def test_the_hockey_stick_is_the_worst_event():
    one = {(0,): 0.5, (1,): 0.2, None: 0.3}
    other = {(0,): 0.1, (2,): 0.6, None: 0.3}
    for epsilon in (0.0, 0.5, 2.0):
        assert hockey_stick(one, other, epsilon) == pytest.approx(least_delta(one, other, epsilon))


SETTINGS = [
    ("1/16", 8, "1.5", "0.001"), ("1/4", 4, "1", "0.05"), ("1/4", 2, "4", "0.1"), ("1/8", 8, "3", "0.01"),
    ("1/2", 4, "2", "0.3"), ("0.1", 10, "6", "0.2"), ("0.06", 10, "0.5", "0.4"),
]  # fmt: skip


@pytest.mark.parametrize("rule", Cap)
@pytest.mark.parametrize(("p_s", "m", "epsilon", "delta"), SETTINGS)
def test_every_classifier_of_two_edges_is_private(p_s, m, epsilon, delta, rule):
    """All 81 functions from subsets of two edges to three labels, on all pairs of neighbours among them."""
    plan = Plan(Fraction(p_s), m, Fraction(epsilon), Fraction(delta), rule)
    a, b = (0, 1), (1, 2)
    pairs = [([], [a]), ([a], [a, b]), ([b], [a, b])]
    for values in itertools.product(range(3), repeat=4):

        def answer(edges, values=values):
            return [values[(a in edges) + 2 * (b in edges)], 0, 0]

        for small, large in pairs:
            found, claimed = claims(plan, tiny_graph(3, small), tiny_graph(3, large), Table(3, answer))
            assert found <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_filter_is_private_on_all_graphs_of_three_nodes(seed):
    rng = np.random.default_rng(seed)
    classifier = FilterClassifier(1.0, -0.7, rng.normal(size=(3, 1 + seed % 2)))
    plan = Plan(Fraction("1/8"), 8, Fraction(2), Fraction("0.02"))
    every = list(itertools.combinations(range(3), 2))
    found = {
        edges: exact_distribution(tiny_graph(3, edges), classifier, plan)
        for size in range(4)
        for edges in itertools.combinations(every, size)
    }
    for one, other in itertools.combinations(found, 2):
        if len(set(one) ^ set(other)) == 1:
            assert hockey_stick(found[one], found[other], 2.0) <= plan.delta_total


NONE, ONE = tiny_graph(3, []), tiny_graph(3, [EDGE])


def test_halved_sensitivity_is_caught():
    right = Plan(Fraction("1/16"), 8, Fraction("1.5"), Fraction("0.001"))
    found, claimed = claims(right, NONE, ONE, Table(3, presence))
    assert found <= claimed
    mutant = Halved(right.p_s, right.m, right.epsilon, right.delta)
    broken, same_claim = claims(mutant, NONE, ONE, Table(3, presence))
    assert same_claim == claimed
    assert broken > claimed + 0.01


@pytest.mark.parametrize(
    ("p_s", "m", "epsilon"), [("0.02", 400, "8"), ("0.01", 400, "8"), ("0.02", 1000, "8"), ("0.005", 100, "2")]
)
def test_the_overflow_has_to_be_paid_and_is_enough(p_s, m, epsilon):
    """At the settings of real releases δ alone would be a false claim while m p_s is small; `delta_total` is none."""
    plan = Plan(Fraction(p_s), m, Fraction(epsilon), Fraction("1e-5"))
    found, claimed = claims(plan, NONE, ONE, Table(3, presence))
    assert not plan.holds
    assert float(plan.delta) < 0.9 * plan.overflow < found <= claimed


@pytest.mark.parametrize("rule", Cap)
@pytest.mark.parametrize(("p_s", "m"), [("0.07", 400), ("0.09", 400), ("0.03", 2000)])
def test_settings_that_hold_are_private_as_asked(p_s, m, rule):
    plan = Plan(Fraction(p_s), m, Fraction(8), Fraction("1e-5"), rule)
    for answer in (presence, parity):
        assert plan.holds
        assert claims(plan, NONE, ONE, Table(3, answer))[0] <= plan.delta


def test_other_edges_add_nothing_to_the_chance():
    """Halting by the edges that both graphs have is no difference: δ doesn't grow with their number."""
    plan = Plan(Fraction("1/16"), 6, Fraction("1.5"), Fraction("0.001"))
    for others in ([], PATH, [*PATH, (0, 2)]):
        found, claimed = claims(plan, tiny_graph(3, others), tiny_graph(3, [*others, EDGE]), Table(3, presence))
        assert found <= claimed


def test_simulation_follows_the_exact_distribution():
    """4,000 draws, each frequency within 5 standard errors: falsely red about once in 500,000 runs, and seeded."""
    plan = Plan(Fraction("1/8"), 8, Fraction(3), Fraction("0.2"))
    graph, classifier = tiny_graph(3, [*PATH, EDGE]), Table(3, presence)
    exact = exact_distribution(graph, classifier, plan)
    draw, rng = Simulation(classifier, plan), np.random.default_rng(5)
    drawn = [draw(graph, rng) for _ in range(4000)]
    assert set(drawn) <= set(exact)
    for outcome, chance in exact.items():
        assert abs(drawn.count(outcome) / 4000 - chance) <= 5 * math.sqrt(chance * (1 - chance) / 4000) + 1e-9


def test_too_much_to_enumerate_is_refused():
    plan = Plan(Fraction("1/8"), 30, Fraction(3), Fraction("0.2"))
    with pytest.raises(BadInput, match="enumeration: found 3 edges and 30 subgraphs"):
        exact_distribution(tiny_graph(3, [(0, 1), (0, 2), (1, 2)]), Table(3, parity), plan)
