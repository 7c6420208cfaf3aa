"""The walls: closed forms, and bounds that really bound."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.errors import BadInput
from core.labels.classifier import FilterClassifier, filter_for
from core.labels.csbm import TIES_MATTER, Recipe, load_csbm
from core.labels.feasible import node_bound, public_walls, stability_wall, theorem_bound, walls
from core.labels.plan import Cap, Plan
from tests.core.labels.tiny import tiny_graph

PLAN = Plan(Fraction("0.07"), 400, Fraction(8), Fraction("1e-5"))


def test_the_stability_wall_is_where_full_agreement_meets_the_threshold():
    wall = stability_wall(8.0, 1e-5)
    assert wall == pytest.approx(0.1025, abs=5e-5)
    assert 1 / (4 * wall) - 1 == pytest.approx(math.log(1e5) / 8)
    for p_s, reachable in (("0.1", True), ("0.105", False)):
        assert replace(PLAN, p_s=Fraction(p_s)).reachable is reachable


@pytest.mark.parametrize("m", [100, 400, 2000])
def test_from_the_halting_wall_on_the_claim_holds_and_m_moves_it(m):
    low, high = public_walls(replace(PLAN, m=m))
    assert low == pytest.approx(public_walls(PLAN)[0] * 400 / m)
    assert high == stability_wall(8.0, 1e-5)
    for p_s in np.linspace(low, 1, 60):
        exact = min(Fraction(1), Fraction(float(p_s)).limit_denominator(10**6) + Fraction(1, 10**6))
        assert replace(PLAN, m=m, p_s=exact).holds


def test_a_fitted_cap_has_a_wider_interval():
    paper, fitted = public_walls(PLAN), public_walls(replace(PLAN, rule=Cap.FITTED))
    assert fitted[0] == 0
    assert fitted[1] > paper[1]
    at = Fraction(fitted[1]).limit_denominator(10**6)
    assert replace(PLAN, rule=Cap.FITTED, p_s=at * Fraction(98, 100)).reachable
    assert not replace(PLAN, rule=Cap.FITTED, p_s=at * Fraction(102, 100)).reachable


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_node_bound_is_above_the_exact_share(columns, seed):
    """All 2^8 subgraphs of a random graph, weighted by their chance."""
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(6), 2))
    graph = tiny_graph(6, [pairs[k] for k in rng.choice(15, 8, replace=False)])
    labels = rng.integers(0, max(2, columns), 6)
    labels[0] = -1
    centre = (labels[:, None] - 0.5) if columns == 1 else np.eye(columns)[labels]
    classifier = FilterClassifier(
        1.0, -0.3, 2 * centre + rng.normal(size=(6, columns)), tau=0.1 if columns == 1 else 0.0
    )
    kept = np.array(list(itertools.product([False, True], repeat=8)))
    wrong = (classifier.labels(graph.edges, kept) != labels)[:, 1:].mean(axis=1)
    p_s = np.array([0.01, 0.2, 0.5, 0.9, 1.0])
    bound = node_bound(graph, classifier, labels, p_s)
    for p, most in zip(p_s, bound, strict=True):
        chance = np.prod(np.where(kept, p, 1 - p), axis=1)
        assert chance @ wrong <= most + 1e-12
    assert (bound < 1).any()


def test_the_node_bound_falls_with_the_margin():
    shares = []
    for margin in (0.0, 1.0, 2.0):
        dataset = load_csbm(Recipe(nodes=400, margin=margin))
        right = np.where(dataset.labels == 1, 1, -1) * dataset.nodes.x.toarray()[:, 0] > 0
        labels = np.where(right, dataset.labels, -1)  # of those that the features get right
        shares.append(node_bound(dataset.graph, filter_for(dataset), labels, np.array([0.05]))[0])
    assert shares[2] < shares[1] / 2 < shares[0] / 4


def test_the_theorems_bound_holds_where_it_says_something():
    """200 draws of a dense graph with a wide margin: over the bound in at most 5 % of draws, here in none."""
    dataset = load_csbm(Recipe(nodes=200, degree=90, homophily=1.0, gap=12.0, margin=4.0))
    classifier, rng = filter_for(dataset, 1.0, -0.004), np.random.default_rng(0)
    whole = classifier.labels(dataset.graph.edges, np.ones((1, dataset.graph.m), dtype=bool))[0]
    p_s = np.array([0.1, 0.4, 0.7, 0.9])
    bound = theorem_bound(dataset.graph, classifier, p_s)
    assert (bound < 0.5).all()
    assert (np.diff(bound) <= 0).all()
    assert bound[-1] < bound[0]
    for p, most in zip(p_s, bound, strict=True):
        kept = rng.random((50, dataset.graph.m)) < p
        assert ((classifier.labels(dataset.graph.edges, kept) != whole).mean(axis=1) <= most).all()


def test_the_theorems_norm_bound_is_a_bound_on_the_laplacian():
    """Recomputed from the formula with a dense norm; ΔL measured on the graph itself."""
    dataset = load_csbm(Recipe(nodes=60, degree=28, homophily=1.0, seed=2))
    graph, p = dataset.graph, 0.6
    laplacian = np.diag(graph.degree) - graph.adjacency.toarray()
    norm, spread = np.linalg.eigvalsh(laplacian)[-1], math.log(2 * 60 / 0.05)
    moved = (1 - p) * norm + math.sqrt(4 * p * (1 - p) * norm * spread) + 4 / 3 * spread
    classifier = filter_for(dataset, 1.0, -0.001)
    values = (np.eye(60) - 0.001 * laplacian) @ dataset.nodes.x.toarray()
    expected = (0.001 * np.linalg.norm(dataset.nodes.x.toarray()) * min(moved, norm) / np.abs(values).min()) ** 2 / 60
    assert theorem_bound(graph, classifier, np.array([p]))[0] == pytest.approx(min(1, expected))
    rng = np.random.default_rng(0)
    for _ in range(10):
        left = graph.with_edges(graph.edges[rng.random(graph.m) < p])
        lost = laplacian - (np.diag(left.degree) - left.adjacency.toarray())
        assert np.linalg.eigvalsh(lost)[-1] <= min(moved, norm) + 1e-9


def test_walls_of_an_owners_graph():
    dataset = load_csbm(Recipe())
    found = walls(dataset.graph, PLAN, filter_for(dataset), dataset.labels, 0.05)
    assert (found.low, found.high) == (found.halting, found.stability)
    assert not found.empty
    assert (np.diff(found.p_s) > 0).all()
    assert found.best_stability == pytest.approx(1 / (4 * found.p_s) - 1, rel=1e-4)
    assert (found.halted >= found.overflow).all()
    place = np.searchsorted(found.p_s, 0.01)
    plan = replace(PLAN, p_s=Fraction(float(found.p_s[place])).limit_denominator(10**9))
    assert found.overflow[place] == plan.overflow
    assert found.halted[place] == pytest.approx(1 - (1 - plan.overflow) ** 880)


def test_the_accuracy_wall_is_where_the_bound_meets_the_share():
    dataset = load_csbm(TIES_MATTER)
    classifier = filter_for(dataset, 1.0, -0.1)
    plan = replace(PLAN, m=1000)
    found = walls(dataset.graph, plan, classifier, dataset.labels, 0.015)
    assert found.halting < found.accuracy == found.low < found.high
    assert node_bound(dataset.graph, classifier, dataset.labels, np.array([found.accuracy]))[0] <= 0.015
    assert node_bound(dataset.graph, classifier, dataset.labels, np.array([0.9 * found.accuracy]))[0] > 0.015
    hopeless = walls(dataset.graph, plan, classifier, dataset.labels, 1e-4)
    assert hopeless.accuracy == 1.0
    assert hopeless.empty


def test_an_accuracy_wall_needs_a_filter_and_a_share():
    dataset = load_csbm(Recipe())
    assert walls(dataset.graph, PLAN).wrong is None
    for given in ((None, None, 0.1), (filter_for(dataset), dataset.labels, 0.0)):
        with pytest.raises(BadInput, match="accepted share of wrong labels"):
            walls(dataset.graph, PLAN, *given)
