from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from core.audit import evaluation
from core.audit.claims import Claim, Relation
from core.audit.sampling import Role
from core.audit.zoo.catalogue import elusive, specimens
from core.audit.zoo.choices import Election, NoisyMax
from core.audit.zoo.degrees import pairs
from core.audit.zoo.run import Tally, run_zoo
from core.audit.zoo.svt import SparseVector
from core.errors import BadInput, Cancelled

SCALES = ("threshold_scale", "query_scale")
ZOO = {one.name: one for one in specimens()}
FINITE = [
    one
    for one in [*specimens(), *specimens(0.5)]
    if hasattr(one.release, "probability") and 0.0 not in (getattr(one.release, name, 1.0) for name in SCALES)
]


def names(correct):
    return [name for name, one in ZOO.items() if one.correct is correct]


def test_the_zoo_is_large_enough_to_be_a_gate():
    assert len(names(True)) >= 10
    assert len(names(False)) >= 16
    assert [one.correct for one in specimens()] == sorted((one.correct for one in specimens()), reverse=True)


def test_correct_mechanisms_keep_their_claim_at_other_budgets_too():
    for epsilon in (0.1, 4.0):
        for one in specimens(epsilon):
            assert (one.true_epsilon <= one.claim.epsilon + 1e-6) is one.correct


def test_a_truth_that_contradicts_the_label_is_refused():
    with pytest.raises(BadInput, match=r"zoo, laplace: found a true epsilon of 1 at a claim of 0\.5, expected"):
        replace(ZOO["laplace"], claim=Claim(0.5, Relation.RECORD))


@pytest.mark.parametrize("one", FINITE, ids=lambda one: f"{one.name} {one.claim.epsilon:g}")
def test_probabilities_of_outcomes_are_those_of_the_draws(one):
    """Chi-square on 20,000 draws of either input; each of the dozen trips by chance in 1 of 10^6."""
    for seed, data in enumerate((one.pair.one, one.pair.other)):
        expected = one.release.probability(data)
        assert expected.sum() == pytest.approx(1.0, abs=1e-8)
        drawn = one.release.release_many(data, 20_000, np.random.default_rng(seed))
        outcomes = (
            one.release.outcomes(len(data[0])) if isinstance(one.release, SparseVector) else np.arange(3)[:, None]
        )
        found = (drawn[:, None, :] == outcomes[None]).all(axis=2).sum(axis=0)
        assert found.sum() == 20_000
        often = expected * 20_000 >= 5
        seen = np.append(found[often], found[~often].sum())
        asked = np.append(expected[often], expected[~often].sum()) * 20_000
        kept = asked > 0
        assert chisquare(seen[kept], asked[kept] * seen.sum() / asked[kept].sum()).pvalue > 1e-6


def test_truths_of_finite_outcomes_are_the_largest_log_ratio():
    for one in FINITE:
        p, q = (one.release.probability(data) for data in (one.pair.one, one.pair.other))
        if math.isfinite(one.true_epsilon) and one.release.__class__ in (Election, NoisyMax):
            assert one.true_epsilon == pytest.approx(max(np.log(p / q).max(), np.log(q / p).max()))


def test_the_closed_form_without_noise_on_the_threshold():
    """Four queries below and four above, each its own Laplace comparison."""
    scale, exceed = 2.0, lambda q: 0.5 * math.exp(-(0.5 - q) / 2.0) if q < 0.5 else 1 - 0.5 * math.exp(-(q - 0.5) / 2.0)
    ratio = 4 * math.log((1 - exceed(0)) / (1 - exceed(1))) + 4 * math.log(exceed(1) / exceed(0))
    assert scale == 2 / ZOO["svt, threshold without noise"].claim.epsilon
    assert ZOO["svt, threshold without noise"].true_epsilon == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("name", "logs"),
    [
        ("laplace", lambda b, x: (abs(x - 10) - abs(x - 11)) / b),
        ("inverted scale", lambda b, x: (abs(x - 10) - abs(x - 11)) / b),
        ("edge noise, node claim", lambda b, x: (abs(x) - abs(x - 4)) / b),
    ],
)
def test_truths_of_laplace_noise_are_the_supremum_of_the_log_ratio(name, logs):
    one = ZOO[name]
    x = np.linspace(-40, 60, 20_001)
    assert one.true_epsilon == pytest.approx(np.abs(logs(one.release.scale, x)).max())


def test_the_largest_of_six_counts_shows_three_times_its_claim():
    x = np.linspace(-30, 40, 4_001)
    below = np.where(x < 0, np.exp(-np.abs(x) / 2) / 2, 1 - np.exp(-np.abs(x) / 2) / 2)
    shifted = np.where(x < 1, np.exp(-np.abs(x - 1) / 2) / 2, 1 - np.exp(-np.abs(x - 1) / 2) / 2)
    log = [5 * np.log(cdf) - np.abs(x - at) / 2 for cdf, at in ((below, 0), (shifted, 1))]
    assert np.abs(log[0] - log[1]).max() == pytest.approx(3.0)
    assert ZOO["noisy max, value"].true_epsilon == 3.0


