"""What a notebook without a network needs: every style in the cell, and each long text once."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import ImportedStyleSheet
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.io.state import state
from pyviz_comms import Comm

LONG = 1000  # characters of a text that is worth a name
_OPENS = "var docs_json = "
_CLOSES = ";\n  var render_items = "
_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_OWN = re.compile(rf"(?:{re.escape(CDN_DIST)}|{re.escape(LOCAL_DIST)})([^?]+)")  # Panel's own files
_HOLDS = "data:text/css;base64,"


def stated_once(html: str) -> str:
    """`html` as Panel shows its models in a cell, where each of their long texts stands once, by a name.

    Where no server holds it, every widget carries the code of all widgets, 1.5 MB apiece. The models are JSON
    inside a script, so that their texts are texts of JavaScript too, and names give the browser the same
    models. HTML that shows none is returned as it is.
    """
    head, opens, rest = html.partition(_OPENS)
    models, closes, tail = rest.partition(_CLOSES)
    if not closes:
        return html
    places: dict[str, int] = {}

    def named(found: re.Match[str]) -> str:
        text = found[0]
        return text if len(text) < LONG else f"texts[{places.setdefault(text, len(places))}]"

    models = _TEXT.sub(named, models)
    return f"{head}const texts = [{', '.join(places)}];\n  {opens}{models}{closes}{tail}"


class Frame(pn.Column):
    """The outermost layout. A server holds what it needs; in a cell it brings everything along."""

    def _render_model(self, doc: Document | None = None, comm: Comm | None = None) -> Model:
        doc = doc or Document()
        state._stylesheets[doc] = Sheets()
        return super()._render_model(doc, comm)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        shown = super()._repr_mimebundle_(include, exclude)
        if shown and "text/html" in shown[0]:
            shown[0]["text/html"] = stated_once(shown[0]["text/html"])
        return shown


class Sheets(dict[str, ImportedStyleSheet]):
    """Style sheets of one document by address. Those of Panel hold their text where others name a server.

    Panel looks here whenever it makes a model or changes one, so that it need not put the texts in afterwards:
    it does so one model at a time, and Bokeh walks all of them after each.
    """

    def __bool__(self) -> bool:
        return True

    def __contains__(self, address: object) -> bool:
        if not super().__contains__(address) and (file := _OWN.match(str(address))):
            text = DIST_DIR / file[1]
            if text.is_file():
                self[str(address)] = ImportedStyleSheet(url=_HOLDS + b64encode(text.read_bytes()).decode())
        return super().__contains__(address)
