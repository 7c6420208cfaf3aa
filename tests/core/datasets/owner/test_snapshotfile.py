"""A snapshot in a file of its own, and what an analyst has of an owner's folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from core.datasets import load
from core.datasets.owner.folder import load_folder
from core.datasets.owner.snapshotfile import read_snapshot
from core.errors import BadInput

EXAMPLE = "data/example"


def written(tmp_path, text):
    path = tmp_path / "public pairs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def named(snapshot, nodes):
    return [tuple(nodes.ids[row] for row in pair) for pair in snapshot.pairs]


def test_it_reads_what_a_folder_reads():
    dataset = load(EXAMPLE)
    snapshot = read_snapshot(Path(EXAMPLE) / "snapshot.csv", dataset.nodes)
    assert snapshot.digest == dataset.snapshot.digest and not snapshot.simulated


def test_pairs_are_told_by_id_in_file_order_without_loops_and_repeats(tmp_path):
    nodes = load("karate").nodes
    a, b, c = nodes.ids[:3]
    path = written(tmp_path, f"{c} {a}\n{a} {b}\n{b} {a}\n{b} {b}\n{b} {c}\n")
    assert named(read_snapshot(path, nodes), nodes) == [(a, c), (a, b), (b, c)]


def test_an_order_column_decides(tmp_path):
    nodes = load("karate").nodes
    a, b, c = nodes.ids[:3]
    path = written(tmp_path, f"source,target,order\n{a},{b},2024-05-01\n{b},{c},2023-01-01\n{a},{c},2023-06-01\n")
    assert named(read_snapshot(path, nodes), nodes) == [(b, c), (a, c), (a, b)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target\n0,nobody\n", "line 2: found node 'nobody'"),
        ("source,target\n", "found no pair"),
        ("source,target\n0,0\n", "found no pair"),
        ("source\n0\n", "expected"),
        ("", "found"),
    ],
)
def test_anything_else_is_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(BadInput, match=message) as caught:
        read_snapshot(written(tmp_path, text), load("karate").nodes)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="found no such file"):
        read_snapshot(tmp_path / "nowhere.csv", load("karate").nodes)


def test_an_analyst_reads_nodes_and_snapshot_without_the_ties(tmp_path):
    whole = load(EXAMPLE)
    for name in ("nodes.csv", "snapshot.csv"):
        shutil.copy(Path(EXAMPLE) / name, tmp_path)
    public = load_folder(tmp_path, "public", public=True)
    assert public.nodes.digest == whole.nodes.digest and public.snapshot.digest == whole.snapshot.digest
    np.testing.assert_array_equal(np.unique(public.graph.edges, axis=0), np.unique(whole.snapshot.pairs, axis=0))
    with pytest.raises(BadInput, match=r"edges\.csv: found no such file"):
        load_folder(tmp_path, "public")
    (tmp_path / "edges.csv").write_text("nonsense\n", encoding="utf-8")
    assert load_folder(tmp_path, "public", public=True).nodes.digest == whole.nodes.digest
    (tmp_path / "snapshot.csv").unlink()
    with pytest.raises(BadInput, match=r"snapshot\.csv: found no such file"):
        load_folder(tmp_path, "public", public=True)
