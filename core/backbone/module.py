"""Any `torch.nn.Module` with `forward(x, edge_index) -> N x C` logits as the frozen backbone."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse

from core import checks
from core.datasets.dataset import Dataset
from core.errors import UnsupportedBackbone
from core.graph import Graph, Nodes

MOST_LAYERS = 16
MOST_ELEMENTS = 1 << 28  # of N x F features, dense as a module takes them: 2 GiB
PROBE_ROWS = 8
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


@dataclass(frozen=True, eq=False)
class FrozenModule:
    """A module in evaluation mode that nothing else holds, as `freeze` makes it: public, as the GCN's weights are.

    `layers`: a node's logits depend on nothing further away than so many steps, but for the degrees
    of the nodes at that distance. `dtype`: float64, or float32 where the module takes nothing else.
    """

    module: torch.nn.Module
    layers: int
    dtype: torch.dtype
    n_features: int
    n_classes: int

    @property
    def name(self) -> str:
        """Class of the module."""
        return type(self.module).__qualname__

    @property
    def note(self) -> str | None:
        """What an owner has to know about the exactness of the scores; None where they are exact."""
        if self.dtype == torch.float64:
            return None
        return f"backbone {self.name} computes in float32 only: rounding may decide a candidate that is nearly tied"

    def agree(self, found: np.ndarray, expected: np.ndarray) -> bool:
        """Whether two ways to the same logits differ by rounding only, relative to the largest logit or 1."""
        scale = max(1.0, float(np.abs(expected).max()))
        return bool(np.abs(found - expected).max() <= TOLERANCE[self.dtype] * scale)

    def check(self, nodes: Nodes) -> None:
        """Raise `UnsupportedBackbone` when the module was frozen for other features or classes."""
        if (self.n_features, self.n_classes) != (nodes.n_features, len(nodes.classes)):
            raise UnsupportedBackbone(
                f"backbone {self.name}: found one for {self.n_features} features and {self.n_classes} classes, the "
                f"graph has {nodes.n_features} and {len(nodes.classes)}; use a model of this graph"
            )

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> np.ndarray:
        """Logits of n nodes, n x C float64. `x`: n x F; `edge_index`: 2 x m int64, both directions of each edge.

        Raises `UnsupportedBackbone` when the module fails, or returns another shape or a number that
        is not finite.
        """
        expected = f"{len(x)} x {self.n_classes} logits, one row a node and one column a class"
        try:
            with torch.no_grad():
                out = self.module(x.to(self.dtype), edge_index)
        except Exception as error:
            raise UnsupportedBackbone(
                f"backbone {self.name}: forward(x, edge_index) fails on {len(x)} nodes x {x.shape[1]} features "
                f"({brief(error)}); expected {expected}"
            ) from error
        if not isinstance(out, torch.Tensor) or out.shape != (len(x), self.n_classes) or not out.is_floating_point():
            found = f"{tuple(out.shape)} of {out.dtype}" if isinstance(out, torch.Tensor) else type(out).__name__
            raise UnsupportedBackbone(f"backbone {self.name}: forward returns {found}, expected {expected}")
        logits = out.to(torch.float64).numpy()
        if not np.isfinite(logits).all():
            raise UnsupportedBackbone(
                f"backbone {self.name}: forward returns a number that is not finite; check its weights, and a division "
                "by a degree of 0"
            )
        return logits

    def logits(self, graph: Graph) -> np.ndarray:
        """Logits of every node by one full-graph pass, N x C float64: private if the graph is.

        Raises `UnsupportedBackbone`, also for more than `MOST_ELEMENTS` features, which a module takes dense.
        """
        self.check(graph.nodes)
        n, f = graph.nodes.x.shape
        if n * f > MOST_ELEMENTS:
            raise UnsupportedBackbone(
                f"backbone {self.name}: found {n:,} nodes x {f:,} features, expected at most {MOST_ELEMENTS:,} in all "
                "since a module takes them dense; use fewer features or the built-in GCN"
            )
        return self.forward(torch.from_numpy(graph.nodes.x.toarray()), edge_index(graph.adjacency))

    def feature_influence(self, nodes: Nodes) -> np.ndarray:
        """Norm of each feature's column in the first matrix with F columns, F float64; ones where there is none.

        Public either way: it orders the candidates and decides nothing else.
        """
        self.check(nodes)
        return self._column_norms

    @cached_property
    def _column_norms(self) -> np.ndarray:
        norms = np.ones(self.n_features)
        for parameter in self.module.parameters():
            if parameter.ndim == 2 and parameter.shape[1] == self.n_features:
                norms = np.linalg.norm(parameter.detach().to(torch.float64).numpy(), axis=0)
                break
        norms.setflags(write=False)
        return norms

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the class name, the layers and the state dict; what `forward` does with them is not covered."""
        head = f"{type(self.module).__module__}.{self.name} {self.layers} {self.dtype}"
        return hashlib.sha256(head.encode() + _state_digest(self.module)).hexdigest()


