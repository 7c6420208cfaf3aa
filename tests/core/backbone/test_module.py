"""Freezing a foreign module: what is copied, what is counted and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN, GCNConv, GraphSAGE, SGConv

from core.backbone import module as module_file
from core.backbone.module import freeze, measured_module
from core.backbone.train import measured, train_gcn
from core.datasets import load
from core.errors import BadInput, UnsupportedBackbone
from core.graph import Nodes
from core.universe import build_universe
from tests.core import foreign
from tests.core.foreign import Around, PlainGCN, definition, randomised, sound
from tests.core.smallgraphs import make_case

CASE = make_case(0)
NODES = CASE.graph.nodes


def refusal(module, layers=None):
    with pytest.raises(UnsupportedBackbone) as caught:
        freeze(module, NODES, layers)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_copy_is_frozen_and_the_original_untouched():
    module = randomised(GCN(6, 8, 2, 3, dropout=0.5, norm="batch_norm"), 0)
    weights = freeze(module, NODES)
    assert module.training
    assert all(p.requires_grad and p.dtype == torch.float32 for p in module.parameters())
    assert not any(part.training for part in weights.module.modules())
    assert all(p.dtype == torch.float64 and not p.requires_grad for p in weights.module.parameters())
    assert weights.dtype == torch.float64
    assert weights.note is None
    before = weights.logits(CASE.graph)
    randomised(module, 1)
    assert (weights.logits(CASE.graph) == before).all()


@pytest.mark.parametrize("name", foreign.SOUND)
def test_logits_are_those_of_the_module(name):
    module = sound(name)
    expected = definition(module, NODES.x.toarray(), CASE.graph.edges)
    assert np.abs(freeze(module, NODES).logits(CASE.graph) - expected).max() < 1e-12


def test_batch_statistics_of_training_are_used_as_they_were_learnt():
    """A batch norm is sound once it is evaluated: the frozen copy is, whatever mode the module came in."""
    module = randomised(GCN(6, 8, 2, 3, norm="batch_norm"), 0).train()
    assert np.abs(freeze(module, NODES).logits(CASE.graph) - freeze(module.eval(), NODES).logits(CASE.graph)).max() == 0


class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again = GCNConv(6, 3), GCNConv(3, 3)

    def forward(self, x, edge_index):
        return self.again(self.again(self.first(x, edge_index), edge_index), edge_index)


class ByHand(torch.nn.Module):
    """One step of messages without PyG."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(6, 3)

    def forward(self, x, edge_index):
        return torch.zeros(len(x), 3, dtype=x.dtype).index_add(0, edge_index[1], self.lin(x)[edge_index[0]])


@pytest.mark.parametrize(
    ("module", "layers"), [(GCN(6, 8, 5, 3), 5), (GraphSAGE(6, 8, 1, 3), 1), (SGConv(6, 3, K=4), 4), (Shared(), 3)]
)
def test_propagations_are_counted(module, layers):
    assert freeze(module, NODES).layers == layers
    assert freeze(module, NODES, layers=7).layers == 7


def test_layers_that_can_not_be_counted_are_asked_for():
    assert "declare it" in refusal(ByHand())
    assert freeze(ByHand(), NODES, layers=1).layers == 1


@pytest.mark.parametrize("layers", [-1, 17, 1.0, "2", True])
def test_bad_layers_are_refused(layers):
    with pytest.raises(BadInput, match="layers of the backbone"):
        freeze(Around(), NODES, layers)


@pytest.mark.parametrize(
    ("module", "found"),
    [
        (foreign.WrongWidth(), r"forward returns (8, 2) of torch.float64, expected 8 x 3 logits"),
        (foreign.WholeGraphOutput(), "forward returns (1, 3)"),
        (foreign.Tupled(), "forward returns tuple"),
        (foreign.Hard(), "forward returns (8, 3) of torch.int64"),
        (foreign.NotANumber(), "not finite"),
        (foreign.LeakyDropout(), "two passes over one graph differ"),
        (foreign.Overwrites(), "overwrites its arguments"),
        (foreign.SleeplessBatchNorm(), "Wakeful in training mode"),
        (foreign.LearningBatchNorm(), "changes the module's own state"),
        (foreign.Raises(), "ValueError: no such luck"),
        (GCN(6, 8, 2, 3, cached=True), "cached=True"),
        (GraphSAGE((-1, -1), 8, 2, 3), "without values"),
        (GCN(5, 8, 2, 3), "fails on 8 nodes x 6 features"),
        (torch.nn.Linear(6, 3), "forward"),
    ],
)
def test_unsound_modules_are_refused(module, found):
    assert found in refusal(module, layers=2)


