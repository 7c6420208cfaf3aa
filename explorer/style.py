"""Style sheets and theme: the palette as CSS variables, one grid for rail and answer."""

from __future__ import annotations

from typing import Any

from explorer.palette import DARK, LIGHT, Palette

RAIL_WIDTH = 320
NAMES = ("surface", "ink", "muted", "grid", "flip", "same", "empty", "public", "noise", "owner", "primary")


def variables(palette: Palette) -> dict[str, str]:
    """The palette as custom properties, which every nested shadow root inherits.

    On a served page the Material theme gives the values, so that they turn with it at once; in
    JupyterLab its own theme gives text and ground.
    """
    host = {"ink": "--jp-ui-font-color1", "muted": "--jp-ui-font-color2", "surface": "--jp-layout-color0"}
    values = {name: getattr(palette, name) for name in NAMES}
    values |= {name: f"var({variable}, {values[name]})" for name, variable in host.items()}
    return {f"--px-{name}": f"var(--mui-palette-px-{name}, {value})" for name, value in values.items()}


def theme_config() -> dict[str, Any]:
    """Material theme of the served page, light and dark."""
    return {"light": _material(LIGHT), "dark": _material(DARK)}


def _material(palette: Palette) -> dict[str, Any]:
    return {
        "palette": {
            "primary": {"main": palette.primary},
            "text": {"primary": palette.ink, "secondary": palette.muted},
            "background": {"default": palette.page, "paper": palette.surface},
            "divider": palette.grid,
            "px": {name: getattr(palette, name) for name in NAMES},
        },
        "typography": {"button": {"textTransform": "none"}},
        "components": {
            "MuiTab": {"styleOverrides": {"root": {"textTransform": "none", "minHeight": "40px", "fontSize": "15px"}}},
            "MuiTabs": {"styleOverrides": {"root": {"minHeight": "40px"}}},
            "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "48px !important"}}},
            "MuiAppBar": {
                "styleOverrides": {
                    "root": {
                        "backgroundColor": palette.surface,
                        "backgroundImage": "none",
                        "color": palette.ink,
                        "boxShadow": "none",
                        "borderBottom": f"1px solid {palette.grid}",
                        "& .MuiTypography-root, & a, & .MuiIconButton-root": {"color": palette.ink},
                    }
                }
            },
        },
    }


# Widths are asked of containers, since a notebook cell is narrower than its window.
FRAME = ":host { container: px-frame / inline-size; overflow: visible !important; max-height: none !important; }"

# The rail stays in sight while the views scroll, so the grid must not end with the window, where Panel ends
# a column; below 860 px the rail moves between answer and views.
ROOT = f"""
:host {{
  display: grid !important;
  grid-template-columns: {RAIL_WIDTH}px minmax(0, 1fr);
  grid-template-areas: "rail answer" "rail views";
  grid-template-rows: auto 1fr;
  column-gap: 20px;
  align-items: start;
  max-height: none !important;
  color: var(--px-ink);
  overflow: visible !important;
  box-sizing: border-box;
  padding: 0 16px 24px 12px;
}}
.rail {{
  grid-area: rail; position: sticky !important; top: 0; width: auto !important; padding-top: 6px;
  max-height: calc(100vh - 56px) !important; overflow: hidden auto;
}}
.answer {{ grid-area: answer; }}
.views {{ grid-area: views; container: px-views / inline-size; }}
@container px-frame (max-width: 860px) {{
  :host {{
    grid-template-columns: minmax(0, 1fr);
    grid-template-rows: auto auto auto;
    grid-template-areas: "answer" "rail" "views";
    padding: 0 8px 24px 8px;
  }}
  .rail {{ position: static !important; max-height: none !important; }}
}}
"""

TEXT = """
:host { color: var(--px-ink); font-family: Roboto, "Helvetica Neue", Arial, sans-serif; line-height: 1.45; }
p { margin: 0; }
small, .quiet { color: var(--px-muted); font-size: 12.5px; font-weight: 400; }
.two-lines { min-height: 2.9em; }
b, strong { font-variant-numeric: tabular-nums; }
"""

ANSWER = (
    TEXT
    + """
p { text-wrap: pretty; }
#answer { font-size: 19px; line-height: 1.4; min-height: calc(2.8em + 10px); padding-top: 10px; }
#edges-add { font-size: 14px; min-height: calc(1.45em + 6px); padding: 2px 0 4px; }
@container px-frame (max-width: 860px) {
  #answer { font-size: 17px; min-height: calc(4.2em + 10px); }
  #edges-add { min-height: calc(4.35em + 6px); }
}
"""
)

CARDS = (
    TEXT
    + """
.cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1.35fr)) repeat(5, minmax(0, 1fr)); gap: 6px; }
@container px-views (max-width: 860px) { .cards { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
@container px-views (max-width: 480px) { .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.card { position: relative; margin: 0; border: 1px solid var(--px-grid); border-radius: 8px; padding: 6px 8px 5px; }
.card:focus-visible { outline: 2px solid var(--px-primary); outline-offset: 1px; }
.card dt { font-size: 12.5px; color: var(--px-muted); white-space: nowrap; }
.card dd { margin: 0; font-size: 20px; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; }
.card small { display: block; white-space: nowrap; }
.card .beside { display: flex; justify-content: space-between; align-items: baseline; line-height: 1.35; }
.card small + .beside { border-top: 1px solid var(--px-grid); margin-top: 3px; padding-top: 3px; }
.card .beside dd { font-size: 12.5px; font-weight: 400; }
.card [role=tooltip] {
  display: none; position: absolute; top: calc(100% + 4px); left: 0; z-index: 20; width: 230px;
  background: var(--px-ink); color: var(--px-surface); padding: 8px 10px; border-radius: 6px; font-size: 13px;
}
.card:nth-child(n+6) [role=tooltip] { left: auto; right: 0; }
@container px-views (max-width: 480px) {
  .card:nth-child(odd) [role=tooltip] { left: 0; right: auto; }
  .card:nth-child(even) [role=tooltip] { left: auto; right: 0; }
}
.card:hover [role=tooltip], .card:focus [role=tooltip] { display: block; }
"""
)

