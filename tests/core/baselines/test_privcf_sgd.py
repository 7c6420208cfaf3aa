"""PrivCF-SGD: the budget of its steps, the bound on its gradients, and noise that is really drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from core.baselines.cfgnn import public_universe
from core.baselines.curve import gaussian_delta
from core.baselines.field import Field
from core.baselines.privcf_sgd import PrivCFSGD, clipped_gradient
from core.errors import BadInput
from core.study.settings import Settings
from tests.core.baselines.small import SETTINGS, make_case, make_study
from tests.core.baselines.test_curve import zcdp_delta_at_30_digits


class Recorder:
    """A generator of standard normals that remembers what it gave."""

    def __init__(self, seed: int | None = 0) -> None:
        self.rng = None if seed is None else np.random.default_rng(seed)
        self.given: list[np.ndarray] = []

    def standard_normal(self, size: int) -> np.ndarray:
        self.given.append(np.zeros(size) if self.rng is None else self.rng.standard_normal(size))
        return self.given[-1]


def field_on(graph, weights, study, target: int) -> tuple[Field, int]:
    universe = public_universe(study, 0.8, SETTINGS, target)
    field = Field(graph, weights, target, universe.edge_pairs, universe.feature_dims)
    return field, len(universe.edge_pairs) + len(universe.feature_dims)


@pytest.mark.parametrize("steps", [1, 20, 300])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_the_noise_of_all_steps_together_gives_epsilon_and_delta(steps, epsilon):
    method = PrivCFSGD(steps=steps, clip=0.3)
    rho = steps * (2 * 0.3) ** 2 / (2 * method.sigma(epsilon) ** 2)
    assert zcdp_delta_at_30_digits(rho, epsilon) == pytest.approx(1e-5, rel=1e-7)
    # The steps amount to one Gaussian of sensitivity 2C sqrt(steps): the exact curve must lie below.
    assert gaussian_delta(method.sigma(epsilon), epsilon, 2 * 0.3 * math.sqrt(steps)) < 1e-5
    assert gaussian_delta(0.85 * method.sigma(epsilon), epsilon, 2 * 0.3 * math.sqrt(steps)) > 1e-5


def test_the_noise_is_proportional_to_the_clip():
    assert PrivCFSGD(clip=2.0).sigma(3.0) == pytest.approx(20 * PrivCFSGD(clip=0.1).sigma(3.0), rel=1e-12)


def test_clipped_gradients_keep_to_the_clip_and_move_by_at_most_twice_that():
    """Every neighbour of small graphs, at several points; the bound is nearly met, so C alone wouldn't do."""
    rng, clip, largest, worst = np.random.default_rng(0), 0.05, 0.0, 0.0
    for seed in range(3):
        study = make_study(seed, n=7)
        graph, weights = study.dataset.graph, study.backbone.weights
        for target in range(0, 7, 2):
            _, count = field_on(graph, weights, study, target)
            points = [np.zeros(count), rng.normal(size=count)]

            def gradients(g, target=target, points=points, study=study, weights=weights):
                field, _ = field_on(g, weights, study, target)
                original = int(weights.logits(g)[target].argmax())
                return [clipped_gradient(field, point, original, clip) for point in points]

            here = gradients(graph)
            for u, w in itertools.combinations(range(7), 2):
                for mine, other in zip(here, gradients(graph.toggled(u, w)), strict=True):
                    largest = max(largest, np.linalg.norm(mine), np.linalg.norm(other))
                    worst = max(worst, np.linalg.norm(mine - other))
    assert largest <= clip * (1 + 1e-12)
    assert worst <= PrivCFSGD(clip=clip).sensitivity * (1 + 1e-12) == 2 * clip * (1 + 1e-12)
    assert worst > 1.7 * clip