@pytest.mark.parametrize("value", [None, "GCN", GCN, lambda x, edge_index: x])
def test_only_modules_are_taken(value):
    assert "expected a torch.nn.Module" in refusal(value)


def test_a_module_that_can_not_be_copied_is_refused():
    module = Around()
    module.lock = (i for i in range(3))
    assert "can't be copied" in refusal(module)


def test_float32_is_used_where_nothing_else_works():
    weights = freeze(foreign.Single(), NODES)
    assert weights.dtype == torch.float32
    assert "float32" in weights.note
    expected = definition(Around().gnn, NODES.x.toarray(), CASE.graph.edges)
    found = weights.logits(CASE.graph)
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
    assert found.dtype == np.float64


def test_other_features_or_classes_are_refused():
    weights = freeze(Around(), NODES)
    fewer = Nodes(NODES.ids, NODES.x, NODES.feature_names, ("a", "b"))
    with pytest.raises(UnsupportedBackbone, match="6 features and 3 classes, the graph has 6 and 2"):
        weights.check(fewer)
    with pytest.raises(UnsupportedBackbone):
        build_universe(fewer, CASE.snapshot, weights, 0)


def test_features_too_many_to_be_dense_are_refused(monkeypatch):
    weights = freeze(Around(), NODES)
    monkeypatch.setattr(module_file, "MOST_ELEMENTS", NODES.n * 6 - 1)
    with pytest.raises(UnsupportedBackbone, match="at most 53"):
        weights.logits(CASE.graph)


def test_influence_is_the_norm_of_the_first_columns():
    module = sound("GraphSAGE")
    expected = np.linalg.norm(module.convs[0].lin_l.weight.detach().double().numpy(), axis=0)
    assert np.abs(freeze(module, NODES).feature_influence(NODES) - expected).max() < 1e-12
    plain = freeze(PlainGCN(CASE.weights), NODES).feature_influence(NODES)
    assert np.abs(plain - np.linalg.norm(CASE.weights.w1, axis=1)).max() < 1e-12


class NoColumns(Around):
    """Takes the features through a table of its own shape."""

    def __init__(self):
        super().__init__()
        self.gnn, self.head = randomised(GCN(1, 8, 2, 3), 0), torch.nn.Identity()

    def forward(self, x, edge_index):
        return self.gnn(x.sum(dim=1, keepdim=True), edge_index)


def test_influence_without_such_a_matrix_is_one():
    assert (freeze(NoColumns(), NODES).feature_influence(NODES) == 1.0).all()


def test_digest_tells_weights_layers_and_classes_apart():
    one = freeze(sound("GAT", 0), NODES)
    assert one.digest == freeze(sound("GAT", 0), NODES).digest
    others = [freeze(sound("GAT", 1), NODES), freeze(sound("GAT", 0), NODES, layers=3), freeze(sound("GIN", 0), NODES)]
    assert len({one.digest, *(other.digest for other in others)}) == 4


def test_accuracy_is_that_of_the_same_weights():
    dataset = load("karate")
    known = train_gcn(dataset)
    backbone = measured_module(dataset, freeze(PlainGCN(known.weights), dataset.nodes))
    assert (backbone.accuracy, backbone.majority) == (known.accuracy, known.majority)
    assert backbone.majority == measured(dataset, known.weights).majority


def test_accuracy_without_test_labels_is_undefined():
    dataset = load("karate")
    bare = replace(dataset, split=replace(dataset.split, test=np.empty(0, dtype=np.int64)))
    weights = freeze(PlainGCN(train_gcn(dataset, steps=1).weights), dataset.nodes)
    assert np.isnan(measured_module(bare, weights).accuracy)