def freeze(module: torch.nn.Module, nodes: Nodes, layers: int | None = None) -> FrozenModule:
    """Copy a module, freeze the copy and try it on a few public rows; the module itself stays as it is.

    `layers`: number of message-passing steps. Where it isn't given, the propagations of PyG layers in
    one pass are counted, which is exact for layers in a row and safe for others; whether it is large
    enough for a graph is seen when a scorer is built. Raises `UnsupportedBackbone` for a module that
    can't be frozen, doesn't return n x C finite logits, or isn't a function of its arguments alone
    (dropout or batch statistics still active), and `BadInput` for a bad number of layers.
    """
    if not isinstance(module, torch.nn.Module):
        raise UnsupportedBackbone(f"backbone: found {type(module).__name__}, expected a torch.nn.Module")
    if layers is not None:
        checks.count(layers, "layers of the backbone", 0, MOST_LAYERS)
    name = type(module).__qualname__
    still = _still(module, name)
    rows = torch.from_numpy(nodes.x[:PROBE_ROWS].toarray())
    path = np.eye(len(rows), k=1)
    path[:, -1] = 0.0  # the last row stays alone: a degree of 0 is where models divide by it
    links = edge_index(sparse.csr_array(path + path.T))
    shape = (nodes.n_features, len(nodes.classes))
    frozen = FrozenModule(copy.deepcopy(still).double(), 0, torch.float64, *shape)
    if not _computes(frozen, rows, links):
        frozen = FrozenModule(still.float(), 0, torch.float32, *shape)
    _check_function(frozen, rows, links)
    if layers is None:
        layers = checks.count(_propagations(frozen, rows, links), "layers of the backbone", 0, MOST_LAYERS)
        if layers == 0:
            raise UnsupportedBackbone(
                f"backbone {name}: found no PyG message passing to count, expected its number of layers; declare it"
            )
    return FrozenModule(frozen.module, layers, frozen.dtype, *shape)


@dataclass(frozen=True, eq=False)
class ModuleBackbone:
    """A frozen module and how good it is: `core.backbone.train.Backbone` for a foreign model."""

    weights: FrozenModule
    accuracy: float
    majority: float


def measured_module(dataset: Dataset, weights: FrozenModule) -> ModuleBackbone:
    """Pair a frozen module with its accuracy on the test nodes of `dataset`; raises `UnsupportedBackbone`."""
    return ModuleBackbone(weights, *accuracies(dataset, weights.logits(dataset.graph)))


def accuracies(dataset: Dataset, logits: np.ndarray) -> tuple[float, float]:
    """Share of labelled test nodes that `logits` (N x C), and the most frequent training class, get right.

    Both are NaN where no test node is labelled.
    """
    rows = dataset.split.test[dataset.labels[dataset.split.test] >= 0]
    if not len(rows):
        return float("nan"), float("nan")
    truth, train = dataset.labels[rows], dataset.labels[dataset.split.train]
    most_frequent = np.bincount(train[train >= 0], minlength=logits.shape[1]).argmax()
    return float((logits[rows].argmax(axis=1) == truth).mean()), float((truth == most_frequent).mean())


