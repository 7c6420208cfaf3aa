import json

import pytest

from core.datasets import Dataset, describe, described, load
from tests.core.datasets.messy import Case, folder, run

SNAPSHOT = "source,target\nAnn,Dan\nBob,Ann\nAnn,Bob\n"


@pytest.fixture
def owners(tmp_path) -> Dataset:
    edges = "source,target\nAnn,Bob\nBob,Ann\nAnn,Bob\nBob,Cyd\nCyd,Cyd\n"
    return run(Case("", folder(edges=edges, snapshot=SNAPSHOT, targets="id\nAnn\n")), tmp_path)


def test_figures_have_the_agreed_keys_and_are_counts(owners):
    figures = json.loads(json.dumps(describe(owners)))
    agreed = ("nodes", "edges", "features", "classes", "snapshot_pairs")
    assert [figures[key] for key in agreed] == [4, 2, 1, 2, 2]
    assert (figures["labelled"], figures["targets"], figures["structural"]) == (4, 1, False)
    report = figures["report"]
    assert (report["duplicates"], report["reversed"], report["self_loops"], report["isolated"]) == (1, 1, 1, 1)
    assert (report["snapshot_absent"], report["snapshot_repeats"]) == (1, 1)
    assert {"file": "nodes.csv", "part": "label", "column": "label", "guessed": True} in report["roles"]
    assert figures["trainable"]
    assert figures["not_trainable"] is None


def test_lines_for_people_say_the_same(owners):
    lines = described(owners)
    assert lines[0].endswith("4 nodes, 2 edges, 1 features, 2 classes, 4 nodes labelled")
    assert "snapshot: 2 pairs" in lines
    assert "nodes.csv: label = column 'label' (guessed)" in lines
    assert "1 edges from a node to itself: dropped" in lines
    assert all(len(line.splitlines()) == 1 for line in lines)


def test_what_cannot_be_trained_on_is_said(tmp_path):
    (tmp_path / "g.csv").write_text("a,b\n")
    dataset = load(str(tmp_path / "g.csv"))
    figures = describe(dataset)
    assert not figures["trainable"]
    assert "no feature" in str(figures["not_trainable"])
    assert described(dataset)[-1] == figures["not_trainable"]


def test_published_data_have_figures_too():
    figures = describe(load("lastfm"))
    assert figures["report"]["unlabelled"] == 6
    assert figures["snapshot_pairs"] == 0
    assert any("void" in line or "no privacy guarantee" in line for line in described(load("karate", structural=True)))
