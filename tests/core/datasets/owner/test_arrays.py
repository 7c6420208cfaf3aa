"""Graphs that come as arrays: .npz, .pt and .mat."""

import io
import pickle

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from core.datasets import Roles, load
from core.datasets.owner import limits, mat, matlab
from tests.core.datasets.messy import benchmark, packed, pyg, torch_bytes
from tests.core.datasets.messy import matlab as matlab_file
from tests.core.datasets.refusal import refusal

ENDS = torch.tensor([[0, 1, 2], [1, 2, 3]])
A = sparse.csc_array(np.diag([1.0, 1, 1], 1) + np.diag([1.0, 1, 1], -1))
INFO = np.array(
    [[1, 1, 5, 0, 9, 2004, 7], [1, 2, 5, 0, 9, 2005, 7], [1, 1, 6, 0, 0, 2004, 8], [2, 0, 5, 1, 9, 2004, 8]]
)


WIDE = {f"attr_{part}": array for part, array in (("data", np.ones(1)), ("indices", np.array([0])))}
WIDE["attr_indptr"] = np.array([0, 1, 1, 1, 1])


def loaded(tmp_path, name, content, roles=None):
    (tmp_path / name).write_bytes(content)
    return load(str(tmp_path / name), roles=roles)


def npz(tmp_path, **changes):
    return loaded(tmp_path, "g.npz", packed(benchmark(**changes)))


def pt(tmp_path, value):
    return loaded(tmp_path, "g.pt", torch_bytes(value))


def test_npz_keeps_names_features_and_class_order(tmp_path):
    x = sparse.random_array((4, 3), density=0.6, rng=np.random.default_rng(0), format="csr")
    dataset = npz(
        tmp_path,
        attr_data=x.data,
        attr_indices=x.indices,
        attr_indptr=x.indptr,
        attr_shape=np.array(x.shape),
        attr_names=np.array(["red", "green", "blue"]),
        class_names=np.array(["south", "north", "west"]),
    )
    assert dataset.nodes.ids == ("Ann", "Bob", "Cyd", "Dan")
    assert dataset.nodes.x.toarray().tolist() == x.toarray().tolist()
    assert dataset.nodes.feature_names == ("red", "green", "blue")
    assert dataset.nodes.classes == ("south", "north", "west")
    assert dataset.labels.tolist() == [0, 0, 1, 1]
    assert dataset.graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_npz_without_names_counts_rows_and_classes(tmp_path):
    dataset = npz(tmp_path, node_names=None, attr_matrix=np.eye(4)[:, :2], labels=np.array([2.0, np.nan, -1.0, 0.0]))
    assert dataset.nodes.ids == ("0", "1", "2", "3")
    assert dataset.nodes.feature_names == ("feature 0", "feature 1")
    assert dataset.nodes.classes == ("0", "1", "2")
    assert dataset.labels.tolist() == [2, -1, -1, 0]


def test_npz_labels_may_be_texts(tmp_path):
    dataset = npz(tmp_path, labels=np.array(["b", "a", "", "b"]))
    assert dataset.nodes.classes == ("a", "b")
    assert dataset.labels.tolist() == [1, 0, -1, 1]


def test_explicit_zeros_are_no_edges(tmp_path):
    assert npz(tmp_path, adj_data=np.array([1.0, 0.0, 1.0])).graph.edges.tolist() == [[0, 1], [2, 3]]


def test_missing_features_count_as_zero(tmp_path):
    dataset = npz(tmp_path, attr_matrix=np.array([[1.0], [np.nan], [2.0], [np.nan]]))
    assert dataset.nodes.x.toarray().tolist() == [[1], [0], [2], [0]]
    assert dataset.report.missing_features == 2


