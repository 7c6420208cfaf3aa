"""Sweeps: rates that add up, agree with single runs, and show the ways to fail."""

from __future__ import annotations

import csv
import math
from fractions import Fraction

import numpy as np
import pytest

from core.errors import BadInput, Cancelled
from core.labels.classifier import filter_for
from core.labels.csbm import TIES_MATTER, Recipe, load_csbm
from core.labels.experiment import accuracy, sweep, table
from core.labels.plan import Plan
from core.labels.simulate import simulate
from core.labels.stability import tally
from core.labels.subsample import seeded_words

EIGHT, DELTA = [Fraction(8)], [Fraction("1e-5")]


@pytest.fixture(scope="module")
def dataset():
    return load_csbm(Recipe())


def amounts(*texts: str) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def test_the_designs_sketch_fails_on_both_sides_and_m_moves_one(dataset):
    """100 nodes, 880 edges, mean gap 4, m = 400, ε = 8, δ = 1e-5."""
    assert dataset.graph.m == 880
    cells = sweep(dataset, filter_for(dataset), amounts("0.01", "0.07", "0.12"), [400, 4000], EIGHT, DELTA, draws=2)
    thin, thin_many, good, _, thick, thick_many = cells
    assert (thin.halted, thin.released) == (1, 0)
    assert thin.delta_total > 0.01
    assert (thin_many.halted, thin_many.delta_total <= 1e-5) == (0, True)
    assert thin_many.released > 0.99
    assert good.released > 0.99
    assert good.accuracy_released == 1
    for cell in (thick, thick_many):
        assert cell.stability < cell.threshold
        assert (cell.halted, cell.released < 0.1, cell.unstable > 0.9) == (0, True, True)


def test_too_few_edges_are_wrong_or_undecided_where_edges_matter():
    dataset = load_csbm(TIES_MATTER)
    cells = sweep(
        dataset, filter_for(dataset, 1.0, -0.1), amounts("0.01", "0.04", "0.08"), [1000], EIGHT, DELTA, draws=1
    )
    few, undecided, enough = cells
    assert few.accuracy < enough.accuracy == 1
    assert undecided.agreement < 0.6 < enough.agreement
    assert enough.released > 0.8


def test_rates_add_up_and_epsilon_and_delta_share_subgraphs(dataset):
    cells = sweep(
        dataset, filter_for(dataset, 1, -0.2), amounts("0.05"), [100], amounts("1", "8", "40"), amounts("1e-5", "0.1"),
        draws=3,
    )  # fmt: skip
    assert [(cell.epsilon, cell.delta) for cell in cells] == [(e, d) for e in (1, 8, 40) for d in (1e-5, 0.1)]
    assert len({(cell.stability, cell.halted, cell.edges_max_count, cell.accuracy) for cell in cells}) == 1
    for cell in cells:
        assert cell.released + cell.halted + cell.unstable == pytest.approx(1)
        assert cell.bottom == pytest.approx(cell.halted + cell.unstable)
        assert cell.unstable >= 0
    assert [cell.released for cell in cells[1::2]] == sorted(cell.released for cell in cells[1::2])


def test_a_cell_is_what_runs_say(dataset):
    """The rate over the noise against 2,000 noisy runs on the same subgraphs, within 5 standard errors."""
    classifier = filter_for(dataset, 1.0, -0.05)
    (cell,) = sweep(dataset, classifier, amounts("0.1"), [400], EIGHT, DELTA, draws=1, seed=3)
    plan = Plan(Fraction("0.1"), 400, Fraction(8), Fraction("1e-5"))
    (seed,) = np.random.SeedSequence([3, 400, 1, 10]).spawn(1)
    found = tally(dataset.graph, classifier, plan, seeded_words(np.random.default_rng(seed)), np.arange(100))
    rng = np.random.default_rng(0)
    p = -math.expm1(-1 / plan.scale)
    noise = rng.geometric(p, 2000) - rng.geometric(p, 2000)
    share = np.mean([found.released(int(one)) for one in noise])
    assert 0.05 < cell.released < 0.95
    assert abs(share - cell.released) <= 5 * math.sqrt(cell.released * (1 - cell.released) / 2000)
    assert (cell.stability, cell.edges_max_count) == (found.stability, found.most)


def test_a_simulation_is_repeatable_and_says_what_it_drew(dataset):
    plan = Plan(Fraction("0.07"), 400, Fraction(8), Fraction("1e-5"))
    one, two = (simulate(dataset.graph, filter_for(dataset), plan, np.random.default_rng(1)) for _ in range(2))
    assert one.released and (one.labels == two.labels).all() and one.noise == two.noise
    assert (one.labels == one.tally.votes.labels).all()


def test_accuracy_counts_labelled_rows_only():
    assert accuracy(np.array([1, 0, 1]), np.array([1, 1, -1])) == 0.5
    assert math.isnan(accuracy(np.array([1]), np.array([-1])))


def test_the_table_reads_back_and_says_whose_it_is(dataset):
    cells = sweep(dataset, filter_for(dataset), amounts("0.01", "0.07"), [50], EIGHT, DELTA, draws=1)
    first, *lines = table(cells).splitlines()
    assert first.startswith("# owner-only")
    rows = list(csv.DictReader(lines))
    assert [float(row["p_s"]) for row in rows] == [0.01, 0.07]
    assert float(rows[1]["released"]) == cells[1].released


def test_a_sweep_stops_when_asked(dataset):
    with pytest.raises(Cancelled):
        sweep(dataset, filter_for(dataset), amounts("0.1"), [50], EIGHT, DELTA, cancelled=lambda: True)
    with pytest.raises(BadInput, match="draws: found 0"):
        sweep(dataset, filter_for(dataset), amounts("0.1"), [50], EIGHT, DELTA, draws=0)
