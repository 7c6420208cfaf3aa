import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import load
from core.datasets.owner.features import is_missing
from tests.core.datasets.refusal import refusal

PLAIN = {
    "nodes.csv": "id,label,plays chess,age\n"
    "Ann,north,1,30\nBob,north,0,41.5\nCyd,south,1,0\n007,south,0,-2\nEve,,0,1\n",
    "edges.csv": "source,target\nAnn,Bob\nBob,Cyd\n007,Ann\n",
}


def write(folder: Path, **files: str | bytes | None) -> str:
    """Write the plain folder, with files replaced (`edges="..."`) or left out (`edges=None`)."""
    contents = PLAIN | {f"{name}.csv": content for name, content in files.items()}
    for name, content in contents.items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(folder)


def named_edges(dataset) -> set[frozenset[str]]:
    return {frozenset(dataset.nodes.ids[row] for row in edge) for edge in dataset.graph.edges}


def met(dataset) -> dict[str, int]:
    return {name: count for name, count in dataset.report.counts.items() if count}


def test_the_plain_folder_loads_as_written(tmp_path):
    dataset = load(write(tmp_path))
    assert dataset.nodes.ids == ("Ann", "Bob", "Cyd", "007", "Eve")
    assert dataset.nodes.feature_names == ("plays chess", "age")
    assert dataset.nodes.x.toarray().tolist() == [[1, 30], [0, 41.5], [1, 0], [0, -2], [0, 1]]
    assert dataset.nodes.classes == ("north", "south")
    assert dataset.labels.tolist() == [0, 0, 1, 1, -1]
    assert named_edges(dataset) == {frozenset(pair) for pair in (("Ann", "Bob"), ("Bob", "Cyd"), ("007", "Ann"))}
    assert dataset.snapshot is None
    assert dataset.targets is None
    assert dataset.positions is None
    assert met(dataset) == {"isolated": 1, "unlabelled": 1}


def test_bom_line_ends_blank_lines_blanks_case_and_quotes_are_fine(tmp_path):
    plain = load(write(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    write(
        other,
        nodes=b"\xef\xbb\xbf" + PLAIN["nodes.csv"].replace("\n", "\r\n").replace("id,label", "ID,Label").encode(),
        edges=' Source , Target \rAnn, Bob\r\r"Bob","Cyd"\r007,Ann',
    )
    assert load(str(other)).graph.digest == plain.graph.digest


def test_repeats_directions_and_loops_are_put_right_and_counted(tmp_path):
    plain = load(write(tmp_path))
    lines = "source,target\nAnn,Bob\nBob,Ann\nAnn,Bob\nBob,Ann\nBob,Cyd\nCyd,Cyd\nCyd,Cyd\n007,Ann\n007,Ann\n"
    dataset = load(write(tmp_path, edges=lines))
    assert dataset.graph.digest == plain.graph.digest
    assert met(dataset) == {"duplicates": 3, "reversed": 1, "self_loops": 2, "isolated": 1, "unlabelled": 1}


def test_other_columns_of_edges_are_left_out(tmp_path):
    plain = load(write(tmp_path))
    lines = "weight,target,source\n3,Bob,Ann\n1,Cyd,Bob\n2,Ann,007\n"
    assert load(write(tmp_path, edges=lines)).graph.digest == plain.graph.digest


def test_snapshot_keeps_file_order_and_pairs_that_are_no_edge(tmp_path):
    lines = "source,target\nCyd,Bob\nEve,Ann\nCyd,Cyd\nBob,Cyd\nAnn,Bob\n"
    dataset = load(write(tmp_path, snapshot=lines))
    assert dataset.snapshot.pairs.tolist() == [[1, 2], [0, 4], [0, 1]]
    assert not dataset.snapshot.simulated
    report = dataset.report
    assert (report.snapshot_repeats, report.snapshot_self_loops, report.snapshot_absent) == (1, 1, 1)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("order", ["10", "9.5", "9.5"]),
        ("Order", ["1e2", "-3", "-3"]),
        ("order", ["2024-03-01", "2023-12-31", "2023-12-31"]),
        ("date", ["2024-01-01T00:30:00+00:00", "2024-01-01T01:00:00+01:00", "2024-01-01"]),
    ],
)
def test_snapshot_is_disclosed_in_order(tmp_path, column, values):
    pairs = ["Ann,Bob", "Bob,Cyd", "Ann,Eve"]
    lines = [f"source,target,{column}", *(f"{pair},{value}" for pair, value in zip(pairs, values, strict=True))]
    dataset = load(write(tmp_path, snapshot="\n".join(lines)))
    assert dataset.snapshot.pairs.tolist() == [[1, 2], [0, 4], [0, 1]]


