"""Seeded noise on densities, for tables and plots: a simulation, never a release, and no ledger knows of it."""

from __future__ import annotations

import numpy as np

from core.embeddings.plan import NoisePlan


def simulate(plan: NoisePlan, counted: np.ndarray, degrees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Embeddings of B graphs, B x (d + 1) float64: densities with continuous Gaussian noise, node count appended.

    `counted`: B x d densities of admitted graphs. `degrees`: their B largest degrees, which a smooth plan needs.
    The continuous noise differs from the discrete one by less than a grid step, 2^-24 of the sensitivity.
    """
    scales = np.array([plan.scale_at(int(degree)) for degree in degrees])
    noisy = counted + rng.standard_normal(counted.shape) * scales[:, None] * plan.grid
    return with_nodes(noisy, np.full(len(noisy), plan.domain.nodes))


def with_nodes(counted: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Densities with the public numbers of nodes (B) as one more column, B x (d + 1)."""
    return np.column_stack([counted, sizes.astype(np.float64)])
