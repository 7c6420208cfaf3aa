"""A foreign backbone that looks further than it declares is refused before it scores anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import APPNP, GAT, GCN, GIN, PNA, GraphSAGE, LayerNorm, SGConv, TransformerConv

from core.backbone.module import freeze
from core.errors import UnsupportedBackbone
from core.graph import Nodes, PrivateGraph
from core.scoring import locality
from core.scoring.blackbox import BlackBoxScorer
from tests.core import foreign
from tests.core.foreign import long_case, randomised
from tests.core.smallgraphs import make_case

SPREADING = [
    foreign.MeanPool,
    foreign.MaxPool,
    foreign.BatchStatistics,
    foreign.CountsNodes,
    foreign.KnowsRows,
    foreign.Remembers,
]
WITHIN_REACH = make_case(3, density=1.0)
LONG = long_case(3)


def refusal(case, module, layers=None):
    weights = freeze(module, case.graph.nodes, layers)
    with pytest.raises(UnsupportedBackbone) as caught:
        BlackBoxScorer(case.graph, weights)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", SPREADING)
@pytest.mark.parametrize("case", [WITHIN_REACH, LONG], ids=["whole graph within reach", "long graph"])
def test_what_spans_the_graph_is_refused(kind, case):
    assert "declared 2 layers" in refusal(case, kind())


@pytest.mark.parametrize("norm", ["graph_norm", "pair_norm", "instance_norm", "layer_norm"])
def test_norms_over_the_graph_are_refused(norm):
    module = randomised(GCN(6, 8, 2, 3, norm=norm), 0)
    assert "declared 2 layers" in refusal(LONG, module)


@pytest.mark.parametrize(
    ("module", "layers"),
    [(GCN(6, 8, 3, 3), 2), (GCN(6, 8, 3, 3), 1), (GCN(6, 8, 2, 3), 1), (GIN(6, 8, 3, 3), 1), (GAT(6, 8, 4, 3), 2)],
)
@pytest.mark.parametrize("case", [WITHIN_REACH, LONG], ids=["whole graph within reach", "long graph"])
def test_too_few_layers_are_refused(module, layers, case):
    assert f"declared {layers} layers" in refusal(case, randomised(module, 0), layers)


def test_noise_that_few_rows_hide_is_refused():
    assert "two passes" in refusal(LONG, foreign.RareDropout())


def test_a_module_that_ignores_what_is_deleted_is_refused():
    case = long_case(3, n=47)
    assert "declared 2 layers" in refusal(case, foreign.Transductive(case.graph))


def test_what_only_the_owners_graph_brings_out_is_refused():
    """The largest degree is among the targets."""
    star = np.stack([np.zeros(9, dtype=np.int64), np.arange(30, 39)], axis=1)
    graph = PrivateGraph(LONG.graph.nodes, np.concatenate([LONG.graph.edges, star]))
    BlackBoxScorer(LONG.graph, freeze(foreign.PoolsAtHubs(), LONG.graph.nodes))
    assert "declared 2 layers" in refusal(type(LONG)(graph, LONG.snapshot, LONG.weights), foreign.PoolsAtHubs())


class Reshaped(foreign.Around):
    """Works on the rows that a first trial takes, and on no other number."""

    def forward(self, x, edge_index):
        return self.gnn(x, edge_index).reshape(8, 3) * 1.0


def test_a_module_bound_to_a_number_of_nodes_is_refused():
    assert "fails on" in refusal(LONG, Reshaped())


class Sequence(torch.nn.Module):
    """Layers in a row, those that pass messages given the edges."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x, edge_index) if hasattr(layer, "propagate") else layer(x)
        return x


@pytest.mark.parametrize(
    ("module", "layers"),
    [
        (GIN(6, 8, 2, 3, norm="batch_norm"), 2),
        (GraphSAGE(6, 8, 2, 3, aggr="max"), 2),
        (GCN(6, 8, 3, 3, jk="cat", dropout=0.5), 3),
        (PNA(6, 8, 2, 3, aggregators=["mean", "std"], scalers=["amplification"], deg=torch.arange(9)), 2),
        (Sequence(torch.nn.Linear(6, 3), APPNP(4, 0.1)), 4),
        (Sequence(SGConv(6, 3, K=3)), 3),
        (Sequence(TransformerConv(6, 4, heads=2), torch.nn.ReLU(), TransformerConv(8, 3)), 2),
        (Sequence(SGConv(6, 8, K=1), LayerNorm(8, mode="node"), SGConv(8, 3, K=1)), 2),
    ],
)
def test_sound_models_pass_with_their_layers_counted(module, layers):
    weights = freeze(randomised(module, 0), LONG.graph.nodes)
    assert weights.layers == layers
    BlackBoxScorer(LONG.graph, weights)
    BlackBoxScorer(WITHIN_REACH.graph, weights)


def test_a_model_without_edges_needs_no_layers():
    module = Sequence(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    BlackBoxScorer(LONG.graph, freeze(module, LONG.graph.nodes, layers=0))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_are_checked_too(n):
    case = make_case(0, n=n, density=1.0)
    BlackBoxScorer(case.graph, freeze(foreign.Around(), case.graph.nodes))
    refusal(case, foreign.MaxPool())


def test_nodes_without_features_are_checked_too():
    nodes = make_case(0).graph.nodes
    bare = Nodes(nodes.ids, np.zeros((nodes.n, 6)), nodes.feature_names, nodes.classes)
    graph = PrivateGraph(bare, make_case(0).graph.edges)
    BlackBoxScorer(graph, freeze(foreign.Around(), bare))


def test_targets_reach_from_the_smallest_degree_to_the_largest():
    case = make_case(2, n=40, density=0.1)
    targets = locality._targets(case.graph, np.random.default_rng(0))
    degrees = case.graph.degree[targets]
    assert (degrees[0], degrees[-1]) == (case.graph.degree.min(), case.graph.degree.max())
    assert len(targets) == len(set(targets.tolist())) == locality.TARGETS
