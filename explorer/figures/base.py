"""What every hand-drawn Bokeh figure shares: quiet axes, theme colours, one pane."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.models import Axis, ColumnDataSource
from bokeh.plotting import figure
from panel.viewable import Viewable

from explorer.palette import Palette


def plain_figure(height: int, description: str, **options: object) -> figure:
    """A Bokeh figure without toolbar that fills its column; `description` names it for a screen reader."""
    drawn = figure(
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        html_attributes={"role": "img", "aria-label": description},
        **{"tools": "", **options},
    )
    for axis in drawn.select({"type": Axis}):
        axis.axis_label_text_font_size = "12px"
        axis.major_label_text_font_size = "11px"
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_standoff = 4
        axis.minor_tick_line_color = None
    return drawn


def at_any_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let `method` change Bokeh models whenever it is called.

    A click that comes on the heels of a change makes Panel run both without Bokeh's lock on the document, where a
    changed model is an error unless Panel sends it by itself.
    """

    @functools.wraps(method)
    def changing(*arguments: Any, **options: Any) -> Any:
        with pn.io.unlocked():
            return method(*arguments, **options)

    return changing


def recolour_axes(drawn: figure, palette: Palette) -> None:
    """Let the page show through, and give axes and grid the colours of a theme."""
    drawn.background_fill_color = drawn.border_fill_color = drawn.outline_line_color = None
    for axis in drawn.select({"type": Axis}):
        axis.axis_line_color = axis.major_tick_line_color = palette.muted
        axis.axis_label_text_color = axis.major_label_text_color = palette.muted
    drawn.grid.grid_line_color = palette.grid


def source(*columns: str) -> ColumnDataSource:
    """An empty column source."""
    return ColumnDataSource({name: [] for name in columns})


def pane(drawn: figure) -> pn.pane.Bokeh:
    """The pane that shows `drawn`."""
    return pn.pane.Bokeh(drawn, sizing_mode="stretch_width", margin=0)


def push(shown: Viewable) -> None:
    """Send changes made on Bokeh models to the notebook views of a pane."""
    views = (pn.state._views.get(ref) for ref in shown._models)
    if any(view is not None and view[3] is not None for view in views):
        pn.io.push_notebook(shown)
