from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.backbone import store
from core.backbone.train import measured, train_gcn
from core.datasets import load
from core.errors import BadInput, UnsupportedBackbone


def test_trains_on_real_cora(cora, cora_backbone):
    assert cora_backbone.accuracy > 0.75
    assert cora_backbone.accuracy > cora_backbone.majority + 0.3
    predicted = cora_backbone.weights.logits(cora.graph)[cora.split.test].argmax(axis=1)
    assert cora_backbone.accuracy == pytest.approx((predicted == cora.labels[cora.split.test]).mean())


@pytest.mark.parametrize(("name", "paper"), [("planetoid:Cora", 0.809), ("planetoid:CiteSeer", 0.682)])
def test_reaches_the_papers_accuracy(planetoid_root, monkeypatch, name, paper):
    monkeypatch.setenv("PLANETOID_ROOT", str(planetoid_root))
    dataset = load(name)
    assert np.mean([train_gcn(dataset, seed).accuracy for seed in range(3)]) == pytest.approx(paper, abs=0.015)


def test_same_seed_same_weights():
    dataset = load("karate")
    one, two, other = (train_gcn(dataset, seed, steps=5).weights.digest for seed in (0, 0, 1))
    assert one == two != other


def test_loss_falls_with_training():
    dataset = load("karate")
    assert train_gcn(dataset, steps=200).accuracy >= train_gcn(dataset, steps=1).accuracy


def test_no_labelled_training_node_is_refused():
    dataset = load("karate")
    empty = replace(dataset, split=replace(dataset.split, train=np.empty(0, dtype=np.int64)))
    with pytest.raises(BadInput, match="no labelled training node"):
        train_gcn(empty)


def test_stored_weights_come_back(tmp_path):
    dataset = load("karate")
    first = store.backbone_for(dataset, folder=tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".pt"]
    again = store.backbone_for(dataset, folder=tmp_path)
    assert again.weights.digest == first.weights.digest
    assert again.accuracy == first.accuracy


def test_another_graph_or_seed_is_trained_anew(tmp_path):
    dataset = load("karate")
    graph = dataset.graph.toggled(0, 33)
    for variant, seed in ((dataset, 0), (dataset, 1), (replace(dataset, graph=graph), 0)):
        store.backbone_for(variant, seed, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_damaged_cache_is_replaced(tmp_path):
    dataset = load("karate")
    first = store.backbone_for(dataset, folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"not a model")
    assert store.backbone_for(dataset, folder=tmp_path).weights.digest == first.weights.digest
    assert store.load(path).digest == first.weights.digest


def test_unreadable_weights_are_one_line(tmp_path):
    (tmp_path / "w.pt").write_bytes(b"rubbish")
    with pytest.raises(UnsupportedBackbone) as caught:
        store.load(tmp_path / "w.pt")
    assert "\n" not in str(caught.value)
    with pytest.raises(UnsupportedBackbone, match=r"absent\.pt"):
        store.load(tmp_path / "absent.pt")


def test_measured_without_test_labels_is_undefined():
    dataset = load("karate")
    bare = replace(dataset, split=replace(dataset.split, test=np.empty(0, dtype=np.int64)))
    assert np.isnan(measured(bare, train_gcn(dataset, steps=1).weights).accuracy)