def test_a_repeated_snapshot_pair_counts_at_its_earliest(tmp_path):
    lines = "source,target,order\nAnn,Bob,3\nBob,Cyd,2\nBob,Ann,1\n"
    assert load(write(tmp_path, snapshot=lines)).snapshot.pairs.tolist() == [[0, 1], [1, 2]]


def test_an_empty_snapshot_discloses_nothing(tmp_path):
    assert len(load(write(tmp_path, snapshot="source,target\n")).snapshot) == 0


def test_targets_keep_their_order_once_each(tmp_path):
    assert load(write(tmp_path, targets="id\n007\nAnn\n007\n")).targets.tolist() == [3, 0]


def test_public_parts_do_not_depend_on_the_edges(tmp_path):
    one = load(write(tmp_path, snapshot="source,target\nAnn,Bob\n"))
    two = load(write(tmp_path, edges="source,target\nEve,Cyd\n"))
    assert one.nodes.digest == two.nodes.digest
    assert one.snapshot.digest == two.snapshot.digest
    assert one.split.rows.tolist() == two.split.rows.tolist()


HEAD = "id,label,f\n"
REFUSED = [
    # file, content, line, what the message must name
    ("nodes", None, None, ["no such file"]),
    ("edges", None, None, ["no such file"]),
    ("nodes", "", 1, ["empty file", "header"]),
    ("edges", "", 1, ["empty file", "header"]),
    ("edges", "\n\n", 1, ["empty file"]),
    ("edges", "source,target\n", 1, ["no edge"]),
    ("edges", "source,target\nAnn,Ann\n", 1, ["no edge"]),
    ("nodes", HEAD, 1, ["no node"]),
    ("nodes", "label,f\na,1\n", 1, ["'label', 'f'", "'id'"]),
    ("nodes", "id,label,f,f\nAnn,north,1,1\n", 1, ["'f'", "twice"]),
    ("edges", "source,target\nAnn,Bob\nAnn,Zed\n", 3, ["'Zed'", "5 node ids", "'Ann'"]),
    ("edges", "source,target\nAnn,Bob\n\n\nAnn,\n", 5, ["''"]),
    ("edges", "source,target\nAnn,Bob\nAnn\n", 3, ["1 cells", "2"]),
    ("edges", "source,target\nAnn,Bob,Cyd\n", 2, ["3 cells"]),
    ("edges", 'source,target\nAnn,"Bob\nBob,Cyd\n', 3, ["broken CSV"]),
    ("edges", 'source,target\n"A"nn,Bob\n', 2, ["broken CSV"]),
    ("edges", b"source,target\nAnn,Bob\nAnn,\xff\n", 3, ["UTF-8"]),
    ("nodes", HEAD + "Ann,north,1\nBob,south,x\n", 3, ["'x'", "'f'", "number"]),
    ("nodes", HEAD + "Ann,north,inf\n", 2, ["'inf'"]),
    ("nodes", HEAD + "Ann,north,1e999\n", 2, ["'1e999'"]),
    ("nodes", HEAD + "Ann,north,1\nAnn,south,0\n", 3, ["'Ann'", "line 2"]),
    ("nodes", HEAD + "Ann,north,1\n,south,0\n", 3, ["empty id"]),
    ("snapshot", "source\nAnn\n", 1, ["'target'"]),
    ("snapshot", "source,target\nAnn,Zed\n", 2, ["'Zed'"]),
    ("snapshot", "source,target,order\nAnn,Bob,1\nBob,Cyd,2024-01-01\n", 3, ["order '2024-01-01'", "number"]),
    ("snapshot", "source,target,order\nAnn,Bob,2024-01-01\nBob,Cyd,soon\n", 3, ["order 'soon'", "ISO date"]),
    ("snapshot", "source,target,date\nAnn,Bob,\n", 2, ["date ''"]),
    ("snapshot", "source,target,order\nAnn,Bob,1\nBob,Cyd,nan\n", 3, ["'nan'", "finite"]),
    ("targets", "id\n", 1, ["no target"]),
    ("targets", "id\nAnn\nZed\n", 3, ["'Zed'"]),
]