def test_other_arrays_stay_unread_even_if_they_are_pickled(tmp_path):
    dataset = npz(tmp_path, metadata=np.array([{"a": 1}], dtype=object))
    assert any("left unread 'metadata'" in note for note in dataset.report.notes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"adj_indices": np.array([1, 2, 9])}, "sparse matrix adj"),
        ({"adj_indptr": np.array([0, 1])}, "sparse matrix adj"),
        ({"adj_indices": None}, "sparse matrix adj"),
        ({"adj_shape": np.array([4, 5])}, "4 x 5"),
        ({"attr_matrix": np.eye(3)}, "found 3 feature rows, expected 4"),
        ({"attr_matrix": np.full((4, 1), np.inf)}, "infinite"),
        ({**WIDE, "attr_shape": np.array([4, 10**12])}, "more than 1,000,000 features"),
        ({"adj_shape": np.array([4, 10**12])}, "4 x 1000000000000"),
        ({"attr_matrix": np.eye(4), "attr_names": np.array(["a"])}, "found 1 feature names, expected 4"),
        ({"node_names": np.array(["a", "b"])}, "found 2 node names, expected 4"),
        ({"node_names": np.array(["a", "b", "a", "c"])}, "'a' again"),
        ({"labels": np.eye(4)}, "(4, 4)"),
        ({"labels": np.array([0.5, 1, 0, 0])}, "not whole"),
        ({"labels": np.array([9, 1, 0, 0])}, "found label 9"),
        ({"labels": np.array([np.inf, 1, 0, 0])}, "not whole"),
        ({"class_names": np.array(["a"])}, "found label 1"),
        ({"labels": np.array([1, "a", 0, 0], dtype=object)}, "pickled"),
    ],
)
def test_npz_arrays_that_do_not_fit_are_refused(tmp_path, changes, said):
    message = refusal(npz, tmp_path, **changes)
    assert message.startswith("g.npz: found")
    assert said in message


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    content = packed(benchmark())
    (tmp_path / "small.npz").write_bytes(content)
    monkeypatch.setattr(limits, "MOST_BYTES", len(content))
    assert load(str(tmp_path / "small.npz")).nodes.n == 4
    stream = io.BytesIO()
    np.savez_compressed(stream, **benchmark(), extra=np.zeros(10**5))
    assert "unpacked" in refusal(loaded, tmp_path, "g.npz", stream.getvalue())


def test_pt_keeps_names_masks_and_class_order(tmp_path):
    masks = {
        "train_mask": torch.tensor([True, False, False, False]),
        "val_mask": torch.tensor([False, True, False, False]),
        "test_mask": torch.tensor([[False, True], [False, False], [True, True], [False, False]]),
    }
    content = pyg(node_names=["a", "b", "c", "d"], class_names=["z", "y"], feature_names=list("pqrs"), **masks)
    dataset = loaded(tmp_path, "g.pt", content)
    assert dataset.nodes.ids == ("a", "b", "c", "d")
    assert dataset.nodes.classes == ("z", "y")
    assert dataset.nodes.feature_names == ("p", "q", "r", "s")
    split = dataset.split
    assert [part.tolist() for part in (split.train, split.validation, split.test)] == [[0], [1], [2]]
    assert dataset.report.reversed == 3


@pytest.mark.parametrize(
    "value",
    [
        {"edge_index": ENDS, "y": torch.tensor([0, 0, 1, 1])},
        {"edge_index": ENDS, "y": torch.tensor([[0], [0], [1], [1]]), "x": torch.eye(4).to_sparse()},
        (Data(edge_index=ENDS, y=torch.tensor([0, 0, 1, 1])), None),
        (Data(edge_index=ENDS, y=torch.tensor([0, 0, 1, 1])).to_dict(), {"y": torch.tensor([0, 4])}, Data),
        {"edge_index": ENDS.tolist(), "y": [0, 0, 1, 1]},
        {"edge_index": ENDS, "num_nodes": 4},
    ],
    ids=["dict", "column", "pair", "saved data set", "lists", "count"],
)
def test_pt_layouts(tmp_path, value):
    dataset = pt(tmp_path, value)
    assert dataset.nodes.ids == ("0", "1", "2", "3")
    assert dataset.graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    if dataset.nodes.classes:
        assert dataset.labels.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, 2], "found an object of type int"),
        (torch.eye(3), "found an object of type Tensor"),
        ({"x": torch.eye(3)}, "edge_index"),
        ({"edge_index": ENDS.T}, "2 x E"),
        ({"edge_index": ENDS.float()}, "2 x E"),
        ({"edge_index": ENDS, "x": torch.ones(4)}, "N x F"),
        ({"edge_index": ENDS, "x": torch.eye(3)}, "found an edge of node 3"),
        ({"edge_index": ENDS - 1}, "found an edge of node -1"),
        ({"edge_index": ENDS, "y": torch.eye(4)}, "(4, 4)"),
        ({"edge_index": ENDS.numpy()}, "numpy"),
        ({"edge_index": ENDS, "x": torch.full((4, 1), torch.inf)}, "infinite"),
        ({"edge_index": ENDS, "x": torch.eye(4), "train_mask": torch.ones(4)}, "a mask"),
        ({"edge_index": ENDS, "x": torch.eye(4), "train_mask": torch.ones(3) > 0}, "a mask"),
        ({"edge_index": ENDS, "x": torch.eye(4), "names": ["a"]}, "found 1 node names"),
        ((Data(edge_index=ENDS), {"edge_index": torch.tensor([0, 2, 3])}), "several graphs"),
    ],
)
def test_pt_parts_that_do_not_fit_are_refused(tmp_path, value, said):
    message = refusal(pt, tmp_path, value)
    assert message.startswith("g.pt: found")
    assert said in message


