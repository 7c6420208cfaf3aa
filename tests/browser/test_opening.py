"""An owner opens her own graph from the screen: checked, explained, trained on, or refused with nothing changed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.datasets.received import MOST_RECEIVED
from tests.browser.test_explorer import IDLE, RENDERED, opened

EXAMPLE = Path(__file__).parents[2] / "data" / "example"
TRAINED = 120_000


@pytest.fixture(scope="module")
def url(serve: Callable[[str], str]) -> str:
    """URL of an explorer on the karate club."""
    return serve("karate")


def dialog(page: Page, url: str) -> Locator:
    opened(page, url)
    page.get_by_role("button", name="Open …").click()
    shown = page.get_by_role("dialog")
    expect(shown.get_by_role("button", name="Choose files")).to_be_visible()
    return shown


def choose(shown: Locator, *files: Path) -> None:
    shown.get_by_label("Files of a graph").set_input_files(files)
    expect(chosen(shown).first).to_contain_text(files[0].name)


def chosen(shown: Locator) -> Locator:
    """What the upload area lists."""
    return shown.locator(".zone li")


def press(shown: Locator, name: str) -> None:
    shown.get_by_role("button", name=name, exact=True).click()


def answer(page: Page) -> str:
    return page.locator("#answer").inner_text()


def test_files_are_checked_reported_and_opened(page: Page, url: str) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url))
    shown = dialog(page, url)
    before = answer(page)
    proceed = shown.get_by_role("button", name="Continue")
    expect(proceed).to_be_disabled()
    choose(shown, *sorted(EXAMPLE.glob("*.csv")))
    press(shown, "Check")
    expect(shown.get_by_text("120 nodes, 320 edges, 16 features, 3 classes, 116 nodes labelled")).to_be_visible()
    expect(shown.get_by_text("8 nodes without an edge: kept")).to_be_visible()
    expect(shown.get_by_role("row", name="snapshot.csv order order guessed")).to_be_attached()
    expect(shown.get_by_text("Owner only")).to_be_visible()
    assert answer(page) == before
    proceed.click()
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=TRAINED)
    expect(page.locator("#answer")).to_contain_text("node Vonulo")
    expect(page.get_by_label("Data set")).to_have_text("uploaded")
    page.get_by_role("button", name="Open …").click()
    expect(shown.get_by_role("button", name="Check")).to_be_enabled()
    expect(chosen(shown)).to_have_count(0)
    expect(shown.get_by_text("120 nodes")).to_have_count(0)
    choose(shown, EXAMPLE / "edges.csv", EXAMPLE / "nodes.csv")
    press(shown, "Check")
    expect(shown.get_by_text("uploaded 2: 120 nodes")).to_be_visible()
    expect(shown.get_by_text("snapshot: none given")).to_be_visible()
    assert [seen for seen in outside if not seen.startswith((url, "data:", "blob:"))] == []
    assert page.problems == []


def test_a_chosen_folder_gives_its_name_and_only_its_own_files(page: Page, url: str, tmp_path: Path) -> None:
    folder = tmp_path / "friends"
    (folder / "older").mkdir(parents=True)
    for path in EXAMPLE.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
        (folder / "older" / path.name).write_bytes(b"older")
    (folder / ".hidden").write_bytes(b"hidden")
    shown = dialog(page, url)
    shown.get_by_label("Folder of a graph").set_input_files(folder)
    expect(chosen(shown)).to_have_count(4)
    press(shown, "Check")
    expect(shown.get_by_text("friends: 120 nodes")).to_be_visible()
    assert page.problems == []


def test_a_bad_upload_is_explained_and_leaves_the_session(page: Page, url: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("source,target\na,b\nc\n")
    empty = tmp_path / "empty.csv"
    empty.touch()
    shown = dialog(page, url)
    before = answer(page)
    for path, said in ((broken, "broken.csv line 3"), (empty, "empty.csv: found an empty file")):
        choose(shown, path)
        press(shown, "Check")
        expect(shown.get_by_role("alert")).to_contain_text(said)
        expect(shown.get_by_role("button", name="Continue")).to_be_disabled()
        assert answer(page) == before
    press(shown, "Close")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label("Data set")).to_have_text("karate")
    assert answer(page) == before
    assert page.problems == []


def test_columns_are_named_on_the_same_upload(page: Page, url: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("when,caller,called\n1,a,b\n2,b,c\n")
    shown = dialog(page, url)
    choose(shown, path)
    shown.get_by_role("button", name="Columns").click()
    shown.get_by_label("Tie: source").fill("caller")
    shown.get_by_label("Tie: target").fill("whom")
    press(shown, "Check")
    expect(shown.get_by_role("alert")).to_contain_text("'whom'")
    shown.get_by_label("Tie: target").fill("called")
    press(shown, "Check")
    expect(shown.get_by_text("calls: 3 nodes, 2 edges")).to_be_visible()
    expect(shown.get_by_role("row", name="calls.csv target called given")).to_be_attached()
    expect(shown.get_by_role("alert")).to_contain_text("to train on")
    expect(shown.get_by_role("button", name="Continue")).to_be_disabled()
    assert page.problems == []


def test_a_path_on_this_machine_is_checked(page: Page, url: str) -> None:
    shown = dialog(page, url)
    shown.get_by_label("Folder or file on this machine").fill(str(EXAMPLE))
    press(shown, "Check")
    expect(shown.get_by_text("example: 120 nodes")).to_be_visible()
    assert page.problems == []


def test_files_above_the_message_limit_arrive_whole_and_too_large_ones_are_refused(
    page: Page, url: str, tmp_path: Path
) -> None:
    large, huge = tmp_path / "large.csv", tmp_path / "huge.csv"
    names = [f"{place:04d}" + "x" * 9_996 for place in range(1500)]
    large.write_text("\n".join(f"{one},{two}" for one, two in itertools.pairwise(names)))
    assert large.stat().st_size > 29_000_000
    with huge.open("wb") as stream:
        stream.truncate(MOST_RECEIVED + 1)
    shown = dialog(page, url)
    choose(shown, large)
    press(shown, "Check")
    expect(shown.get_by_text("large: 1,500 nodes, 1,499 edges")).to_be_visible()
    shown.get_by_label("Files of a graph").set_input_files(huge)
    expect(shown.get_by_role("alert")).to_contain_text("expected at most 256 MiB")
    expect(chosen(shown)).to_have_count(0)
    assert page.problems == []


def test_dropped_files_are_taken(page: Page, url: str) -> None:
    shown = dialog(page, url)
    data = page.evaluate_handle(
        """files => { const data = new DataTransfer()
        for (const [name, text] of files) { data.items.add(new File([text], name)) }
        return data }""",
        [[path.name, path.read_text()] for path in EXAMPLE.glob("*.csv")],
    )
    shown.locator(".zone").dispatch_event("drop", {"dataTransfer": data})
    expect(chosen(shown)).to_have_count(4)
    press(shown, "Check")
    expect(shown.get_by_text("120 nodes")).to_be_visible()
    assert page.problems == []


def test_the_dialog_is_usable_on_a_phone_and_by_keyboard(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    shown = dialog(page, url)
    choose(shown, *sorted(EXAMPLE.glob("*.csv")))
    check = shown.get_by_role("button", name="Check", exact=True)
    page.wait_for_function(IDLE, timeout=RENDERED)
    page.wait_for_timeout(1000)  # an upload that begins takes the button's focus and its key press
    expect(check).to_be_enabled()
    check.focus()
    page.keyboard.press("Enter")
    expect(shown.get_by_text("120 nodes")).to_be_visible()
    overflow = page.evaluate(
        "() => { const box = document.querySelector('.MuiDialogContent-root') || document.body;"
        "return box.scrollWidth - box.clientWidth }"
    )
    assert overflow <= 0
    for name in ("Choose files", "Choose a folder", "Check", "Continue", "Close"):
        box = shown.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.problems == []
