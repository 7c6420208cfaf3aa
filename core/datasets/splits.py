"""Seeded splits for data that comes without one."""

from __future__ import annotations

import numpy as np

from core.datasets.dataset import Split

SPLIT_SEED = 20_260


def citation_split(labels: np.ndarray, per_class: int = 20, validation: int = 500, test: int = 1000) -> Split:
    """Return the citation-network split: `per_class` rows a class to train, then 500 and 1,000 rows.

    The sizes of Yang et al. 2016, section 5, with rows drawn by the fixed seed `SPLIT_SEED`.
    `labels`: N int64, -1 unlabelled and left out.
    """
    order = _shuffled(labels)
    train = _first_of_each_class(order, labels, dict.fromkeys(np.unique(labels[order]).tolist(), per_class))
    rest = order[~np.isin(order, train)]
    return Split(train, rest[:validation], rest[validation : validation + test])


def share_split(labels: np.ndarray, per_class: int = 20, validation: float = 0.2) -> Split:
    """Return a split for a graph of any size: train, a share to validate, the rest to test.

    Each class gives `per_class` rows to train, or half of its rows (rounded down) when that is
    fewer; `validation` is a share of all labelled rows. Drawn by the fixed seed `SPLIT_SEED`.
    `labels`: N int64, -1 unlabelled and left out.
    """
    order = _shuffled(labels)
    names, sizes = np.unique(labels[order], return_counts=True)
    quota = {int(name): min(per_class, int(size) // 2) for name, size in zip(names, sizes, strict=True)}
    train = _first_of_each_class(order, labels, quota)
    rest = order[~np.isin(order, train)]
    stop = round(validation * len(order))
    return Split(train, rest[:stop], rest[stop:])


def _shuffled(labels: np.ndarray) -> np.ndarray:
    return np.random.default_rng(SPLIT_SEED).permutation(np.flatnonzero(labels >= 0))


def _first_of_each_class(order: np.ndarray, labels: np.ndarray, quota: dict[int, int]) -> np.ndarray:
    parts = [order[labels[order] == name][:most] for name, most in quota.items()]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