def test_overlapping_masks_are_refused(tmp_path):
    mask = torch.tensor([True, False, False, False])
    assert "overlap" in refusal(loaded, tmp_path, "g.pt", pyg(train_mask=mask, test_mask=mask))


def test_nothing_in_a_pt_file_runs(tmp_path, capsys):
    class Shout:
        def __reduce__(self):
            return print, ("ran",)

    for content in (torch_bytes({"x": Shout()}), pickle.dumps(Shout()), torch_bytes([Shout()])):
        refusal(loaded, tmp_path, "g.pt", content)
    assert "ran" not in capsys.readouterr().out


def test_facebook100_columns_become_label_and_categories(tmp_path):
    dataset = loaded(tmp_path, "g.mat", matlab_file(A=A, local_info=INFO))
    assert dataset.nodes.classes == ("1", "2")
    assert dataset.labels.tolist() == [0, 1, 0, -1]
    features = dict(zip(dataset.nodes.feature_names, dataset.nodes.x.toarray().T.tolist(), strict=True))
    assert features["major=5"] == [1, 1, 0, 1]
    assert features["dorm=9"] == [1, 1, 0, 1]
    assert not any(name.startswith("gender") for name in features)
    assert not any(name.endswith("=0") for name in features)


def test_facebook100_label_may_be_another_column(tmp_path):
    dataset = loaded(tmp_path, "g.mat", matlab_file(A=A, local_info=INFO), Roles(label="year", ignore=("high school",)))
    assert dataset.nodes.classes == ("2004", "2005")
    assert {name.split("=")[0] for name in dataset.nodes.feature_names} == {
        "status",
        "gender",
        "major",
        "second major",
        "dorm",
    }
    assert "'club'" in refusal(loaded, tmp_path, "g.mat", matlab_file(A=A, local_info=INFO), Roles(label="club"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no MATLAB header"),
        (b"MATLAB 7.3 MAT-file" + b" " * 200, "HDF5"),
        (matlab_file(A=A, local_info=INFO)[:300], "can't be read as Facebook100"),
        (matlab_file(A=A, local_info=INFO[:2]), "not N x N"),
        (matlab_file(A=A, local_info=INFO + 0.5), "not whole"),
        (matlab_file(A=np.ones((2, 3))), "not N x N"),
        (matlab_file(A="text"), "can't be read as Facebook100"),
    ],
)
def test_mat_files_that_do_not_fit_are_refused(tmp_path, content, said):
    message = refusal(loaded, tmp_path, "g.mat", content)
    assert message.startswith("g.mat: found")
    assert said in message


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import os\nos.kill(os.getpid(), 11)", "the reader crashed on it"),
        ("import time\ntime.sleep(60)", "timed out"),
        ("import sys\nsys.exit('odd\\nfile')", "(file)"),
    ],
)
def test_a_reader_that_crashes_or_hangs_is_a_refusal(tmp_path, monkeypatch, script, said):
    """SciPy's reader of .mat files ends the process on some damaged ones, so it has one of its own."""
    (tmp_path / "reader.py").write_text(script)
    monkeypatch.setattr(matlab, "__file__", str(tmp_path / "reader.py"))
    monkeypatch.setattr(mat, "PATIENCE", 2)
    assert said in refusal(loaded, tmp_path, "g.mat", matlab_file(A=A, local_info=INFO))
