"""Where graph and backbone come from: column roles, foreign backbones, state dicts; and `privcfs check`."""

from __future__ import annotations

import networkx as nx
import pytest
import torch

from core.backbone.store import backbone_for, save
from core.cli import run
from core.datasets import load
from tests.core.cli.commands import answer, refusal

MODEL = """
import torch
from torch_geometric.nn import SAGEConv

class Net(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = SAGEConv(features, 8), SAGEConv(8, classes)

    def forward(self, x, edge_index):
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)

def karate():
    return Net(34, 2)

answer = 42
"""
INSPECT = ("inspect", "--dataset", "karate", "--target", "9", "--rho", "0.6", "--epsilon", "2")


@pytest.fixture
def my_models(tmp_path, monkeypatch):
    (tmp_path / "privcfs_test_models.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "privcfs_test_models"


@pytest.fixture
def named_columns(tmp_path):
    """Five people whose files name their columns as nobody would guess."""
    (tmp_path / "nodes.csv").write_text(
        "qui;quoi;âge;ville\nAnaïs;x;1;Lyon\nBob;y;2;Metz\nCléo;x;3;Lyon\nDan;y;4;Metz\nEve;x;5;Lyon\n",
        encoding="utf-8",
    )
    (tmp_path / "edges.csv").write_text("a;b\nAnaïs;Bob\nBob;Cléo\nCléo;Anaïs\nDan;Bob\nEve;Dan\n", encoding="utf-8")
    roles = ("--id-column", "qui", "--label-column", "quoi", "--source-column", "a", "--target-column", "b")
    return str(tmp_path), roles


def test_check_says_what_would_be_loaded(capsys):
    said = answer(capsys, "check", "data/example")
    assert said.keys() >= {"nodes", "edges", "features", "classes", "snapshot_pairs", "report", "owner_only"}
    assert said["report"].keys() >= {"duplicates", "self_loops", "isolated"}
    dataset = load("data/example")
    assert (said["nodes"], said["edges"]) == (dataset.nodes.n, dataset.graph.m)
    assert run(["check", "data/example"]) == 0
    printed = capsys.readouterr().out
    assert "guessed" in printed
    assert f"{dataset.graph.m:,} edges" in printed


def test_check_refuses_in_one_line(capsys, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n", encoding="utf-8")
    (tmp_path / "nodes.csv").write_text("id,label,f\na,x,1\n", encoding="utf-8")
    assert "edges.csv line 2: found node 'b'" in refusal(capsys, "check", str(tmp_path))
    assert "nowhere" in refusal(capsys, "check", str(tmp_path / "nowhere"))


def test_given_columns_win_and_unknown_ones_are_refused(capsys, named_columns):
    folder, roles = named_columns
    said = answer(capsys, "check", folder, *roles, "--categorical", "ville")
    assert (said["nodes"], said["edges"], said["classes"]) == (5, 5, 2)
    assert said["features"] == 3  # âge, and one for each of two towns
    assert not any(role["guessed"] for role in said["report"]["roles"])
    assert "ville" in refusal(capsys, "check", folder, *roles, "--label-column", "no such column")
    chosen = answer(capsys, "check", folder, *roles, "--feature", "âge")
    assert chosen["features"] == 1


def test_roles_belong_to_owners_files(capsys):
    assert "column roles" in refusal(capsys, *INSPECT, "--id-column", "qui")


def test_a_graph_file_with_string_ids_is_inspected(capsys, tmp_path):
    graph = nx.relabel_nodes(nx.karate_club_graph(), lambda i: f"Señor {i}")
    for i, node in enumerate(graph):
        graph.nodes[node]["age"] = 20 + i % 7
    nx.write_graphml(graph, tmp_path / "club.graphml")
    said = answer(
        capsys, "inspect", "--dataset", str(tmp_path / "club.graphml"), "--target", "Señor 8", "--rho", "1",
        "--epsilon", "1",
    )  # fmt: skip
    assert (said["target"], said["degree"]) == ("Señor 8", 5)


@pytest.mark.parametrize("prior", ["uniform", "guided"])
def test_a_foreign_backbone_is_inspected(capsys, my_models, prior):
    said = answer(capsys, *INSPECT, "--backbone", f"{my_models}:karate", "--prior", prior)
    ours = answer(capsys, *INSPECT)
    assert (said["candidates"], said["degree"]) == (ours["candidates"], ours["degree"])
    assert said["margin"] != ours["margin"]
    assert 0 <= said["public_only_valid"] <= 1


def test_a_state_dict_stands_for_our_own_backbone(capsys, tmp_path):
    weights = backbone_for(load("karate")).weights
    save(weights, tmp_path / "weights.pt")
    assert answer(capsys, *INSPECT, "--backbone", str(tmp_path / "weights.pt")) == answer(capsys, *INSPECT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backbone", "privcfs_test_models:answer"], "found int"),
        (["--backbone", "privcfs_test_models:nothing"], "can't be imported"),
        (["--backbone", "no such file"], "module:attribute"),
        (["--layers", "2"], "--backbone"),
        (["--backbone", "privcfs_test_models:karate", "--layers", "0"], "declared 0 layers"),
    ],
)
def test_a_bad_backbone_is_refused_in_one_line(capsys, my_models, arguments, message):
    assert message in refusal(capsys, *INSPECT, *arguments)


def test_layers_are_not_for_a_state_dict(capsys, tmp_path):
    torch.save({}, tmp_path / "weights.pt")
    said = refusal(capsys, *INSPECT, "--backbone", str(tmp_path / "weights.pt"), "--layers", "2")
    assert "leave --layers out" in said


def test_an_owner_is_warned_of_a_poor_backbone_and_of_features_made_of_edges(capsys, my_models):
    assert run([*INSPECT, "--backbone", f"{my_models}:karate"]) == 0
    assert run([*INSPECT, "--structural-features"]) == 0
    said = capsys.readouterr().err
    assert "computed from the private edges: no guarantee holds" in said


def test_nothing_is_trained_on_a_graph_without_features(capsys, tmp_path):
    (tmp_path / "ties.txt").write_text("a b\nb c\nc a\n", encoding="utf-8")
    arguments = ("inspect", "--dataset", str(tmp_path / "ties.txt"), "--target", "a", "--rho", "1", "--epsilon", "1")
    assert "found no feature" in refusal(capsys, *arguments)
