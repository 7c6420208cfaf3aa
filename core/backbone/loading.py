"""Backbones that an owner names: a module by `package.module:attribute`, weights by the path of a state dict."""

from __future__ import annotations

import importlib
import os
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import torch

from core.backbone.gcn import GCNWeights
from core.backbone.module import brief
from core.backbone.store import KEYS
from core.errors import BadInput, UnsupportedBackbone
from core.graph import Nodes

EXAMPLE = "my_models:network"
SHOWN_KEYS = 6
LINEAR, BIAS = ".lin.weight", ".bias"  # of PyG's GCNConv


def load_module(name: str) -> torch.nn.Module:
    """Import `package.module:attribute`, an `nn.Module` or something that returns one when called with nothing.

    Runs the owner's own code. Looks in the working folder after the installed packages. Raises
    `BadInput` for a name of another form, `UnsupportedBackbone` for one that gives no module.
    """
    where, colon, attribute = str(name).partition(":")
    if not (colon and where and attribute):
        raise BadInput(f"backbone: found {name!r}, expected module:attribute such as {EXAMPLE}")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = attrgetter(attribute)(importlib.import_module(where))
    except (Exception, SystemExit) as error:
        raise UnsupportedBackbone(
            f"backbone {name}: can't be imported ({brief(error)}); expected module:attribute such as {EXAMPLE}, "
            "importable from the working folder"
        ) from error
    if not isinstance(found, torch.nn.Module) and callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise UnsupportedBackbone(
                f"backbone {name}: can't be called without arguments ({brief(error)}); name a module, or a function "
                "of no argument that returns one"
            ) from error
    if not isinstance(found, torch.nn.Module):
        kind = type(found).__name__
        raise UnsupportedBackbone(
            f"backbone {name}: found {kind}, expected an nn.Module or a function that returns one"
        )
    return found


def load_weights(path: Path, nodes: Nodes) -> GCNWeights:
    """Read a two-layer GCN from a saved state dict without running any code of the file (`weights_only`).

    Accepts the keys `w1, b1, w2, b2`, and those of two PyG `GCNConv` layers whatever their names
    (`conv1.lin.weight`, ..., `convs.1.bias`), taken in the order of the file; missing biases are 0.
    A state dict doesn't tell what lies between the layers: ReLU and PyG's default normalisation are
    assumed. Raises `UnsupportedBackbone` for anything else, and for weights that don't fit `nodes`.
    """
    expected = f"expected the state dict of a two-layer GCN ({', '.join(KEYS)}, or conv1{LINEAR}, conv1{BIAS}, ...)"
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise UnsupportedBackbone(f"backbone file {path}: can't be read ({error.strerror}); name a file") from error
    except Exception as error:
        raise UnsupportedBackbone(
            f"backbone file {path}: found no plain state dict ({brief(error)[:120]}), {expected}; "
            "save it with torch.save(model.state_dict(), ...)"
        ) from error
    remedy = "save model.state_dict() of such a model, or name another model itself as module:attribute"
    tensors = state if isinstance(state, dict) else {}
    if not tensors or not all(isinstance(part, torch.Tensor) for part in tensors.values()):
        raise UnsupportedBackbone(f"backbone file {path}: found a {_kind(state)}, {expected}; {remedy}")
    parts = _parts(tensors)
    if parts is None:
        raise UnsupportedBackbone(f"backbone file {path}: found the keys {_shown(tensors)}, {expected}; {remedy}")
    if any(part.ndim != expect for part, expect in zip(parts, (2, 1, 2, 1), strict=True)):
        found = ", ".join(str(part.shape) for part in parts)
        raise UnsupportedBackbone(f"backbone file {path}: found shapes {found}, {expected}; {remedy}")
    try:
        weights = GCNWeights(*parts)
        weights.check(nodes)
    except UnsupportedBackbone as error:
        raise UnsupportedBackbone(f"backbone file {path}: {error}") from error
    return weights


def _parts(state: dict[str, torch.Tensor]) -> list[np.ndarray] | None:
    """`w1, b1, w2, b2` as arrays, or None where the keys are not those of two GCN layers."""
    arrays = {key: part.detach().to(torch.float64).numpy() for key, part in state.items()}
    if set(arrays) == set(KEYS):
        return [arrays[key] for key in KEYS]
    layers = [key.removesuffix(LINEAR) for key in arrays if key.endswith(LINEAR)]
    allowed = {layer + end for layer in layers for end in (LINEAR, BIAS)}
    if len(layers) != 2 or not set(arrays) <= allowed:
        return None
    parts = []
    for layer in layers:
        weight = arrays[layer + LINEAR]
        parts += [weight.T, arrays.get(layer + BIAS, np.zeros(len(weight)))]
    return parts


def _kind(state: object) -> str:
    if isinstance(state, dict):
        return f"dict of {_shown(state)}" if state else "dict without entries"
    return type(state).__name__


def _shown(state: dict[str, object] | dict[str, torch.Tensor]) -> str:
    names = [str(key) for key in state]
    more = f" and {len(names) - SHOWN_KEYS} more" if len(names) > SHOWN_KEYS else ""
    return ", ".join(names[:SHOWN_KEYS]) + more
