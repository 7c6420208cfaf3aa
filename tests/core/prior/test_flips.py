"""Bounds and the scoring of what they leave, against logits of every candidate in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets import load
from core.prior import flips as module
from core.prior.flips import Masks, flips
from core.scoring import deletions
from core.scoring.factorised import GCNScorer
from core.scoring.masks import mask_parts, masked_rows
from core.scoring.messages import CandidateLogits, Surroundings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from tests.core.smallgraphs import make_case

ARMS = [arm for arm in Arm if not arm.two_hop]


class Scene:
    """A target whose surroundings come in several versions that agree on the graph's triangles."""

    def __init__(self, seed, arm=Arm.FULL, density=0.5, times=4, spread=1.0):
        rng = np.random.default_rng(seed)
        case = make_case(seed, n=10, density=density, disclosed=1.0)
        limits = Limits(k_edges=6, k_features=5, max_edges=int(rng.integers(0, 4)), max_features=2)
        self.target = int(rng.integers(10))
        universe = build_universe(case.graph.nodes, case.snapshot, case.weights, self.target, limits, arm)
        scorer = GCNScorer(case.graph, case.weights)
        self.weights, self.resolved = case.weights, scorer.resolve(universe)
        self.masked = torch.from_numpy(masked_rows(case.graph.nodes, case.weights, universe))
        whole, parts = mask_parts(case.graph.nodes, case.weights, universe)
        self.masks = Masks.of(whole, parts, universe.feature_subsets, arm.inert)
        near = scorer.surroundings(self.target, self.resolved.neighbours)
        noise = spread * rng.normal(size=(times, *near.offset.shape[1:]))
        more = torch.from_numpy(rng.integers(0, 3, size=(times, near.degree.shape[1])).astype(float))
        self.near = Surroundings(
            near.target_degree + more.sum(dim=1) % 2,
            near.degree + more,
            near.hidden.repeat(times, 1, 1),
            near.offset + torch.from_numpy(noise),
            near.present.repeat(times, 1),
        )

    def flips(self):
        return flips(self.near, self.resolved, self.weights, self.masks)

    def logits(self):
        candidates = CandidateLogits(self.weights, torch.device("cpu"), torch.float64)
        return candidates.logits(self.near, self.resolved, self.masked).numpy()

    def check(self):
        """Every candidate whose two largest logits rounding can't exchange; returns how many those are."""
        logits, found = self.logits(), self.flips()
        ordered = np.sort(logits, axis=3)
        clear = (
            (ordered[..., -1] - ordered[..., -2] > 1e-9) if logits.shape[3] > 1 else np.ones(found.shape, dtype=bool)
        )
        clear &= clear[:, :1, :1]
        label = logits.argmax(axis=3)
        assert found.shape == label.shape
        assert found.dtype == bool
        assert (found == (label != label[:, :1, :1]))[clear].all()
        return found, clear


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    arm=st.sampled_from(ARMS),
    density=st.sampled_from([0.1, 0.4, 0.8]),
    spread=st.sampled_from([0.0, 0.3, 3.0]),
)
def test_no_flip_is_missed_and_none_invented(seed, arm, density, spread):
    Scene(seed, arm, density, spread=spread).check()


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), arm=st.sampled_from(ARMS))
def test_what_bounds_leave_open_is_scored_exactly(seed, arm):
    """Every set and mask, once nothing counts as proved: triangles, and one graph and one candidate at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROUNDING", 1e30)
        patch.setattr(module, "BLOCK_ELEMENTS", 1)
        patch.setattr(module, "MESSAGE_ELEMENTS", 1)
        Scene(seed, arm).check()


def test_scenes_hold_flips_triangles_and_several_clean_classes():
    """So that the comparisons above have something to tell apart."""
    flipped, triangles, classes = [], 0, 0
    for seed in range(40):
        scene = Scene(seed)
        found, clear = scene.check()
        flipped.append(found[clear].mean())
        triangles += len(scene.resolved.entry_set) > 0
        classes += len(set(scene.logits()[:, 0, 0].argmax(axis=1).tolist())) > 1
    assert sum(0 < share < 1 for share in flipped) > 10
    assert triangles > 10
    assert classes > 5


def test_blocks_of_any_size_give_the_same_flips(monkeypatch):
    whole = [Scene(seed, times=7).flips() for seed in range(20)]
    monkeypatch.setattr(module, "BLOCK_ELEMENTS", 5_000)
    monkeypatch.setattr(module, "MESSAGE_ELEMENTS", 200)
    parts = [Scene(seed, times=7).flips() for seed in range(20)]
    assert all((one == other).all() for one, other in zip(whole, parts, strict=True))


def test_few_candidates_of_a_trained_backbone_are_scored(monkeypatch):
    """Otherwise the bounds would be of no use: at most one in twenty, besides the clean class of each completion."""
    study, scored, asked = Study(load("karate")), [], []
    score, ask = module._Block._logits, module._Block.flips
    monkeypatch.setattr(
        module._Block, "_logits", lambda self, row, masked: scored.append(len(row)) or score(self, row, masked)
    )
    monkeypatch.setattr(module._Block, "flips", lambda self: (found := ask(self), asked.append(found.size))[0])
    for target in range(34):
        study.guide(target, 0.6)
    assert sum(asked) > 20_000
    assert 0 < sum(scored) - 34 * 36 < sum(asked) / 20


@pytest.mark.parametrize("crowded", [0, 10**9])
def test_both_ways_to_treat_triangles_give_the_same_scenarios(monkeypatch, crowded):
    """Where they are too many to list, every candidate of every completion is scored instead, in single precision."""
    expected = [Study(load("karate")).guide(target, 0.7) for target in (0, 1, 2, 32)]
    monkeypatch.setattr(deletions, "CROWDED_ENTRIES", crowded)
    found = [Study(load("karate")).guide(target, 0.7) for target in (0, 1, 2, 32)]
    for one, other in zip(expected, found, strict=True):
        assert (one.flips[:, one.member] == other.flips[:, other.member]).all()
