"""Rows without a draw, against sums over dense forwards of every candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.baselines.dummy import PublicOnly, RandomCandidate
from core.baselines.exponential import GuidedPrivCFS, PrivCFS
from core.baselines.optimum import Optimum, UnrestrictedOptimum
from core.prior.prior import PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.universe import Arm
from tests.core.baselines.small import SETTINGS, flips, make_study
from tests.core.smallgraphs import Case, brute_force_logits

RNG = np.random.default_rng(0)


def outcomes(study, target: int, settings=SETTINGS):
    """Scores, and the class after every candidate by brute force."""
    scores = study.scores(target, 0.8, settings)
    case = Case(study.dataset.graph, study.snapshot, study.backbone.weights)
    return scores, brute_force_logits(case, scores.universe).argmax(axis=2)


@pytest.mark.parametrize("arm", [Arm.FULL, Arm.INERT_MASKS, Arm.FEATURE_ONLY])
def test_a_random_candidate_is_the_plain_mean_over_all_candidates(arm):
    study, settings = make_study(3), replace(SETTINGS, arm=arm)
    explain = RandomCandidate().session(study, 1.0, 0.8, settings, RNG)
    for target in range(9):
        scores, predicted = outcomes(study, target, settings)
        flip = predicted != predicted[0, 0]
        finding = explain(target)
        assert finding.valid == pytest.approx(flip.mean(), abs=1e-12)
        assert finding.targeted == pytest.approx((flip & (predicted == scores.runner_up)).mean(), abs=1e-12)
        assert finding.size == pytest.approx(scores.universe.sizes.mean())
        assert finding.seen == predicted[0, 0]


@pytest.mark.parametrize("mechanism", list(Mechanism))
@pytest.mark.parametrize(("method", "kind"), [(PrivCFS(), PriorKind.UNIFORM), (GuidedPrivCFS(), PriorKind.GUIDED)])
def test_privcfs_is_the_inspected_release_under_its_own_prior(method, kind, mechanism):
    study = make_study(2)
    settings = replace(SETTINGS, mechanism=mechanism)
    for asked in PriorKind:
        explain = method.session(study, 3.0, 0.8, replace(settings, prior=PriorRule(asked)), RNG)
        for target in (0, 4, 7):
            metrics = study.inspect(target, 0.8, 3.0, replace(settings, prior=PriorRule(kind))).metrics
            finding = explain(target)
            assert (finding.valid, finding.targeted, finding.size) == (metrics.valid, metrics.targeted, metrics.size)
            assert finding.found == finding.valid
            assert (finding.spurious, finding.polluted) == (0.0, 0.0)
    assert ("permute-and-flip" in method.guarantee(3.0, settings).reason) == (mechanism is Mechanism.PF)


def test_public_only_is_what_the_inspection_calls_so_and_costs_nothing():
    study = make_study(2)
    explain = PublicOnly().session(study, 3.0, 0.8, SETTINGS, RNG)
    for target in (0, 4, 7):
        finding, public = explain(target), study.inspect(target, 0.8, 3.0, SETTINGS).public_only
        assert (finding.valid, finding.targeted, finding.size) == (public.valid, public.targeted, public.size)
    for method in (PublicOnly(), RandomCandidate()):
        stated = method.guarantee(3.0, SETTINGS)
        assert (stated.certified, stated.epsilon, stated.delta) == (True, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_flips_whenever_a_candidate_does_and_the_unrestricted_one_at_least_then(seed):
    study = make_study(seed)
    optimum = Optimum().session(study, 1.0, 0.8, SETTINGS, RNG)
    unrestricted = UnrestrictedOptimum().session(study, 1.0, 0.8, SETTINGS, RNG)
    for target in range(9):
        _, predicted = outcomes(study, target)
        possible = (predicted != predicted[0, 0]).any()
        best, free = optimum(target), unrestricted(target)
        assert best.valid == float(possible) <= free.valid
        for finding in (best, free):
            if finding.valid:
                assert flips(study, target, finding.pairs, finding.features)
                assert finding.size == len(finding.pairs) + len(finding.features)
            else:
                assert finding.size is None
        assert study.dataset.graph.contains(free.pairs).all()
