"""Undirected simple edges from lists that hold each tie in any direction, any number of times."""

from __future__ import annotations

import numpy as np

from core.graph import pair_keys


def simple_edges(rows: np.ndarray, n: int) -> np.ndarray:
    """Return the distinct undirected pairs of `rows` (k x 2 int) without self-loops, M x 2 int64."""
    pairs = np.sort(np.asarray(rows, dtype=np.int64).reshape(-1, 2), axis=1)
    keys = distinct(pair_keys(pairs[pairs[:, 0] != pairs[:, 1]], n))
    return np.stack([keys // n, keys % n], axis=1)


def distinct(keys: np.ndarray) -> np.ndarray:
    """Return the distinct values of an int64 array, ascending.

    By sorting: the hash table behind `np.unique` takes seconds on a million regular keys.
    """
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
