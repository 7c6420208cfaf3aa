"""Training the backbone on the owner's labels; afterwards it is frozen and public."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch.nn import functional

from core import checks
from core.backbone.gcn import GCNWeights, normalised_adjacency
from core.backbone.module import accuracies
from core.datasets.dataset import Dataset
from core.threads import single_threaded

LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
DROPOUT = 0.5


@dataclass(frozen=True, eq=False)
class Backbone:
    """A frozen classifier and how good it is.

    `accuracy` and `majority`: share of test nodes that the model, and the most frequent training
    class, get right (`nan` without labelled test nodes).
    """

    weights: GCNWeights
    accuracy: float
    majority: float


def train_gcn(dataset: Dataset, seed: int = 0, hidden: int = 32, steps: int = 200, device: str = "cpu") -> Backbone:
    """Train a two-layer GCN: Adam 0.01, weight decay 5e-4, dropout 0.5 between layers, full batch.

    The training reads the private edges: publishing the weights is a separate disclosure, which no
    release guarantee covers (PrivCFS, section 3.1). Raises `BadInput` without labelled training nodes.
    """
    checks.count(hidden, "hidden units", 1, 4096)
    checks.count(steps, "training steps", 1, 100_000)
    dataset.check_trainable()
    rows = dataset.split.train
    generator = torch.Generator().manual_seed(seed)
    nodes = dataset.nodes
    shapes = [(nodes.n_features, hidden), (hidden, len(nodes.classes))]
    w1, w2 = (_glorot(shape, generator).to(device).requires_grad_() for shape in shapes)
    b1, b2 = (torch.zeros(shape[1], device=device, requires_grad=True) for shape in shapes)
    optimiser = torch.optim.Adam([w1, b1, w2, b2], lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    a_hat = _sparse(normalised_adjacency(dataset.graph), device)
    x, x_transposed = _sparse(nodes.x, device), _sparse(nodes.x.T.tocsr(), device)
    train, labels = torch.tensor(rows, device=device), torch.tensor(dataset.labels[rows], device=device)
    with single_threaded(max(nodes.x.nnz, nodes.n * hidden, 2 * dataset.graph.m)):
        for _ in range(steps):
            optimiser.zero_grad()
            state = torch.relu(_product(a_hat, a_hat, _product(x, x_transposed, w1)) + b1)
            kept = (torch.rand(state.shape, generator=generator) >= DROPOUT).to(device) / (1.0 - DROPOUT)
            logits = _product(a_hat, a_hat, (state * kept) @ w2) + b2
            functional.cross_entropy(logits[train], labels).backward()
            optimiser.step()
    arrays = (part.detach().cpu().numpy().astype(np.float64) for part in (w1, b1, w2, b2))
    return measured(dataset, GCNWeights(*arrays))


def measured(dataset: Dataset, weights: GCNWeights) -> Backbone:
    """Pair given weights with their accuracy on the test nodes of `dataset`."""
    return Backbone(weights, *accuracies(dataset, weights.logits(dataset.graph)))


def _glorot(shape: tuple[int, int], generator: torch.Generator) -> torch.Tensor:
    bound = (6.0 / sum(shape)) ** 0.5
    return (torch.rand(shape, generator=generator) * 2.0 - 1.0) * bound


class _Product(torch.autograd.Function):
    """`matrix @ dense` whose backward pass is handed the transpose, which torch would make anew at each step."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor, transposed: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        ctx.transposed = transposed
        return torch.sparse.mm(matrix, dense)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, None, torch.Tensor]:
        return None, None, torch.sparse.mm(ctx.transposed, gradients[0])


def _product(matrix: torch.Tensor, transposed: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """`matrix @ dense` for a constant sparse matrix (n x m CSR) and its transpose."""
    return _Product.apply(matrix, transposed, dense)


def _sparse(matrix: sparse.csr_array, device: str) -> torch.Tensor:
    with warnings.catch_warnings():  # torch calls its CSR layout a beta feature at every start
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(
            torch.tensor(matrix.indptr, dtype=torch.int64),
            torch.tensor(matrix.indices, dtype=torch.int64),
            torch.tensor(matrix.data, dtype=torch.float32),
            size=matrix.shape,
            device=device,
            check_invariants=False,
        )
