"""Plans and releases: the grid, what OpenDP certifies, the noise that is drawn, and the ledger's rules."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.desk.ledger import Ledger
from core.embeddings.counting import densities
from core.embeddings.domain import Domain, OverBound
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, TRIANGLE, Pattern, cycle, path
from core.embeddings.plan import NoisePlan, Spread, noise_plan
from core.embeddings.release import EmbeddingRequest, draw, noised_many, release
from core.embeddings.samplers import PatternClass, sample
from core.embeddings.sensitivity import bound, l2, smooth_bounds
from core.embeddings.simulate import simulate
from core.errors import BadInput, BudgetRefused, PrivCFSError
from tests.core.embeddings.brute import all_matrices, edges_of, neighbour_codes, random_matrix

PATTERNS = (EDGE, TRIANGLE, cycle(4), path(3), Pattern(2, ()))
N = 12


@pytest.fixture
def graph():
    return bare_graph(N, edges_of(random_matrix(N, 0.4, np.random.default_rng(0))))


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(str(tmp_path / "ledger.db")) as made:
        made.open_account("graph", "graph", Fraction(2), Fraction(1, 10_000))
        yield made


def request(**changes) -> EmbeddingRequest:
    return replace(EmbeddingRequest("graph", PATTERNS, Domain(N), Fraction(1), Fraction(1, 100_000)), **changes)


@pytest.mark.parametrize("domain", [Domain(5), Domain(5, 2), Domain(5, 2, OverBound.PROJECT)])
@pytest.mark.parametrize("spread", Spread)
def test_no_neighbour_moves_the_grid_by_more_than_its_steps(domain, spread):
    """All pairs of neighbours on five nodes, counts rounded to the grid as a release rounds them."""
    plan = noise_plan(PATTERNS, domain, 1.0, 1e-5, spread=spread)
    rows: list[np.ndarray | None] = []
    for matrix in all_matrices(5):
        try:
            rows.append(plan.on_grid(densities(PATTERNS, domain.admit(bare_graph(5, edges_of(matrix))))))
        except BadInput:
            rows.append(None)
    moved = [
        np.abs(rows[one] - rows[other])
        for one, other in neighbour_codes(5)
        if rows[one] is not None and rows[other] is not None
    ]
    assert (np.max(moved, axis=0) <= plan.steps).all()
    assert max(np.linalg.norm(one.astype(float)) for one in moved) <= plan.grid_sensitivity
    if domain.steps == 1:
        assert np.max(moved, axis=0)[0] >= plan.steps[0] - 1  # an edge moves its own density by just the bound


def test_noise_is_the_formula_s_up_to_the_grid():
    plan = noise_plan(PATTERNS, Domain(200, 50), 1.0, 1e-5)
    exact = l2([bound(pattern, plan.domain) for pattern in PATTERNS])
    assert plan.sensitivity == pytest.approx(exact, rel=1e-6) and plan.sensitivity >= exact
    assert plan.noise_std() == pytest.approx(exact / math.sqrt(2 * plan.cost.rho), rel=1e-6)
    own = noise_plan(PATTERNS, Domain(200, 50), 1.0, 1e-5, spread=Spread.OWN)
    shares = own.noise_std()[:4] / [float(bound(pattern, own.domain)) for pattern in PATTERNS[:4]]
    assert shares.max() / shares.min() < 2
    assert own.noise_std()[2] < plan.noise_std()[2]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_smooth_noise_follows_the_degree_and_is_smooth(epsilon):
    plan = noise_plan(PATTERNS, Domain(2_000, 200), epsilon, 1e-5, smooth=True)
    assert plan.cost.epsilon(1e-5) <= epsilon
    scales = np.array([plan.scale_at(degree) for degree in range(201)])
    assert (np.diff(scales) >= 0).all()
    for degree in (0, 20, 200):
        local = smooth_bounds(PATTERNS, plan.domain, degree, plan.smooth.beta)
        formula = np.linalg.norm(local) / math.sqrt(2 * plan.smooth.rho_noise)
        assert plan.noise_std(degree) == pytest.approx(formula, rel=1e-5)
    assert (scales[1:] <= scales[:-1] * math.exp(plan.smooth.beta)).all()
    with pytest.raises(BadInput, match="scale is private"):
        _ = plan.scale


def test_the_noise_that_is_drawn_is_discrete_gaussian_of_that_scale(graph):
    """4,000 draws of a coordinate against N(0, σ²), the grid being far finer; false-alarm rate 1e-4 each."""
    plan = noise_plan([EDGE] * 40, Domain(N), 1.0, 1e-5)
    counted = densities(plan.patterns, graph)
    noise = (noised_many(plan, counted, 5, 100) - plan.on_grid(counted)).ravel()
    assert stats.kstest(noise / plan.scale, "norm").pvalue > 1e-4
    smooth = noise_plan([EDGE] * 40, Domain(N), 1.0, 1e-5, smooth=True)
    noise = (noised_many(smooth, counted, 5, 100) - smooth.on_grid(counted)).ravel()
    assert stats.kstest(noise / smooth.scale_at(5), "norm").pvalue > 1e-4


def test_simulated_noise_has_the_same_spread(graph):
    plan = noise_plan([TRIANGLE, path(3)], Domain(N), 1.0, 1e-5, spread=Spread.OWN)
    counted = np.tile(densities(plan.patterns, graph), (4_000, 1))
    seen = simulate(plan, counted, np.full(4_000, 5), np.random.default_rng(1))
    assert (seen[:, -1] == N).all()
    for column, std in enumerate(plan.noise_std()):
        assert stats.kstest((seen[:, column] - counted[0, column]) / std, "norm").pvalue > 1e-4


def test_opendp_refuses_a_scale_that_was_made_too_small(graph):
    class Halved(NoisePlan):
        @property
        def scale(self) -> float:
            return super().scale / 2

    plan = noise_plan(PATTERNS, Domain(N), 1.0, 1e-5)
    with pytest.raises(PrivCFSError, match="OpenDP's privacy map"):
        draw(Halved(**vars(plan)), graph)


def test_a_release_debits_settles_and_repeats_for_nothing(graph, ledger):
    embedding, entry = release(request(), graph, ledger, "graph", "first")
    assert (entry.epsilon, entry.delta, entry.mechanism) == (Fraction(1), Fraction(1, 100_000), "discrete-gaussian")
    assert ledger.account("graph").remaining == 1
    again, repeated = release(request(), graph, ledger, "graph", "first")
    assert again == embedding and repeated.number == entry.number
    assert ledger.account("graph").remaining == 1
    assert embedding.vector.shape == (len(PATTERNS) + 1,) and embedding.vector[-1] == N
    assert embedding.vector[:-1] == pytest.approx(densities(PATTERNS, graph), abs=8 * request().plan.noise_std()[0])
    other, _ = release(request(), graph, ledger, "graph", "second")
    assert other.steps != embedding.steps
    with pytest.raises(BudgetRefused):
        release(request(), graph, ledger, "graph", "third")


def test_a_debit_without_a_draw_is_drawn_on_retry(graph, ledger, monkeypatch):
    def broken(*_):
        raise RuntimeError("power cut")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr("core.embeddings.release.noised", broken)
        release(request(), graph, ledger, "graph", "key")
    assert ledger.entry("graph", "key").outcome is None
    release(request(), graph, ledger, "graph", "key")
    assert ledger.account("graph").entries == 1


def test_nothing_is_debited_for_a_graph_outside_the_domain_or_another_request(graph, ledger):
    with pytest.raises(BadInput, match="over the public bound"):
        release(request(domain=Domain(N, 1)), graph, ledger, "graph", "key")
    assert ledger.account("graph").entries == 0
    release(request(), graph, ledger, "graph", "key")
    with pytest.raises(BadInput, match="has paid for another request"):
        release(request(smooth=True), graph, ledger, "graph", "key")


def test_what_an_analyst_gets_is_public_but_for_the_draw(graph, ledger):
    """Two graphs with the same draw give the same text; a smooth release shows neither scale nor noise."""
    one, _ = release(request(smooth=True), graph, ledger, "graph", "one")
    other, _ = release(request(smooth=True), bare_graph(N, np.array([[0, 1]])), ledger, "graph", "two")
    same = replace(other, steps=one.steps, key=one.key, at=one.at)
    assert json.dumps(same.to_json()) == json.dumps(one.to_json())
    assert not {"noise_std", "sensitivity", "scale", "density"} & set(json.dumps(one.to_json()).split('"'))


def test_a_tampered_outcome_is_refused(graph, ledger):
    from core.desk.entries import Debit

    asked = request()
    ledger.debit(Debit("graph", "key", asked.epsilon, asked.delta, "discrete-gaussian", "x", asked.text, graph.digest))
    ledger.settle("graph", "key", '{"steps":[1,2]}')
    with pytest.raises(BadInput, match="no embedding of 5 patterns"):
        release(asked, graph, ledger, "graph", "key")


def test_plans_that_cannot_be_drawn_are_refused():
    with pytest.raises(BadInput, match="without any edge"):
        noise_plan([Pattern(2, ())], Domain(N), 1.0, 1e-5)
    with pytest.raises(BadInput, match="beta"):
        noise_plan(PATTERNS, Domain(N), 1.0, 1e-5, beta=0.01)
    with pytest.raises(BadInput, match="62 bits"):
        noise_plan(sample(PatternClass.parse("tree"), 9, 0), Domain(10**7), 1.0, 1e-5)
    with pytest.raises(BadInput, match="epsilon"):
        noise_plan(PATTERNS, Domain(N), 0.0, 1e-5)
