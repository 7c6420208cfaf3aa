"""Baselines, audits and real releases in the browser; two sessions share one ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from core.desk.card import checked
from core.desk.ledger import Ledger
from tests.browser.test_explorer import PRICED, RENDERED, opened, settled


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("ledger") / "ledger.db")
    with Ledger.create(place) as made:
        made.open_account("karate", "karate", Fraction(5, 2))
    return place


@pytest.fixture(scope="module")
def url(serve: Callable[..., str], ledger: str) -> str:
    return serve("karate", "--ledger", ledger)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")


def test_a_release_is_confirmed_paid_and_seen_by_another_session(page: Page, url: str, browser: Browser) -> None:
    opened(page, url)
    tab(page, "Release desk")
    expect(page.locator("#remaining")).to_have_text("ε = 2.5")
    page.get_by_role("button", name="Release …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2.5, then 1.5")
    expect(dialog).to_contain_text("A demonstration, not certified")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#remaining")).to_have_text("ε = 2.5")

    other = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    opened(other, url)
    tab(other, "Release desk")
    expect(other.locator("#remaining")).to_have_text("ε = 2.5")

    page.get_by_role("button", name="Release …").click()
    page.get_by_role("button", name="Spend ε = 1 and release").click()
    expect(page.locator("article.card")).to_be_visible(timeout=RENDERED)
    expect(page.locator("#remaining")).to_have_text("ε = 1.5")
    expect(other.locator("#remaining")).to_have_text("ε = 1.5")  # it looks by itself
    expect(other.locator("td", has_text="explanation of node")).to_be_visible()

    with page.expect_download() as had:
        page.get_by_role("button", name="Download the card").click()
    card = checked(Path(had.value.path()).read_text())
    assert card["epsilon"] == "1" and card["certified"] is False
    expect(page.locator("article.card .said")).to_contain_text(card["outcome"]["sentence"])

    other.get_by_label("ε", exact=True).fill("2")
    other.keyboard.press("Enter")
    settled(other, "At ε = 2")
    expect(other.get_by_role("button", name="Release …")).to_be_disabled()
    expect(other.get_by_text("Too little is left")).to_be_visible()
    other.context.close()
    assert page.problems == []


def test_what_is_served_reads_the_same_ledger(url: str, ledger: str) -> None:
    with Ledger.open(ledger) as found:
        entries = found.entries("karate")
    assert [entry.epsilon for entry in entries] == [1] and entries[0].outcome
    assert json.loads(entries[0].request)["epsilon"] == "1"


def test_a_click_on_the_heels_of_a_change_loses_neither(page: Page, url: str) -> None:
    """Panel then runs both without Bokeh's lock on the document, where a figure must still be able to change."""
    opened(page, url)
    tab(page, "Placement")
    page.get_by_label("Noise draws").fill("1")
    page.get_by_label("ε", exact=True).fill("6")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Compare placements").click()
    settled(page, "At ε = 6")
    expect(page.get_by_text("At ε = 6 with", exact=False).first).to_be_visible()
    expect(page.get_by_text("Done.")).to_be_visible(timeout=PRICED)
    assert page.problems == []


def test_an_audit_finds_no_violation_and_opens_the_worst_pair(page: Page, url: str) -> None:
    opened(page, url)
    tab(page, "Audit")
    page.get_by_role("button", name="Audit exactly").click()
    expect(page.get_by_text("No violation found").first).to_be_visible(timeout=PRICED)
    expect(page.get_by_text("The worst pair")).to_be_visible()
    page.get_by_role("button", name="Audit by drawing").click()
    expect(page.get_by_text(re.compile("No violation found so far|No violation found:"))).to_be_visible(timeout=PRICED)
    page.get_by_role("button", name="Cancel").last.click()
    assert page.problems == []


def test_a_baseline_cell_opens_beside_the_true_graph(page: Page, url: str) -> None:
    opened(page, url)
    tab(page, "Baselines")
    for field in ("Seeds", "Draws a seed"):
        page.get_by_label(field).fill("1")
        page.keyboard.press("Tab")
    page.get_by_role("button", name="Compare methods").click()
    expect(page.get_by_text("Open a cell")).to_be_visible(timeout=PRICED)
    expect(page.get_by_role("row", name=re.compile("^PrivCFS noise"))).to_contain_text("✓ pure 1")
    expect(page.locator(".noised")).to_contain_text("Here node", timeout=PRICED)
    assert page.problems == []
