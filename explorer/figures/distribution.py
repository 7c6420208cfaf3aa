"""The release distribution, by rank of candidate and by level of utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import CustomJSTickFormatter, FactorRange, FixedTicker, HoverTool, LogTicker, Range1d

from core.metrics import Level
from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.palette import EMPTY_HATCH, EMPTY_MARKER, FLIP_HATCH, FLIP_MARKER, SAME_HATCH, SAME_MARKER, Palette

KINDS = ("same", "flip", "empty")
MARKERS = {"flip": FLIP_MARKER, "same": SAME_MARKER, "empty": EMPTY_MARKER}
HATCHES = {"flip": FLIP_HATCH, "same": SAME_HATCH, "empty": EMPTY_HATCH}
OUTCOMES = {"flip": "flips", "same": "does not flip", "empty": "∅, no intervention"}
EXACT_RANKS, THINNED_RANKS = 40, 260
FEWEST_BARS, MOST_BARS = 8, 18


def drawn_ranks(size: int) -> np.ndarray:
    """0-based ranks to draw: the first all, the rest evenly on a log axis, the last one always."""
    if size <= EXACT_RANKS + THINNED_RANKS:
        return np.arange(size)
    tail = np.geomspace(EXACT_RANKS, size - 1, THINNED_RANKS)
    return np.unique(np.concatenate([np.arange(EXACT_RANKS), np.rint(tail).astype(np.int64)]))


class RankFigure:
    """Probability of each candidate, most likely first, on log axes; every kind has its own marker.

    A short dash shows the prior mass of the same candidate.
    """

    def __init__(self, palette: Palette, height: int = 190) -> None:
        self.figure = plain_figure(
            height,
            "Probability of each candidate by rank",
            x_axis_type="log",
            y_axis_type="log",
            x_range=Range1d(0.8, 1e5),
            y_range=Range1d(1e-6, 1.0),
        )
        self.figure.xaxis.axis_label = "rank of the candidate"
        self.figure.yaxis.axis_label = "probability"
        self.figure.yaxis.ticker = LogTicker(mantissas=[1], desired_num_ticks=5)
        self.figure.yaxis.formatter = CustomJSTickFormatter(
            code="return tick >= 0.001 ? String(Number(tick.toPrecision(1))) : tick.toExponential(0)"
        )
        self.figure.xaxis.formatter = CustomJSTickFormatter(
            code="return Number(tick.toPrecision(1)).toLocaleString('en')"
        )
        self._sources = {kind: source("rank", "probability", "prior") for kind in KINDS}
        self._priors = [
            self.figure.scatter("rank", "prior", marker="dash", size=8, source=self._sources[kind], line_alpha=0.6)
            for kind in KINDS
        ]
        sizes = {"flip": 7, "same": 6, "empty": 14}
        self._glyphs = {
            kind: self.figure.scatter(
                "rank",
                "probability",
                marker=MARKERS[kind],
                size=sizes[kind],
                source=self._sources[kind],
                line_width=1.4,
            )
            for kind in KINDS
        }
        self.figure.add_tools(
            HoverTool(
                renderers=list(self._glyphs.values()),
                tooltips=[
                    ("rank", "@rank{0,0}"),
                    ("probability", "@probability{0.0[0000000]}"),
                    ("prior alone", "@prior{0.0[0000000]}"),
                ],
            )
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, order: np.ndarray, probability: np.ndarray, flips: np.ndarray, prior: np.ndarray) -> None:
        """Show a release.

        `order`: candidates, most likely first; `probability`, `flips`, `prior`: one a candidate; candidate 0 is ∅.
        """
        ranks = drawn_ranks(len(order))
        empty = int(np.flatnonzero(order == 0)[0])
        shown = np.union1d(ranks, [empty])
        chosen = order[shown]
        kinds = np.where(chosen == 0, "empty", np.where(flips[chosen], "flip", "same"))
        for kind in KINDS:
            places = kinds == kind
            self._sources[kind].data = {
                "rank": shown[places] + 1,
                "probability": probability[chosen[places]],
                "prior": prior[chosen[places]],
            }
        top = int(np.ceil(np.log10(max(probability[order[0]], prior.max()))))
        least = min(probability[order[-1]], prior.min())
        bottom = min(int(np.floor(np.log10(max(least, 1e-300)))), top - 2)
        _frame(self.figure.y_range, 10.0 ** (bottom - 0.15), 10.0 ** (top + 0.15))
        _frame(self.figure.x_range, 0.8, 10.0 ** (np.ceil(np.log10(max(len(order), 2))) + 0.1))
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for kind, drawn in self._glyphs.items():
            drawn.glyph.line_color = getattr(palette, kind)
            drawn.glyph.fill_color = getattr(palette, kind)
            drawn.glyph.fill_alpha = 0.35 if kind == "flip" else 1.0
        for drawn in self._priors:
            drawn.glyph.line_color = palette.ink


class LevelFigure:
    """Probability of each utility level; an outline shows what the prior alone would give it."""

    def __init__(self, palette: Palette, height: int = 190) -> None:
        self.figure = plain_figure(
            height,
            "Probability of each utility level",
            x_range=FactorRange(range_padding_units="absolute"),
            y_range=Range1d(0, 1.0),
        )
        self.figure.xaxis.axis_label = "utility of the candidate"
        self.figure.yaxis.axis_label = "probability"
        self.figure.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
        self.figure.xgrid.visible = False
        columns = ("level", "probability", "prior", "count", "outcome")
        self._sources = {kind: source(*columns) for kind in KINDS}
        self._bars = {
            kind: self.figure.vbar(
                "level",
                top="probability",
                width=0.56,
                source=self._sources[kind],
                hatch_pattern=HATCHES[kind],
                hatch_scale=5,
                line_width=1,
            )
            for kind in KINDS
        }
        self._outlines = [
            self.figure.vbar("level", top="prior", width=0.8, source=self._sources[kind], fill_color=None)
            for kind in KINDS
        ]
        self.figure.add_tools(
            HoverTool(
                renderers=list(self._bars.values()) + self._outlines,
                tooltips=[
                    ("outcome", "@outcome"),
                    ("utility", "@level"),
                    ("candidates", "@count{0,0}"),
                    ("release", "@probability{0.0000}"),
                    ("prior alone", "@prior{0.0000}"),
                ],
            )
        )
        self.pane = pane(self.figure)
        self.recolour(palette)

    @at_any_time
    def draw(self, levels: Sequence[Level], prior: Sequence[float]) -> None:
        """`levels` of the release and the prior mass of each."""
        bars = level_bars(levels, prior)
        labels = list(dict.fromkeys(bar.label for bar in reversed(bars)))
        if self.figure.x_range.factors != labels:
            self.figure.x_range.factors = labels
            self.figure.x_range.range_padding = max(0.0, (FEWEST_BARS - len(labels)) / 2)
            self.figure.xaxis.major_label_orientation = 0.9 if len(labels) > 11 else 0.0
        for kind in KINDS:
            mine = [bar for bar in bars if bar.kind == kind]
            self._sources[kind].data = {
                "level": [bar.label for bar in mine],
                "probability": [bar.probability for bar in mine],
                "prior": [bar.prior for bar in mine],
                "count": [bar.count for bar in mine],
                "outcome": [OUTCOMES[kind]] * len(mine),
            }
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        recolour_axes(self.figure, palette)
        for kind, drawn in self._bars.items():
            drawn.glyph.fill_color = drawn.glyph.line_color = getattr(palette, kind)
            drawn.glyph.hatch_color = palette.surface
        for drawn in self._outlines:
            drawn.glyph.line_color = palette.ink


@dataclass(frozen=True)
class Bar:
    """One bar of the level figure: a utility level, or a bin of many."""

    label: str
    kind: str
    count: int
    probability: float
    prior: float


def level_bars(levels: Sequence[Level], prior: Sequence[float]) -> list[Bar]:
    """One bar a level, by descending utility; bins of width 0.05 where there are more than `MOST_BARS`."""
    binned = len(levels) > MOST_BARS
    sums: dict[tuple[str, str], tuple[int, float, float]] = {}
    for level, mass in zip(levels, prior, strict=True):
        low = np.floor(level.utility / 0.05 + 1e-9) * 0.05
        label = f"{low:.2f}–" if binned and not level.empty else f"{level.utility:.4g}"
        key = (f"∅ {label}" if level.empty else label, _kind(level))
        count, probability, alone = sums.get(key, (0, 0.0, 0.0))
        sums[key] = (count + level.count, probability + level.probability, alone + mass)
    return [Bar(label, kind, *figures) for (label, kind), figures in sums.items()]


def _kind(level: Level) -> str:
    if level.empty:
        return "empty"
    return "flip" if level.flips else "same"


def _frame(axis: Range1d, start: float, end: float) -> None:
    """Move an axis only when it must, so that nothing jumps while a slider moves."""
    if (axis.start, axis.end) != (start, end):
        axis.start, axis.end = start, end
