"""The pane that words and tables of the views stand in."""

from __future__ import annotations

from typing import Any

import panel as pn


def html(sheet: str, text: str = "", **options: Any) -> pn.pane.HTML:
    """HTML under one stylesheet, as wide as its column."""
    return pn.pane.HTML(text, stylesheets=[sheet], **{"sizing_mode": "stretch_width", "margin": (2, 0), **options})
