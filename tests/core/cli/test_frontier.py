"""`privcfs frontier`: contract columns, the same figures from one process or many, and going on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from core.cli import run
from core.datasets import load
from core.prior.prior import PriorRule
from core.release.mechanism import Mechanism
from core.scale.cluster import local_workers
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.study.tables import read_made, read_table
from core.universe import Arm, Limits
from core.utility import UtilityConfig

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


def test_ablations_reach_the_table_and_its_header(single: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "f.csv"
    chosen = ["--limits", "4,3,2,2", "--weights", "3/5,0.3,0.1", "--soft", "--sensitivity", "paper"]
    asked = [*chosen, "--mechanism", "pf", "--size-penalty", "0.5", "--size", "3", "--no-public-only"]
    assert run([*ASKED, *asked, "--out", str(out)]) == 0
    table = read_table(out)
    assert (
        list(table.columns) == COLUMNS and set(table["mechanism"]) == {"pf"} and set(table["sensitivity"]) == {"paper"}
    )
    settings = Settings(
        Limits(4, 3, 2, 2), Arm.FULL, UtilityConfig("0.6", "0.3", "0.1", soft=True, sensitivity="paper"),
        Mechanism.PF, PriorRule(size_penalty=0.5),
    )  # fmt: skip
    study = Study(load("karate"))
    rows = population(study, Population.RANDOM, 3)
    seen = [desk.inspect(int(v), 0.5, 8.0, settings).metrics for desk in (study, study.with_seed(1)) for v in rows]
    row = table[(table["rho"] == 0.5) & (table["epsilon"] == 8) & (table["prior"] == "uniform")].iloc[0]
    assert row["valid"] == pytest.approx(sum(one.valid for one in seen) / len(seen), abs=1e-12)
    assert row["collision"] == pytest.approx(sum(one.collision for one in seen) / len(seen), abs=1e-12)
    made = read_made(out)
    assert (made["limits"], made["utility_weights"]) == ([4, 3, 2, 2], ["3/5", "3/10", "1/10"])
    assert (made["mechanism"], made["sensitivity"], made["soft"], made["size_penalty"]) == ("pf", "paper", True, 0.5)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rho", "2"], "rho"),
        (["--epsilon", "0"], "epsilon"),
        (["--workers", "0"], "workers"),
        (["--workers", "1", "--dask", "tcp://127.0.0.1:1"], "one of them"),
        (["--population", "listed"], "listed"),
        (["--prior", "oracle"], "oracle"),
        (["--limits", "4,3"], "limits"),
        (["--weights", "1,1,1"], "sum"),
        (["--targets", "nowhere.txt"], "nowhere.txt"),
        (["--targets", "nowhere.txt", "--population", "random"], "one of them"),
        (["--targets", "nowhere.txt", "--size", "3"], "--size"),
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
