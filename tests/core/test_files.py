from __future__ import annotations

import stat

import pytest

from core.backbone import store
from core.datasets import load
from core.errors import BadInput
from core.files import whole_file


def test_a_finished_block_puts_the_file_in_place_for_its_owner_alone(tmp_path):
    path = tmp_path / "out.bin"
    with whole_file(path) as stream:
        stream.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_a_folder_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "taken"
    path.mkdir()
    with pytest.raises(BadInput, match="taken: can't be written"), whole_file(path) as stream:
        stream.write(b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert list(path.iterdir()) == []


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="choose another folder"), whole_file(tmp_path / "absent" / "out"):
        pass


def test_an_unwritable_cache_costs_training_never_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    dataset = load("karate")
    found = store.backbone_for(dataset, folder=tmp_path / "file" / "below")
    assert found.weights.digest == store.backbone_for(dataset, folder=tmp_path / "cache").weights.digest
