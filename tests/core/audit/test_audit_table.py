from __future__ import annotations

import csv
import itertools
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.audit import table
from core.audit.certified import audit
from core.audit.claims import Claim, Relation
from core.audit.zoo.choices import CHOSEN, BitResponse
from core.audit.zoo.counts import ELEVEN, NUMBER, LaplaceCount
from core.errors import BadInput


@pytest.fixture(scope="module")
def results():
    numbers = audit(LaplaceCount(0.5), ELEVEN, Claim(1.0, Relation.RECORD), NUMBER, select=500, evaluate=2_000, seed=0)
    pair = replace(ELEVEN, name="a <b> & c", one=(1,), other=(0,))
    outcomes = audit(BitResponse(1.0), pair, Claim(1.0, Relation.RECORD), CHOSEN, select=100, evaluate=100, seed=0)
    return [*numbers, *outcomes]


def test_rows_hold_everything(results):
    first, second = table.rows(results)
    assert (first["rejected"], first["verdict"]) == (True, "claim rejected")
    assert (second["rejected"], second["verdict"]) == (False, "no violation found")
    assert first["threshold"] == results[0].threshold
    assert second["threshold"] is None
    wanted = {"pair", "witness", "event", "alpha_count", "beta_count", "alpha_low", "beta_up", "epsilon_lb", "seed"}
    assert wanted <= set(first)


def test_json_reads_back(results, tmp_path):
    path = tmp_path / "audit.json"
    table.write(results, path, {"release": "laplace"})
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["rows"] == table.rows(results)
    assert read["release"] == "laplace"
    assert "no proof of privacy" in read["notice"]
    assert read["versions"]["scipy"]


def test_csv_reads_back(results, tmp_path):
    path = tmp_path / "audit.csv"
    table.write(results, path, {"release": "laplace", "seed": 3})
    lines = path.read_text(encoding="utf-8").splitlines()
    head = list(itertools.takewhile(lambda line: line.startswith("# "), lines))
    assert "# release: laplace" in head
    assert "# seed: 3" in head
    rows = list(csv.DictReader(lines[len(head) :]))
    assert [float(row["epsilon_lb"]) for row in rows] == [result.epsilon_lb for result in results]
    assert rows[1]["threshold"] == ""


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells, self.tags, self._in = [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._in = tag == "td"
        if self._in:
            self.cells.append("")

    def handle_endtag(self, tag):
        self._in = False

    def handle_data(self, data):
        if self._in:
            self.cells[-1] += data


def test_html_shows_every_test_and_runs_nothing(results, tmp_path):
    path = tmp_path / "audit.html"
    table.write(results, path)
    page = Cells()
    page.feed(path.read_text(encoding="utf-8"))
    assert len(page.cells) == len(results) * len(table.SHOWN)
    assert page.cells[0] == "11 records, 10 records"
    assert page.cells[len(table.SHOWN)] == "a <b> & c"
    assert page.cells[len(table.SHOWN) - 1] == "claim rejected"
    assert not {"script", "img", "link", "b"} & set(page.tags)


def test_other_endings_are_refused_and_nothing_is_left(results, tmp_path):
    with pytest.raises(BadInput, match=r"found the ending '.txt', expected one of .csv, .json, .html"):
        table.write(results, tmp_path / "audit.txt")
    with pytest.raises(BadInput, match="can't be written"):
        table.write(results, tmp_path / "nowhere" / "audit.csv")
    assert list(tmp_path.iterdir()) == []