def test_the_algorithms_end_after_their_cutoff():
    release = SparseVector(0.5, 1.0, 1.0, 2)
    drawn = release.release_many(((0, 1, 1, 0, 1),), 500, np.random.default_rng(0))
    positives = (drawn == 1).sum(axis=1)
    assert positives.max() == 2
    for row in drawn:
        after = np.flatnonzero(row == 1)[1:2]
        assert (row[after[0] + 1 :] == 2).all() if len(after) else (row != 2).all()
    told = elusive()[0].release.release_many(elusive()[0].pair.one, 500, np.random.default_rng(0))
    assert ((np.isfinite(told)).sum(axis=1) <= 1).all()
    assert np.isnan(told).any()
    assert np.isneginf(told).any()


def test_both_directions_hold_twice_as_many_entries():
    assert pairs(3, directed=False) == [(0, 1), (0, 2), (1, 2)]
    assert pairs(3, directed=True) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    one = ZOO["edge response, both directions"]
    assert one.release(nx.cycle_graph(4), np.random.default_rng(0)).shape == (12,)


def test_the_auditor_passes_the_zoo():
    """The gate, fast: a right auditor rejects any of the 11 correct ones at 11 of 1,000 seeds at most."""
    tallies = run_zoo(list(ZOO.values()), runs=1, select=4_000, evaluate=16_000, confidence=0.999)
    assert {tally.specimen.name for tally in tallies if not tally.passed} == set()
    for tally in tallies:
        row = tally.to_json()
        assert row["rejected"] is not row["correct"]
        assert row["true_epsilon"] is None or 0 < row["epsilon_lb"] <= row["true_epsilon"]


@pytest.mark.slow
def test_the_auditor_passes_thirty_runs_of_the_zoo():
    """Each of 11 correct ones fails by chance in 1 of 10^4 at most."""
    tallies = run_zoo(list(ZOO.values()), runs=30, select=4_000, evaluate=16_000, seed=100)
    assert {tally.specimen.name for tally in tallies if not tally.passed} == set()


def test_an_auditor_without_confidence_bounds_fails_the_zoo(monkeypatch):
    """Shares in the place of bounds: about every other run of a claim that holds with equality is rejected."""
    monkeypatch.setattr(evaluation, "lower_bound", lambda k, n, error: np.asarray(k / n))
    monkeypatch.setattr(evaluation, "upper_bound", lambda k, n, error: np.asarray((k + 1) / (n + 1)))
    (tally,) = run_zoo([ZOO["randomized response"]], runs=40, select=500, evaluate=500)
    assert tally.rejections > 5
    assert not tally.passed


def test_an_auditor_that_evaluates_on_its_selection_sample_fails_the_zoo(monkeypatch):
    """The threshold of each run was chosen for its luck, so bounds are too large far more often than stated."""
    import core.audit.certified as certified

    class Reusing(certified.Sampling):
        def take(self, role, *asked, **options):
            found = super().take(Role.SELECTION, *asked, **options)
            return {pair: replace(sample, role=role) for pair, sample in found.items()}

    laplace = [ZOO["laplace"]]
    (honest,) = run_zoo(laplace, runs=40, select=400, evaluate=400, confidence=0.6)
    monkeypatch.setattr(certified, "Sampling", Reusing)
    (reused,) = run_zoo(laplace, runs=40, select=400, evaluate=400, confidence=0.6)
    assert honest.over_truth < reused.over_truth
    assert honest.bounds.mean() < reused.bounds.mean() - 0.02


def test_a_broken_mechanism_that_is_missed_fails_the_gate():
    tallies = run_zoo([ZOO["halved sensitivity"]], runs=2, select=20, evaluate=20)
    assert not tallies[0].passed


def test_rare_violations_are_missed_and_that_is_why_a_pass_proves_nothing():
    one = elusive()[0]
    (tally,) = run_zoo([one], runs=1, select=2_000, evaluate=8_000)
    assert not one.correct
    assert one.true_epsilon == 3.0
    assert tally.best[0].verdict == "no violation found"


def test_a_tally_says_how_often():
    (tally,) = run_zoo([ZOO["laplace"]], runs=3, select=100, evaluate=100)
    assert isinstance(tally, Tally)
    assert (len(tally.best), len(set(tally.bounds.tolist()))) == (3, 3)
    row = tally.to_json()
    assert row["epsilon_lb"] == sorted(tally.bounds)[1]
    assert (row["runs"], row["rejections"]) == (3, tally.rejections)


def test_names_and_stops():
    assert [one.name for one in specimens(names=["svt", "laplace"])] == ["svt", "laplace"]
    with pytest.raises(BadInput, match="mechanism of the zoo: found 'lion', expected one of: laplace"):
        specimens(names=["lion"])
    with pytest.raises(Cancelled):
        run_zoo([ZOO["laplace"]], cancelled=lambda: True)
