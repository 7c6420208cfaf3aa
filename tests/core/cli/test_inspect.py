"""`privcfs inspect`: an outside program recomputes every figure from the dump."""

from __future__ import annotations

import numpy as np
import pytest

from core.backbone.gcn import GCNWeights
from core.cli import run
from core.cli.inspect import LEVELS
from core.wording import edges_add, odds
from tests.core.cli.commands import answer, refusal
from tests.core.smallgraphs import dense_logits

KEYS = {
    "epsilon", "rho", "prior", "sensitivity", "target", "degree", "prediction", "runner_up", "margin", "candidates",
    "edge_candidates", "feature_candidates", "ceiling", "valid", "targeted", "empty", "valid_given_nonempty", "size",
    "regret", "collision", "retention", "public_only_valid", "prior_alone_valid", "size_penalty", "levels",
}  # fmt: skip
CONTRACT = {
    "edges", "x", "W1", "b1", "W2", "b2", "target", "edge_pairs", "feature_dims", "edge_subsets", "feature_subsets",
    "predicted", "utility", "base_measure", "public_only", "probability",
}  # fmt: skip


def inspect_arguments(**changes: str) -> list[str]:
    values = {"dataset": "karate", "target": "9", "rho": "0.6", "epsilon": "2"} | changes
    return ["inspect", *(part for key, value in values.items() for part in (f"--{key}", value))]


@pytest.mark.parametrize("prior", ["uniform", "guided"])
@pytest.mark.parametrize("arm", ["full", "edge-only", "feature-only", "inert-masks", "two-hop", "two-hop-inert-masks"])
@pytest.mark.parametrize(("sensitivity", "bound"), [("tight", None), ("paper", 1.0)])
def test_dump_and_json_are_recomputed_from_scratch(capsys, tmp_path, arm, sensitivity, bound, prior):
    path = tmp_path / "dump.npz"
    said = answer(capsys, *inspect_arguments(arm=arm, sensitivity=sensitivity, prior=prior), "--dump", str(path))
    assert said.keys() >= KEYS
    assert (said["prior"], said["arm"], said["sensitivity"], said["size_penalty"]) == (prior, arm, sensitivity, 0.0)
    d = np.load(path)
    assert d.keys() >= CONTRACT
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
        if not arm.endswith("inert-masks"):
            x[target, dims] = 0.0
        predicted[i, j] = dense_logits(x, edges - set(chosen), weights)[target].argmax()
        size[i, j] = len(chosen) + len(dims)
        plausible = sum(pair in edges for pair in chosen) / len(chosen) if chosen else 0.0
        flips = predicted[i, j] != original
        utility[i, j] = 0.7 + 0.2 * (1 - size[i, j] / 5) + 0.1 * plausible if flips and size[i, j] else 0.0
    utility[0, 0] = 0.2
    assert (d["predicted"] == predicted).all()
    assert np.abs(d["utility"] - utility).max() < 1e-12
    for name in ("base_measure", "public_only"):
        assert d[name].shape == shape
        assert d[name].min() > 0
        assert d[name].sum() == pytest.approx(1.0, abs=1e-12)
    assert (prior == "uniform") == (np.ptp(d["base_measure"]) == 0)
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
        "public_only_valid": d["public_only"][flips].sum(),
        "prior_alone_valid": d["base_measure"][flips].sum(),
    }
    for key, value in expected.items():
        assert said[key] == pytest.approx(value, abs=1e-12), key
    assert sum(level["count"] for level in said["levels"]) == p.size
    assert sum(level["probability"] for level in said["levels"]) == pytest.approx(1.0)


def dumped(capsys, tmp_path, **changes: str):
    """What `inspect` says, of node 30 unless another is named, and its dump."""
    path = tmp_path / "dump.npz"
    said = answer(capsys, *inspect_arguments(**{"target": "30"} | changes), "--dump", str(path))
    return said, dict(np.load(path))


@pytest.mark.parametrize("penalty", ["0", "1.5"])
@pytest.mark.parametrize("flags", [(), ("--soft",)], ids=["hard", "soft"])
@pytest.mark.parametrize("mechanism", ["em", "pf"])
def test_a_guided_release_is_recomputed_from_its_own_base_measure(capsys, tmp_path, mechanism, flags, penalty):
    path = tmp_path / "dump.npz"
    options = inspect_arguments(target="30", prior="guided", mechanism=mechanism, **{"size-penalty": penalty})
    said = answer(capsys, *options, *flags, "--dump", str(path))
    assert (said["mechanism"], said["size_penalty"]) == (mechanism, float(penalty))
    d = np.load(path)
    weight = (d["base_measure"] * np.exp(2.0 * d["utility"] / (2 * 0.96))).ravel()
    p = weight / weight.sum()
    if mechanism == "pf":  # the first candidate in random order that survives P = weight / largest weight
        q = weight / weight.max()
        p = np.array([_survives_first(q, i) for i in range(len(q))])
        p /= p.sum()
    assert np.abs(d["probability"].ravel() - p).max() < 1e-9
    assert np.ptp(d["base_measure"]) > 0


def _survives_first(q: np.ndarray, i: int) -> float:
    """`q_i ∫ Π_{j≠i} (1 - t q_j) dt` over [0, 1] by Gauss-Legendre, exact for so few factors."""
    nodes, weights = np.polynomial.legendre.leggauss(len(q))
    t = (nodes + 1) / 2
    others = np.delete(q, i)
    return float(q[i] * (weights / 2 * np.prod(1 - t[:, None] * others, axis=1)).sum())


