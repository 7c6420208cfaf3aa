"""Opening an owner's graph: the session changes when a study of it is ready, and not before."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from core.datasets import received
from core.datasets.owner.export import export_folder
from core.datasets.structure import WARNING
from core.errors import BadInput
from explorer import upload as uploading
from explorer.opening import CHANGED, READ, STOPPED, OpenOwn
from explorer.report import report_html
from explorer.state import Desk

EXAMPLE = Path(__file__).parents[2] / "data" / "example"
PAIRS = b"source,target\na,b\nb,c\nc,a\n"
GML = b"""graph [ directed 0
%s
%s ]""" % (
    b"\n".join(
        b'node [ id %d label "n%d" group "%s" chess %d ]' % (node, node, (b"left", b"right")[node % 2], node % 3)
        for node in range(30)
    ),
    b"\n".join(b"edge [ source %d target %d ]" % (node, (node + step) % 30) for node in range(30) for step in (2, 4)),
)


class Browser:
    """The browser's side of an `Upload`: announces files and hands over each piece that is asked for."""

    def __init__(self, upload: uploading.Upload) -> None:
        self.wanted: list[dict] = []
        self.turn = ""
        self.files: list[bytes] = []
        self._upload = upload
        upload._send_msg = self.wanted.append

    def choose(self, files: dict[str, bytes], folder: str = "") -> None:
        self.turn += "+"
        self.files = list(files.values())
        listed = [[name, len(data)] for name, data in files.items()]
        self._upload._handle_msg({"turn": self.turn, "folder": folder, "files": listed})

    def answer(self) -> None:
        wanted = self.wanted.pop(0)
        piece = self.files[wanted["file"]][wanted["from"] : wanted["to"]]
        self._upload._handle_msg({"turn": wanted["turn"], "file": wanted["file"], "data": piece})

    def send(self, files: dict[str, bytes], folder: str = "") -> None:
        self.choose(files, folder)
        while self.wanted:
            self.answer()


@pytest.fixture
def own(desk: Desk) -> OpenOwn:
    return OpenOwn(desk, local=True)


@pytest.fixture
def browser(own: OpenOwn) -> Browser:
    return Browser(own.upload)


def example() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in EXAMPLE.iterdir()}


def press(own: OpenOwn, button: str) -> None:
    getattr(own, button).param.trigger("clicks")
    own._job.wait()


def alert(own: OpenOwn) -> str:
    assert 'role="alert"' in own.status.object
    return own.status.object


def state(desk: Desk) -> tuple:
    decisions = {name: value for name, value in desk.decisions.param.values().items() if name != "name"}
    return desk.study, desk.inspection, decisions, list(desk.names), desk.problem


def test_files_are_checked_then_opened_with_the_decisions_kept(own: OpenOwn, browser: Browser, desk: Desk) -> None:
    desk.choose(epsilon=4.0, rho=0.7)
    before = state(desk)
    own.dialog.open = True
    assert own.go.disabled
    browser.send(example(), folder="friends")
    press(own, "check")
    assert READ in own.status.object
    for said in ("friends: 120 nodes, 320 edges", "snapshot: 200 pairs", "8 nodes without an edge", "Owner only"):
        assert said in own.report.object
    assert own.report.object.count("guessed") == 7
    assert state(desk) == before
    assert not own.go.disabled
    press(own, "go")
    assert desk.dataset.name == "friends" and "friends" in desk.names
    assert desk.inspection.target_id == "Vonulo"
    assert (desk.decisions.epsilon, desk.decisions.rho) == (4.0, 0.7)
    assert not own.dialog.open


def test_after_success_the_dialog_is_empty_and_the_next_name_is_free(
    own: OpenOwn, browser: Browser, desk: Desk
) -> None:
    for name in ("uploaded", "uploaded 2"):
        browser.send(example())
        own.columns["id"].value = "id"
        own.header.value, own.structural.value = "yes", True
        press(own, "check")
        press(own, "go")
        assert desk.dataset.name == name
        assert (own.upload.files, own.upload.listing, own.path.value, own.report.object) == ({}, [], "", "")
        assert (own.columns["id"].value, own.header.value, own.structural.value) == ("", "guess", False)
        assert own.go.disabled and not own.check.disabled
    press(own, "check")
    assert "neither files nor a path" in alert(own)


