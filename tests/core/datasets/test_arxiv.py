"""The loader of ogbn-arxiv's core, with a benchmark of 12 nodes in the place of the real one."""

import sys
from types import ModuleType

import numpy as np
import pytest

from core.datasets import arxiv, load
from tests.core.datasets.refusal import refusal

# A hub 5 tied to all, a triangle 0-1-2 in both directions, a self-loop, a repeated tie.
TIES = [(5, node) for node in range(12) if node != 5] + [(0, 1), (1, 0), (1, 2), (2, 0), (3, 3), (0, 1)]
GRAPH = {"edge_index": np.array(TIES).T, "node_feat": np.arange(24.0).reshape(12, 2), "num_nodes": 12}
LABELS = np.arange(12)[:, None] % 3
PARTS = {"train": np.array([0, 5, 6]), "valid": np.array([1, 7]), "test": np.array([2, 3])}


class Benchmark:
    calls: list[str] = []

    def __init__(self, name: str, root: str) -> None:
        assert name == "ogbn-arxiv"
        self.calls.append(root)
        print("Downloading")

    def __getitem__(self, place: int) -> tuple[dict, np.ndarray]:
        return GRAPH, LABELS

    def get_idx_split(self) -> dict[str, np.ndarray]:
        return PARTS


@pytest.fixture
def ogb(monkeypatch, tmp_path):
    """A package `ogb` whose benchmark is ours, and an empty cache; returns the cache."""
    module = ModuleType("ogb.nodeproppred")
    module.NodePropPredDataset = Benchmark
    monkeypatch.setitem(sys.modules, "ogb", ModuleType("ogb"))
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", module)
    monkeypatch.delenv("OGB_ROOT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(arxiv, "NODES", 4)
    monkeypatch.setattr(Benchmark, "calls", [])
    return tmp_path / "privcfs" / "ogb"


def test_the_core_is_the_nodes_of_highest_degree(ogb, capsys):
    """Degrees: the hub 11, the triangle 3 each, the rest 1."""
    dataset = load("ogbn-arxiv-core")
    assert dataset.nodes.ids == ("0", "1", "2", "5")
    assert {frozenset(edge) for edge in dataset.graph.edges.tolist()} == {
        frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    }
    assert dataset.nodes.x.toarray().tolist() == [[0, 1], [2, 3], [4, 5], [10, 11]]
    assert dataset.labels.tolist() == [0, 1, 2, 2]
    split = dataset.split
    assert [part.tolist() for part in (split.train, split.validation, split.test)] == [[0, 3], [1], [2]]
    assert capsys.readouterr().out == ""
    assert Benchmark.calls == [str(ogb)]


def test_equal_degrees_go_to_the_lower_row(ogb, monkeypatch):
    monkeypatch.setattr(arxiv, "NODES", 6)
    assert load("ogbn-arxiv-core").nodes.ids == ("0", "1", "2", "3", "4", "5")


def test_ogbs_pickled_cache_is_made_anew(ogb, tmp_path):
    stale = tmp_path / "mine" / "ogbn_arxiv" / "processed" / "data_processed"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"pickle")
    assert "OGB_ROOT" in refusal(load, "ogbn-arxiv-core", tmp_path / "mine")
    assert stale.exists()
    (tmp_path / "mine" / "ogbn_arxiv" / "RELEASE_v1.txt").touch()
    load("ogbn-arxiv-core", tmp_path / "mine")
    assert not stale.exists()


@pytest.mark.parametrize("error", [OSError("no route\nto host"), SystemExit(-1), EOFError(), KeyError("x")])
def test_a_failed_download_says_what_to_do(ogb, monkeypatch, error):
    def fail(self, name, root):
        raise error

    monkeypatch.setattr(Benchmark, "__init__", fail)
    message = refusal(load, "ogbn-arxiv-core")
    assert type(error).__name__ in message
    assert "OGB_ROOT" in message


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ogb", None)
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", None)
    assert "pip install 'privcfs-explorer[ogb]'" in refusal(load, "ogbn-arxiv-core")


def test_an_unknown_name_lists_the_core_too():
    assert "ogbn-arxiv-core" in refusal(load, "ogbn-arxiv")
