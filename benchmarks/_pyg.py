"""PyTorch Geometric as the peer: the same frozen GCN, by full-graph forwards and by batched induced subgraphs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch_geometric.nn import GCNConv
from torch_geometric.utils import k_hop_subgraph

from core.backbone.gcn import GCNWeights
from core.graph import PrivateGraph
from core.universe import Universe

MASKS_AT_ONCE = 40
SUBGRAPHS_AT_ONCE = 512
SUBGRAPH_ELEMENTS = 1 << 25  # of dense features at once: 256 MiB


class GCN(torch.nn.Module):
    """Two `GCNConv` layers in float64 under given weights."""

    def __init__(self, weights: GCNWeights) -> None:
        super().__init__()
        self.first, self.second = GCNConv(*weights.w1.shape), GCNConv(*weights.w2.shape)
        for layer, w, b in ((self.first, weights.w1, weights.b1), (self.second, weights.w2, weights.b2)):
            layer.double()
            layer.lin.weight.data = torch.tensor(w.T.copy())
            layer.bias.data = torch.tensor(b)

    @torch.no_grad()
    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


def edge_index(edges: np.ndarray) -> torch.Tensor:
    return torch.tensor(np.concatenate([edges, edges[:, ::-1]]).T.copy())


def full_graph_logits(
    graph: PrivateGraph, weights: GCNWeights, universe: Universe
) -> Iterator[tuple[int, slice, np.ndarray]]:
    """Logits of every candidate from full-graph forwards: (edge subset, slice of masks, masks x C).

    `X W1` enters as node features of an identity layer, with the masked row of the target computed
    directly, since a dense N x F matrix per mask would not fit.
    """
    model = GCN(weights)
    model.first.lin = torch.nn.Identity()
    z = torch.tensor(weights.hidden_features(graph.nodes))
    x = graph.nodes.x[[universe.target]].toarray()[0]
    rows = []
    for j in range(universe.shape[1]):
        masked = x.copy()
        masked[universe.members(0, j)[1]] = 0.0
        rows.append(masked @ weights.w1)
    masked_rows = torch.tensor(np.array(rows))
    for i in range(universe.shape[0]):
        gone = {tuple(pair) for pair in universe.members(i, 0)[0].tolist()}
        index = edge_index(graph.edges[[tuple(edge) not in gone for edge in graph.edges.tolist()]])
        for start in range(0, len(rows), MASKS_AT_ONCE):
            part = slice(start, min(start + MASKS_AT_ONCE, len(rows)))
            batch = z.expand(part.stop - part.start, -1, -1).clone()
            batch[:, universe.target] = masked_rows[part]
            yield i, part, model(batch, index)[:, universe.target].numpy()


def induced_subgraph_logits(graph: PrivateGraph, weights: GCNWeights, universe: Universe) -> np.ndarray:
    """Logits of every candidate from batches of induced 3-hop subgraphs, the usual way with PyG."""
    model = GCN(weights)
    subset, index, at, _ = k_hop_subgraph(universe.target, 3, edge_index(graph.edges), relabel_nodes=True)
    size, target = len(subset), int(at)
    x = torch.tensor(graph.nodes.x[subset.numpy()].toarray())
    ends = np.sort(subset.numpy()[index.numpy()], axis=0)
    kept = []
    for i in range(universe.shape[0]):
        keep = np.ones(index.shape[1], dtype=bool)
        for pair in universe.members(i, 0)[0]:
            keep &= (ends != pair[:, None]).any(axis=0)
        kept.append(index[:, torch.tensor(keep)])
    result = np.empty((*universe.shape, weights.w2.shape[1]))
    jobs = list(np.ndindex(universe.shape))
    at_once = max(1, min(SUBGRAPHS_AT_ONCE, SUBGRAPH_ELEMENTS // x.numel()))
    for start in range(0, len(jobs), at_once):
        chunk = jobs[start : start + at_once]
        xs = x.repeat(len(chunk), 1)
        for k, (_, j) in enumerate(chunk):
            xs[k * size + target, universe.members(0, j)[1]] = 0.0
        batch = torch.cat([kept[i] + k * size for k, (i, _) in enumerate(chunk)], dim=1)
        logits = model(xs, batch).numpy()
        for k, (i, j) in enumerate(chunk):
            result[i, j] = logits[k * size + target]
    return result
