"""Backbones by name: modules from the owner's own code, weights from state dicts of known form."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from torch_geometric.nn import GAT, GCN

from core.backbone import store
from core.backbone.loading import load_module, load_weights
from core.errors import BadInput, PrivCFSError, UnsupportedBackbone
from tests.core.foreign import PlainGCN, definition, randomised
from tests.core.smallgraphs import make_case

CASE = make_case(0)
NODES = CASE.graph.nodes

SOURCE = """
import torch
network = torch.nn.Linear(6, 3)
number = 3
class Network(torch.nn.Linear):
    def __init__(self):
        super().__init__(6, 3)
class shelf:
    spare = network
def build():
    return network
def build_wide(width):
    return network
def fail():
    raise ValueError("no weights\\nhere")
def stop():
    raise SystemExit(3)
"""


@pytest.fixture
def owner_code(tmp_path, monkeypatch):
    """A folder with the owner's modules, from which nothing is left behind."""
    (tmp_path / "owner_models.py").write_text(SOURCE)
    (tmp_path / "owner_broken.py").write_text("import torch\nraise RuntimeError('half\\nwritten')\n")
    (tmp_path / "owner_stops.py").write_text("import sys\nsys.exit(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("owner_")]:
        del sys.modules[name]


@pytest.mark.parametrize("attribute", ["network", "Network", "build", "shelf.spare"])
def test_modules_come_by_name(owner_code, attribute):
    module = load_module(f"owner_models:{attribute}")
    assert isinstance(module, torch.nn.Linear)
    assert module.weight.shape == (3, 6)


@pytest.mark.parametrize("name", ["owner_models", "owner_models:", ":network", "", "network.pt"])
def test_names_of_another_form_are_refused(owner_code, name):
    with pytest.raises(BadInput, match="expected module:attribute"):
        load_module(name)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("owner_absent:network", "No module named 'owner_absent'"),
        ("owner_models:absent", "no attribute 'absent'"),
        ("owner_models:network.absent", "no attribute 'absent'"),
        ("owner_broken:network", "RuntimeError: half"),
        ("owner_stops:network", "SystemExit: 1"),
        ("owner_models:number", "found int"),
        ("owner_models:build_wide", "missing 1 required positional argument"),
        ("owner_models:fail", "ValueError: no weights"),
        ("owner_models:stop", "SystemExit: 3"),
        ("..:network", "TypeError"),
    ],
)
def test_what_gives_no_module_is_one_line(owner_code, name, found):
    with pytest.raises(UnsupportedBackbone) as caught:
        load_module(name)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_installed_packages_come_before_the_working_folder(owner_code, tmp_path_factory):
    installed = tmp_path_factory.mktemp("installed")
    (installed / "owner_twice.py").write_text(SOURCE)
    (owner_code / "owner_twice.py").write_text("raise RuntimeError('shadowed')")
    sys.path.append(str(installed))
    assert isinstance(load_module("owner_twice:network"), torch.nn.Linear)


def saved(folder, value):
    torch.save(value, folder / "weights.pt")
    return folder / "weights.pt"


def test_own_weights_come_back(tmp_path):
    store.save(CASE.weights, tmp_path / "own.pt")
    assert load_weights(tmp_path / "own.pt", NODES).digest == CASE.weights.digest


@pytest.mark.parametrize(
    "module", [PlainGCN(CASE.weights), randomised(GCN(6, 8, 2, 3), 0), randomised(GCN(6, 8, 2, 3, bias=False), 1)]
)
def test_pyg_weights_give_the_logits_of_their_module(tmp_path, module):
    weights = load_weights(saved(tmp_path, module.state_dict()), NODES)
    expected = definition(module, NODES.x.toarray(), CASE.graph.edges)
    assert np.abs(weights.logits(CASE.graph) - expected).max() < 1e-12


def test_half_precision_is_taken(tmp_path):
    state = {key: value.to(torch.bfloat16) for key, value in GCN(6, 8, 2, 3).state_dict().items()}
    assert load_weights(saved(tmp_path, state), NODES).w1.shape == (6, 8)


def own(**changes):
    return {key: torch.tensor(getattr(CASE.weights, key)) for key in store.KEYS} | changes


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (GAT(6, 8, 2, 3).state_dict(), "found the keys convs.0.att_src"),
        (GCN(6, 8, 3, 3).state_dict(), "convs.0.bias"),
        (GCN(6, 8, 2, 3, norm="batch_norm").state_dict(), "and 3 more"),
        ({"state_dict": GCN(6, 8, 2, 3).state_dict()}, "found a dict of state_dict"),
        ({"epoch": 3}, "found a dict of epoch"),
        ({}, "found a dict without entries"),
        ([torch.zeros(3)], "found a list"),
        (torch.zeros(3), "found a Tensor"),
        (own(b3=torch.zeros(3)), "found the keys w1, b1, w2, b2, b3"),
        (own(b1=torch.zeros(5, 1)), "found shapes"),
        (own(b1=torch.zeros(4)), "found shapes"),
        (own(w1=torch.full((6, 5), torch.nan)), "w1: found a value that is not finite"),
        (GCN(7, 8, 2, 3).state_dict(), "found weights for 7 features and 3 classes"),
        (GCN(6, 8, 2, 4).state_dict(), "found weights for 6 features and 4 classes"),
    ],
)
def test_other_contents_are_refused_in_one_line(tmp_path, value, found):
    with pytest.raises(UnsupportedBackbone) as caught:
        load_weights(saved(tmp_path, value), NODES)
    assert found in str(caught.value)
    assert "weights.pt" in str(caught.value)
    assert "\n" not in str(caught.value)


class Trap:
    def __reduce__(self):
        return (open, ("sprung", "w"))


def test_pickled_modules_are_refused_and_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in (GCN(6, 8, 2, 3), {"w1": Trap()}):
        with pytest.raises(UnsupportedBackbone, match="with torch") as caught:
            load_weights(saved(tmp_path, value), NODES)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [b"", b"rubbish", b"PK\x03\x04" + bytes(40)])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "weights.pt").write_bytes(content)
    with pytest.raises(PrivCFSError) as caught:
        load_weights(tmp_path / "weights.pt", NODES)
    assert "\n" not in str(caught.value)


def test_absent_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "absent.pt", tmp_path):
        with pytest.raises(UnsupportedBackbone, match="can't be read"):
            load_weights(path, NODES)