def test_one_file_with_attributes_is_opened(own: OpenOwn, browser: Browser, desk: Desk) -> None:
    browser.send({"ring.gml": GML})
    press(own, "check")
    assert "ring: 30 nodes, 60 edges" in own.report.object
    press(own, "go")
    assert desk.dataset.name == "ring"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"nodes.csv": b"id\na\n"} | {"edges.csv": b"a,b\n"}, "edges.csv line 1: found node &#x27;b&#x27;"),
        ({"edges.csv": b""}, "edges.csv: found an empty file"),
        ({"graph.docx": PAIRS}, "graph.docx"),
        ({"a.csv": PAIRS, "b.csv": PAIRS}, "edges.csv: found no such file in the uploaded files"),
        ({"pairs.csv": PAIRS}, "to train on"),
        ({"graph.pt": b"<script>alert(1)</script>"}, "graph.pt"),
    ],
)  # fmt: skip
def test_a_bad_upload_is_one_line_and_changes_nothing(
    files: dict[str, bytes], said: str, own: OpenOwn, browser: Browser, desk: Desk
) -> None:
    before = state(desk)
    browser.send(files)
    press(own, "check")
    assert said in alert(own)
    assert own.status.object.count("<p") == 1 and "\n" not in own.status.object
    assert own.go.disabled
    press(own, "go")
    assert state(desk) == before


def test_what_is_read_but_cannot_be_trained_on_is_shown_all_the_same(own: OpenOwn, browser: Browser) -> None:
    browser.send({"pairs.csv": PAIRS})
    press(own, "check")
    assert "pairs: 3 nodes, 3 edges" in own.report.object
    assert "found no feature" not in own.report.object


def test_columns_are_given_and_checked_on_the_same_upload(own: OpenOwn, browser: Browser, desk: Desk) -> None:
    files = example()
    files["nodes.csv"] = files["nodes.csv"].replace(b"id,label,", b"who,team,", 1)
    browser.send(files)
    own.columns["label"].value = "nobody"
    press(own, "check")
    assert "nodes.csv line 1" in alert(own) and "nobody" in own.status.object
    own.columns["label"].value = " team "
    own.columns["id"].value = "who"
    own.header.value = "yes"
    press(own, "check")
    assert "3 classes" in own.report.object
    assert own.report.object.count("<td>given</td>") == 2
    own.header.value = "no"
    press(own, "check")
    assert "who" in alert(own)


@pytest.mark.parametrize("change", ["files", "path", "columns", "header", "structural"])
def test_a_change_after_the_check_asks_for_another(change: str, own: OpenOwn, browser: Browser, desk: Desk) -> None:
    before = state(desk)
    browser.send(example())
    press(own, "check")
    assert not own.go.disabled and own.report.css_classes == []
    match change:
        case "files":
            browser.send(example())
        case "path":
            own.path.value = str(EXAMPLE)
        case "columns":
            own.columns["label"].value = "label"
        case "header":
            own.header.value = "yes"
        case "structural":
            own.structural.value = True
    assert own.go.disabled and CHANGED in own.status.object
    assert own.report.css_classes == ["stale"]
    press(own, "go")
    assert state(desk) == before


def test_structural_features_are_warned_of_before_and_after(own: OpenOwn, browser: Browser, desk: Desk) -> None:
    browser.send(example())
    own.structural.value = True
    press(own, "check")
    assert f"<li class=warning>{WARNING}</li>" in own.report.object
    press(own, "go")
    assert desk.dataset.structural
    assert any("no guarantee" in note for note in desk.study.notes)


def test_a_path_on_this_machine_is_read(own: OpenOwn, desk: Desk, tmp_path: Path) -> None:
    own.path.value = str(EXAMPLE)
    press(own, "check")
    assert "example: 120 nodes" in own.report.object
    press(own, "go")
    assert desk.dataset.name == "example"
    own.path.value = str(tmp_path / "absent")
    press(own, "check")
    assert "absent" in alert(own)


