"""Explanation-level against graph-level placement: what is found, what of it is true, what is polluted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import FactorRange, FixedTicker, HoverTool, Range1d
from bokeh.transform import dodge

from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import Palette


@dataclass(frozen=True)
class PlacementBar:
    """Shares of (target, draw) cells for one placement; `spurious` splits by whether the cell is polluted."""

    name: str
    valid: float
    spurious_polluted: float
    spurious_clean: float
    polluted: float


class PlacementFigure:
    """Two bars a placement: flips found, true ones first and spurious ones behind; and pollution below."""

    def __init__(self, palette: Palette, height: int = 230) -> None:
        self.figure = plain_figure(
            height, "Valid, spurious and polluted shares by placement", y_range=FactorRange(), x_range=Range1d(0, 1)
        )
        self.figure.xaxis.axis_label = "share of targets and draws"
        self.figure.xaxis.ticker = FixedTicker(ticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
        self.figure.ygrid.visible = False
        self.figure.min_border_right = 16
        self.figure.yaxis.major_tick_line_color = None
        self._source = source("name", "valid", "split", "found", "polluted")
        upper, lower = dodge("name", 0.17, self.figure.y_range), dodge("name", -0.19, self.figure.y_range)
        found = {"y": upper, "height": 0.34, "source": self._source, "line_width": 1}
        self._valid = self.figure.hbar(left=0, right="valid", **found)
        self._polluted_spurious = self.figure.hbar(
            left="valid", right="split", hatch_pattern="/", hatch_scale=6, **found
        )
        self._clean_spurious = self.figure.hbar(left="split", right="found", **found)
        self._pollution = self.figure.hbar(
            y=lower, left=0, right="polluted", height=0.22, source=self._source, hatch_pattern=".", hatch_scale=6
        )
        self.figure.add_tools(
            HoverTool(
                renderers=[self._valid, self._polluted_spurious, self._clean_spurious, self._pollution],
                tooltips=[
                    ("", "@name"),
                    ("valid on the true graph", "@valid{0.000}"),
                    ("found in all", "@found{0.000}"),
                    ("polluted", "@polluted{0.000}"),
                ],
            )
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, bars: Sequence[PlacementBar]) -> None:
        """Show these placements, the first on top."""
        self.figure.y_range.factors = [bar.name for bar in reversed(bars)]
        split = [bar.valid + bar.spurious_polluted for bar in bars]
        self._source.data = {
            "name": [bar.name for bar in bars],
            "valid": [bar.valid for bar in bars],
            "split": split,
            "found": [first + bar.spurious_clean for first, bar in zip(split, bars, strict=True)],
            "polluted": [bar.polluted for bar in bars],
        }
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        colours = (
            (self._valid, palette.flip),
            (self._polluted_spurious, palette.noise),
            (self._clean_spurious, palette.noise),
            (self._pollution, palette.same),
        )
        for drawn, colour in colours:
            drawn.glyph.line_color = drawn.glyph.fill_color = colour
        self._clean_spurious.glyph.fill_alpha = 0.35
        for drawn in (self._polluted_spurious, self._pollution):
            drawn.glyph.hatch_color = palette.surface
