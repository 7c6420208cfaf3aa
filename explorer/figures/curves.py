"""Frontier curves: valid-CF over ε, one panel per share of public structure or per arm, every prior in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import panel as pn
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Span

from core.prior.prior import PriorKind
from explorer import style
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes
from explorer.palette import PRIOR_DASHES, PRIOR_MARKERS, Palette

TOPS = (0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
CURVE = ("epsilon", "valid", "low", "high", "valid_std", "size", "collision")


def rho_label(rho: float) -> str:
    """`ρ = 0.5`; the upper reference bears a dagger."""
    return f"ρ = {rho:g}" + ("†" if rho == 1 else "")


def top_of(prices: pd.DataFrame) -> float:
    """Where an axis of valid-CF may end so that all of a price list fits: 1, or less where it stays small."""
    highest = max(prices["ceiling"].max(), (prices["valid"] + prices["valid_std"]).clip(upper=1).max())
    highest = max(highest, prices["public_only"].fillna(0).max())
    return next(top for top in TOPS if highest <= top or top == 1)


class CurvePanels:
    """One panel for each value of a column of a price list, patched in place.

    `titles`: what stands over the panel of each value. `top`: where the axis of valid-CF ends.
    """

    def __init__(
        self,
        palette: Palette,
        column: str,
        titles: Mapping[Any, str],
        epsilons: Sequence[float],
        height: int = 212,
        top: float = 1.0,
    ) -> None:
        self._column = column
        self.panels = {value: CurvePanel(title, epsilons, height, top) for value, title in titles.items()}
        self.pane = pn.Column(
            *(panel.pane for panel in self.panels.values()),
            stylesheets=[style.PANELS],
            sizing_mode="stretch_width",
            margin=0,
        )
        self.recolour(palette)

    @at_any_time
    def draw(self, prices: pd.DataFrame) -> None:
        """Show a price list (`core.study.pricelist`); a panel whose rows are still to come says so."""
        for value, panel in self.panels.items():
            panel.draw(prices[prices[self._column] == value])

    @at_any_time
    def point_at(self, epsilon: float) -> None:
        """Move the upright lines."""
        for panel in self.panels.values():
            panel.here.location = epsilon
            push(panel.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for panel in self.panels.values():
            panel.recolour(palette, palette.rho_colour(0, 1))


class FrontierFigure(CurvePanels):
    """One panel per ρ, whose colour tells ρ too; an upright line in each stands at the present ε."""

    def __init__(
        self, palette: Palette, rhos: Sequence[float], epsilons: Sequence[float], height: int = 212, top: float = 1.0
    ) -> None:
        super().__init__(palette, "rho", {rho: rho_label(rho) for rho in rhos}, epsilons, height, top)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for place, panel in enumerate(self.panels.values()):
            panel.recolour(palette, palette.rho_colour(place, len(self.panels)))


class CurvePanel:
    """Mean valid-CF over ε: a curve with mean ± std per prior, public-only and ceiling as flat lines."""

    def __init__(self, title: str, epsilons: Sequence[float], height: int, top: float) -> None:
        low, high = min(epsilons) / 1.25, max(epsilons) * 1.25
        self._title, self._ends = title, [low * 1.1, high / 1.1]
        self.figure = plain_figure(
            height,
            f"Valid-CF over ε at {title}",
            x_axis_type="log",
            x_range=Range1d(low, high),
            y_range=Range1d(0, 1.02 * top),
            title=title,
        )
        self.figure.title.text_font_size = "13px"
        self.figure.xaxis.axis_label = "ε"
        self.figure.xaxis.ticker = FixedTicker(ticks=sorted(epsilons))
        self.figure.yaxis.ticker = FixedTicker(ticks=[top * quarter / 4 for quarter in range(5)])
        self.here = Span(dimension="height", line_dash="dashed", line_width=1.5)
        self.figure.add_layout(self.here)
        self._curves = {kind: ColumnDataSource({name: [] for name in CURVE}) for kind in PriorKind}
        self._flat = {name: ColumnDataSource({"x": [], "y": []}) for name in ("public", "ceiling")}
        self._coloured = [self.figure.line("x", "y", source=self._flat["ceiling"], line_width=1.5, line_dash="dotted")]
        self._dots = {kind: self._curve(kind) for kind in PriorKind}
        alone = self.figure.line("x", "y", source=self._flat["public"], line_width=1.2, line_dash="dotdash")
        cue = self.figure.scatter("x", "y", source=self._flat["public"], marker="inverted_triangle", size=8)
        self._coloured += [alone, cue]
        self.figure.add_tools(HoverTool(renderers=[cue], tooltips=[("public-only", "@y{0.0000}")]))
        self.pane = pane(self.figure)

    def _curve(self, kind: PriorKind):
        known = self._curves[kind]
        band = self.figure.varea("epsilon", y1="low", y2="high", source=known, fill_alpha=0.14)
        line = self.figure.line("epsilon", "valid", source=known, line_width=2.2, line_dash=PRIOR_DASHES[kind])
        dots = self.figure.scatter("epsilon", "valid", source=known, marker=PRIOR_MARKERS[kind], size=7, line_width=1.5)
        self._coloured += [band, line, dots]
        self.figure.add_tools(
            HoverTool(
                renderers=[dots],
                tooltips=[
                    ("prior", kind.value),
                    ("ε", "@epsilon"),
                    ("valid-CF", "@valid{0.0000} ± @valid_std{0.0000}"),
                    ("size", "@size{0.00}"),
                    ("collision", "@collision{0.0000}"),
                ],
            )
        )
        return dots

    @at_any_time
    def draw(self, rows: pd.DataFrame) -> None:
        """Show the rows of this panel, every prior, or that there are none yet."""
        waits = rows.empty
        self.figure.title.text = self._title + (" …" if waits else "")
        for kind, known in self._curves.items():
            mine = rows[rows["prior"] == kind.value].sort_values("epsilon")
            valid, spread = mine["valid"].astype(float), mine["valid_std"].astype(float)
            figures = mine.assign(low=(valid - spread).clip(0, 1), high=(valid + spread).clip(0, 1))
            known.data = {name: figures[name].tolist() for name in CURVE}
        for name, column in (("public", "public_only"), ("ceiling", "ceiling")):
            level = [] if waits else [float(rows[column].iloc[0])] * 2
            self._flat[name].data = {"x": self._ends[: len(level)], "y": level}
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette, colour: str) -> None:
        """Take the colours of a theme, and the one that tells ρ."""
        recolour_axes(self.figure, palette)
        self.figure.title.text_color = palette.ink
        self.here.line_color = palette.muted
        for drawn in self._coloured:
            for name in {"line_color", "fill_color"} & drawn.glyph.properties():
                setattr(drawn.glyph, name, colour)
        self._dots[PriorKind.UNIFORM].glyph.fill_color = palette.surface