def test_a_short_gradient_is_left_as_it_is():
    study = make_study(1)
    field, count = field_on(study.dataset.graph, study.backbone.weights, study, 3)
    long, longer = (clipped_gradient(field, np.zeros(count), 0, clip) for clip in (1e3, 1e6))
    assert (long == longer).all()
    assert 0 < np.linalg.norm(long) < 1e3

    # Towards the decision: a small step against it narrows the lead of class 0.
    def lead(point):
        gates = 1 / (1 + np.exp(-point))
        import torch

        split = len(field.exists)
        logits = field.logits(torch.tensor(gates[:split]), torch.tensor(gates[split:])).numpy()
        return logits[0] - np.delete(logits, 0).max()

    step = 1e-6 * long / np.linalg.norm(long)
    assert (lead(step) - lead(-step)) / 2e-6 == pytest.approx(np.linalg.norm(long), rel=1e-5)


def test_every_step_draws_fresh_noise_for_every_entry_and_adds_it():
    study, method = make_study(2), PrivCFSGD(steps=6)
    field, count = field_on(study.dataset.graph, study.backbone.weights, study, 4)
    recorder, sigma, logits = Recorder(), 0.7, np.zeros(count)
    found = method.descend(field, count, 1, sigma, recorder)
    assert [len(noise) for noise in recorder.given] == [count] * 6
    assert len({noise.tobytes() for noise in recorder.given}) == 6
    for noise in recorder.given:
        gradient = clipped_gradient(field, logits, 1, method.clip)
        logits = logits - method.rate * (gradient + sigma * noise) / method.clip
    assert found == pytest.approx(logits, rel=1e-12)
    assert np.abs(found - method.descend(field, count, 1, sigma, Recorder(None))).max() > 0.1


def test_a_session_calibrates_its_noise_and_draws_the_same_amount_on_every_neighbour(monkeypatch):
    given, sigmas = [], []
    whole = PrivCFSGD.descend

    def watched(self, field, count, original, sigma, rng):
        sigmas.append(sigma)
        return whole(self, field, count, original, sigma, rng)

    monkeypatch.setattr(PrivCFSGD, "descend", watched)
    graph = make_case(1).graph
    for other in [graph, *(graph.toggled(3, w) for w in range(9) if w != 3)]:
        recorder = Recorder()
        PrivCFSGD().session(make_study(1, graph=other), 2.0, 0.8, SETTINGS, recorder)(3)
        given.append(np.concatenate(recorder.given))
    assert set(sigmas) == {PrivCFSGD().sigma(2.0)}
    assert all((other == given[0]).all() for other in given)


def test_releases_stay_within_the_universe_and_its_limits():
    study, sizes = make_study(4), set()
    explain = PrivCFSGD().session(study, 0.5, 0.8, SETTINGS, np.random.default_rng(0))
    for target in range(9):
        universe = public_universe(study, 0.8, SETTINGS, target)
        for _ in range(6):
            finding = explain(target)
            assert set(map(tuple, finding.pairs.tolist())) <= set(map(tuple, universe.edge_pairs.tolist()))
            assert set(finding.features.tolist()) <= set(universe.feature_dims.tolist())
            assert len(finding.pairs) <= 2
            assert len(finding.features) <= 2
            sizes.add((len(finding.pairs), len(finding.features)))
    assert len(sizes) > 4


def test_without_noise_it_mostly_finds_what_flips():
    """At a huge ε, on targets that some candidate flips: well above what random candidates reach."""
    valid = []
    for seed in range(6):
        study = make_study(seed)
        explain = PrivCFSGD().session(study, 1e6, 0.8, SETTINGS, np.random.default_rng(0))
        valid += [explain(row).valid for row in range(9) if study.scores(row, 0.8, SETTINGS).flips.any()]
    assert len(valid) > 20
    assert np.mean(valid) > 0.6


def test_certified_at_the_quoted_budget():
    stated = PrivCFSGD().guarantee(2.0, Settings())
    assert (stated.certified, stated.epsilon, stated.delta) == (True, 2.0, 1e-5)


@pytest.mark.parametrize("change", [{"steps": 0}, {"clip": 0.0}, {"rate": -1.0}, {"delta": 0.0}])
def test_bad_settings_are_refused(change):
    with pytest.raises(BadInput, match=next(iter(change))):
        PrivCFSGD(**change)
