"""Frontier curves: valid-CF over ε, one line per share of public structure, with the spread over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import panel as pn
from bokeh.models import FixedTicker, Span

from explorer.figures.base import push, recolour_axes
from explorer.palette import RHO_DASHES, RHO_MARKERS, Palette

if TYPE_CHECKING:
    import holoviews as hv


def rho_label(rho: float) -> str:
    """`ρ = 0.5`; the upper reference bears a dagger."""
    return f"ρ = {rho:g}" + ("†" if rho == 1 else "")


class FrontierFigure:
    """Curves of a price list, with an upright line at the present ε that moves without a new drawing."""

    def __init__(self, height: int = 310) -> None:
        self._height = height
        self._here = Span(dimension="height", line_dash="dashed", line_width=1.5)
        self.pane = pn.pane.HoloViews(sizing_mode="stretch_width", min_height=height, margin=0)

    def draw(self, prices: pd.DataFrame, palette: Palette) -> None:
        """Show a price list (`core.study.pricelist`) in the colours of a theme."""
        import holoviews as hv  # loaded when it is needed: the explorer starts sooner

        self._here = Span(
            location=self._here.location,
            dimension="height",
            line_dash="dashed",
            line_width=1.5,
            line_color=palette.muted,
        )
        self.pane.object = frontier_curves(prices, palette, self._height).opts(
            hv.opts.Overlay(hooks=[lambda plot, _: _finish(plot.state, prices, palette, self._here)])
        )

    def point_at(self, epsilon: float) -> None:
        """Move the upright line."""
        self._here.location = epsilon
        push(self.pane)


def frontier_curves(prices: pd.DataFrame, palette: Palette, height: int = 310) -> hv.Overlay:
    """Mean valid-CF over ε with mean ± std behind each line; a dotted line shows each ceiling.

    Colour, dash and marker all tell ρ.
    """
    import holoviews as hv

    hv.renderer("bokeh")
    hv.Store.set_current_backend("bokeh")
    rhos = sorted(prices["rho"].unique())
    low, high = float(prices["epsilon"].min()), float(prices["epsilon"].max())
    style = {
        rho: (palette.rho_colour(k, len(rhos)), RHO_DASHES[k % len(RHO_DASHES)], RHO_MARKERS[k % len(RHO_MARKERS)])
        for k, rho in enumerate(rhos)
    }
    bands, lines = [], []
    for rho in rhos:
        rows = prices[prices["rho"] == rho].sort_values("epsilon")
        colour, dash, marker = style[rho]
        x, y, spread = rows["epsilon"], rows["valid"], rows["valid_std"]
        if spread.any():
            band = hv.Area((x, (y - spread).clip(0, 1), (y + spread).clip(0, 1)), "ε", ["valid", "top"])
            bands.append(band.opts(color=colour, alpha=0.16, line_alpha=0))
        lines += [
            hv.Curve((x, y), "ε", "valid", label=rho_label(rho)).opts(color=colour, line_dash=dash, line_width=2.5),
            hv.Scatter((x, y, spread), "ε", ["valid", "std"], label=rho_label(rho)).opts(
                color=colour,
                marker=marker,
                size=9,
                tools=["hover"],
                hover_tooltips=[
                    ("", rho_label(rho)),
                    ("ε", "@{ε}"),
                    ("valid-CF", "@valid{0.0000}"),
                    ("std", "@std{0.0000}"),
                ],
            ),
        ]
    tops = prices.groupby("rho")["ceiling"].first()
    ceilings = hv.Segments(
        [(low, tops[rho], high, tops[rho], style[rho][0]) for rho in rhos], ["ε", "valid", "to", "at"], "colour"
    ).opts(color="colour", line_dash="dotted", line_width=1.5)
    return hv.Overlay([*bands, ceilings, *lines]).opts(
        hv.opts.Overlay(
            logx=True,
            xlim=(low / 1.12, high * 1.12),
            ylim=(0, 1.02),
            responsive=True,
            height=height,
            show_grid=True,
            xlabel="privacy budget ε",
            ylabel="valid-CF, share of releases",
            legend_position="right",
            default_tools=[],
        )
    )


def _finish(figure: Any, prices: pd.DataFrame, palette: Palette, here: Span) -> None:
    """Bokeh details that HoloViews has no option for."""
    figure.toolbar_location = None
    if here not in figure.center:
        figure.add_layout(here)
    recolour_axes(figure, palette)
    figure.xaxis.ticker = FixedTicker(ticks=sorted(prices["epsilon"].unique()))
    figure.axis.minor_tick_line_color = None
    figure.axis.axis_label_text_font_size, figure.axis.major_label_text_font_size = "12px", "11px"
    figure.legend.background_fill_alpha = 0.0
    figure.legend.border_line_color = None
    figure.legend.label_text_color = palette.ink
    figure.legend.label_text_font_size = "12px"
