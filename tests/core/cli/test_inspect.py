"""`privcfs inspect`: an outside program recomputes every figure from the dump."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.backbone.gcn import GCNWeights
from core.cli import run
from tests.core.cli.commands import answer, refusal
from tests.core.smallgraphs import dense_logits

KEYS = {
    "epsilon", "rho", "prior", "sensitivity", "target", "degree", "prediction", "runner_up", "margin", "candidates",
    "edge_candidates", "feature_candidates", "ceiling", "valid", "targeted", "empty", "valid_given_nonempty", "size",
    "regret", "collision", "retention", "public_only_valid", "levels",
}  # fmt: skip


def inspect_arguments(**changes: str) -> list[str]:
    values = {"dataset": "karate", "target": "9", "rho": "0.6", "epsilon": "2"} | changes
    return ["inspect", *(part for key, value in values.items() for part in (f"--{key}", value))]


@pytest.mark.parametrize("arm", ["full", "edge-only", "feature-only", "inert-masks"])
@pytest.mark.parametrize(("sensitivity", "bound"), [("tight", None), ("paper", 1.0)])
def test_dump_and_json_are_recomputed_from_scratch(capsys, tmp_path, arm, sensitivity, bound):
    path = tmp_path / "dump.npz"
    said = answer(capsys, *inspect_arguments(arm=arm, sensitivity=sensitivity), "--dump", str(path))
    assert said.keys() >= KEYS
    d = np.load(path)
    weights = GCNWeights(d["W1"], d["b1"], d["W2"], d["b2"])
    edges, target = {tuple(e) for e in d["edges"].tolist()}, int(d["target"])
    logits = dense_logits(d["x"], edges, weights)[target]
    original, runner_up = np.argsort(-logits)[:2]
    shape = (len(d["edge_subsets"]), len(d["feature_subsets"]))
    predicted, utility, size = np.empty(shape, int), np.empty(shape), np.empty(shape)
    for i, j in np.ndindex(shape):
        chosen = [tuple(d["edge_pairs"][k].tolist()) for k in d["edge_subsets"][i] if k >= 0]
        dims = [d["feature_dims"][k] for k in d["feature_subsets"][j] if k >= 0]
        x = d["x"].copy()
        if arm != "inert-masks":
            x[target, dims] = 0.0
        predicted[i, j] = dense_logits(x, edges - set(chosen), weights)[target].argmax()
        size[i, j] = len(chosen) + len(dims)
        plausible = sum(pair in edges for pair in chosen) / len(chosen) if chosen else 0.0
        flips = predicted[i, j] != original
        utility[i, j] = 0.7 + 0.2 * (1 - size[i, j] / 5) + 0.1 * plausible if flips and size[i, j] else 0.0
    utility[0, 0] = 0.2
    assert (d["predicted"] == predicted).all()
    assert np.abs(d["utility"] - utility).max() < 1e-12
    bound = bound or (0.86 if arm == "feature-only" else 0.96)
    weight = np.exp(2.0 * utility / (2 * bound)) * d["base_measure"]
    p = weight / weight.sum()
    assert np.abs(d["probability"] - p).max() < 1e-12
    flips = predicted != original
    expected = {
        "prediction": original,
        "runner_up": runner_up,
        "candidates": p.size,
        "ceiling": float(flips.any()),
        "valid": p[flips].sum(),
        "targeted": p[predicted == runner_up].sum() if flips.any() else 0.0,
        "empty": p[0, 0],
        "size": (p * size).sum(),
        "regret": utility.max() - (p * utility).sum(),
        "collision": (p**2).sum(),
        "public_only_valid": flips.mean(),
    }
    for key, value in expected.items():
        assert said[key] == pytest.approx(value, abs=1e-12), key
    assert sum(level["count"] for level in said["levels"]) == p.size
    assert sum(level["probability"] for level in said["levels"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"dataset": "nope"}, "'nope'"),
        ({"target": "zoe"}, "'zoe'"),
        ({"target": "99999"}, "'99999'"),
        ({"target": "-1"}, "'-1'"),
        ({"target": "1.5"}, "'1.5'"),
        ({"target": ""}, "''"),
        ({"epsilon": "0"}, "0.0"),
        ({"epsilon": "-1"}, "-1.0"),
        ({"epsilon": "nan"}, "nan"),
        ({"epsilon": "inf"}, "inf"),
        ({"epsilon": "1e-320"}, "e-320"),
        ({"epsilon": "much"}, "'much'"),
        ({"rho": "-0.1"}, "-0.1"),
        ({"rho": "1.01"}, "1.01"),
        ({"rho": "nan"}, "nan"),
        ({"arm": "both"}, "'both'"),
        ({"mechanism": "svt"}, "'svt'"),
        ({"sensitivity": "loose"}, "'loose'"),
        ({"prior": "psychic"}, "'psychic'"),
        ({"seed": "-3"}, "-3"),
        ({"dump": "/no/such/folder/d.npz"}, "/no/such/folder/d.npz"),
    ],
)
def test_bad_input_is_one_line(capsys, changes, found):
    assert found in refusal(capsys, *inspect_arguments(**changes))


@pytest.mark.parametrize("missing", ["dataset", "target", "rho", "epsilon"])
def test_missing_option_is_named(capsys, missing):
    arguments = inspect_arguments()
    place = arguments.index(f"--{missing}")
    assert missing in refusal(capsys, *arguments[:place], *arguments[place + 2 :])


def owner_folder(folder, nodes, edges, snapshot=None):
    folder.mkdir()
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    if snapshot is not None:
        (folder / "snapshot.csv").write_text(snapshot)
    return str(folder)


NODES = "id,label,tall,quick\nann,a,1,0\nbob,b,0,1\ncid,a,1,1\ndee,b,0,1\neve,a,1,0\nfay,b,0,0\n"
EDGES = "source,target\nann,bob\nbob,cid\ncid,dee\nann,eve\n"


def test_isolated_target_without_features_gives_only_the_empty_release(capsys, tmp_path):
    folder = owner_folder(tmp_path / "own", NODES, EDGES)
    said = answer(capsys, *inspect_arguments(dataset=folder, target="fay", rho="1"))
    assert (said["degree"], said["candidates"], said["empty"], said["ceiling"]) == (0, 1, 1.0, 0.0)
    assert said["valid_given_nonempty"] is None
    assert said["retention"] is None


def test_isolated_target_with_a_stale_public_pair_is_a_no_op(capsys, tmp_path):
    folder = owner_folder(tmp_path / "own", NODES, EDGES, "source,target\nfay,ann\n")
    said = answer(capsys, *inspect_arguments(dataset=folder, target="fay", rho="1"))
    assert (said["edge_candidates"], said["candidates"], said["valid"]) == (1, 2, 0.0)
    assert said["snapshot"] == "given"


def test_text_says_that_it_is_owner_only(capsys):
    assert run(inspect_arguments()) == 0
    printed = capsys.readouterr().out
    assert "Owner-only" in printed
    assert math.isclose(float(printed.split("ceiling")[1].split()[0]), 1.0)


def test_a_row_number_read_as_target_is_said(capsys):
    answer(capsys, *inspect_arguments(dataset="cora", target="35"))
    assert run(inspect_arguments(dataset="cora", target="3")) == 0
    assert "read as row 3" in capsys.readouterr().err