@pytest.mark.parametrize(("file", "content", "line", "named"), REFUSED)
def test_anything_else_is_refused_with_file_line_and_remedy(tmp_path, file, content, line, named):
    message = refusal(load, write(tmp_path, **{file: content}))
    assert message.startswith(f"{file}.csv" + (f" line {line}: " if line else ": "))
    assert "found" in message
    assert "expected" in message
    assert "; " in message
    for part in named:
        assert part in message


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    folder = write(tmp_path, edges=None)
    (tmp_path / "edges.csv").mkdir()
    assert refusal(load, folder).startswith("edges.csv: ")


def test_the_folder_of_a_known_name_is_reached_by_its_path(tmp_path, monkeypatch):
    (tmp_path / "karate").mkdir()
    write(tmp_path / "karate")
    monkeypatch.chdir(tmp_path)
    assert load("karate").nodes.n == 34
    assert load("./karate").nodes.n == 5


names = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=6).filter(lambda s: s == s.strip())
numbers = st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def graphs(draw):
    ids = draw(st.lists(names, min_size=4, max_size=9, unique=True))
    rows = range(len(ids))
    columns = draw(st.integers(1, 3))
    labels_of = names.filter(lambda name: not is_missing(name))
    classes = sorted(draw(st.lists(labels_of, min_size=2, max_size=2, unique=True)))
    labels = [0, 0, 1, 1, *draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=len(ids) - 4, max_size=len(ids) - 4))]
    pair = st.tuples(st.sampled_from(rows), st.sampled_from(rows)).filter(lambda p: p[0] != p[1])
    edges = draw(st.lists(pair, min_size=1, max_size=20))
    snapshot = draw(st.lists(pair, max_size=12))
    return ids, [[draw(numbers) for _ in range(columns)] for _ in rows], classes, labels, edges, snapshot


@given(graphs())
def test_what_is_written_is_read_back(tmp_path_factory, graph):
    ids, features, classes, labels, edges, snapshot = graph
    folder = tmp_path_factory.mktemp("owner")
    head = [f"feature {column}" for column in range(len(features[0]))]
    people = [
        [name, classes[label] if label >= 0 else "", *map(repr, values)]
        for name, label, values in zip(ids, labels, features, strict=True)
    ]
    for file, rows in (
        ("nodes.csv", [["id", "label", *head], *people]),
        ("edges.csv", [["source", "target"], *([ids[u], ids[v]] for u, v in edges)]),
        ("snapshot.csv", [["source", "target"], *([ids[u], ids[v]] for u, v in snapshot)]),
    ):
        with (folder / file).open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(rows)
    dataset = load(str(folder))
    assert list(dataset.nodes.ids) == ids
    assert dataset.nodes.x.toarray().tolist() == features
    assert list(dataset.nodes.classes) == classes
    assert dataset.labels.tolist() == labels
    wanted = {(min(pair), max(pair)) for pair in edges}
    assert set(map(tuple, dataset.graph.edges.tolist())) == wanted
    assert list(map(tuple, dataset.snapshot.pairs.tolist())) == list(dict.fromkeys((min(p), max(p)) for p in snapshot))
    assert dataset.report.duplicates + dataset.report.reversed == len(edges) - len(wanted)
    assert dataset.report.isolated == len(ids) - len(np.unique(list(wanted)))
