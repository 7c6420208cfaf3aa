"""Private embeddings: accuracy over ε for each class of patterns, and noise beside what tells classes apart."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import HoverTool, Range1d

from core.embeddings.experiments import Method, NoiseRow, UtilityRow
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import Palette

DASHES = {Method.DENSITIES: "solid", Method.RR: "dashed", Method.DPRR: "dotted", Method.NONE: "dotdash"}
MARKERS = {"tree": "triangle", "cycle": "circle"}
LEAST = 1e-18  # where a density of no signal is drawn on a log axis


class UtilityFigure:
    """Accuracy over ε: a colour a class of patterns, a dash a method; without privacy, a level line."""

    def __init__(self, palette: Palette, kinds: Sequence[str], height: int = 260) -> None:
        self.figure = plain_figure(
            height, "Accuracy of telling classes of graphs apart", x_axis_type="log", y_range=Range1d(0, 1.02)
        )
        self.figure.xaxis.axis_label = "ε of one embedding"
        self.figure.yaxis.axis_label = "accuracy"
        self._lines = {}
        self._sources = {}
        points = []
        for kind in kinds:
            for method in Method:
                drawn = source("epsilon", "accuracy", "std", "name")
                line = self.figure.line("epsilon", "accuracy", source=drawn, line_width=2.2, line_dash=DASHES[method])
                dots = self.figure.scatter(
                    "epsilon", "accuracy", source=drawn, size=8, marker=MARKERS.get(kind, "square")
                )
                dots.visible = method is not Method.NONE
                self._sources[kind, method], self._lines[kind, method] = drawn, (line, dots)
                points.append(dots)
        self.figure.add_tools(
            HoverTool(
                renderers=points,
                tooltips=[("", "@name"), ("ε", "@epsilon"), ("accuracy", "@accuracy{0.000} ± @std{0.000}")],
            )
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, rows: Sequence[UtilityRow]) -> None:
        """Show a utility table."""
        budgets = [row.epsilon for row in rows if row.epsilon is not None]
        for (kind, method), drawn in self._sources.items():
            found = [row for row in rows if (row.patterns, row.method) == (kind, method)]
            if method is Method.NONE and budgets:
                found = [found[0]] * 2 if found else []
                at = [min(budgets), max(budgets)][: len(found)]
            else:
                at = [row.epsilon for row in found]
            drawn.data = {
                "epsilon": at,
                "accuracy": [row.accuracy for row in found],
                "std": [row.std for row in found],
                "name": [f"{row.patterns}, {row.method.value}" for row in found],
            }
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for (kind, _), drawn in self._lines.items():
            colour = palette.flip if kind == "cycle" else palette.same
            for part in drawn:
                part.glyph.line_color = colour
            drawn[1].glyph.fill_color = colour


class NoiseFigure:
    """One mark a density: what tells the classes apart against the noise on it; above the line noise is larger."""

    def __init__(self, palette: Palette, kinds: Sequence[str], height: int = 260) -> None:
        self.figure = plain_figure(
            height, "Noise on each density against the difference between classes", x_axis_type="log", y_axis_type="log"
        )
        self.figure.xaxis.axis_label = "difference of the classes' mean densities"
        self.figure.yaxis.axis_label = "noise, standard deviation"
        self._sources = {
            kind: source("signal", "noise", "pattern", "vertices", "edges", "density", "ratio") for kind in kinds
        }
        self._dots = {
            kind: self.figure.scatter("signal", "noise", source=drawn, size=8, marker=MARKERS.get(kind, "square"))
            for kind, drawn in self._sources.items()
        }
        self._even = source("x", "y")
        self._line = self.figure.line("x", "y", source=self._even, line_dash="dashed", line_width=1.5)
        self.figure.add_tools(
            HoverTool(
                renderers=list(self._dots.values()),
                tooltips=[
                    ("pattern", "@pattern"), ("vertices, edges", "@vertices, @edges"), ("density", "@density{0.0000e}"),
                    ("noise / difference", "@ratio{0.00a}"),
                ],
            )
        )  # fmt: skip
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, rows: Sequence[NoiseRow]) -> None:
        """Show a noise table."""
        for kind, drawn in self._sources.items():
            found = [row for row in rows if row.patterns == kind]
            drawn.data = {
                "signal": [max(row.signal, LEAST) for row in found],
                "noise": [row.noise_std for row in found],
                "pattern": [row.pattern for row in found],
                "vertices": [row.vertices for row in found],
                "edges": [row.edges for row in found],
                "density": [row.density for row in found],
                "ratio": [row.ratio for row in found],
            }
        seen = [value for row in rows for value in (max(row.signal, LEAST), row.noise_std) if value > LEAST]
        self._even.data = {"x": [min(seen), max(seen)], "y": [min(seen), max(seen)]} if seen else {"x": [], "y": []}
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for kind, drawn in self._dots.items():
            drawn.glyph.line_color = drawn.glyph.fill_color = palette.flip if kind == "cycle" else palette.same
        self._line.glyph.line_color = palette.muted
