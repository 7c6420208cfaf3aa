import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.owner import limits
from core.datasets.owner.features import encoded, is_missing
from core.datasets.owner.raw import Column, Kind
from tests.core.datasets.refusal import refusal


def block(*cells: str, kind: Kind | None = None):
    found = encoded(Column("c", cells, kind), "nodes.csv", range(2, 2 + len(cells)))
    return found, dict(zip(found.names, found.x.toarray().T.tolist(), strict=True))


@pytest.mark.parametrize(
    ("cells", "expected", "missing"),
    [
        (["1", "", "-2.5e3"], {"c": [1, 0, -2500]}, 1),
        (["NaN", "NA", "n/a", "null", "#N/A", "7"], {"c": [0, 0, 0, 0, 0, 7]}, 5),
        (["True", "false", "", "yes"], {"c": [1, 0, 0, 1]}, 1),
        (["1,5", "2", "0,25"], {"c": [1.5, 2, 0.25]}, 0),
        (["Rome", "Oslo", "", "Rome"], {"c=Oslo": [0, 1, 0, 0], "c=Rome": [1, 0, 0, 1]}, 1),
        (["a|b", "b", "", "c|a|a"], {"c=a": [1, 0, 0, 1], "c=b": [1, 1, 0, 0], "c=c": [0, 0, 0, 1]}, 1),
        (["x; y", "y", "z;"], {"c=x": [1, 0, 0], "c=y": [1, 1, 0], "c=z": [0, 0, 1]}, 0),
        (["10|9", "9", "2"], {"c=2": [0, 0, 1], "c=9": [1, 1, 0], "c=10": [1, 0, 0]}, 0),
        (['["a", 3]', "[]", ""], {"c=3": [1, 0, 0], "c=a": [1, 0, 0]}, 1),
        (["[0.5, 1]", "[2, 0]", ""], {"c[0]": [0.5, 2, 0], "c[1]": [1, 0, 0]}, 1),
        (["[0, 1]", "[1, 0]"], {"c[0]": [0, 1], "c[1]": [1, 0]}, 0),
        (["[3, 7]", "[7, 9]"], {"c=3": [1, 0], "c=7": [1, 1], "c=9": [0, 1]}, 0),
        (["", "nan"], {}, 0),
    ],
)
def test_cells_become_the_features_they_look_like(cells, expected, missing):
    found, features = block(*cells)
    assert features == expected
    assert found.missing == missing


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        (Kind.CATEGORICAL, ["8001", "8002", "8001"], {"c=8001": [1, 0, 1], "c=8002": [0, 1, 0]}),
        (Kind.TEXT, ["1", "0", "1"], {"c=0": [0, 1, 0], "c=1": [1, 0, 1]}),
        (Kind.TEXT, ["1|2", "2", ""], {"c=1": [1, 0, 0], "c=2": [1, 1, 0]}),
        (Kind.NUMERIC, ["1", "", "3"], {"c": [1, 0, 3]}),
    ],
)
def test_a_known_kind_is_kept(kind, cells, expected):
    assert block(*cells, kind=kind)[1] == expected


@pytest.mark.parametrize(
    ("cells", "kind", "line"),
    [
        (["1", "2", "x"], None, 4),
        (["1", "x"], None, 3),
        (["1", "inf"], None, 3),
        (["1e999", "x", "2"], None, 2),
        (["1,000", "2", "3"], None, 2),
        (["a", "b"], Kind.NUMERIC, 2),
        (["1_000", "2"], None, 2),
        (['["a"', "[]"], None, 2),
        (['[["a"]]', "[]"], None, 2),
        (["[]", "[1e5, 1" + "0" * 400 + "]"], None, 3),
    ],
)
def test_what_is_no_feature_is_refused_by_line(cells, kind, line):
    message = refusal(block, *cells, kind=kind)
    assert message.startswith(f"nodes.csv line {line}: found ")
    assert "'c'" in message


def test_texts_that_differ_on_most_nodes_are_no_feature():
    found, features = block(*(f"person {number}" for number in range(50)))
    assert features == {}
    assert "50 different texts" in found.notes[0]
    _, features = block(*(f"person {number}" for number in range(50)), kind=Kind.CATEGORICAL)
    assert len(features) == 50
    assert len(block(*(f"town {number % 24}" for number in range(50)))[1]) == 24


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(limits, "MOST_FEATURES", 3)
    assert "more than 3" in refusal(block, "a|b|c|d", "a")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_numbers_are_read_exactly(values):
    _, features = block(*map(repr, values))
    assert features["c"] == values


@given(st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=4), min_size=1, max_size=6))
def test_json_lists_of_texts_become_one_feature_an_element(rows):
    """Against sets, element by element."""
    cells = [json.dumps(row) for row in rows]
    _, features = block(*cells)
    names = {text.strip() for row in rows for text in row if text.strip().isprintable()}
    for name in names - {""}:
        assert features[f"c={name}"] == [float(name in {text.strip() for text in row}) for row in rows]


def test_missing_is_what_tables_write_for_nothing():
    assert all(map(is_missing, ["", "nan", "NaN", "NA", "N/A", "NULL"]))
    assert not any(map(is_missing, ["0", "none", "-", "unknown"]))
    assert math.isnan(float("nan"))
    assert np.isfinite(block("nan", "1")[0].x.toarray()).all()
