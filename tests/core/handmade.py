"""Scores made by hand: no graph and no model, so utility and release are tested by themselves."""

from __future__ import annotations

import numpy as np

from core.prior.prior import Prior
from core.scoring.scores import Scores
from core.universe import Arm, Limits, Universe, subsets


def make_universe(k_edges: int, k_features: int, limits: Limits | None = None, arm: Arm = Arm.FULL) -> Universe:
    """A universe of target 0 with `k_edges` pairs (0, 1), (0, 2)... and dimensions 0, 1..."""
    limits = limits or Limits()
    max_edges = 0 if arm is Arm.FEATURE_ONLY else limits.max_edges
    max_features = 0 if arm is Arm.EDGE_ONLY else limits.max_features
    k_edges = k_edges if max_edges else 0
    k_features = k_features if max_features else 0
    pairs = np.array([[0, u + 1] for u in range(k_edges)], dtype=np.int64).reshape(-1, 2)
    return Universe(
        0, pairs, np.arange(k_features), subsets(k_edges, max_edges), subsets(k_features, max_features), limits, arm
    )


def make_scores(
    rng: np.random.Generator,
    k_edges: int,
    k_features: int,
    limits: Limits | None = None,
    arm: Arm = Arm.FULL,
    flip_rate: float = 0.3,
    classes: int = 3,
) -> Scores:
    """Random outcomes over `make_universe`; margins are negative exactly where the prediction flips."""
    universe = make_universe(k_edges, k_features, limits, arm)
    clean = rng.normal(size=classes)
    original = int(clean.argmax())
    flips = rng.random(universe.shape) < flip_rate
    flips[0, 0] = False
    others = np.array([c for c in range(classes) if c != original], dtype=np.int16)
    predicted = np.where(flips, rng.choice(others, size=universe.shape), original).astype(np.int16)
    exists = rng.random(len(universe.edge_pairs)) < 0.6
    margin = np.where(flips, -1.0, 1.0) * rng.random(universe.shape)
    scores = Scores(universe, clean, predicted, exists, margin)
    margin[0, 0] = scores.clean_margin
    return scores


def make_prior(rng: np.random.Generator, universe: Universe, spread: float = 3.0) -> Prior:
    """A random positive prior whose log masses have standard deviation `spread`."""
    mass = np.exp(spread * rng.normal(size=universe.shape))
    return Prior("handmade", mass / mass.sum())
