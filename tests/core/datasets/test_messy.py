"""Every messy input of the table loads as it should or is refused by file, line and remedy."""

import re

import pytest

from tests.core.datasets.messy import CASES, happened, named_ties, run, table
from tests.core.datasets.refusal import refusal

names = [case.name for case in CASES]


def test_the_table_is_long_and_has_no_case_twice():
    assert len(CASES) >= 30
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", [case for case in CASES if case.ties is None], ids=lambda case: case.name)
def test_what_cannot_be_loaded_is_refused(case, tmp_path):
    message = refusal(run, case, tmp_path)
    assert "found" in message
    assert "expected" in message
    assert re.search(r"; \w", message)
    for part in case.said:
        assert part in message


@pytest.mark.parametrize("case", [case for case in CASES if case.ties is not None], ids=lambda case: case.name)
def test_what_can_be_loaded_is_loaded_right(case, tmp_path):
    dataset = run(case, tmp_path)
    assert named_ties(dataset) == {"-".join(sorted(tie.split("-"))) for tie in case.ties}
    said = happened(case)
    for part in case.said:
        assert part in said


def test_the_table_prints_a_line_for_each_case():
    lines = table().splitlines()
    assert len(lines) == len(CASES) + 2
    assert all(" | loaded: " in line or " | refused: " in line for line in lines[2:])
