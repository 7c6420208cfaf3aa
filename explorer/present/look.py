"""How presented results look on screen, in a file and on paper."""

from __future__ import annotations

from explorer import style
from explorer.palette import LIGHT

WIDEST = 1440  # a panel keeps its width on paper, where two must stand side by side
PAPER = "; ".join(f"--px-{name}: {getattr(LIGHT, name)} !important" for name in style.NAMES)

# `:host` where the text stands in a shadow root, `body` in a file of its own.
TEXT = """
:host, body { color: var(--px-ink); font-family: Roboto, "Helvetica Neue", Arial, sans-serif; line-height: 1.45; }
p { margin: 0; }
h2 { font-size: 18px; margin: 0 0 4px; font-weight: 600; }
h3 { font-size: 14px; margin: 14px 0 4px; font-weight: 600; }
small, .quiet { color: var(--px-muted); font-size: 12.5px; font-weight: 400; }
.notice {
  border: 1px solid var(--px-owner); border-left-width: 5px; border-radius: 6px; padding: 7px 12px; font-size: 14px;
  margin: 8px 0; text-wrap: pretty;
}
.notice b { color: var(--px-owner); }
.lost { color: var(--px-flip); font-size: 14px; }
ul { margin: 0 0 2px; padding-left: 18px; font-size: 14px; }
.scroll { overflow-x: auto; margin-top: 6px; }
.scroll:focus-visible { outline: 2px solid var(--px-primary); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 9px; text-align: right; white-space: nowrap; font-weight: 400; }
td small { font-size: 11.5px; }
thead th { color: var(--px-muted); border-bottom: 1px solid var(--px-muted); }
th[title], td[title] { cursor: help; }
.prices th[scope=row] { position: sticky; left: 0; background: var(--px-surface); }
tbody tr { border-bottom: 1px solid var(--px-grid); }
.prices { width: 100%; }
.prices tbody tr:not(.first) th { color: var(--px-muted); }
.prices tr > :nth-child(-n+2), .prices thead th:nth-child(-n+2), .made th, .made td, th[scope=row] { text-align: left; }
.prices tbody tr:not(:first-child).first { border-top: 1px solid var(--px-muted); }
.made td { white-space: normal; min-width: 150px; vertical-align: top; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 14px; margin: 0; font-size: 13.5px; }
dt { font-weight: 600; }
dd { margin: 0; text-wrap: pretty; }
h1.paper { display: none; font-size: 22px; margin: 0; }
@media print {
  h1.paper { display: block; }
  .scroll { overflow: visible; }
  .prices th[scope=row] { position: static; }
  th, td { padding: 2px 5px; }
  tr, dt, dd, .panels > div { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  table { font-size: 11px; }
  td small { font-size: 9.5px; }
}
"""

LEGEND = """
ul.key, .key ul {
  list-style: none; margin: 2px 0; padding: 0; display: flex; flex-wrap: wrap; gap: 3px 16px; font-size: 12.5px;
}
.key li { display: inline-flex; align-items: center; gap: 6px; color: var(--px-muted); }
.key svg { flex: none; }
"""

# The figure is a canvas: on paper its light marks of the dark theme are turned, and their hue turned back.
DARK_FIGURE = "@media print { :host { filter: invert(1) hue-rotate(180deg); } }"

ROOT = f"""
:host {{
  color: var(--px-ink); padding: 0 16px 24px; box-sizing: border-box; overflow: visible !important;
  max-height: none !important; max-width: {WIDEST}px; container: px-views / inline-size;
}}
@media print {{ :host {{ {PAPER}; padding: 0; background: white; }} }}
@media (max-width: 480px) {{ :host {{ padding: 0 8px 24px; }} }}
"""

CONTROLS = "@media print { :host { display: none !important; } }"

VIEW = ".MuiFormLabel-root { position: absolute !important; clip-path: inset(50%); }"  # for screen readers alone

# A page on screen is one window high and scrolls; on paper it is as long as what it holds.
PRINTED = {
    "@media print": {
        "&, & .main, & .main > *, & .main-content": {"height": "auto !important", "overflow": "visible !important"},
        "&": {"display": "block", "width": "auto"},
        "& .header, & .main .MuiToolbar-root": {"display": "none"},
    }
}
PRINTED_PAGE = """
@page { size: A4 landscape; margin: 12mm; }
@media print {
  html, body { height: auto !important; overflow: visible !important; background: white !important; }
}
"""
PRINTED_HINTS = "@media print { .MuiPopper-root { display: none !important; } }"

FIGURES = """
:host { display: grid !important; grid-template-columns: repeat(4, minmax(0, 1fr)); column-gap: 8px; }
@container px-views (max-width: 1000px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@container px-views (max-width: 520px) { :host { grid-template-columns: minmax(0, 1fr); } }
@media print { :host { grid-template-columns: repeat(2, minmax(0, 1fr)) !important; } }
"""

DOCUMENT = f"""
:root {{ {"; ".join(f"--px-{name}: {getattr(LIGHT, name)}" for name in style.NAMES)}; color-scheme: light; }}
body {{ max-width: 1240px; margin: 0 auto; padding: 16px; background: white; }}
h1 {{ font-size: 22px; margin: 0; }}
section {{ margin-top: 26px; }}
.panels {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(250px, 100%), 1fr)); gap: 6px; }}
.panels > div {{ min-width: 0; break-inside: avoid; }}
@page {{ size: A4 landscape; margin: 12mm; }}
@media print {{
  body {{ max-width: none; padding: 0; }}
  .panels {{ grid-template-columns: repeat(2, minmax(0, 1fr)); }}
}}
"""
