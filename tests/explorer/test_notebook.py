"""What a notebook cell is given: each long text once, every style with its text, and the same models as before."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bokeh.models import ImportedStyleSheet, UIElement
from hypothesis import given
from hypothesis import strategies as st
from panel.io.state import state
from panel_material_ui.base import BUNDLE_PATH

from explorer.app import Explorer
from explorer.notebook import LONG, Sheets, stated_once

MOST_SHOWN = 3_000_000  # characters; 90 million where each widget brings the code of all
_BEFORE, _AFTER = "<div></div><script>\n  var docs_json = ", ";\n  var render_items = [];\n</script>"

alphabet = st.characters(max_codepoint=0xD7FF)  # Python and JavaScript read the escapes of these alike
texts = st.text(alphabet, max_size=20)
long_texts = st.builds(lambda text, times: (text or "-") * times, texts, st.integers(LONG, LONG + 2))
values = st.recursive(
    texts | st.sampled_from(['texts[0]"', "\\", '"', "const texts"]) | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
)


def read_by_names(html: str) -> object:
    """The models as a browser has them: a list of texts, then a literal that may name its places."""
    listed, _, models = html.removeprefix("<div></div><script>\n  ").partition(";\n  var docs_json = ")
    named = json.loads(listed.removeprefix("const texts = "))
    known = {"texts": named, "true": True, "false": False, "null": None}
    return eval(models.removesuffix(_AFTER), {"__builtins__": {}}, known)


@given(models=values, repeated=st.lists(long_texts, min_size=1, max_size=3), ascii_only=st.booleans())
def test_names_give_the_same_models(models, repeated, ascii_only):
    models = [models, *repeated, {"esm": repeated, "again": [models]}]
    told = json.dumps(models, ensure_ascii=ascii_only, separators=(",", ":"))
    html = stated_once(f"{_BEFORE}{told}{_AFTER}")
    assert read_by_names(html) == models
    for text in repeated:
        assert html.count(json.dumps(text, ensure_ascii=ascii_only)) == 1


@pytest.mark.parametrize("html", ["", "<p>no models</p>", "var docs_json = but no end"])
def test_other_html_is_left_alone(html):
    assert stated_once(html) == html


def test_a_sheet_of_panel_holds_its_text():
    sheets = Sheets()
    assert sheets  # an empty one would be passed over
    assert "https://example.org/other.css" not in sheets
    assert "static/extensions/panel/css/no-such-file.css" not in sheets
    assert "static/extensions/panel/css/loading.css?v=1" in sheets
    assert sheets["static/extensions/panel/css/loading.css?v=1"].url.startswith("data:text/css;base64,")


@pytest.fixture
def cell(karate) -> Iterator[tuple[Explorer, str]]:
    """An explorer that is shown in a cell, and the HTML it is shown by."""
    before = set(state._views)
    explorer = Explorer(karate)
    data, _ = explorer._repr_mimebundle_()
    yield explorer, data["text/html"]
    for ref in set(state._views) - before:
        del state._views[ref]


def addresses(explorer: Explorer) -> list[str]:
    """Where the browser would have to ask for styles."""
    (root,) = (root for view, root, _, _ in state._views.values() if explorer._frame in view.select())
    sheets = [sheet for shown in root.select({"type": UIElement}) for sheet in shown.stylesheets]
    assert len(sheets) > 100
    urls = [sheet.url for sheet in sheets if isinstance(sheet, ImportedStyleSheet)]
    assert urls
    return [url for url in urls if not url.startswith("data:")]


def test_a_cell_is_small_and_asks_nobody_for_styles(cell):
    explorer, html = cell
    assert len(html) < MOST_SHOWN
    assert html.count(BUNDLE_PATH.read_text()[:50]) == 1
    assert addresses(explorer) == []
    explorer.rail.log_epsilon.value = 0.5
    assert addresses(explorer) == []
    explorer.rail.picker.open()
    assert addresses(explorer) == []