def test_a_path_is_never_a_built_in_name(own: OpenOwn, desk: Desk, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    own.path.value = "karate"
    press(own, "check")
    assert "karate" in alert(own) and own.report.object in ("", None)
    export_folder(desk.dataset, tmp_path / "karate")
    press(own, "check")
    assert "karate: 34 nodes" in own.report.object
    press(own, "go")
    assert desk.dataset.name == "karate 2"


def test_files_and_a_path_together_are_refused(own: OpenOwn, browser: Browser) -> None:
    browser.send(example())
    own.path.value = str(EXAMPLE)
    press(own, "check")
    assert "both files and a path" in alert(own)


def test_there_is_no_path_where_others_can_reach_the_server(desk: Desk) -> None:
    for local in (True, False):
        own = OpenOwn(desk, local)
        assert (own.path in own.dialog.objects) is local


class Gated(Desk):
    """A desk whose studies wait for a gate, as a large graph's would."""

    gate: threading.Event

    def prepare(self, dataset):
        self.gate.wait(30)
        return super().prepare(dataset)


@pytest.mark.parametrize("meanwhile", ["close", "files"])
def test_training_that_was_given_up_changes_nothing(karate, meanwhile: str) -> None:
    desk = Gated(karate)
    desk.gate = threading.Event()
    own = OpenOwn(desk, local=True)
    browser = Browser(own.upload)
    before = state(desk)
    own.dialog.open = True
    browser.send(example())
    press(own, "check")
    own.go.param.trigger("clicks")
    job = own._job
    assert "Training the model" in own.status.object and own.check.disabled and own.go.disabled
    if meanwhile == "close":
        own.dialog.open = False
        assert STOPPED in own.status.object and not own.go.disabled
    else:
        browser.send(example())
        assert own.go.disabled and not own.check.disabled
    desk.gate.set()
    job.wait()
    assert state(desk) == before
    press(own, "check")
    press(own, "go")
    assert desk.dataset.name == "uploaded"


class Refusing(Desk):
    def prepare(self, dataset):
        raise BadInput("model: found no way, expected one; try another")


def test_a_refused_training_is_said_and_may_be_tried_again(karate) -> None:
    desk = Refusing(karate)
    own = OpenOwn(desk, local=True)
    before = state(desk)
    Browser(own.upload).send(example())
    press(own, "check")
    press(own, "go")
    assert "found no way" in alert(own)
    assert state(desk) == before and not own.go.disabled


def test_large_files_come_in_pieces_and_exact(own: OpenOwn, browser: Browser, monkeypatch) -> None:
    monkeypatch.setattr(uploading, "PIECE", 1000)
    files = {
        "edges.csv": bytes(range(256)) * 12,
        "empty.csv": b"",
        "nodes.csv": b"\xef\xbb\xbfid\r\n",
        "x.csv": b"0" * 1000,
    }
    browser.choose(files)
    assert own.upload.busy and own.check.disabled and own.upload.files == {}
    while browser.wanted:
        assert browser.wanted[0]["to"] - browser.wanted[0]["from"] == 1000
        browser.answer()
    assert own.upload.files == files and not own.upload.busy and not own.check.disabled
    assert own.upload.share == 1.0


def test_a_new_choice_drops_what_is_still_coming(own: OpenOwn, browser: Browser, monkeypatch) -> None:
    monkeypatch.setattr(uploading, "PIECE", 10)
    browser.choose({"a.csv": PAIRS})
    late = browser.wanted.pop()
    browser.send({"b.csv": b"1,2\n"})
    own.upload._handle_msg({"turn": late["turn"], "file": 0, "data": PAIRS[:10]})
    assert own.upload.files == {"b.csv": b"1,2\n"}


def test_files_refused_before_they_come_are_said_and_leave_none(own: OpenOwn, browser: Browser, monkeypatch) -> None:
    monkeypatch.setattr(received, "MOST_RECEIVED", 100)
    several = {f"{place}.csv": b"0" for place in range(65)}
    for files, said in (({"a.csv": b"0" * 101}, "at most 0 MiB"), (several, "at most 64"), ({}, "no file in it")):
        browser.send({"fine.csv": PAIRS})
        browser.choose(files)
        assert said in alert(own)
        assert browser.wanted == [] and own.upload.files == {} and own.upload.listing == []


@pytest.mark.parametrize("data", [None, b"", PAIRS[:-1], PAIRS + b"0"])
def test_a_file_that_changed_while_it_was_sent_is_refused(data: bytes | None, own: OpenOwn, browser: Browser) -> None:
    browser.choose({"a.csv": PAIRS})
    own.upload._handle_msg({"turn": browser.turn, "file": 0, "data": data})
    assert "a.csv: it could not be read whole" in alert(own)
    assert own.upload.files == {}


def test_closing_stops_an_upload(own: OpenOwn, browser: Browser) -> None:
    own.dialog.open = True
    browser.choose({"a.csv": PAIRS})
    own.dialog.open = False
    browser.answer()
    assert own.upload.files == {} and own.upload.listing == [] and not own.check.disabled


def test_the_report_escapes_what_files_hold(karate) -> None:
    shown = report_html(replace(karate, title="<script>"))
    assert "<script>" not in shown and "&lt;script&gt;" in shown
