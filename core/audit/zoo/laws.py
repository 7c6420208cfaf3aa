"""Densities and integrals that the zoo's truths are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

REACH = 60  # scales of Laplace noise to either side: e^-60 of it lies beyond


def laplace_pdf(x: np.ndarray | float, scale: float) -> np.ndarray:
    """Density of `Lap(scale)`."""
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_cdf(x: np.ndarray | float, scale: float) -> np.ndarray:
    """Distribution function of `Lap(scale)`."""
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(np.asarray(x) < 0, tail, 1 - tail)


def over_line(density: Callable[[float], np.ndarray], kinks: np.ndarray, scale: float) -> np.ndarray:
    """`∫ density(x) dx` of a vector of functions with kinks at `kinks`, to about 1e-10."""
    from scipy.integrate import quad_vec

    points = np.unique(np.asarray(kinks, dtype=float))
    low, high = points[0] - REACH * scale, points[-1] + REACH * scale
    return quad_vec(density, low, high, epsabs=1e-13, epsrel=1e-10, points=points, limit=2_000)[0]


def widest(p: np.ndarray, q: np.ndarray) -> float:
    """`max |log p/q|` over outcomes, the least ε of two finite distributions at δ = 0."""
    return float(np.abs(np.log(p) - np.log(q)).max())
