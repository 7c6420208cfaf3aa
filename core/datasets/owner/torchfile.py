"""PyG graphs saved by torch, read without running anything the file brings along."""

from __future__ import annotations

import io
import pickle
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.owner.arrays import Arrays, array_graph
from core.datasets.owner.opening import whole
from core.datasets.owner.refusal import listed, unreadable, wrong
from core.datasets.owner.roles import Roles

REMEDY = "save a dict: torch.save({'x': x, 'edge_index': edge_index, 'y': y}, path)"
ID_KEYS = ("node_id", "node_ids", "node_names", "ids", "names")
FEATURE_KEYS = ("feature_names", "attr_names")
CLASS_KEYS = ("class_names", "classes")
MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}
USED = ("x", "edge_index", "y", "num_nodes", *ID_KEYS, *FEATURE_KEYS, *CLASS_KEYS, *MASKS)


def load_torch(path: Path, name: str, roles: Roles | None = None) -> Dataset:
    """Return the graph of a `.pt` file: a PyG `Data` or a dict with `edge_index`, and perhaps `x`, `y` and masks.

    `node_id`, `feature_names`, `class_names`: lists of texts that name rows, columns and classes.
    Of several splits the first counts. Loaded by `weights_only=True`, so a pickle that would run
    code is refused. Raises `BadInput`, one line with file, what was found, what was expected and
    what to do.
    """
    (roles or Roles()).only((), path.name, "the layout says what is what")
    parts = _parts(_read(path), path.name)
    if "edge_index" not in parts:
        raise wrong(path.name, None, f"found {listed(sorted(parts))}", "edge_index, and perhaps x and y", REMEDY)
    try:
        ends = _array(parts["edge_index"])
        if ends.ndim != 2 or ends.shape[0] != 2 or not np.issubdtype(ends.dtype, np.integer):
            raise ValueError(f"edge_index has shape {ends.shape} of {ends.dtype}, not 2 x E whole numbers")
        x = None if parts.get("x") is None else _array(parts["x"])
        if x is not None and (x.ndim != 2 or x.dtype.kind not in "biuf"):
            raise ValueError(f"x has shape {x.shape} of {x.dtype}, not N x F numbers")
        y = None if parts.get("y") is None else _array(parts["y"])
        ids = _names(parts, ID_KEYS)
        sizes = [len(part) for part in (x, ids, y) if part is not None]
        n = sizes[0] if sizes else int(parts.get("num_nodes") or ends.max(initial=-1) + 1)
        masks = {part: _mask(parts[key], n) for key, part in MASKS.items() if parts.get(key) is not None}
        given = Arrays(
            n=n,
            ends=ends.T,
            x=None if x is None else sparse.csr_array(x.astype(np.float64)),
            labels=y,
            ids=ids,
            features=_names(parts, FEATURE_KEYS),
            classes=_names(parts, CLASS_KEYS),
            split=_split(masks, n) if "train" in masks else None,
        )
    except Exception as error:
        raise unreadable(path.name, "a graph", error, REMEDY) from error
    unread = sorted(key for key in parts if key not in USED)
    return array_graph(path, name, given, [f"{path.name}: left unread {listed(unread)}"] if unread else [])


def _read(path: Path) -> object:
    data = whole(path)
    # Both take seconds to import, and only this reader needs them.
    import torch
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    try:
        allowed = torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage])
        with allowed, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        culprit = re.search(r"GLOBAL ([\w.]+)", str(error))
        what = f"which names {culprit[1]} and could run code" if culprit else "which could run code"
        raise wrong(
            path.name, None, f"found a pickle {what} when it is read", "tensors and plain values", REMEDY
        ) from None
    except Exception as error:
        raise unreadable(path.name, ".pt", error, REMEDY) from error


def _parts(loaded: Any, file: str) -> Mapping[str, Any]:
    """Return the graph's parts by name, from a dict, a `Data`, or what a PyG data set of one graph saves."""
    if isinstance(loaded, tuple | list) and loaded:
        slices = loaded[1] if len(loaded) > 1 else None
        several = slices if isinstance(slices, dict) else {}
        if any(len(bounds) > 2 for bounds in several.values()):
            raise wrong(file, None, "found several graphs", "one graph", REMEDY)
        loaded = loaded[0]
    try:
        loaded = loaded if isinstance(loaded, dict) else loaded.to_dict()
        return {str(key): value for key, value in loaded.items()}
    except Exception:
        found = f"found an object of type {type(loaded).__name__}"
        raise wrong(file, None, found, "a PyG Data or a dict of tensors", REMEDY) from None


def _array(value: Any) -> np.ndarray:
    value = value.to_dense() if hasattr(value, "to_dense") else value
    return value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)


def _names(parts: Mapping[str, Any], keys: tuple[str, ...]) -> list[str] | None:
    value = next((parts[key] for key in keys if parts.get(key) is not None), None)
    return (
        None
        if value is None
        else [str(text) for text in (value if isinstance(value, list | tuple) else _array(value).tolist())]
    )


def _mask(value: Any, n: int) -> np.ndarray:
    mask = _array(value)
    mask = mask[:, 0] if mask.ndim == 2 else mask
    if mask.shape != (n,) or mask.dtype != bool:
        raise ValueError(f"a mask has shape {mask.shape} of {mask.dtype}, not {n} true or false")
    return mask


def _split(masks: Mapping[str, np.ndarray], n: int) -> list[str]:
    split = np.full(n, "", dtype="<U10")
    for part, mask in masks.items():
        if (split[mask] != "").any():
            raise ValueError("the masks overlap")
        split[mask] = part
    return split.tolist()
