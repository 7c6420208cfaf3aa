"""Written results in a real browser: every view under its own link, on paper, on a phone, and as one file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

RENDERED = 60_000
IDLE = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(document => document.is_idle)"
ASKED = ["frontier", "--dataset", "karate", "--seeds", "2"]
ARMS = ["--arm", "full", "--arm", "edge-only", "--population", "all"]


@pytest.fixture(scope="module")
def tables(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two real frontiers of the karate club, written by the command line."""
    folder = tmp_path_factory.mktemp("results")
    files = [str(folder / "all.csv"), str(folder / "random.parquet")]
    for arguments in ([*ASKED, *ARMS, "--out", files[0]], [*ASKED, "--out", files[1]]):
        privcfs(pytestconfig, *arguments)
    return files


@pytest.fixture(scope="module")
def results_url(serve: Callable[..., str], tables: list[str]) -> str:
    return serve("", "--present", *tables)


def privcfs(config: pytest.Config, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "core.cli", *arguments], cwd=config.rootpath, check=True, capture_output=True)


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.get_by_role("button", name="Price list")).to_be_visible(timeout=RENDERED)
    page.wait_for_function(IDLE, timeout=RENDERED)
    expect(page).to_have_url(re.compile("view=.*rho="), timeout=RENDERED)  # the address is kept from now on
    page.wait_for_timeout(1000)  # a widget that is still mounting misses what the server sends it
    return page


def asked(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def chosen(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("menuitem", name=option, exact=True).click()


def test_a_visit_through_every_view_keeps_the_address(page: Page, results_url: str) -> None:
    opened(page, results_url)
    expect(page.get_by_role("note")).to_contain_text("computed from private edges")
    page.wait_for_url("**rho=0.3**")
    assert asked(page) == {"view": "prices", "dataset": "karate", "population": "all", "arm": "full", "rho": "0.3"}
    expect(page.locator("table.prices tbody tr")).to_have_count(8)
    expect(page.locator("table.prices td[title*='of releases flip']")).to_have_count(48)

    page.get_by_role("button", name="Curves").click()
    expect(page.locator(".bk-Figure")).to_have_count(4)
    expect(page).to_have_url(re.compile("view=curves"))
    expect(page.get_by_text("Budget saved at equal validity")).to_be_visible()

    chosen(page, "Arm", "edge-only")
    expect(page).to_have_url(re.compile("arm=edge-only"))
    expect(page.locator("#seen")).to_contain_text("edge-only arm")

    page.get_by_role("button", name="Arms").click()
    chosen(page, "ρ", "ρ = 0.7")
    expect(page).to_have_url(re.compile("rho=0.7"))
    expect(page.locator("#seen")).to_contain_text("Arms at ρ = 0.7")
    expect(page.locator(".bk-Figure")).to_have_count(2)
    link = page.url

    page.get_by_role("button", name="About").click()
    expect(page.locator("table.made")).to_contain_text("random.parquet")
    opened(page, link)
    expect(page.locator("#seen")).to_contain_text("Arms at ρ = 0.7")
    page.wait_for_url("**arm=edge-only**")
    assert asked(page)["arm"] == "edge-only"
    assert page.problems == []


def test_going_back_shows_the_view_before(page: Page, results_url: str) -> None:
    opened(page, f"{results_url}/?view=curves")
    page.get_by_role("button", name="About").click()
    expect(page.locator("table.made")).to_be_visible()
    expect(page).to_have_url(re.compile("view=about"))
    page.go_back()
    expect(page.locator("#seen")).to_contain_text("Valid-CF over ε")
    expect(page).to_have_url(re.compile("view=curves"))
    assert page.problems == []


def test_a_link_to_what_is_not_there_says_so(page: Page, results_url: str) -> None:
    opened(page, f"{results_url}/?view=curves&population=7&arm=%3Cb%3E&rho=0.55")
    expect(page.get_by_role("status")).to_contain_text("population 7, arm <b>, rho 0.55")
    page.wait_for_url("**rho=0.3**")  # the address follows what is shown
    assert asked(page) == {"view": "curves", "dataset": "karate", "population": "all", "arm": "full", "rho": "0.3"}
    chosen(page, "Population", "random")
    expect(page.get_by_role("status")).to_have_count(0)
    assert page.problems == []


def test_the_views_work_by_keyboard(page: Page, results_url: str) -> None:
    opened(page, results_url)
    page.get_by_role("button", name="Curves").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".bk-Figure")).to_have_count(4)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator("table.made")).to_be_visible()
    assert page.problems == []


@pytest.mark.parametrize("view", ["prices", "curves", "arms", "about"])
def test_a_phone_shows_every_view_without_sideways_scrolling(page: Page, results_url: str, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, f"{results_url}/?view={view}")
    expect(page.get_by_role("note")).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    for box in [found.bounding_box() for found in page.locator(".bk-Figure").all()]:
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["width"] > 300
    assert page.problems == []


def test_dark_colours_hold_on_screen_and_turn_on_paper(page: Page, results_url: str) -> None:
    opened(page, f"{results_url}/?view=curves")
    page.get_by_role("button", name="Toggle theme").click()
    seen = page.locator("#seen")
    expect(seen).to_have_css("color", "rgb(230, 234, 238)")
    page.emulate_media(media="print")
    expect(seen).to_have_css("color", "rgb(29, 37, 44)")
    expect(page.get_by_role("button", name="Price list")).not_to_be_visible()
    expect(page.get_by_role("button", name="Toggle theme")).not_to_be_visible()
    expect(page.get_by_role("heading", name="PrivCFS results")).to_be_visible()
    assert page.problems == []


def test_paper_holds_the_whole_view_and_no_figure_is_cut(page: Page, results_url: str) -> None:
    opened(page, f"{results_url}/?view=curves")
    page.set_viewport_size({"width": 1032, "height": 703})  # A4 across, within its margins
    page.wait_for_timeout(1000)
    page.emulate_media(media="print")
    figures = [found.bounding_box() for found in page.locator(".bk-Figure").all()]
    assert len(figures) == 4
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 1032 for box in figures)
    last = page.locator("dl").last
    assert last.bounding_box()["y"] > 703  # more than one sheet
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
    assert sheets >= 2
    assert page.problems == []


def test_a_report_opens_as_a_file_without_a_request(
    page: Page, tables: list[str], pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    privcfs(pytestconfig, "report", *tables, "--out", str(out))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.context.set_offline(True)
    page.goto(out.as_uri())
    expect(page.locator(".bk-Figure")).to_have_count(3 * 4)
    page.wait_for_function(IDLE, timeout=RENDERED)
    page.wait_for_timeout(500)
    figure = page.locator(".bk-Figure").first
    assert len(set(figure.screenshot())) > 100  # something is drawn
    expect(page.get_by_role("note")).to_contain_text("Owner only")
    expect(page.locator("table.prices")).to_have_count(3 + 4)
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [out.as_uri()]
    assert page.problems == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(1000)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
