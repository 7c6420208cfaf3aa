"""The served explorer as a person meets it: open, choose, move, read, switch, at a desk and on a phone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from explorer.ego import layout_of
from explorer.layout import SECOND_RADIUS
from explorer.state import Desk

RENDERED = 60_000
PRICED = 180_000
IDLE = "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(document => document.is_idle)"


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    expect(page.locator("#answer")).to_contain_text("ε =", timeout=RENDERED)
    expect(page.locator("#card-valid")).to_be_visible()
    page.wait_for_function(IDLE, timeout=RENDERED)
    page.wait_for_timeout(1000)  # a widget that is still mounting misses what the server sends it
    return page


def painted(page: Page, figure: Locator) -> bytes:
    """The figure once it has stopped changing: only then does it take taps where its marks are seen."""
    before = b""
    deadline = time.monotonic() + RENDERED / 1000
    while time.monotonic() < deadline:
        page.wait_for_function(IDLE, timeout=RENDERED)
        now = figure.screenshot()
        if now == before:
            return now
        before = now
        page.wait_for_timeout(500)
    raise AssertionError("the figure went on changing")


def value(page: Page, card: str) -> float:
    return float(page.locator(f"#card-{card}").get_attribute("data-value") or "nan")


def settled(page: Page, text: str) -> None:
    expect(page.locator("#answer")).to_contain_text(text, timeout=RENDERED)


def choose_target(page: Page, node: str) -> None:
    page.get_by_label("Target node").fill(node)
    page.keyboard.press("Enter")
    settled(page, f"node {node}")


def slider(page: Page, label: str) -> Locator:
    return page.get_by_role("slider", name=label)


def test_a_visit_from_opening_to_the_last_tab(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    first = page.locator("#answer").inner_text()
    expect(page.locator("#edges-add")).to_contain_text("private edges add")

    choose_target(page, "33823")
    assert page.locator("#answer").inner_text() != first
    settled(page, "At ε = 1 with ρ = 0.5 public")
    valid_at_one = value(page, "valid")

    page.get_by_label("ε", exact=True).fill("8")
    page.keyboard.press("Enter")
    settled(page, "At ε = 8 with ρ = 0.5 public")
    assert value(page, "valid") > valid_at_one
    assert value(page, "ceiling") == 1.0

    size = value(page, "size")
    slider(page, "Public share of ties ρ").focus()
    page.keyboard.press("End")
    settled(page, "At ε = 8 with ρ = 1 public")
    settled(page, "node 33823")
    assert value(page, "size") != size

    for name, seen in (("Price list", "Compute price list"), ("Placement", "Compare placements")):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("button", name=seen)).to_be_visible()
        expect(page.locator(".owner-only").get_by_text("Owner only")).to_be_visible()
        settled(page, "At ε = 8 with ρ = 1 public")
    page.get_by_role("tab", name="Release", exact=True).click()
    expect(page.locator("#card-valid")).to_be_visible()
    assert page.problems == []


def test_the_log_slider_works_by_keyboard_and_says_its_value(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    handle = slider(page, "Privacy budget ε")
    handle.focus()
    page.keyboard.press("Home")
    settled(page, "At ε = 0.05")
    expect(handle).to_have_attribute("aria-valuetext", "0.05")
    expect(page.get_by_label("ε", exact=True)).to_have_value("0.05")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    settled(page, "At ε = 0.0629")
    assert page.problems == []


def test_a_target_is_picked_from_the_searchable_table(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    page.get_by_role("button", name="Browse").click()
    table = page.locator(".target-table")
    expect(table.locator(".tabulator-row").first).to_be_visible(timeout=RENDERED)
    table.get_by_placeholder("starts with").press_sequentially("1033")
    cell = table.locator('.tabulator-row [tabulator-field="node"]').first
    expect(cell).to_have_text(re.compile("^1033"))
    node = cell.inner_text()
    cell.click()
    settled(page, f"node {node}")
    expect(page.get_by_label("Target node")).to_have_value(node)
    assert page.problems == []


def test_a_target_is_found_among_more_nodes_than_a_browser_holds(page: Page, serve: Callable[[str], str]) -> None:
    opened(page, serve("synthetic:nodes=12000"))
    page.get_by_role("button", name="Browse").click()
    table = page.locator(".target-table")
    expect(table.locator(".tabulator-row").first).to_be_visible(timeout=RENDERED)
    table.get_by_placeholder("starts with").press_sequentially("n1179")
    cell = table.locator('.tabulator-row [tabulator-field="node"]')
    expect(cell.first).to_have_text("n1179")
    expect(cell.nth(3)).to_have_text("n11792")
    page.wait_for_function(IDLE)
    cell.nth(3).click()
    settled(page, "node n11792")
    expect(page.get_by_label("Target node")).to_have_value("n11792")
    assert page.problems == []


def test_a_node_of_the_ego_graph_becomes_the_target(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    choose_target(page, "33823")
    desk = Desk("cora", target="33823")
    layout = layout_of(desk.study, desk.inspection)
    near = int((layout.ring == 1).argmax())
    figure = page.get_by_role("img", name="Ego graph of the target")
    painted(page, figure)
    box = figure.bounding_box()
    assert box is not None
    scale = box["height"] / 2 / (SECOND_RADIUS + 0.12)
    page.mouse.click(
        box["x"] + box["width"] / 2 + scale * layout.x[near], box["y"] + box["height"] / 2 - scale * layout.y[near]
    )
    settled(page, f"node {desk.dataset.nodes.ids[layout.rows[near]]}")
    assert page.problems == []


def test_a_candidate_is_marked_by_row_and_by_keyboard(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    marked = page.locator("#marked")
    first = marked.inner_text()
    page.locator(".candidates .tabulator-row").nth(4).click()
    expect(marked).not_to_have_text(first)
    field = page.get_by_label("Mark rank")
    expect(field).to_have_value("5")
    field.fill("1")
    page.keyboard.press("Enter")
    expect(marked).to_have_text(first)
    assert page.problems == []


def test_bad_input_is_explained_and_changes_nothing(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    before = page.locator("#answer").inner_text()
    for label, text in (("ε", "0"), ("ε", "much"), ("Target node", "nobody")):
        page.get_by_label(label, exact=True).fill(text)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(text)
        assert page.locator("#answer").inner_text() == before
    page.get_by_label("ε", exact=True).fill("2")
    page.keyboard.press("Enter")
    settled(page, "At ε = 2")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert page.problems == []


def test_the_prior_is_switched_and_the_sentence_and_the_figure_follow(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    choose_target(page, "33823")
    figure = page.get_by_role("img", name="Probability of each candidate by rank")
    drawn, answer = painted(page, figure), page.locator("#answer").inner_text()
    added, collision = page.locator("#edges-add").inner_text(), value(page, "collision")
    expect(page.locator("#card-valid .beside").nth(1)).to_contain_text("guided")
    page.get_by_role("group", name="Prior").get_by_role("button", name="guided").click()
    expect(page.locator("#answer")).not_to_have_text(answer, timeout=RENDERED)
    settled(page, "At ε = 1 with ρ = 0.5 public")
    expect(page.locator("#edges-add")).not_to_have_text(added)
    expect(page.locator("#card-valid .beside").nth(1)).to_contain_text("uniform")
    assert value(page, "collision") > collision
    page.mouse.move(640, 10)
    deadline = time.monotonic() + 60
    while figure.screenshot() == drawn:
        assert time.monotonic() < deadline, "the figure did not change"
        page.wait_for_timeout(200)
    assert page.problems == []


def test_the_size_penalty_makes_releases_smaller(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    size = value(page, "size")
    page.get_by_role("button", name="More").click()
    page.get_by_label("Size penalty").fill("2.5")
    page.keyboard.press("Enter")
    expect(page.locator("#card-size")).not_to_have_attribute("data-value", repr(size), timeout=RENDERED)
    assert value(page, "size") < size - 1
    assert page.problems == []


def test_a_price_list_is_computed_and_a_cell_sets_epsilon_rho_and_prior(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    prior = page.get_by_role("group", name="Prior")
    expect(prior.get_by_role("button", name="uniform")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("tab", name="Price list").click()
    rows = page.locator(".price-table .tabulator-row")
    expect(rows).to_have_count(8, timeout=RENDERED)
    expect(page.get_by_text("For the full arm")).to_be_visible(timeout=PRICED)
    expect(page.locator(".price-table").get_by_text("…")).to_have_count(0)
    expect(page.get_by_text("what uniform needs ε = 8 for").first).to_be_visible()
    expect(page.get_by_role("img", name="Valid-CF over ε at ρ = 0.7")).to_be_visible()
    rows.nth(5).locator('[tabulator-field="ε = 4"]').click()
    settled(page, "At ε = 4 with ρ = 0.7 public")
    expect(prior.get_by_role("button", name="guided")).to_have_attribute("aria-pressed", "true")
    rows.nth(0).locator('[tabulator-field="ε = 2"]').click()
    settled(page, "At ε = 2 with ρ = 0.3 public")
    expect(prior.get_by_role("button", name="uniform")).to_have_attribute("aria-pressed", "true")
    assert page.problems == []


def test_placements_are_compared_and_the_work_can_be_cancelled(page: Page, serve: Callable[[str], str]) -> None:
    opened(page, serve("karate"))
    page.get_by_role("tab", name="Placement").click()
    page.get_by_label("Noise draws").fill("50")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Compare placements").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible(timeout=RENDERED)
    page.get_by_label("Noise draws").fill("1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Compare placements").click()
    expect(page.get_by_role("row", name=re.compile("randomized response"))).to_be_visible(timeout=RENDERED)
    expect(page.get_by_role("img", name="Ego graph on a noised graph")).to_be_visible()
    assert page.problems == []


def test_another_data_set_opens_in_the_same_page(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    page.get_by_label("ε", exact=True).fill("4")
    page.keyboard.press("Enter")
    settled(page, "At ε = 4")
    page.get_by_label("Data set").click()
    page.get_by_text("karate", exact=True).click()
    expect(page.get_by_label("Target node")).not_to_have_value(re.compile(r"\d{3,}"), timeout=RENDERED)
    settled(page, "At ε = 4 with ρ = 0.5 public")
    assert page.problems == []


# Elements, through every shadow root, that scroll sideways; a table may, inside its own frame.
SIDEWAYS = """() => {
  const found = []
  const walk = root => {
    for (const e of root.querySelectorAll('*')) {
      const free = ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
      const table = e.closest('.tabulator') || e.closest('.scroll') || e.querySelector(':scope > [role=tablist]')
      if (free && !table && e.scrollWidth > e.clientWidth + 1) found.push(e.className + ' ' + e.scrollWidth)
      if (e.shadowRoot) walk(e.shadowRoot)
    }
  }
  walk(document)
  return found
}"""


def test_a_phone_never_scrolls_sideways(page: Page, explorer_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, explorer_url)
    tabs = page.get_by_role("tab")
    assert tabs.count() == 8
    for place in range(8):
        tabs.nth(place).click()
        page.wait_for_function(IDLE, timeout=RENDERED)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate(SIDEWAYS) == []
    box = page.get_by_label("Data set").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_on_a_phone_the_views_stand_below_the_rail(page: Page, explorer_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, explorer_url)
    last, tabs = page.get_by_role("button", name="More").bounding_box(), page.get_by_role("tablist").bounding_box()
    assert last is not None and tabs is not None
    assert last["y"] + last["height"] <= tabs["y"]


def test_the_rail_fits_a_laptop_with_everything_unfolded(page: Page, explorer_url: str) -> None:
    opened(page, explorer_url)
    page.get_by_role("button", name="More").click()
    expect(page.get_by_label("Snapshot seed")).to_be_visible()
    page.wait_for_timeout(500)
    box = page.get_by_label("Snapshot seed").bounding_box()
    assert box is not None and box["y"] + box["height"] < 800
    penalty = page.get_by_label("Size penalty").bounding_box()
    assert penalty is not None and penalty["y"] + penalty["height"] < 800


def test_the_rail_stays_in_sight_and_scrolls_where_the_window_is_low(page: Page, explorer_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 620})
    opened(page, explorer_url)
    page.get_by_role("button", name="More").click()
    seed, dataset = page.get_by_label("Snapshot seed"), page.get_by_label("Data set")
    expect(seed).to_be_visible()
    page.wait_for_timeout(500)
    first = dataset.bounding_box()
    page.mouse.move(900, 400)
    page.mouse.wheel(0, 600)
    expect(page.locator("#answer")).not_to_be_in_viewport()
    assert dataset.bounding_box() == first
    seed.scroll_into_view_if_needed()
    expect(seed).to_be_in_viewport(ratio=1)


# Finds the answer through every shadow root and compares its colour.
RECOLOURED = """colour => {
  const find = root => {
    for (const e of root.querySelectorAll('*')) {
      if (e.id === 'answer') return e
      const found = e.shadowRoot && find(e.shadowRoot)
      if (found) return found
    }
    return null
  }
  return getComputedStyle(find(document)).color !== colour
}"""


def test_everything_is_served_from_here_in_light_and_dark(page: Page, explorer_url: str) -> None:
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda sent: None if sent.url.startswith((explorer_url, "data:", "blob:")) else elsewhere.append(sent.url),
    )
    opened(page, explorer_url)
    light = page.locator("#answer").evaluate("e => getComputedStyle(e).color")
    page.get_by_role("button", name="Toggle theme").click()
    page.wait_for_function(RECOLOURED, arg=light)
    assert elsewhere == []
    assert page.problems == []
