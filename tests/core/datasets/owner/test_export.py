import csv
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import Dataset, export_folder, load
from tests.core.datasets.messy import CASES, run
from tests.core.datasets.refusal import refusal

signs = st.characters(exclude_categories=["Cc", "Cs"])
texts = st.one_of(st.text(signs, max_size=6), st.sampled_from(["#a", "%b", 'say "x"', "a,b", "a;b", "a|b", "[1]"]))
names = texts.filter(lambda text: text.strip())
numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))
cells = {
    "numbers": st.one_of(st.just(""), numbers.map(repr)),
    "texts": st.one_of(st.just("NA"), st.sampled_from(["a", "b", "Ab"]), names),
    "truth": st.sampled_from(["true", "False", ""]),
    "lists": st.sampled_from(["a|b", "1|3", "b", ""]),
    "JSON": st.sampled_from(['["a", "b"]', "[]", '["b", 3]', ""]),
}


def parts(dataset: Dataset) -> dict[str, object]:
    """All that an export must keep, as plain values."""
    nodes, split = dataset.nodes, dataset.split
    return {
        "ids": nodes.ids,
        "features": nodes.feature_names,
        "x": nodes.x.toarray().tolist(),
        "classes": nodes.classes,
        "labels": dataset.labels.tolist(),
        "split": [part.tolist() for part in (split.train, split.validation, split.test)],
        "edges": dataset.graph.edges.tolist(),
        "snapshot": None if dataset.snapshot is None else dataset.snapshot.pairs.tolist(),
        "targets": None if dataset.targets is None else dataset.targets.tolist(),
    }


@st.composite
def messy_folders(draw) -> dict[str, list[list[str]]]:
    """Rows of an owner's files: any ids, repeats, both directions, self-loops, columns of every kind."""
    ids = draw(st.lists(names, min_size=2, max_size=7, unique_by=str.strip))
    if draw(st.booleans()):
        ids = [f"{number}.0" for number in range(len(ids))]
    kinds = draw(st.lists(st.sampled_from(list(cells)), max_size=3))
    labels = st.one_of(st.just(""), st.sampled_from(["x", "Y y", "10", "9"]), names)
    nodes = [["id", "label", *(f"c{place}" for place in range(len(kinds)))]]
    nodes += [[name, draw(labels), *(draw(cells[kind]) for kind in kinds)] for name in ids]
    pair = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).map(list)
    files = {"nodes": nodes, "edges": [["source", "target"], *draw(st.lists(pair, min_size=1, max_size=12))]}
    if draw(st.booleans()):
        dated = st.tuples(st.sampled_from(ids), st.sampled_from(ids), numbers.map(repr)).map(list)
        files["snapshot"] = [["source", "target", "order"], *draw(st.lists(dated, max_size=8))]
    if draw(st.booleans()):
        files["targets"] = [["id"], *([name] for name in draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4)))]
    return files


def loaded(files: dict[str, list[list[str]]], folder: Path) -> Dataset | None:
    """The data set of these rows, or None when they are refused."""
    for name, rows in files.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    try:
        return load(str(folder))
    except Exception as error:
        assert "expected" in str(error)
        return None


@given(messy_folders())
def test_load_export_load_is_the_identity_on_the_normalised_graph(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("owner")
    first = loaded(files, folder)
    if first is None:
        return
    export_folder(first, folder / "again")
    second = load(str(folder / "again"))
    assert parts(second) == parts(first)
    assert second.graph.digest == first.graph.digest
    changes = {name: count for name, count in second.report.counts.items() if count}
    assert set(changes) <= {"isolated", "unlabelled", "snapshot_absent"}


@pytest.mark.parametrize("case", [case for case in CASES if case.ties is not None], ids=lambda case: case.name)
def test_every_format_survives_an_export(case, tmp_path):
    (tmp_path / "owner").mkdir()
    first = run(case, tmp_path / "owner")
    export_folder(first, tmp_path / "again")
    assert parts(load(str(tmp_path / "again"))) == parts(first)


@pytest.mark.parametrize("name", ["karate", "lastfm", "synthetic:nodes=300,features=40"])
def test_published_data_survive_an_export(name, tmp_path):
    first = load(name)
    export_folder(first, tmp_path / "again")
    second = load(str(tmp_path / "again"))
    assert parts(second) == parts(first)
    assert second.graph.digest == first.graph.digest


def test_an_export_is_for_its_owner_only(tmp_path):
    old = os.umask(0)
    try:
        export_folder(load("karate"), tmp_path / "out")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {0o600}


def test_an_export_overwrites_nothing(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert "found something" in refusal(export_folder, load("karate"), tmp_path)
    assert "found something" in refusal(export_folder, load("karate"), tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.datasets.owner.export._write", full)
    assert "No space" in refusal(export_folder, load("karate"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert "can't be written" in refusal(export_folder, load("karate"), tmp_path / "no" / "such" / "folder")


def test_features_that_no_node_has_keep_their_place(tmp_path):
    case = next(case for case in CASES if case.name == "features one a line")
    (tmp_path / "owner").mkdir()
    rows = "id,feature,value\nAnn,zero,0\nAnn,one,1\nBob,none,0\n"
    dataset = run(type(case)(case.name, {**case.files, "features.csv": rows}), tmp_path / "owner")
    assert dataset.nodes.feature_names == ("zero", "one", "none")
    export_folder(dataset, tmp_path / "again")
    again = load(str(tmp_path / "again"))
    assert again.nodes.feature_names == ("zero", "one", "none")
    assert np.array_equal(again.nodes.x.toarray(), dataset.nodes.x.toarray())
