"""Keeping trained weights between runs, keyed by digest, so that an explorer starts at once."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import torch

from core.backbone.gcn import GCNWeights
from core.backbone.train import Backbone, measured, train_gcn
from core.datasets.dataset import Dataset
from core.errors import BadInput, UnsupportedBackbone
from core.files import whole_file

KEYS = ("w1", "b1", "w2", "b2")


def cache_folder() -> Path:
    """Folder for trained weights: `$PRIVCFS_CACHE`, else the user's cache folder."""
    named = os.environ.get("PRIVCFS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcfs"


def save(weights: GCNWeights, path: Path) -> None:
    """Write the weights as a torch state dict; a reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        torch.save({key: torch.tensor(getattr(weights, key)) for key in KEYS}, stream)


def load(path: Path) -> GCNWeights:
    """Read weights without running any code of the file (`weights_only`).

    Raises `UnsupportedBackbone` when the file is absent, unreadable or holds something else.
    """
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        return GCNWeights(*(state[key].numpy() for key in KEYS))
    except UnsupportedBackbone:
        raise
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnsupportedBackbone(
            f"backbone file {path}: can't be read as weights {', '.join(KEYS)} ({reason}); save them with torch.save"
        ) from error


def backbone_for(dataset: Dataset, seed: int = 0, folder: Path | None = None) -> Backbone:
    """Return the trained backbone of a data set, from the cache when it was trained before.

    The key covers the graph, the labels, the split, the seed and the torch version, since each
    changes the weights. A damaged or unwritable cache costs a training run, never an error. Raises
    `BadInput` for a data set that nothing can be trained on.
    """
    dataset.check_trainable()
    path = (folder or cache_folder()) / f"gcn-{_key(dataset, seed)}.pt"
    if path.exists():
        try:
            return measured(dataset, load(path))
        except UnsupportedBackbone:
            path.unlink(missing_ok=True)
    backbone = train_gcn(dataset, seed)
    with contextlib.suppress(OSError, BadInput):  # an unwritable cache only means training again next time
        save(backbone.weights, path)
    return backbone


def _key(dataset: Dataset, seed: int) -> str:
    hasher = hashlib.sha256(f"{dataset.graph.digest} {seed} {torch.__version__}".encode())
    for part in (dataset.labels, dataset.split.train):
        hasher.update(part.tobytes())
    return hasher.hexdigest()[:32]