@pytest.mark.parametrize(("arm", "target"), [("full", "30"), ("edge-only", "9")])
def test_what_the_public_could_do_alone_is_the_same_beside_every_release(capsys, tmp_path, arm, target):
    seen = [
        dumped(capsys, tmp_path, arm=arm, target=target, prior=prior, epsilon=epsilon, **more)
        for prior in ("uniform", "guided")
        for epsilon in ("0.1", "1", "8")
        for more in ({}, {"size-penalty": "2"}, {"mechanism": "pf"}, {"sensitivity": "paper"})
    ]
    first, array = seen[0][0]["public_only_valid"], seen[0][1]["public_only"]
    assert 0 < first < 1
    for said, d in seen:
        assert said["public_only_valid"] == first
        assert (d["public_only"] == array).all()
    assert len({said["valid"] for said, _ in seen}) > 12
    assert len({said["prior_alone_valid"] for said, _ in seen}) > 6


def test_a_size_penalty_shifts_the_base_measure_by_its_factor(capsys, tmp_path):
    _, d = dumped(capsys, tmp_path, **{"size-penalty": "0.7"})
    size = (d["edge_subsets"] >= 0).sum(axis=1)[:, None] + (d["feature_subsets"] >= 0).sum(axis=1)
    size[0, 0] = 5
    weight = np.exp(-0.7 * size)
    assert np.abs(d["base_measure"] - weight / weight.sum()).max() < 1e-12


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
        ({"size-penalty": "-1"}, "-1.0"),
        ({"size-penalty": "20.5"}, "20.5"),
        ({"size-penalty": "nan"}, "nan"),
        ({"size-penalty": "inf"}, "inf"),
        ({"size-penalty": "some"}, "'some'"),
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


@pytest.mark.parametrize("prior", ["uniform", "guided"])
def test_text_puts_public_prior_and_release_side_by_side(capsys, tmp_path, prior):
    said, d = dumped(capsys, tmp_path, prior=prior)
    assert run(inspect_arguments(target="30", prior=prior)) == 0
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line.startswith("  ")}
    assert lines["public"] == ["only", "prior", "alone", "release"]
    assert lines["epsilon"] == ["0", prior, "epsilon", "2"]
    size = (d["edge_subsets"] >= 0).sum(axis=1)[:, None] + (d["feature_subsets"] >= 0).sum(axis=1)
    flips = d["predicted"] != said["prediction"]
    figures = {
        "valid": flips,
        "targeted": d["predicted"] == said["runner_up"],
        "size": size,
        "empty": size == 0,
    }
    measures = [d[name] for name in ("public_only", "base_measure", "probability")]
    for key, value in figures.items():
        assert [float(x) for x in lines[key]] == pytest.approx([(p * value).sum() for p in measures], rel=1e-3), key
    assert [float(x) for x in lines["collision"]] == pytest.approx([(p * p).sum() for p in measures], rel=1e-3)
    assert [float(x) for x in lines["ceiling"]] == [1.0]
    assert edges_add(said["valid"], said["public_only_valid"], 2.0) in printed.splitlines()[:4]
    assert f"flipped by {odds(said['valid'], 'release')}," in printed
    assert f"alone by {odds(said['public_only_valid'])}." in printed
    assert f"{prior} prior" in printed
    assert "Owner-only" in printed


def test_text_keeps_a_long_list_of_levels_short(capsys):
    options = inspect_arguments(target="32", rho="1")
    levels = answer(capsys, *options, "--soft")["levels"]
    assert len(levels) > LEVELS
    assert run([*options, "--soft"]) == 0
    printed = capsys.readouterr().out.split("probability\n")[1].split("\n\n")[0].splitlines()
    assert len(printed) == LEVELS + 1
    assert sum(int(line.split()[1].replace(",", "")) for line in printed) == sum(level["count"] for level in levels)
    assert sum(float(line.split()[2]) for line in printed) == pytest.approx(1, abs=1e-3)


def test_a_row_number_read_as_target_is_said(capsys):
    answer(capsys, *inspect_arguments(dataset="cora", target="35"))
    assert run(inspect_arguments(dataset="cora", target="3")) == 0
    assert "read as row 3" in capsys.readouterr().err


def test_limits_and_weights_are_taken_as_given(capsys):
    said = answer(capsys, *inspect_arguments(target="#33", limits="5,0,2,1"))
    assert (said["edge_candidates"], said["feature_candidates"], said["candidates"]) == (5, 0, 16)
    said = answer(capsys, *inspect_arguments(target="#33", limits="3,2,1,2", weights="2/3, 1/6, 1/6"))
    assert (said["edge_candidates"], said["feature_candidates"], said["candidates"]) == (3, 1, 4 * 2)
    assert (said["limits"], said["utility_weights"]) == ([3, 2, 1, 2], ["2/3", "1/6", "1/6"])
    utilities = {level["utility"] for level in said["levels"]}
    possible = {0.0, 1 / 6} | {2 / 3 + (1 - size / 3) / 6 + plausible / 6 for size in (1, 2, 3) for plausible in (0, 1)}
    assert all(min(abs(found - one) for one in possible) < 1e-12 for found in utilities)
    assert said["sensitivity_value"] == pytest.approx(2 / 3 + 2 / 18 + 1 / 6)


@pytest.mark.parametrize("change", [{"limits": "3,2,1"}, {"limits": "-3,2,1,1"}, {"weights": "0.7,,0.3"}])
def test_bad_ablations_are_refused_in_one_line(capsys, change):
    assert f"{next(iter(change))}: found" in refusal(capsys, *inspect_arguments(**change))
