import numpy as np
import pytest
from scipy import sparse

from core.datasets import Dataset, Roles, Split, load, names
from core.graph import Nodes, PrivateGraph
from core.snapshot import Snapshot
from tests.core.datasets.refusal import refusal


def make(ids=("a", "7", "c", "#1"), **changes) -> Dataset:
    nodes = Nodes(
        tuple(ids), sparse.eye_array(len(ids), format="csr"), tuple(f"f{i}" for i in range(len(ids))), ("x", "y")
    )
    parts = {
        "name": "tiny",
        "title": "Tiny",
        "graph": PrivateGraph(nodes, np.array([[0, 1], [1, 2]])),
        "labels": np.array([0, 1, 0, -1]),
        "split": Split(np.array([0]), np.array([1]), np.array([2])),
        "source": "made here",
    }
    return Dataset(**(parts | changes))


def test_split_is_sorted_and_frozen():
    split = Split(np.array([3, 1]), np.array([], dtype=int), np.array([2]))
    assert split.train.tolist() == [1, 3]
    assert split.train.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 9


def test_split_does_not_freeze_the_callers_array():
    rows = np.array([1, 3])
    Split(rows, np.array([], dtype=int), np.array([2]))
    rows[0] = 0


@pytest.mark.parametrize("parts", [([1, 1], [], []), ([1], [1], []), ([1], [2], [1]), ([-1], [], [])])
def test_split_refuses_shared_and_negative_rows(parts):
    assert "split" in refusal(Split, *(np.array(part, dtype=int) for part in parts))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": np.array([0, 1, 0])}, "labels"),
        ({"labels": np.array([0.0, 1.0, 0.0, 0.0])}, "whole numbers"),
        ({"labels": np.array([0, 2, 0, -1])}, "-1..2"),
        ({"labels": np.array([0, 1, 0, -2])}, "-2..1"),
        ({"split": Split(np.array([0]), np.array([1]), np.array([4]))}, "row 4"),
        ({"split": Split(np.array([0]), np.array([1]), np.array([3]))}, "unlabelled"),
        ({"snapshot": Snapshot(np.array([[0, 1]]), 5, simulated=False)}, "5 nodes"),
        ({"positions": np.zeros((3, 2))}, "(4, 2)"),
        ({"positions": np.full((4, 2), 1.5)}, "unit square"),
        ({"positions": np.full((4, 2), np.nan)}, "unit square"),
        ({"targets": np.array([4])}, "targets"),
    ],
)
def test_dataset_refuses_parts_that_do_not_fit(changes, said):
    assert said in refusal(make, **changes)


def test_resolve_prefers_the_exact_id():
    dataset = make()
    assert dataset.resolve("a") == (0, None)
    assert dataset.resolve("7") == (1, None)
    assert dataset.resolve("#1") == (3, None)


def test_resolve_reads_a_hash_as_a_row():
    assert make().resolve("#2") == (2, None)


def test_resolve_reads_a_free_number_as_a_row_and_says_so():
    row, note = make().resolve("2")
    assert row == 2
    assert "'2'" in note
    assert "'c'" in note


@pytest.mark.parametrize(
    "text", ["", "b", "4", "#4", "#-1", "-1", "1.0", "1e0", "##2", " a", "٢", "²", "9" * 5000, "x\ny"]
)
def test_resolve_refuses_what_names_no_node(text):
    message = refusal(make().resolve, text)
    assert "4 node ids" in message
    assert "'a'" in message
    assert "#0" in message
    assert "#3" in message


def test_load_refuses_an_unknown_name_and_lists_the_known():
    message = refusal(load, "coral")
    assert "'coral'" in message
    for name in [*names(), "synthetic:", "folder"]:
        assert name in message


@pytest.mark.parametrize(
    "name", ["", "Cora", "no/such/folder", "a\0b", "a" * 5000, "a\nb", "planetoid", "planetoid:", "planetoid:cora"]
)
def test_load_refuses_other_names(name):
    refusal(load, name)


def test_load_takes_one_file_for_the_whole_graph(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\nAnn\nBob\nCyd\n")
    (tmp_path / "edges.csv").write_text("source,target\nAnn,Bob\n")
    dataset = load(str(tmp_path / "edges.csv"))
    assert dataset.nodes.ids == ("Ann", "Bob")
    assert any("nodes.csv beside it left unread" in note for note in dataset.report.notes)


def test_roles_are_for_owners_files():
    assert "roles" in refusal(load, "karate", roles=Roles(label="club"))
    assert load("karate", roles=Roles()).nodes.n == 34


def bare(n_features=1, classes=("x", "y"), train=(0,)) -> Dataset:
    nodes = Nodes(("a", "b"), sparse.csr_array((2, n_features)), tuple(map(str, range(n_features))), classes)
    rest = np.array([], dtype=int)
    labels = np.array([0, 0]) if classes else np.array([-1, -1])
    return make(
        graph=PrivateGraph(nodes, np.array([[0, 1]])),
        labels=labels,
        split=Split(np.array(train, dtype=int), rest, rest),
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_features": 0}, "no feature"),
        ({"classes": (), "train": ()}, "0 classes"),
        ({"classes": ("x",)}, "1 classes"),
        ({"train": ()}, "no labelled training node"),
    ],
)
def test_what_cannot_be_trained_on_loads_and_says_why(changes, said):
    assert said in refusal(bare(**changes).check_trainable)


def test_what_can_be_trained_on_says_nothing():
    bare().check_trainable()
    load("karate").check_trainable()


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("planetoid")])
def test_every_listed_name_loads_and_is_told_apart(name):
    dataset = load(name)
    assert dataset.name.startswith(name)
    assert dataset.title
    assert len(dataset.source.splitlines()) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"graph": make().graph.toggled(0, 3)},
        {"labels": np.array([0, 1, 1, -1])},
        {"split": Split(np.array([1]), np.array([0]), np.array([2]))},
        {"split": Split(np.array([0]), np.array([1, 2]), np.array([], dtype=int))},
        {"snapshot": Snapshot(np.array([[0, 1]]), 4, simulated=False)},
        {"targets": np.array([1])},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_digest_depends_on_every_part(changes):
    assert make().digest == make().digest != make(**changes).digest


def test_printing_a_data_set_does_not_print_its_edges():
    assert repr(make()) == "Dataset('tiny', PrivateGraph(4 nodes, private edges))"
    assert repr(make()) == repr(make(graph=make().graph.toggled(0, 3)))
