"""The ego graph: who is tied to the target, what of it is public, and what an intervention would cut."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from bokeh.models import CustomJSHover, DataRange1d, HoverTool, TapTool

from explorer.figures.base import at_any_time, pane, plain_figure, push, recolour_axes, source
from explorer.layout import SECOND_RADIUS, EgoLayout
from explorer.palette import Palette

LABELLED = 16
LABEL_GAP = 0.16
CROWD = 60
STYLES: dict[str, dict[str, object]] = {
    "context": {"line_width": 1, "line_alpha": 0.35},
    "lost": {"line_width": 1, "line_dash": [1, 5]},
    "private": {"line_width": 1.2},
    "public": {"line_width": 4.5},
    "absent": {"line_width": 3, "line_dash": [7, 5]},
    "false": {"line_width": 2, "line_dash": [2, 4]},
    "marked": {"line_width": 2},
}
TIE_NAMES = {
    "private": "private edge",
    "public": "public candidate",
    "absent": "public, no longer an edge",
    "false": "made up by the noise",
    "lost": "lost in the noise",
}
NODE_SHAPES = {"target": "square", "same": "circle", "runner-up": "diamond", "other": "circle"}


@dataclass(frozen=True, eq=False)
class EgoView:
    """What one ego graph shows, beside where.

    `ids`, `classes`, `degrees`, `kinds`: one entry per node of `layout`; a kind is a key of
    `NODE_SHAPES`. `ties`: for each key of `STYLES` but context and marked, the pairs of places in the layout
    (k x 2) that a tie of that kind joins.
    """

    layout: EgoLayout
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    degrees: tuple[int, ...]
    kinds: tuple[str, ...]
    ties: dict[str, np.ndarray]


class EgoFigure:
    """One figure, patched in place; `draw` for a new target or snapshot, `mark` for an intervention."""

    def __init__(
        self, palette: Palette, description: str, height: int = 380, extent: float = SECOND_RADIUS + 0.12
    ) -> None:
        self.figure = plain_figure(
            height,
            description,
            x_axis_type=None,
            y_axis_type=None,
            match_aspect=True,
            x_range=DataRange1d(range_padding=0),
            y_range=DataRange1d(range_padding=0),
        )
        self.figure.grid.visible = False
        self.figure.min_border = 0
        corners = self.figure.scatter([-extent, extent], [-extent, extent], alpha=0)
        self.figure.x_range.renderers = self.figure.y_range.renderers = [corners]
        ends = ("x0", "y0", "x1", "y1")
        self._ties = {name: source(*ends) for name in STYLES}
        self._nodes = source("x", "y", "id", "class", "degree", "tie", "row", "shape", "size", "fill")
        self._labels = source("x", "y", "text", "dx", "dy", "align")
        self._ends, self._cuts = source("x", "y", "size"), source("x", "y")
        self._view: EgoView | None = None
        self._flips = False
        self._listener: Callable[[int], None] | None = None
        self._build()
        self.pane = pane(self.figure)
        self.recolour(palette)

    def _build(self) -> None:
        line = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1"}
        self._lines = {
            name: self.figure.segment(**line, source=self._ties[name], line_cap="butt", **style)
            for name, style in STYLES.items()
        }
        self._node_glyph = self.figure.scatter(
            "x", "y", marker="shape", size="size", source=self._nodes, fill_color="fill", line_width=1.5
        )
        self._node_glyph.nonselection_glyph = self._node_glyph.selection_glyph = None
        self._end_glyph = self.figure.scatter("x", "y", size="size", source=self._ends, fill_color=None, line_width=3)
        self._cut_glyph = self.figure.scatter("x", "y", marker="x", size=15, source=self._cuts, line_width=3.5)
        self._text = self.figure.text(
            "x",
            "y",
            text="text",
            x_offset="dx",
            y_offset="dy",
            text_align="align",
            source=self._labels,
            text_baseline="middle",
            text_font_size="12px",
        )
        self.figure.add_tools(
            HoverTool(
                renderers=[self._node_glyph],
                tooltips=[("node", "@id"), ("predicted", "@class"), ("degree", "@degree"), ("tie", "@tie{safe}")],
                formatters={"@tie": CustomJSHover(code="return value || 'two hops away'")},
            ),
            TapTool(renderers=[self._node_glyph]),
        )
        self._nodes.selected.on_change("indices", self._tapped)

    def on_tap(self, listener: Callable[[int], None]) -> None:
        """Call `listener` with the row of a node that was clicked."""
        self._listener = listener

    def _tapped(self, attr: str, old: list[int], new: list[int]) -> None:
        if new and self._listener:
            row = int(self._nodes.data["row"][new[0]])
            self._nodes.selected.indices = []
            self._listener(row)

    @at_any_time
    def draw(self, view: EgoView) -> None:
        """Show another target, snapshot or graph; the mark is taken off."""
        self._view = view
        layout = view.layout
        at = np.stack([layout.x, layout.y], axis=1)
        between = at[layout.ties]
        self._ties["context"].data = _segments(between[:, 0], between[:, 1])
        names = ["" for _ in view.ids]
        for kind in self._ties.keys() - view.ties.keys() - {"context", "marked"}:
            self._ties[kind].data = _segments(at[:0], at[:0])  # nothing of the last picture stays
        for kind, pairs in view.ties.items():
            self._ties[kind].data = _segments(at[pairs[:, 0]], at[pairs[:, 1]])
            own = (pairs == 0).any(axis=1)
            for place in pairs[own].sum(axis=1):
                names[place] = TIE_NAMES[kind]
            for place in np.unique(pairs[~own]):
                if layout.ring[place] == 2:
                    names[place] = f"two hops away, {TIE_NAMES[kind]}"
        crowd = int((layout.ring == 1).sum()) > CROWD
        self._lines["private"].glyph.line_alpha = 0.35 if crowd else 1.0
        names[0] = "the target"
        self._nodes.data = {
            "x": layout.x,
            "y": layout.y,
            "id": list(view.ids),
            "class": list(view.classes),
            "degree": list(view.degrees),
            "tie": names,
            "row": layout.rows,
            "shape": [NODE_SHAPES[kind] for kind in view.kinds],
            "size": _sizes(layout),
            "fill": self._fills(view),
        }
        self._labels.data = _labels(view)
        self.mark(np.empty((0, 2), dtype=np.int64), False)

    @at_any_time
    def mark(self, pairs: np.ndarray, flips: bool) -> None:
        """Mark `pairs` (k x 2 rows) as cut: a coloured core, a cross, a ring at both ends; those drawn only."""
        self._flips = flips
        if self._view is None:
            return
        layout = self._view.layout
        places = layout.places(pairs)
        at = np.stack([layout.x, layout.y], axis=1)
        start, stop = at[places[:, 0]], at[places[:, 1]]
        self._ties["marked"].data = _segments(start, stop)
        middle = (start + stop) / 2
        self._cuts.data = {"x": middle[:, 0], "y": middle[:, 1]}
        sizes = _sizes(layout)
        ringed = np.unique(places)
        self._ends.data = {"x": layout.x[ringed], "y": layout.y[ringed], "size": sizes[ringed] + 11}
        self._colour_mark()
        push(self.pane)

    @at_any_time
    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self._palette = palette
        recolour_axes(self.figure, palette)
        colours = {
            "context": palette.muted,
            "lost": palette.muted,
            "private": palette.ink,
            "public": palette.public,
            "absent": palette.public,
            "false": palette.noise,
        }
        for name, colour in colours.items():
            self._lines[name].glyph.line_color = colour
        self._node_glyph.glyph.line_color = palette.ink
        self._text.glyph.text_color = palette.ink
        if self._view is not None:
            self._nodes.data = {**self._nodes.data, "fill": self._fills(self._view)}
        self._colour_mark()

    def _colour_mark(self) -> None:
        colour = self._palette.flip if self._flips else self._palette.same
        for glyph in (self._lines["marked"].glyph, self._end_glyph.glyph, self._cut_glyph.glyph):
            glyph.line_color = colour

    def _fills(self, view: EgoView) -> list[str]:
        fill = {
            "target": self._palette.ink,
            "same": self._palette.same,
            "runner-up": self._palette.surface,
            "other": self._palette.surface,
        }
        return [fill[kind] for kind in view.kinds]


def _segments(start: np.ndarray, stop: np.ndarray) -> dict[str, np.ndarray]:
    return {"x0": start[:, 0], "y0": start[:, 1], "x1": stop[:, 0], "y1": stop[:, 1]}


def _sizes(layout: EgoLayout) -> np.ndarray:
    crowd = max(int((layout.ring == 1).sum()), 1)
    first = float(np.clip(480 / crowd, 4, 13))
    return np.array([17.0, first, min(first, 6.0)])[layout.ring]


def _labels(view: EgoView) -> dict[str, list]:
    """Ids of the target and the candidates' ends; of the whole first ring while it is small."""
    layout = view.layout
    first = np.flatnonzero(layout.ring == 1)
    named = first if len(first) <= LABELLED else _thick(view)
    free = _widest_gap(layout.angle[first])
    cosine, sine = np.cos(layout.angle[named]), np.sin(layout.angle[named])
    further = _crowded(layout.angle[named])
    align = np.where(cosine > 0.35, "left", np.where(cosine < -0.35, "right", "center"))
    return {
        "x": [0.0, *layout.x[named]],
        "y": [0.0, *layout.y[named]],
        "text": [view.ids[0], *(view.ids[place] for place in named)],
        "dx": [26 * np.cos(free), *((16 + 58 * further) * cosine)],
        "dy": [-22 * np.sin(free), *(-(16 + 14 * further) * sine)],
        "align": ["center" if abs(np.cos(free)) < 0.5 else "left" if np.cos(free) > 0 else "right", *align],
    }


def _crowded(angles: np.ndarray) -> np.ndarray:
    """1 for every other label of a run that stands too close, which moves it outwards; else 0."""
    further = np.zeros(len(angles))
    order = np.argsort(angles)
    for before, place in itertools.pairwise(order):
        if angles[place] - angles[before] < LABEL_GAP and not further[before]:
            further[place] = 1.0
    return further


def _widest_gap(angles: np.ndarray) -> float:
    """Direction in the middle of the widest gap between ties, where the target's label is in nobody's way."""
    if not len(angles):
        return -np.pi / 2
    ordered = np.sort(np.mod(angles, 2 * np.pi))
    gaps = np.diff(ordered, append=ordered[0] + 2 * np.pi)
    widest = int(gaps.argmax())
    return float(ordered[widest] + gaps[widest] / 2)


def _thick(view: EgoView) -> np.ndarray:
    """Places of the nodes in the first ring at the ends of public candidates."""
    places = [view.ties[kind].ravel() for kind in ("public", "absent") if kind in view.ties]
    ends = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *places]))
    return ends[view.layout.ring[ends] == 1]
