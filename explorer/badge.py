"""The mark on everything that reads private edges."""

from __future__ import annotations

from html import escape

import panel as pn

from explorer import style
from explorer.wording import OWNER_ONLY, OWNER_ONLY_WHY

_LOCK = (
    '<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="none" stroke="currentColor" '
    'stroke-width="1.5"><rect x="2" y="5.2" width="8" height="5.8" rx="1.2"/>'
    '<path d="M3.8 5V3.6a2.2 2.2 0 0 1 4.4 0V5"/></svg>'
)


def badge(note: str = "") -> pn.pane.HTML:
    """The owner-only badge, with a quiet note behind it."""
    return pn.pane.HTML(
        badge_text(note),
        stylesheets=[style.BADGE],
        css_classes=["owner-only"],
        sizing_mode="stretch_width",
        margin=(8, 0, 8, 0),
    )


def badge_text(note: str) -> str:
    """HTML of the badge."""
    return (
        f'<div class="line"><span class="badge" title="{OWNER_ONLY_WHY}">{_LOCK}{OWNER_ONLY}</span>'
        f'<span class="quiet">{escape(note)}</span></div>'
    )
