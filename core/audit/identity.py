"""Digests that tell whether kept draws are of the same mechanism, input and witness."""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from core.graph import PrivateGraph


def digest(data: Any) -> str:
    """SHA-256 of an input: of nodes and edges for graphs, of the values for arrays, of a pickle for the rest."""
    if isinstance(data, PrivateGraph):
        return data.digest
    if isinstance(data, str):
        content = b"text" + data.encode()
    elif isinstance(data, np.ndarray):
        content = f"{data.shape}{data.dtype}".encode() + np.ascontiguousarray(data).tobytes()
    elif hasattr(data, "adjacency") and hasattr(data, "nodes"):
        nodes = sorted(map(repr, data.nodes(data=True)))
        content = repr((nodes, sorted(sorted(map(repr, edge)) for edge in data.edges))).encode()
    else:
        content = pickle.dumps(data)
    return hashlib.sha256(content).hexdigest()


def identity(function: Any) -> str:
    """A text that changes with the function: its name, its source where there is one, and its parameters."""
    if isinstance(function, functools.partial):
        bound = digest(repr((function.args, sorted(function.keywords.items()))))
        return f"{identity(function.func)}({bound})"
    if inspect.isfunction(function):
        return f"{_name(function)}:{_source(function)}"
    if inspect.ismethod(function):
        return f"{identity(function.__func__)}@{identity(function.__self__)}"
    kind = type(function)
    if isinstance(known := getattr(function, "digest", None), str):
        return f"{_name(kind)}:{_source(kind)}({known})"
    parameters = ",".join(f"{part.name}={_parameter(getattr(function, part.name))}" for part in _fields(function))
    return f"{_name(kind)}:{_source(kind)}({parameters})"


def _fields(value: Any) -> tuple[Any, ...]:
    return fields(value) if is_dataclass(value) else ()


def _parameter(value: Any) -> str:
    return identity(value) if callable(value) or is_dataclass(value) else digest(value)


def _name(thing: Callable[..., Any] | type) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def _source(thing: Callable[..., Any] | type) -> str:
    try:
        return digest(inspect.getsource(thing))
    except (OSError, TypeError):
        return "no source"
