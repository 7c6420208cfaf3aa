"""Tables read back as they were, say what they are, and are written whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets import load
from core.errors import BadInput
from core.prior.prior import PriorRule
from core.release.mechanism import Mechanism
from core.study.frontier import frontier
from core.study.plan import Plan
from core.study.settings import Settings
from core.study.study import Study
from core.study.tables import described_run, read_made, read_table, write_table
from core.universe import Limits
from core.utility import UtilityConfig

PLAN = Plan(rhos=(0.3, 1.0), epsilons=(1.0,), seeds=(0, 1), public_only=False)


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(load("karate"))


@pytest.fixture(scope="module")
def table(study: Study) -> pd.DataFrame:
    table = frontier(study, PLAN, np.array([0, 1]))
    table["dataset"] = "my #1 graph, “ünïque”"
    return table


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".CSV"])
def test_a_table_reads_back_to_the_last_bit(study: Study, table: pd.DataFrame, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    write_table(table, described_run(study, PLAN), path)
    pd.testing.assert_frame_equal(read_table(path), table, check_exact=True, check_dtype=False)
    assert path.stat().st_mode & 0o077 == 0


def test_the_header_names_origin_and_owner(study: Study, table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(table, described_run(study, PLAN), path)
    lines = path.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert lines[: len(head)] == head and lines[len(head)].startswith("dataset,population,arm,prior")
    assert "owner-only" in head[0]
    said = "\n".join(head)
    assert study.dataset.digest in said and study.backbone.weights.digest in said
    assert "# mechanism: em" in head and "# sensitivity: tight" in head and "targets_sha256" not in said
    assert "# rho: [0.3, 1.0]" in head and "# seeds: [0, 1]" in head and '"torch"' in said


def test_the_header_tells_every_setting_and_the_targets_apart(study: Study) -> None:
    base = Settings()
    others = [
        replace(base, limits=Limits(4, 3, 2, 2)),
        replace(base, mechanism=Mechanism.PF),
        replace(base, prior=PriorRule(size_penalty=1.0)),
        replace(base, utility=UtilityConfig("0.6", "0.3", "0.1")),
        replace(base, utility=UtilityConfig(soft=True)),
        replace(base, utility=UtilityConfig(sensitivity="paper")),
    ]
    rows = np.array([0, 1])
    told = [described_run(study, replace(PLAN, settings=one), rows) for one in (base, *others)]
    told.append(described_run(study, PLAN, np.array([0, 2])))
    assert len({repr(one) for one in told}) == len(told)


def test_what_was_made_reads_back_from_both_kinds_of_file(study: Study, table: pd.DataFrame, tmp_path: Path) -> None:
    made = described_run(study, PLAN, np.array([0, 1]))
    for name in ("a.csv", "a.parquet"):
        write_table(table, made, tmp_path / name)
        assert read_made(tmp_path / name) == made


@pytest.mark.parametrize("name", ["table.xlsx", "table"])
def test_an_unknown_ending_is_refused(table: pd.DataFrame, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"ending .*\.csv, \.parquet"):
        write_table(table, {}, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", b""), ("a.parquet", b"no parquet"), ("a.csv", b"\xff\xfe\x00")]
)
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match="write it anew") as refused:
        read_table(tmp_path / name)
    assert "\n" not in str(refused.value)
    with pytest.raises(BadInput, match="write it anew"):
        read_table(tmp_path / "nowhere.csv")