BADGE = (
    TEXT
    + """
.badge {
  display: inline-flex; align-items: center; gap: 5px; border: 1px solid var(--px-owner); color: var(--px-owner);
  border-radius: 12px; padding: 1px 9px; font-size: 12.5px; white-space: nowrap;
}
.line { display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; }
"""
)

LEGEND = (
    TEXT
    + """
ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 3px 16px; font-size: 12.5px; }
li { display: inline-flex; align-items: center; gap: 6px; color: var(--px-muted); }
svg { flex: none; }
h3 { font-size: 14px; margin: 0 0 2px; font-weight: 600; }
"""
)

TABLE = """
.tabulator { border: none; margin: 0 !important; }
.tabulator, .tabulator .tabulator-header, .tabulator .tabulator-header .tabulator-col, .tabulator-row {
  background: transparent !important;
  border-color: var(--px-grid) !important;
  color: var(--px-ink);
}
.tabulator, .tabulator-row .tabulator-cell, .tabulator .tabulator-col-title { font-size: 13.5px !important; }
.tabulator-row { min-height: 28px; border-bottom: 1px solid var(--px-grid); }
.tabulator-row .tabulator-cell {
  padding: 5px 8px !important;
  border: none;
  height: auto !important;
  font-variant-numeric: tabular-nums;
  text-overflow: ellipsis !important;
}
.tabulator-row.tabulator-selectable:hover, .tabulator-row.tabulator-selected { color: var(--px-ink) !important; }
.tabulator-row.tabulator-selectable:hover {
  cursor: pointer;
  background: color-mix(in srgb, var(--px-primary) 9%, transparent) !important;
}
.tabulator-row.tabulator-selected { background: color-mix(in srgb, var(--px-primary) 20%, transparent) !important; }
.tabulator input {
  background: transparent;
  color: var(--px-ink);
  border: 1px solid var(--px-muted);
  border-radius: 4px;
  padding: 3px 6px !important;
}
"""

EMPTY = (
    TEXT
    + """
p { border: 1px dashed var(--px-muted); border-radius: 8px; padding: 28px 20px; text-align: center; }
p { color: var(--px-muted); }
b { color: var(--px-ink); }
"""
)

TABLE_HTML = (
    TEXT
    + """
.scroll { overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 8px; text-align: right; border-bottom: 1px solid var(--px-grid); white-space: nowrap; }
th { font-weight: 400; }
thead th { color: var(--px-muted); }
thead th[colspan] { text-align: center; border-bottom: none; padding-bottom: 0; }
thead th[colspan] { font-weight: 600; color: var(--px-ink); }
th[scope=row], thead tr:last-child th:first-child { text-align: left; }
th[scope=row] small { display: block; }
td:nth-child(6), td:nth-child(9) { padding-left: 20px; }
"""
)

TWO_COLUMNS = """
:host {
  display: grid !important; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); column-gap: 24px; align-items: start;
}
@container px-views (max-width: 680px) { :host { grid-template-columns: minmax(0, 1fr); } }
"""

LABEL_BESIDE = """
fieldset.MuiFormControl-root { flex-direction: row; align-items: center; column-gap: 14px; }
fieldset .MuiFormLabel-root { flex: none; white-space: nowrap; }
fieldset .MuiToggleButton-root { padding: 4px; }
"""

PANELS = """
:host { display: grid !important; grid-template-columns: repeat(4, minmax(0, 1fr)); column-gap: 8px; }
@container px-views (max-width: 860px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
"""

RAIL_NOTE = (
    TEXT
    + """
.ends { display: flex; justify-content: space-between; font-size: 12.5px; color: var(--px-muted); }
p { font-size: 13px; color: var(--px-muted); }
p.problem { color: var(--px-flip); font-size: 13px; }
"""
)

# Options of an accordion that folds part of a column away, and of a dialog: the same everywhere.
FOLD: dict[str, Any] = {
    "title_variant": "subtitle1",
    "disable_gutters": True,
    "elevation": 0,
    "margin": 0,
    "sizing_mode": "stretch_width",
    "sx": {
        "backgroundColor": "transparent",
        "&:before": {"display": "none"},
        "& .MuiAccordionSummary-root": {"minHeight": "36px", "padding": "0 2px"},
        "& .MuiAccordionDetails-root": {"padding": "0"},
    },
}
STEPPER = {"& .MuiIconButton-root": {"color": "text.secondary"}}  # of a number field: too faint in the dark else
DIALOG: dict[str, Any] = {
    "title_variant": "h4",
    "show_close_button": True,
    "close_on_click": True,
    "width_option": "md",
    "sizing_mode": "stretch_width",
    "sx": {"& .MuiPaper-root > .MuiBox-root .MuiIconButton-root": {"color": "text.secondary"}},
}
