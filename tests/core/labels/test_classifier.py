"""Both classifiers, many subgraphs at once, against one subgraph at a time by other means."""

from __future__ import annotations

import numpy as np
import pytest

from core.backbone.gcn import GCNWeights
from core.datasets import load
from core.errors import BadInput, UnsupportedBackbone
from core.labels.classifier import FilterClassifier, GCNClassifier, filter_for
from core.labels.csbm import Recipe, load_csbm


@pytest.fixture(scope="module", params=[2, 3], ids=["binary", "three classes"])
def dataset(request):
    return load_csbm(Recipe(nodes=40, classes=request.param, degree=6, gap=2, margin=0.1, seed=4))


@pytest.fixture(scope="module")
def kept(dataset):
    kept = np.random.default_rng(0).random((12, dataset.graph.m)) < 0.4
    kept[0], kept[1] = False, True
    return kept


def dense_laplacian(n, edges):
    matrix = np.zeros((n, n))
    for u, w in edges:
        matrix[u, u] += 1
        matrix[w, w] += 1
        matrix[u, w] -= 1
        matrix[w, u] -= 1
    return matrix


def test_the_filter_is_the_papers_on_each_subgraph(dataset, kept):
    classifier = FilterClassifier(0.8, -0.13, dataset.nodes.x.toarray(), tau=0.05)
    values, labels = classifier.values(dataset.graph.edges, kept), classifier.labels(dataset.graph.edges, kept)
    for row, mask in enumerate(kept):
        laplacian = dense_laplacian(dataset.graph.n, dataset.graph.edges[mask])
        expected = (0.8 * np.eye(dataset.graph.n) - 0.13 * laplacian) @ dataset.nodes.x.toarray()
        assert values[row] == pytest.approx(expected, abs=1e-12)
        by_hand = expected[:, 0] > 0.05 if expected.shape[1] == 1 else expected.argmax(axis=1)
        assert (labels[row] == by_hand).all()


def test_the_gcn_is_the_backbone_on_each_subgraph(dataset, kept):
    rng = np.random.default_rng(1)
    f, c = dataset.nodes.n_features, len(dataset.nodes.classes)
    weights = GCNWeights(rng.normal(size=(f, 8)), rng.normal(size=8), rng.normal(size=(8, c)), rng.normal(size=c))
    labels = GCNClassifier(weights, dataset.nodes).labels(dataset.graph.edges, kept)
    assert labels.shape == (12, 40)
    for row, mask in enumerate(kept):
        alone = weights.logits(dataset.graph.with_edges(dataset.graph.edges[mask])).argmax(axis=1)
        assert (labels[row] == alone).all()
    assert len(np.unique(labels, axis=0)) > 3


def test_labels_do_not_depend_on_the_batch(dataset, kept):
    classifier = filter_for(dataset, 1.0, -0.2)
    whole = classifier.labels(dataset.graph.edges, kept)
    alone = np.concatenate([classifier.labels(dataset.graph.edges, kept[[row]]) for row in range(len(kept))])
    assert (whole == alone).all()


def test_without_an_edge_the_filter_sees_the_signal(dataset):
    classifier = filter_for(dataset)
    found = classifier.labels(np.empty((0, 2), dtype=np.int64), np.zeros((1, 0), dtype=bool))
    x = dataset.nodes.x.toarray()
    assert (found[0] == (x[:, 0] > 0 if x.shape[1] == 1 else x.argmax(axis=1))).all()


def test_a_real_data_sets_signal_is_the_nearest_class_mean_and_public():
    dataset = load("lastfm")
    classifier = filter_for(dataset, 1.0, 0.0)
    train, x = dataset.split.train, dataset.nodes.x.toarray()
    means = np.array([x[train[dataset.labels[train] == c]].mean(axis=0) for c in range(len(dataset.nodes.classes))])
    nearest = ((x[:200, None, :] - means) ** 2).sum(axis=2).argmin(axis=1)
    found = classifier.labels(dataset.graph.edges, np.zeros((1, dataset.graph.m), dtype=bool))[0]
    assert (found[:200] == nearest).all()
    emptied = type(dataset)(
        dataset.name, "", dataset.graph.with_edges(np.empty((0, 2), dtype=np.int64)), dataset.labels, dataset.split, ""
    )
    assert filter_for(emptied, 1.0, 0.0).digest == classifier.digest


def test_digests_tell_classifiers_apart():
    x = np.array([[1.0], [-1.0]])
    digests = {
        FilterClassifier(h0, h1, x, tau).digest for h0, h1, tau in [(1, -1, 0), (1, -2, 0), (2, -1, 0), (1, -1, 1)]
    }
    assert len(digests | {FilterClassifier(1, -1, -x).digest}) == 5


@pytest.mark.parametrize("bad", [{"h1": float("nan")}, {"signal": np.array([1.0])}, {"signal": np.array([[np.inf]])}])
def test_a_bad_filter_is_refused(bad):
    with pytest.raises(BadInput, match="filter: found"):
        FilterClassifier(**{"h0": 1.0, "h1": -0.1, "signal": np.ones((3, 1)), **bad})


def test_foreign_weights_are_refused(dataset):
    with pytest.raises(UnsupportedBackbone, match="weights for 5 features"):
        GCNClassifier(GCNWeights(np.ones((5, 2)), np.ones(2), np.ones((2, 2)), np.ones(2)), dataset.nodes)
