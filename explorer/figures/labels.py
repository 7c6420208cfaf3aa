"""Private labels over p_s: what comes out, how good it is, and the walls between which it can work."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import BoxAnnotation, HoverTool, Range1d

from core.labels.experiment import Cell
from core.labels.feasible import Walls
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import Palette


class LabelsFigure:
    """Chance of labels, chance that the halting step trips, and accuracy; outside the feasible p_s it is shaded."""

    def __init__(self, palette: Palette, height: int = 300) -> None:
        self.figure = plain_figure(
            height, "Chance of labels and their accuracy over p_s", x_axis_type="log", x_range=Range1d(0.005, 1),
            y_range=Range1d(0, 1.02),
        )  # fmt: skip
        self.figure.xaxis.axis_label = "p_s: chance that a subgraph keeps an edge"
        self.figure.yaxis.axis_label = "share"
        self._walls = [BoxAnnotation(fill_alpha=0.16, line_alpha=0) for _ in range(2)]
        for wall in self._walls:
            self.figure.add_layout(wall)
        names = ("p_s", "released", "halted", "unstable", "accuracy", "stability")
        self._source = source(*names)
        self._released = self.figure.line("p_s", "released", source=self._source, line_width=2.5)
        self._points = self.figure.scatter("p_s", "released", source=self._source, size=8)
        self._halted = self.figure.line("p_s", "halted", source=self._source, line_width=2, line_dash="dashed")
        self._accuracy = self.figure.line("p_s", "accuracy", source=self._source, line_width=2, line_dash="dotdash")
        self.figure.add_tools(
            HoverTool(
                renderers=[self._points],
                tooltips=[
                    ("p_s", "@p_s{0.000}"), ("labels come out", "@released{0.000}"), ("halted", "@halted{0.000}"),
                    ("subgraphs disagree", "@unstable{0.000}"), ("accuracy", "@accuracy{0.000}"),
                    ("stability", "@stability{0.00}"),
                ],
            )
        )  # fmt: skip
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, cells: Sequence[Cell], walls: Walls) -> None:
        """Show a sweep over p_s and the walls of the same plan."""
        self._source.data = {name: [getattr(cell, name) for cell in cells] for name in self._source.data}
        low, high = (max(walls.low, 1e-6), min(walls.high, 1.0))
        left, right = self._walls
        left.left, left.right = None, min(low, 1.0)
        right.left, right.right = high, None
        values = [cell.p_s for cell in cells]
        self.figure.x_range.start, self.figure.x_range.end = min(values) * 0.85, max(values) * 1.15
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for drawn in (self._released, self._points):
            drawn.glyph.line_color = palette.flip
        self._points.glyph.fill_color = palette.flip
        self._halted.glyph.line_color = palette.noise
        self._accuracy.glyph.line_color = palette.ink
        for wall in self._walls:
            wall.fill_color = palette.muted
