import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from core.datasets import load
from tests.core.datasets.refusal import refusal


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.fixture
def no_root(monkeypatch, tmp_path):
    """No folder named, and an empty cache; returns the cache."""
    monkeypatch.delenv("PLANETOID_ROOT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "privcfs" / "planetoid"


def test_citeseer_has_its_known_counts(planetoid_root):
    citeseer = load("planetoid:CiteSeer", planetoid_root)
    assert (citeseer.nodes.n, citeseer.graph.m, citeseer.nodes.n_features) == (3327, 4552, 3703)
    assert (len(citeseer.split.train), len(citeseer.split.validation), len(citeseer.split.test)) == (120, 500, 1000)
    assert int((citeseer.graph.degree == 0).sum()) == 48
    assert citeseer.nodes.ids[:2] == ("0", "1")
    sizes = dict(zip(citeseer.nodes.classes, np.bincount(citeseer.labels[citeseer.labels >= 0]).tolist(), strict=True))
    assert sizes == {"Agents": 596, "AI": 249, "DB": 701, "IR": 668, "ML": 590, "HCI": 508}


def test_citeseer_rows_that_the_files_leave_out_keep_their_ties_only(planetoid_root):
    citeseer = load("planetoid:CiteSeer", planetoid_root)
    filled = np.flatnonzero(citeseer.labels < 0)
    assert len(filled) == 15
    assert (citeseer.graph.degree[filled] > 0).all()
    assert citeseer.nodes.x[filled].nnz == 0


def test_cora_is_the_packaged_cora(planetoid_root, cora):
    other = load("planetoid:Cora", planetoid_root)
    assert other.graph.m == cora.graph.m
    assert sorted(other.graph.degree) == sorted(cora.graph.degree)
    assert other.nodes.x.nnz == cora.nodes.x.nnz
    assert set(other.nodes.x.data) == {1.0}
    sizes = [dict(zip(d.nodes.classes, np.bincount(d.labels).tolist(), strict=True)) for d in (other, cora)]
    assert sizes[0] == sizes[1]


def test_the_public_split_is_planetoids(planetoid_root):
    """Yang et al.: the first 20 a class, the 500 after them, and the listed test rows."""
    cora = load("planetoid:Cora", planetoid_root)
    assert cora.split.train.tolist() == list(range(140))
    assert cora.split.validation.tolist() == list(range(140, 640))
    listed = (planetoid_root / "Cora" / "raw" / "ind.cora.test.index").read_text().split()
    assert cora.split.test.tolist() == sorted(map(int, listed))


def test_the_named_folder_is_only_read(planetoid_root, monkeypatch):
    monkeypatch.setenv("PLANETOID_ROOT", str(planetoid_root))
    before = listing(planetoid_root)
    load("planetoid:Cora")
    assert listing(planetoid_root) == before


def test_a_missing_raw_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PLANETOID_ROOT", str(tmp_path))
    message = refusal(load, "planetoid:CiteSeer")
    assert "ind.citeseer.x" in message
    assert "PLANETOID_ROOT" in message
    assert str(tmp_path) in message


def test_a_spoilt_raw_file_is_refused(planetoid_root, tmp_path):
    shutil.copytree(planetoid_root / "Cora", tmp_path / "Cora")
    (tmp_path / "Cora" / "raw" / "ind.cora.x").write_bytes(b"not a pickle")
    assert "can't be read" in refusal(load, "planetoid:Cora", tmp_path)


def test_a_failed_download_says_what_to_do(no_root, monkeypatch):
    def offline(root, name):
        (Path(root) / name / "raw").mkdir(parents=True)
        (Path(root) / name / "raw" / "ind.cora.x").write_bytes(b"half")
        raise OSError("no route\nto host")

    monkeypatch.setattr("torch_geometric.datasets.Planetoid", offline)
    message = refusal(load, "planetoid:Cora")
    assert "PLANETOID_ROOT" in message
    assert "OSError" in message
    assert list(no_root.iterdir()) == []


def test_a_download_is_kept_and_not_repeated(planetoid_root, no_root, monkeypatch):
    calls = []

    def fetch(root, name):
        calls.append(name)
        shutil.copytree(planetoid_root / name, os.path.join(root, name))

    monkeypatch.setattr("torch_geometric.datasets.Planetoid", fetch)
    one, two = load("planetoid:Cora"), load("planetoid:Cora")
    assert calls == ["Cora"]
    assert one.graph.digest == two.graph.digest
    assert [path.name for path in no_root.iterdir()] == ["Cora"]


def test_an_unknown_network_is_refused_with_the_known():
    message = refusal(load, "planetoid:Citeseer")
    assert "Cora, CiteSeer, PubMed" in message
