"""The loss chain as bars: what is left after each restriction, and what it took away."""

from __future__ import annotations

from bokeh.models import FactorRange, FixedTicker, HoverTool, Range1d

from core.study.losschain import LossChain
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import Palette


def stages(chain: LossChain) -> list[tuple[str, float]]:
    """The four stages by name, from no privacy to a sampled release."""
    return [
        ("any private edge, no privacy", chain.unrestricted),
        ("public support, ρ = 1†", chain.support),
        (f"public support, ρ = {chain.rho:g}", chain.prior),
        (f"sampled at ε = {chain.epsilon:.3g}", chain.sampled),
    ]


class LossChainFigure:
    """One bar a stage; the hatched part behind it was lost at this stage."""

    def __init__(self, palette: Palette, height: int = 190) -> None:
        self.figure = plain_figure(
            height, "Flip rate left after each restriction", y_range=FactorRange(), x_range=Range1d(0, 1)
        )
        self.figure.xaxis.axis_label = "share of targets that flip"
        self.figure.xaxis.ticker = FixedTicker(ticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
        self.figure.ygrid.visible = False
        self.figure.min_border_right = 16
        self._source = source("stage", "rate", "before", "lost")
        self._left = self.figure.hbar("stage", right="rate", height=0.56, source=self._source)
        self._lost = self.figure.hbar(
            "stage", left="rate", right="before", height=0.56, source=self._source, fill_color=None, hatch_pattern="/",
            hatch_scale=6,
        )  # fmt: skip
        self.figure.add_tools(
            HoverTool(tooltips=[("", "@stage"), ("left", "@rate{0.0000}"), ("lost at this stage", "@lost{0.0000}")])
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, chain: LossChain) -> None:
        """Show a loss chain."""
        names, rates = zip(*stages(chain), strict=True)
        before = [rates[0], *rates[:-1]]
        self.figure.y_range.factors = list(reversed(names))
        self._source.data = {
            "stage": list(names),
            "rate": list(rates),
            "before": before,
            "lost": [high - low for high, low in zip(before, rates, strict=True)],
        }
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        self._left.glyph.fill_color = self._left.glyph.line_color = palette.flip
        self._lost.glyph.line_color = self._lost.glyph.hatch_color = palette.same
