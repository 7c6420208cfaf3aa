"""Foreign models as an owner might bring them, sound and unsound, and their definition on an edited graph."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional
from torch_geometric.nn import GAT, GCN, GIN, GCNConv, GraphSAGE

from core.backbone.gcn import GCNWeights
from core.graph import Graph, PrivateGraph
from core.threads import single_threaded
from core.universe import Universe
from tests.core.smallgraphs import Case, make_case

SOUND = {
    "GraphSAGE": (lambda f, c: GraphSAGE(f, 8, 2, c), 2),
    "GAT": (lambda f, c: GAT(f, 8, 2, c, heads=2), 2),
    "GIN": (lambda f, c: GIN(f, 8, 2, c), 2),
    "GCN of 3 layers": (lambda f, c: GCN(f, 8, 3, c), 3),
}


def randomised(module: torch.nn.Module, seed: int) -> torch.nn.Module:
    """The module with every parameter and running statistic drawn anew, so that none is at its neutral start."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in module.state_dict().items():
        if value.is_floating_point():
            drawn = torch.randn(value.shape, generator=generator)
            value.copy_(drawn.abs() + 0.5 if name.endswith("running_var") else drawn)
    return module


def sound(name: str, seed: int = 0, features: int = 6, classes: int = 3) -> torch.nn.Module:
    return randomised(SOUND[name][0](features, classes), seed)


def definition(module: torch.nn.Module, x: np.ndarray, edges: list[list[int]]) -> np.ndarray:
    """Logits of every node from one pass of the original module over a whole graph, its links in any order, float64."""
    both = [(u, w) for u, w in edges] + [(w, u) for u, w in edges]
    order = np.random.default_rng(len(both)).permutation(len(both))
    index = torch.tensor([both[i] for i in order], dtype=torch.int64).reshape(-1, 2).T
    with torch.no_grad(), single_threaded(x.size):
        return module.double().eval()(torch.tensor(x), index).numpy()


def brute_force(module: torch.nn.Module, graph: Graph, universe: Universe) -> np.ndarray:
    """Logits of every candidate, each by deleting, masking and a pass over the whole graph."""
    result = np.empty((*universe.shape, len(graph.nodes.classes)))
    for i, j in np.ndindex(universe.shape):
        pairs, dims = universe.members(i, j)
        gone = {tuple(pair) for pair in pairs.tolist()}
        x = graph.nodes.x.toarray()
        if not universe.arm.inert:
            x[universe.target, dims] = 0.0
        kept = [edge for edge in graph.edges.tolist() if tuple(edge) not in gone]
        result[i, j] = definition(module, x, kept)[universe.target]
    return result


def long_case(seed: int, n: int = 48) -> Case:
    """A case whose graph is a path with triangles and chords: most of it is out of a target's reach."""
    case = make_case(seed, n=n, density=0.0)
    rng = np.random.default_rng(seed)
    path = np.stack([np.arange(n - 2), np.arange(1, n - 1)], axis=1)
    jumps = np.stack([np.arange(0, n - 3), np.arange(2, n - 1)], axis=1)
    graph = PrivateGraph(case.graph.nodes, np.concatenate([path, jumps[rng.random(len(jumps)) < 0.3]]))
    return Case(graph, case.snapshot, case.weights)


class PlainGCN(torch.nn.Module):
    """Two `GCNConv` layers under given weights."""

    def __init__(self, weights: GCNWeights) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(*weights.w1.shape).double(), GCNConv(*weights.w2.shape).double()
        for layer, w, b in ((self.conv1, weights.w1, weights.b1), (self.conv2, weights.w2, weights.b2)):
            layer.lin.weight.data, layer.bias.data = torch.tensor(w.T.copy()), torch.tensor(b)

    def forward(self, x, edge_index):
        return self.conv2(torch.relu(self.conv1(x, edge_index)), edge_index)


class Around(torch.nn.Module):
    """A random two-layer GCN, for models that add something to it."""

    def __init__(self, features: int = 6, classes: int = 3) -> None:
        super().__init__()
        self.gnn = randomised(GCN(features, 8, 2, classes), 1)
        self.head = randomised(torch.nn.Linear(features, classes), 2)

    def forward(self, x, edge_index):
        return self.gnn(x, edge_index)


class MeanPool(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index) + self.head(x.mean(dim=0))


class MaxPool(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index) + self.head(x.amax(dim=0))


class BatchStatistics(Around):
    def forward(self, x, edge_index):
        return functional.batch_norm(self.gnn(x, edge_index), None, None, training=True)


class Wakeful(torch.nn.BatchNorm1d):
    def train(self, mode=True):
        return super().train(True)


class SleeplessBatchNorm(Around):
    def __init__(self):
        super().__init__()
        self.norm = Wakeful(3)

    def forward(self, x, edge_index):
        return self.norm(self.gnn(x, edge_index))


class LearningBatchNorm(Around):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x, edge_index):
        self.norm.train()
        out = self.norm(self.gnn(x, edge_index))
        self.norm.eval()
        return out


class LeakyDropout(Around):
    def forward(self, x, edge_index):
        return self.gnn(functional.dropout(x, 0.1), edge_index)


class RareDropout(Around):
    """Active on graphs of more than a few nodes only, which a first trial on few rows misses."""

    def forward(self, x, edge_index):
        return self.gnn(functional.dropout(x, 0.5 if len(x) > 8 else 0.0), edge_index)


class CountsNodes(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index) / len(x)


class KnowsRows(Around):
    """Adds a learnt vector to each row number, as transductive models do."""

    def forward(self, x, edge_index):
        return self.gnn(x, edge_index) + torch.arange(len(x))[:, None] % 7


class Remembers(Around):
    """Normalises once for each number of nodes and takes every later graph of that size for the first."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x, edge_index):
        return self.gnn(x, self.known.setdefault(len(x), edge_index))


class Transductive(Around):
    """Takes its own edges for those of every graph with as many nodes as its own."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.n, self.links = graph.n, torch.tensor(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy())

    def forward(self, x, edge_index):
        return self.gnn(x, self.links if len(x) == self.n else edge_index)


class PoolsAtHubs(Around):
    """Pools over the graph for nodes of a large degree only."""

    def forward(self, x, edge_index):
        crowded = torch.bincount(edge_index[1], minlength=len(x)) > 8
        return self.gnn(x, edge_index) + torch.where(crowded[:, None], self.head(x.mean(dim=0)), 0.0)


class WrongWidth(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index)[:, :2]


class WholeGraphOutput(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index).mean(dim=0, keepdim=True)


class Tupled(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index), x


class Hard(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index).long()


class NotANumber(Around):
    def forward(self, x, edge_index):
        return self.gnn(x, edge_index) / (x[:, :1] * 0.0)


class Overwrites(Around):
    def forward(self, x, edge_index):
        return self.gnn(x.mul_(0.5), edge_index)


class Raises(Around):
    def forward(self, x, edge_index):
        raise ValueError("no such luck\nand more")


class Single(Around):
    """Insists on float32, as a model with casts of its own does."""

    def forward(self, x, edge_index):
        return self.gnn(x.float(), edge_index)
