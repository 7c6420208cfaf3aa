import gzip
import os

import pytest

from core.datasets import load
from core.datasets.owner import limits
from core.datasets.owner.opening import opened, whole
from tests.core.datasets.messy import Case, folder, run
from tests.core.datasets.refusal import refusal


def test_gzip_is_told_by_content_not_by_name(tmp_path):
    (tmp_path / "packed.txt").write_bytes(gzip.compress(b"text"))
    (tmp_path / "plain.gz").write_bytes(b"text")
    assert whole(tmp_path / "packed.txt") == whole(tmp_path / "plain.gz") == b"text"


def test_size_counts_on_disk_and_unpacked(tmp_path):
    (tmp_path / "f").write_bytes(b"x" * 100)
    (tmp_path / "g").write_bytes(gzip.compress(b"x" * 100))
    assert len(whole(tmp_path / "f", 100)) == len(whole(tmp_path / "g", 100)) == 100
    assert "more than 99 bytes" in refusal(whole, tmp_path / "f", 99)
    assert "more than 99 bytes" in refusal(whole, tmp_path / "g", 99)


def test_the_limit_is_stated_in_gib(tmp_path):
    with (tmp_path / "g.csv").open("wb") as stream:
        stream.truncate(limits.MOST_BYTES + 1)  # sparse: takes no room
    assert "found more than 2 GiB" in refusal(load, str(tmp_path / "g.csv"))


@pytest.mark.parametrize("cut", [3, 12, 18, -1])
def test_damaged_gzip_is_refused(tmp_path, cut):
    (tmp_path / "f").write_bytes(gzip.compress(b"some text" * 9)[:cut])
    assert refusal(whole, tmp_path / "f") == (
        "f: found a damaged gzip file, expected a whole one; pack it again, or save it unpacked"
    )


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert "a folder or a device" in refusal(whole, tmp_path / "folder")
    assert "a folder or a device" in refusal(whole, tmp_path / "pipe")
    assert "no such file" in refusal(whole, tmp_path / "none")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_refused(tmp_path):
    (tmp_path / "f").write_bytes(b"")
    (tmp_path / "f").chmod(0)
    assert "Permission denied" in refusal(whole, tmp_path / "f")


def test_a_file_is_closed_after_a_refusal(tmp_path, monkeypatch):
    streams = []
    (tmp_path / "f").write_bytes(b"text")
    with pytest.raises(ZeroDivisionError), opened(tmp_path / "f") as stream:
        streams.append(stream)
        raise ZeroDivisionError
    assert streams[0].closed


@pytest.mark.parametrize(
    ("limit", "value", "files", "said"),
    [
        ("MOST_NODES", 3, {}, "nodes.csv line 5: found more than 3 rows"),
        ("MOST_EDGES", 2, {}, "edges.csv line 4: found more than 2 pairs"),
        (
            "MOST_EDGES",
            3,
            {"snapshot": "source,target\n" + "Ann,Bob\n" * 4},
            "snapshot.csv line 5: found more than 3 pairs",
        ),
        ("MOST_CELLS", 11, {}, "nodes.csv line 5: found more than 11 cells"),
        (
            "MOST_CELLS",
            12,
            {"features": "id,feature\n" + "Ann,x\n" * 13},
            "features.csv line 14: found more than 12 entries",
        ),
        (
            "MOST_FEATURES",
            1,
            {"features": "id,feature\nAnn,x\nAnn,y\n"},
            "features.csv line 3: found more than 1 features",
        ),
        ("MOST_FEATURES", 1, {"features": "id,feature\nAnn,x\n"}, "nodes.csv: found more than 1 features"),
    ],
)
def test_every_limit_of_a_folder_is_kept(tmp_path, monkeypatch, limit, value, files, said):
    run(Case("", folder(**files)), tmp_path)
    monkeypatch.setattr(limits, limit, value)
    assert refusal(run, Case("", folder(**files)), tmp_path).startswith(said)


def test_every_limit_of_an_edge_list_is_kept(tmp_path, monkeypatch):
    case = Case("", {"g.csv": "a,b\nb,c\nc,d\n"}, path="g.csv")
    monkeypatch.setattr(limits, "MOST_NODES", 3)
    assert refusal(run, case, tmp_path).startswith("g.csv line 3: found more than 3 nodes")