def edge_index(adjacency: sparse.csr_array) -> torch.Tensor:
    """PyG's form of a symmetric adjacency: 2 x 2M int64, source over destination, sorted by destination."""
    destination = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    return torch.from_numpy(np.stack([adjacency.indices.astype(np.int64), destination]))


def brief(error: BaseException) -> str:
    """An exception in one line: its type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _still(module: torch.nn.Module, name: str) -> torch.nn.Module:
    """A copy in evaluation mode without gradients; raises `UnsupportedBackbone`."""
    for part in module.modules():
        if any(torch.nn.parameter.is_lazy(parameter) for parameter in part.parameters(recurse=False)):
            raise UnsupportedBackbone(
                f"backbone {name}: found a {type(part).__name__} without values in its weights; train or load it first"
            )
        if getattr(part, "cached", False) is True:
            raise UnsupportedBackbone(
                f"backbone {name}: found a {type(part).__name__} with cached=True, which takes every graph for the "
                "first it saw; build it with cached=False and load its state dict"
            )
    try:
        still = copy.deepcopy(module).cpu().requires_grad_(False).eval()
    except Exception as error:
        raise UnsupportedBackbone(f"backbone {name}: can't be copied ({brief(error)})") from error
    if awake := [type(part).__name__ for part in still.modules() if part.training]:
        raise UnsupportedBackbone(
            f"backbone {name}: found its {awake[0]} in training mode after eval(); let train(False) reach it"
        )
    return still


def _computes(frozen: FrozenModule, rows: torch.Tensor, links: torch.Tensor) -> bool:
    """Whether the module takes numbers of its copy's type and returns them as such."""
    try:
        with torch.no_grad():
            out: Any = frozen.module(rows.to(frozen.dtype, copy=True), links.clone())
    except Exception:
        return False
    return not isinstance(out, torch.Tensor) or not out.is_floating_point() or out.dtype == frozen.dtype


def _check_function(frozen: FrozenModule, rows: torch.Tensor, links: torch.Tensor) -> None:
    """Raise `UnsupportedBackbone` unless the module is a function of its arguments and leaves all as it was."""
    before = _state_digest(frozen.module)
    x, edges = rows.to(frozen.dtype, copy=True), links.clone()
    first = frozen.forward(x, edges)
    if not torch.equal(x, rows.to(frozen.dtype)) or not torch.equal(edges, links):
        raise UnsupportedBackbone(f"backbone {frozen.name}: forward overwrites its arguments; let it work on a copy")
    if not frozen.agree(frozen.forward(x, edges), first):
        raise UnsupportedBackbone(
            f"backbone {frozen.name}: two passes over one graph differ; let eval() switch dropout and other noise off"
        )
    if _state_digest(frozen.module) != before:
        raise UnsupportedBackbone(
            f"backbone {frozen.name}: forward changes the module's own state; let eval() end the training of batch norm"
        )


def _propagations(frozen: FrozenModule, rows: torch.Tensor, links: torch.Tensor) -> int:
    """How often PyG layers propagate messages in one pass, shared layers and those of several hops counted in full."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    hooks = [getattr(part, "register_propagate_forward_hook", None) for part in frozen.module.modules()]
    handles = [hook(counted) for hook in hooks if callable(hook)]
    try:
        frozen.forward(rows, links)
    finally:
        for handle in handles:
            handle.remove()
    return count


def _state_digest(module: torch.nn.Module) -> bytes:
    hasher = hashlib.sha256()
    for key, value in sorted(module.state_dict().items()):
        if isinstance(value, torch.Tensor):
            dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
            array = dense.contiguous().numpy()
            hasher.update(f"{key} {array.shape} {array.dtype}".encode() + array.tobytes())
        else:
            hasher.update(f"{key} {value!r}".encode())
    return hasher.digest()
