"""The frozen two-layer GCN that is being explained."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from core.errors import UnsupportedBackbone
from core.graph import Graph, Nodes


@dataclass(frozen=True, eq=False)
class GCNWeights:
    """Weights of `f(A) = Â ReLU(Â X W1 + b1) W2 + b2`, float64, public and frozen.

    `w1`: F x h, `b1`: h, `w2`: h x C, `b2`: C (Kipf & Welling 2017, with biases).
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray

    def __post_init__(self) -> None:
        for name in ("w1", "b1", "w2", "b2"):
            value = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if not np.isfinite(value).all():
                raise UnsupportedBackbone(f"backbone weight {name}: found a value that is not finite")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        h = self.w1.shape[1]
        if self.b1.shape != (h,) or self.w2.shape[0] != h or self.b2.shape != (self.w2.shape[1],):
            raise UnsupportedBackbone(
                f"backbone weights: found shapes {self.w1.shape}, {self.b1.shape}, {self.w2.shape}, {self.b2.shape}, "
                "expected (F, h), (h,), (h, C), (C,)"
            )

    def check(self, nodes: Nodes) -> None:
        """Raise `UnsupportedBackbone` when the weights don't fit the features or classes."""
        if self.w1.shape[0] != nodes.n_features or self.w2.shape[1] != len(nodes.classes):
            raise UnsupportedBackbone(
                f"backbone: found weights for {self.w1.shape[0]} features and {self.w2.shape[1]} classes, the graph "
                f"has {nodes.n_features} and {len(nodes.classes)}; train on this graph or load its own weights"
            )

    def hidden_features(self, nodes: Nodes) -> np.ndarray:
        """`Z = X W1`, N x h float64, read-only: public. The last ones made are kept, since every graph needs them."""
        self.check(nodes)
        return _hidden_features(self, nodes)

    def feature_influence(self, nodes: Nodes) -> np.ndarray:
        """`||W1[d,:]||_2` of each feature, F float64: public."""
        self.check(nodes)
        return self._row_norms

    @cached_property
    def _row_norms(self) -> np.ndarray:
        norms = np.linalg.norm(self.w1, axis=1)
        norms.setflags(write=False)
        return norms

    def logits(self, graph: Graph) -> np.ndarray:
        """Logits of every node by one sparse full-graph pass, N x C float64: private if the graph is."""
        a_hat = normalised_adjacency(graph)
        hidden = np.maximum(a_hat @ self.hidden_features(graph.nodes) + self.b1, 0.0)
        return a_hat @ (hidden @ self.w2) + self.b2

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the four arrays."""
        hasher = hashlib.sha256()
        for value in (self.w1, self.b1, self.w2, self.b2):
            hasher.update(repr(value.shape).encode() + value.tobytes())
        return hasher.hexdigest()


@functools.lru_cache(maxsize=2)
def _hidden_features(weights: GCNWeights, nodes: Nodes) -> np.ndarray:
    hidden = nodes.x @ weights.w1
    hidden.setflags(write=False)
    return hidden


def normalised_adjacency(graph: Graph) -> sparse.csr_array:
    """`Â = D^-1/2 (A + I) D^-1/2`, N x N sparse float64 (Kipf & Welling 2017): private if the graph is."""
    scale = 1.0 / np.sqrt(graph.degree + 1.0)
    looped = (graph.adjacency + sparse.eye_array(graph.n, format="csr")).tocsr()
    looped.data = np.repeat(scale, np.diff(looped.indptr)) * scale[looped.indices]
    return looped


def softmax(logits: np.ndarray) -> np.ndarray:
    """Class probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
