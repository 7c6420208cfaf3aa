"""Files that came as bytes: read as the same files in a folder, refused by name, and nothing left behind."""

from __future__ import annotations

import gzip
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest

from core.datasets import load, received
from core.datasets.owner.roles import Roles
from core.datasets.received import MOST_FILES, check_size, load_received
from core.datasets.structure import WARNING
from core.errors import BadInput

EXAMPLE = Path(__file__).parents[3] / "data" / "example"
PAIRS = b"source,target\na,b\nb,c\nc,a\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary ones are made: empty before and after."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def example() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in EXAMPLE.iterdir()}


def refused(files: dict[str, bytes], place: Path, **given: object) -> str:
    with pytest.raises(BadInput) as caught:
        load_received(files, "mine", **given)
    message = str(caught.value)
    assert "\n" not in message
    assert str(place) not in message and "privcfs-" not in message
    assert list(place.iterdir()) == []
    return message


def test_a_folders_files_are_read_as_the_folder(place: Path) -> None:
    dataset, same = load_received(example(), "mine"), load(str(EXAMPLE))
    assert np.array_equal(dataset.graph.edges, same.graph.edges)
    assert (dataset.nodes.ids, dataset.nodes.feature_names) == (same.nodes.ids, same.nodes.feature_names)
    assert dataset.snapshot.digest == same.snapshot.digest
    assert np.array_equal(dataset.targets, same.targets)
    assert dataset.report == same.report
    assert (dataset.name, dataset.title) == ("mine", "mine")
    assert dataset.source == "owner's files in mine; split seeded here"
    assert list(place.iterdir()) == []


def test_one_file_is_read_by_its_ending_also_packed(place: Path) -> None:
    for name, data in (("pairs.csv", PAIRS), ("pairs.csv.gz", gzip.compress(PAIRS)), ("pairs.CSV", PAIRS)):
        dataset = load_received({name: data}, "mine")
        assert (dataset.nodes.n, dataset.graph.m) == (3, 3)
        assert (dataset.name, dataset.title) == ("mine", "pairs")
        assert name in dataset.source
    assert list(place.iterdir()) == []


def test_bytes_stay_as_they_came(place: Path) -> None:
    windows = b"\xef\xbb\xbf" + PAIRS.replace(b"\n", b"\r\n")
    dataset = load_received({"pairs.csv": windows}, "mine")
    assert dataset.nodes.ids == ("a", "b", "c")
    assert [role.column for role in dataset.report.roles] == ["source", "target"]


def test_roles_and_structural_features_are_handed_on(place: Path) -> None:
    pairs = b"x,y,z\na,b,c\nb,c,a\n"
    dataset = load_received({"pairs.csv": pairs}, "mine", Roles(source="y", target="z"), structural=True)
    assert [(role.column, role.guessed) for role in dataset.report.roles] == [("y", False), ("z", False)]
    assert dataset.structural
    assert WARNING in dataset.report.notes


def test_of_a_path_only_the_last_part_counts(place: Path) -> None:
    dataset = load_received({f"mine/{name}": data for name, data in example().items()}, "mine")
    assert dataset.nodes.n == 120
    outside = load_received({"../../pairs.csv": PAIRS}, "mine")
    assert outside.graph.m == 3
    assert load_received({"C:\\graphs\\pairs.csv": PAIRS}, "mine").graph.m == 3
    assert not list(place.parent.glob("*.csv"))


def test_the_folder_is_private_while_it_is_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def looked(path: str, **given: object) -> object:
        folder = Path(path).parent
        seen.append((folder.parent, stat.S_IMODE(folder.stat().st_mode)))
        return load(path, **given)

    monkeypatch.setattr(received, "load", looked)
    load_received({"pairs.csv": PAIRS}, "mine")
    assert seen == [(place, 0o700)]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "found none"),
        ({"pairs.csv": b""}, "pairs.csv: found an empty file"),
        ({"edges.csv": b"a,b\n", "nodes.csv": b"id\na\nb\n", "targets.csv": b""}, "targets.csv: found an empty file"),
        ({"..": PAIRS}, "found the name '..'"),
        ({"graphs/": PAIRS}, "found the name 'graphs/'"),
        ({"pa\0irs.csv": PAIRS}, "rename it"),
        ({"pa\nirs.csv": PAIRS}, "rename it"),
        ({"x" * 300 + ".csv": PAIRS}, "shorten the file names"),
        ({"a/edges.csv": PAIRS, "b/edges.csv": PAIRS}, "edges.csv: found two files of this name"),
        ({"edges.csv": PAIRS, "Edges.csv": PAIRS}, "found two files of this name"),
        ({"graph.docx": PAIRS}, "found the file 'graph.docx'"),
        ({"nodes.csv": b"id\na\n", "notes.txt": b"x"}, "edges.csv: found no such file in the uploaded files"),
        ({"nodes.csv": b"id\na\n", "nodes.tsv": b"id\na\n", "edges.csv": PAIRS}, "the uploaded files: found both"),
        ({"pairs.csv": b"a,b\nc\n"}, "pairs.csv line 2"),
        ({f"{place}.csv": PAIRS for place in range(MOST_FILES + 1)}, f"expected at most {MOST_FILES}"),
    ],
)  # fmt: skip
def test_what_is_refused_is_refused_in_one_line_by_its_name(files: dict[str, bytes], said: str, place: Path) -> None:
    assert said in refused(files, place)


def test_roles_that_the_format_has_no_place_for_are_refused(place: Path) -> None:
    gml = b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    assert load_received({"graph.gml": gml}, "mine").graph.m == 1
    assert refused({"graph.gml": gml}, place, roles=Roles(source="x")).startswith("graph.gml: found the role 'source'")


def test_too_much_is_refused_before_it_is_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "MOST_RECEIVED", 2**20)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **_: pytest.fail("a folder was made"))
    half = b"0" * 2**19
    message = refused({"nodes.csv": half, "edges.csv": half + b"0"}, place)
    assert message.startswith("the uploaded files: found 1.0 MiB, expected at most 1 MiB")
    check_size(2**20)
    with pytest.raises(BadInput):
        check_size(2**20 + 1)
