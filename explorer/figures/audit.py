"""What an audit found: ratios over pairs, the best attack beside what ε allows, and a bound that tightens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import HoverTool, Range1d, Span

from core.audit.exact import allowed_roc
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import Palette

BINS = 24


class RatioFigure:
    """How many pairs have which largest log ratio: near the target and anywhere; ε is the upright line."""

    def __init__(self, palette: Palette, height: int = 220) -> None:
        self.figure = plain_figure(
            height, "Pairs of neighbouring graphs by their largest log ratio", x_range=Range1d(0, 1)
        )
        self.figure.xaxis.axis_label = "largest ln(P/P′) of a pair: the ε that this pair shows"
        self.figure.yaxis.axis_label = "pairs"
        self.figure.y_range.start = 0
        self._near, self._anywhere = (source("left", "right", "bottom", "top") for _ in range(2))
        bars = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
        self._bars = self.figure.quad(**bars, source=self._near)
        self._hatched = self.figure.quad(
            **bars, source=self._anywhere, fill_color=None, hatch_pattern="/", hatch_scale=6
        )
        self._bound = Span(location=1, dimension="height", line_width=2, line_dash="dashed")
        self.figure.add_layout(self._bound)
        self.figure.add_tools(
            HoverTool(
                renderers=[self._bars, self._hatched],
                tooltips=[("ln ratio", "@left{0.00} to @right{0.00}"), ("pairs up to here", "@top")],
            )
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, near: Sequence[float], anywhere: Sequence[float], epsilon: float) -> None:
        """Show log ratios (each at least 0) of the two kinds of pairs, stacked."""
        top = max(epsilon, *(value for value in (*near, *anywhere) if np.isfinite(value)), 1e-9) * 1.05
        edges = np.linspace(0, top, BINS + 1)
        below = np.zeros(BINS, dtype=int)
        for drawn, values in ((self._near, near), (self._anywhere, anywhere)):
            counts, _ = np.histogram(np.clip(values, 0, top) if len(values) else [], bins=edges)
            above = below + counts
            some = counts > 0
            drawn.data = {
                "left": edges[:-1][some],
                "right": edges[1:][some],
                "bottom": below[some],
                "top": above[some],
            }
            below = above
        self.figure.x_range.end = top
        self._bound.location = epsilon
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        self._bars.glyph.fill_color = self._bars.glyph.line_color = palette.flip
        self._hatched.glyph.line_color = self._hatched.glyph.hatch_color = palette.same
        self._bound.line_color = palette.owner


class RocFigure:
    """The likelihood-ratio attack on one pair: solid; the best that ε allows: dashed; a guess: dotted."""

    def __init__(self, palette: Palette, height: int = 260) -> None:
        self.figure = plain_figure(
            height, "Best attack on one pair of graphs", x_range=Range1d(0, 1), y_range=Range1d(0, 1)
        )
        self.figure.xaxis.axis_label = "false alarms"
        self.figure.yaxis.axis_label = "hits"
        self._attack, self._allowed = source("x", "y"), source("x", "y")
        self._curve = self.figure.line("x", "y", source=self._attack, line_width=2.5)
        self._limit = self.figure.line("x", "y", source=self._allowed, line_width=2, line_dash="dashed")
        self._guess = self.figure.line([0, 1], [0, 1], line_width=1, line_dash="dotted")
        self.figure.add_tools(
            HoverTool(renderers=[self._curve], tooltips=[("false alarms", "@x{0.000}"), ("hits", "@y{0.000}")])
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, false: np.ndarray, true: np.ndarray, epsilon: float) -> None:
        """Show a ROC (rates, equally long) and the curve that pure ε allows."""
        self._attack.data = {"x": false, "y": true}
        corner = np.exp(-np.logaddexp(0, epsilon))
        at = np.unique(np.concatenate([np.linspace(0, 1, 101), corner * np.linspace(0, 2, 9), [corner]]))
        at = at[at <= 1]
        self._allowed.data = {"x": at, "y": allowed_roc(at, epsilon)}
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        self._curve.glyph.line_color = palette.flip
        self._limit.glyph.line_color = palette.owner
        self._guess.glyph.line_color = palette.muted


class BoundFigure:
    """The certified bound as samples arrive, under the claimed ε; the present sample's own bound, quieter."""

    def __init__(self, palette: Palette, height: int = 220) -> None:
        self.figure = plain_figure(
            height, "Certified lower bound on epsilon over draws", x_axis_type="log", y_range=Range1d(0, 1)
        )
        self.figure.xaxis.axis_label = "evaluation draws a side"
        self.figure.yaxis.axis_label = "ε at least"
        self._certified, self._preview = source("draws", "bound"), source("draws", "bound")
        self._steps = self.figure.step("draws", "bound", source=self._certified, mode="after", line_width=2.5)
        self._points = self.figure.scatter("draws", "bound", source=self._certified, size=7)
        self._now = self.figure.line("draws", "bound", source=self._preview, line_width=1.2, line_dash="dotted")
        self._claim = Span(location=1, dimension="width", line_width=2, line_dash="dashed")
        self.figure.add_layout(self._claim)
        self.figure.add_tools(
            HoverTool(renderers=[self._points], tooltips=[("draws", "@draws{0,0}"), ("ε at least", "@bound{0.000}")])
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, certified: Sequence[tuple[int, float]], preview: Sequence[tuple[int, float]], claim: float) -> None:
        """Show (draws, bound) points of both lines, and the claim."""
        for drawn, points in ((self._certified, certified), (self._preview, preview)):
            drawn.data = {"draws": [n for n, _ in points], "bound": [bound for _, bound in points]}
        highest = max([claim, *(bound for _, bound in (*certified, *preview))])
        self.figure.y_range.end = 1.1 * highest
        self._claim.location = claim
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for drawn in (self._steps, self._points):
            drawn.glyph.line_color = palette.flip
        self._points.glyph.fill_color = palette.flip
        self._now.glyph.line_color = palette.muted
        self._claim.line_color = palette.owner
