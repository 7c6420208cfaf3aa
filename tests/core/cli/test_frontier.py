"""`privcfs frontier`: contract columns, the same figures from one process or many, and going on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from core.cli import run
from core.scale.cluster import local_workers
from core.study.tables import read_table

COLUMNS = [
    "dataset", "population", "arm", "prior", "mechanism", "sensitivity", "rho", "epsilon", "seeds", "targets",
    "ceiling", "ceiling_std", "valid", "valid_std", "public_only", "targeted", "empty", "size", "regret", "collision",
    "retention",
]  # fmt: skip
ASKED = [
    "frontier",
    "--dataset",
    "karate",
    "--rho",
    "0.5",
    "--rho",
    "1",
    "--epsilon",
    "1",
    "--epsilon",
    "8",
    "--seeds",
    "2",
]


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The table as one process writes it."""
    out = tmp_path_factory.mktemp("single") / "f.csv"
    assert run([*ASKED, "--out", str(out)]) == 0
    return read_table(out)


def test_the_file_has_one_row_a_cell_and_the_agreed_columns(single: pd.DataFrame) -> None:
    assert list(single.columns) == COLUMNS
    cells = set(zip(single["rho"], single["epsilon"], single["prior"], single["arm"], strict=True))
    assert len(cells) == len(single) == 8
    assert set(single["prior"]) == {"uniform", "guided"} and set(single["seeds"]) == {2}


def test_workers_write_the_same_table(single: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "f.parquet"
    assert run([*ASKED, "--workers", "2", "--out", str(out)]) == 0
    pd.testing.assert_frame_equal(read_table(out), single, check_exact=True, check_dtype=False)


def test_a_schedulers_workers_write_the_same_table(single: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "f.csv"
    with local_workers(1) as client:
        assert run([*ASKED, "--dask", client.scheduler.address, "--out", str(out)]) == 0
    pd.testing.assert_frame_equal(read_table(out), single, check_exact=True)


def test_a_second_call_works_nothing_out_again(
    single: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f.csv"
    assert run([*ASKED, "--out", str(out)]) == 0
    monkeypatch.setattr("core.study.plan.price", None)
    capsys.readouterr()
    assert run([*ASKED, "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["owner_only"] is True and [list(row) for row in printed["rows"]] == [COLUMNS] * 8
    assert [row["valid"] for row in printed["rows"]] == list(single["valid"])


def test_arms_sizes_and_silence_about_the_public(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "f.csv"
    asked = [
        "--arm",
        "edge-only",
        "--arm",
        "two-hop",
        "--prior",
        "uniform",
        "--population",
        "borderline",
        "--size",
        "3",
    ]
    assert run([*ASKED, *asked, "--no-public-only", "--out", str(out)]) == 0
    table = read_table(out)
    assert set(table["arm"]) == {"edge-only", "two-hop"} and set(table["targets"]) == {3}
    assert table["public_only"].isna().all()
    said = capsys.readouterr().out
    assert "Owner-only" in said and "two-hop" in said and "nan" not in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rho", "2"], "rho"),
        (["--epsilon", "0"], "epsilon"),
        (["--workers", "0"], "workers"),
        (["--workers", "1", "--dask", "tcp://127.0.0.1:1"], "one of them"),
        (["--population", "listed"], "listed"),
        (["--prior", "oracle"], "oracle"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_table(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f.csv"
    assert run([*ASKED, *more, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.strip().count("\n") == 0
    assert not out.exists()


def test_the_output_must_be_a_known_kind_of_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED, "--out", str(tmp_path / "f.txt")]) == 2
    assert ".parquet" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
