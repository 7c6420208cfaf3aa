"""A batch: one debit and one card a target, completed by a second call, never paid twice."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from core.desk import release as module
from core.desk.batch import KEPT, Batch, open_batch, release_all
from core.desk.card import checked
from core.desk.ledger import Ledger
from core.errors import BadInput, BudgetRefused, Cancelled
from core.universe import Limits
from tests.core.desk.studies import SMALL, new_ledger, small_study

ROOT = Path(__file__).parents[3]
TENTH = Fraction(1, 10)


@pytest.fixture
def quick(monkeypatch):
    """Draws as ever, without the wait."""
    monkeypatch.setattr(module, "waited", lambda work, _: work())


def run(ledger, batch, targets=(0, 2, 3, 4, 5), **more):
    return list(release_all(small_study(), targets, 1.0, SMALL, TENTH, ledger, "small", batch, **more))


def cards(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("card-*.json")}


@pytest.mark.usefixtures("quick")
def test_a_second_call_changes_and_pays_nothing(tmp_path):
    with new_ledger(tmp_path, "0.5") as ledger:
        places = run(ledger, open_batch(tmp_path / "out"))
        assert [place.name for place in places] == [f"card-n{row}.json" for row in (0, 2, 3, 4, 5)]
        before = cards(tmp_path / "out")
        assert [checked(before[place.name])["target"] for place in places] == ["n0", "n2", "n3", "n4", "n5"]
        assert ledger.account("small").remaining == 0
        run(ledger, open_batch(tmp_path / "out"))
        assert cards(tmp_path / "out") == before and ledger.account("small").entries == 5


@pytest.mark.usefixtures("quick")
def test_a_lost_card_is_written_again_as_it_was(tmp_path):
    with new_ledger(tmp_path, "0.5") as ledger:
        places = run(ledger, open_batch(tmp_path / "out"))
        before = cards(tmp_path / "out")
        places[2].unlink()
        run(ledger, open_batch(tmp_path / "out"))
        assert cards(tmp_path / "out") == before and ledger.account("small").entries == 5


@pytest.mark.usefixtures("quick")
def test_it_stops_where_the_budget_ends(tmp_path):
    with new_ledger(tmp_path, "0.25") as ledger:
        batch = open_batch(tmp_path / "out")
        for _ in range(2):
            with pytest.raises(BudgetRefused, match=r"^2 of 5 releases done.*0\.05 of 0\.25 left") as caught:
                run(ledger, batch)
            assert "\n" not in str(caught.value)
            assert len(cards(tmp_path / "out")) == 2 and ledger.account("small").spent == Fraction(1, 5)


@pytest.mark.usefixtures("quick")
def test_progress_is_told_and_a_stop_keeps_what_is_done(tmp_path):
    told = []
    with new_ledger(tmp_path, "1") as ledger:
        batch = open_batch(tmp_path / "out")
        run(ledger, batch, progress=lambda done, total: told.append((done, total)))
        assert told == [(done, 5) for done in range(6)]
        calls = itertools.count()
        other = open_batch(tmp_path / "other")
        with pytest.raises(Cancelled, match="after 3 of 5"):
            run(ledger, other, cancelled=lambda: next(calls) == 3)
        assert len(cards(tmp_path / "other")) == 3 and ledger.account("small").entries == 8
        run(ledger, other)
        assert len(cards(tmp_path / "other")) == 5 and ledger.account("small").entries == 10


@pytest.mark.usefixtures("quick")
def test_another_request_is_refused_in_the_same_batch(tmp_path):
    with new_ledger(tmp_path, "1") as ledger:
        batch = open_batch(tmp_path / "out")
        run(ledger, batch)
        changed = replace(SMALL, limits=Limits(4, 3, 1, 1))
        with pytest.raises(BadInput, match="another request"):
            list(release_all(small_study(), (0,), 1.0, changed, TENTH, ledger, "small", batch))
        assert ledger.account("small").entries == 5


def test_keys_and_files_are_told_apart_by_batch_and_target(tmp_path):
    ids = ["a", "A", "a/b", "a b", "..", "ü", "x" * 200, "x" * 201, "a%2Fb", ""]
    one, two = Batch(tmp_path, "k"), Batch(tmp_path, "l")
    keys = [batch.key_of(name) for batch in (one, two) for name in ids]
    assert len(set(keys)) == 2 * len(ids)
    assert keys[: len(ids)] == [Batch(tmp_path, "k").key_of(name) for name in ids]
    places = [one.place_of(name) for name in ids]
    assert len(set(places)) == len(ids) and {place.parent for place in places} == {tmp_path}
    assert all(re.fullmatch(r"card-[\w.%~-]*\.json", place.name) and len(place.name) < 130 for place in places)


def test_a_batch_keeps_its_key(tmp_path):
    batch = open_batch(tmp_path / "out")
    assert open_batch(tmp_path / "out") == batch == open_batch(tmp_path / "out", batch.key)
    assert json.loads((tmp_path / "out" / KEPT).read_text()) == {"key": batch.key}
    assert open_batch(tmp_path / "other").key != batch.key
    assert open_batch(tmp_path / "named", "my key").key == "my key"
    with pytest.raises(BadInput, match="found the batch of key my key"):
        open_batch(tmp_path / "named", "another")
    with pytest.raises(BadInput, match="key: found"):
        open_batch(tmp_path / "empty", "")


def test_those_that_begin_one_batch_at_once_agree_on_its_key(tmp_path):
    for turn in range(20):
        found, gate = [], threading.Barrier(4)

        def begin(folder=tmp_path / str(turn), found=found, gate=gate):
            gate.wait()
            found.append(open_batch(folder).key)

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4 and len(set(found)) == 1


@pytest.mark.parametrize("content", ["", "{}", "[1]", "\xff"])
def test_a_folder_of_something_else_is_refused(tmp_path, content):
    (tmp_path / KEPT).write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match="found no key of a batch"):
        open_batch(tmp_path)
    (tmp_path / KEPT).rename(tmp_path / "letters.txt")
    with pytest.raises(BadInput, match=r"found 'letters\.txt' there"):
        open_batch(tmp_path)
    with pytest.raises(BadInput, match="can't be used"):
        open_batch(tmp_path / "letters.txt")
    with pytest.raises(BadInput, match="can't be used"):
        open_batch(tmp_path / "no" / "folder")


@pytest.mark.usefixtures("quick")
def test_a_file_in_the_way_is_seen_before_anything_is_paid(tmp_path):
    with new_ledger(tmp_path, "1") as ledger:
        batch = open_batch(tmp_path / "out")
        batch.place_of("n5").write_text("mine")
        with pytest.raises(BadInput, match="isn't the card of key"):
            run(ledger, batch)
        assert ledger.account("small").entries == 0


CHILD = """
import os, signal, sys
from fractions import Fraction
from pathlib import Path
from core.desk import release as module
from core.desk.batch import open_batch, release_all
from core.desk.ledger import Ledger
from tests.core.desk.studies import SMALL, small_study

folder, left = Path(sys.argv[1]), int(sys.argv[2])
real, module.waited = module.draw, lambda work, _: work()

def draw(distribution):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(distribution)

module.draw = draw
with Ledger.open(str(folder / "ledger.db")) as ledger:
    batch = open_batch(folder / "out")
    list(release_all(small_study(), (0, 2, 3, 4, 5), 1.0, SMALL, Fraction(1, 10), ledger, "small", batch))
"""


@pytest.mark.usefixtures("quick")
def test_a_killed_batch_is_completed_within_the_budget_of_one(tmp_path):
    new_ledger(tmp_path, "0.5").close()
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), "3"], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL, child.stderr
    before = cards(tmp_path / "out")
    with Ledger.open(str(tmp_path / "ledger.db")) as ledger:
        assert len(before) == 2 and ledger.account("small").entries == 3
        run(ledger, open_batch(tmp_path / "out"))
        after = cards(tmp_path / "out")
        assert len(after) == 5 and before.items() <= after.items()
        assert ledger.account("small").entries == 5 and ledger.account("small").remaining == 0
