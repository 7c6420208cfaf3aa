"""Written frontiers as one HTML file: figures, tables, definitions and origin, without a request to anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import pandas as pd
from bokeh.embed import components
from bokeh.resources import Resources

from core.files import whole_file
from core.study.written import Frontiers
from explorer import legend
from explorer.figures.curves import FrontierFigure, rho_label, top_of
from explorer.palette import LIGHT
from explorer.present import look, words
from explorer.present.tables import arms_html, price_html, saved_html

PANEL_HEIGHT = 240


def report_page(shown: Frontiers) -> str:
    """The whole report on every population of the files (owner-only)."""
    groups = shown.rows.groupby(["dataset", "population"], sort=False)
    body = "".join(_population(rows) for _, rows in groups)
    return _document(words.TITLE, body + words.definitions_html() + words.made_html(shown))


def figure_page(shown: Frontiers, dataset: str, population: str) -> str:
    """The curves of one population alone, with values on hover (owner-only)."""
    rows = shown.of(dataset, population)
    body = f"<h2>{escape(words.caption(rows))}</h2>" + "".join(_curves(own) for own in _arms(rows))
    return _document(f"{words.TITLE}: {dataset}, {population}", body)


def write_page(page: str, path: Path) -> int:
    """Write a page whole or not at all and return its bytes; raises `BadInput`."""
    written = page.encode()
    with whole_file(path) as stream:
        stream.write(written)
    return len(written)


def _population(rows: pd.DataFrame) -> str:
    arms = list(_arms(rows))
    compared = _compared(rows) if len(arms) > 1 else ""
    parts = "".join(_curves(own) + saved_html(own) + "<h3>Valid-CF</h3>" + price_html(own) for own in arms)
    return f"<section><h2>{escape(words.caption(rows))}</h2>{parts}{compared}</section>"


def _arms(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    return (own for _, own in rows.groupby("arm", sort=False))


def _compared(rows: pd.DataFrame) -> str:
    return "".join(
        f"<h3>Arms compared at {rho_label(float(rho))}</h3>{arms_html(own)}" for rho, own in rows.groupby("rho")
    )


def _curves(rows: pd.DataFrame) -> str:
    """Panels of one arm as the elements that Bokeh fills, with their script."""
    epsilons: Sequence[float] = sorted(rows["epsilon"].unique())
    drawn = FrontierFigure(LIGHT, sorted(rows["rho"].unique()), epsilons, PANEL_HEIGHT, top_of(rows))
    drawn.draw(rows)
    script, elements = components([panel.figure for panel in drawn.panels.values()])
    key = f'<div class="key">{legend.frontier(here=False)}</div>'
    return (
        f"<h3>Valid-CF over ε, {escape(rows['arm'].iloc[0])} arm</h3>"
        f'<div class="panels">{"".join(f"<div>{element}</div>" for element in elements)}</div>{key}{script}'
    )


def _document(title: str, body: str) -> str:
    raw = Resources(mode="inline", components=["bokeh"]).js_raw  # not render(), to which Panel adds a file of its own
    scripts = "".join(f"<script>{script}</script>" for script in raw)
    sheet = look.DOCUMENT + look.TEXT + look.LEGEND
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{sheet}</style>{scripts}</head><body><main><h1>{escape(title)}</h1>{words.notice_html()}{body}</main>"
        "</body></html>\n"
    )
