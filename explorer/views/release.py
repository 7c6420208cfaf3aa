"""The Release view: what one release would say, how often, and what it gives away."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui

from core.metrics import Metrics, levels
from core.prior.prior import PriorKind
from core.study.inspection import Candidate, Inspection
from explorer import legend, style
from explorer.badge import badge, badge_text
from explorer.ego import ego_view, layout_of
from explorer.figures.distribution import LevelFigure, RankFigure
from explorer.figures.ego import EgoFigure
from explorer.palette import Palette
from explorer.state import Desk
from explorer.views.reach import ReachLine
from explorer.wording import CARDS, OTHER_PRIOR_WHY, PUBLIC_ONLY_WHY, Card, snapshot_note, two_digits

MOST = 25
_RIGHT: Any = {name: "right" for name in ("rank", "size", "utility", "probability")}


class ReleaseView(pn.viewable.Viewer):
    """Number cards, ego graph, distribution and candidates of the present inspection."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._drawn: Any = None
        self._layout_key: Any = None
        self._keys: list[tuple[int, int]] = []
        self._tabled: Any = None
        self._candidates: list[Candidate] = []
        self.ego = EgoFigure(palette, "Ego graph of the target", height=320)
        self.rank = RankFigure(palette, height=170)
        self.level = LevelFigure(palette, height=164)
        self.cards = _html(style.CARDS, css_classes=["cards-pane"])
        self.reach = ReachLine(desk)
        self._note = badge()
        self._mark = _html(style.TEXT, css_classes=["marked"])
        self._legend = _html(style.LEGEND)
        self._kinds = _html(style.LEGEND, legend.kinds())
        self.table = pn.widgets.Tabulator(
            _frame([]),
            show_index=False,
            disabled=True,
            selectable=1,
            layout="fit_columns",
            theme="simple",
            sizing_mode="stretch_width",
            stylesheets=[style.TABLE],
            sortable=False,
            css_classes=["candidates"],
            margin=0,
            configuration={"rowHeight": 30, "columnDefaults": {"tooltip": True}},
            widths={"rank": 56, "ties cut": 165, "size": 52, "outcome": 220, "utility": 76, "probability": 104},
            formatters={"probability": {"type": "money", "precision": 8}, "utility": {"type": "money", "precision": 4}},
            text_align=_RIGHT,
            header_align=_RIGHT,
        )
        self.rank_marked = pmui.IntInput(
            sx=style.STEPPER,
            label="Mark rank",
            value=1,
            start=1,
            end=MOST,
            size="small",
            width=110,
            margin=(8, 0, 4, 0),
        )
        self.rank_marked.param.watch(lambda event: self.select(event.new - 1), "value")
        self.ego.on_tap(lambda row: desk.choose(target=row))
        self.table.on_click(lambda event: self.select(event.row))
        desk.param.watch(lambda _: self._show(), "inspection")
        self._view = self._arrange()
        self.recolour(palette)
        self._show()

    def _arrange(self) -> pn.Column:
        options: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
        left = pn.Column(_heading("Ego graph"), self.ego.pane, self._mark, self._legend, **options)
        right = pn.Column(_heading("Release distribution"), self.rank.pane, self.level.pane, self._kinds, **options)
        return pn.Column(
            self._note,
            self.cards,
            self.reach,
            pn.Column(left, right, stylesheets=[style.TWO_COLUMNS], **{**options, "margin": (4, 0, 0, 0)}),
            pn.FlexBox(
                self.rank_marked,
                _heading(
                    f"The {MOST} most likely candidates",
                    "A row marks its intervention in the ego graph.",
                    margin=(18, 12),
                ),
                margin=(6, 0, 0, 0),
            ),
            self.table,
            **options,
        )

    def select(self, place: int) -> None:
        """Mark the candidate in row `place` of the table."""
        if 0 <= place < len(self._candidates):
            chosen = self._candidates[place]
            self._desk.decisions.marked = (chosen.edges, chosen.features)
            self._show_mark()

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for drawn in (self.ego, self.rank, self.level):
            drawn.recolour(palette)

    def _show(self) -> None:
        seen, study = self._desk.inspection, self._desk.study
        target = seen.universe.target
        key = (study.dataset.digest, study.seed, target, seen.settings.limits, seen.settings.arm)
        if self._layout_key != key:
            self._layout, self._layout_key = layout_of(study, seen), key
            self._drawn = None
        if self._drawn != seen.universe.digest:
            self._drawn = seen.universe.digest
            self.ego.draw(ego_view(study, seen, self._layout))
            self._legend.object = legend.ties(self._layout.hidden)
        self._note.object = badge_text(
            snapshot_note(seen.simulated, seen.rho, study.seed, seen.disclosed, seen.disclosed_ties)
        )
        self.cards.object = _cards(seen, *self._desk.other_prior)
        probability = seen.distribution.probability.ravel()
        flips = seen.scores.flips.ravel()
        order = np.argsort(-probability, kind="stable")
        self.rank.draw(order, probability, flips, seen.distribution.prior.mass.ravel())
        self.level.draw(seen.levels, _prior_levels(seen))
        self._show_candidates()

    def _show_candidates(self) -> None:
        self._candidates = self._desk.candidates(MOST)
        keys = [candidate.index for candidate in self._candidates]
        if keys == self._keys and self._drawn == self._tabled:
            self.table.patch({"probability": [(slice(0, len(keys)), [c.probability for c in self._candidates])]})
        else:
            self.table.value = _frame(self._candidates)
            self._keys, self._tabled = keys, self._drawn
        self._show_mark()

    def _show_mark(self) -> None:
        wanted = self._desk.decisions.marked
        place = next((k for k, c in enumerate(self._candidates) if (c.edges, c.features) == wanted), 0)
        chosen = self._candidates[place]
        if self.table.selection != [place]:
            self.table.selection = [place]
        self.rank_marked.param.update(value=place + 1, end=len(self._candidates))
        pairs, _ = self._desk.inspection.universe.members(*chosen.index)
        self.ego.mark(pairs, chosen.flips)
        self._mark.object = f'<p class="quiet two-lines" id="marked">{_marked_text(chosen)}</p>'

    def __panel__(self) -> pn.Column:
        return self._view


def _cards(seen: Inspection, other: PriorKind, under: Metrics) -> str:
    names = {"k_max": seen.settings.limits.k_max, "runner_up": seen.dataset.nodes.classes[seen.scores.runner_up]}
    cells = []
    for card in CARDS:
        value = getattr(seen.metrics, card.key)
        definition, beside = escape(card.definition.format(**names)), ""
        if card.compared:
            definition += (
                f"<br>public-only: {PUBLIC_ONLY_WHY}.<br>{other.value}: {OTHER_PRIOR_WHY.format(prior=other.value)}."
            )
            beside = _beside(card, "public-only", seen.public_only) + _beside(card, other.value, under)
        cells.append(
            f'<dl class="card" id="card-{card.key}" tabindex="0" data-value="{"" if value is None else repr(value)}">'
            f"<dt>{card.name}</dt><dd>{escape(card.text(value))}</dd><small>{card.unit.format(**names)}</small>"
            f'{beside}<span role="tooltip">{definition}</span></dl>'
        )
    return f'<div class="cards">{"".join(cells)}</div>'


def _beside(card: Card, name: str, metrics: Metrics) -> str:
    """A line of a card: the same figure of something that the release is held against."""
    value = getattr(metrics, card.key)
    return f'<div class="beside" data-value="{value!r}"><dt>{name}</dt><dd>{escape(card.text(value))}</dd></div>'


def _prior_levels(seen: Inspection) -> list[float]:
    """Prior mass of each level, in the order of `seen.levels`."""
    alone = replace(seen.distribution, probability=seen.distribution.prior.mass)
    return [level.probability for level in levels(alone, seen.scores)]


def _frame(candidates: list[Candidate]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "rank": [c.rank for c in candidates],
            "ties cut": [", ".join(f"{u}–{w}" for u, w in c.edges) or "none" for c in candidates],
            "features masked": [", ".join(c.features) or "none" for c in candidates],
            "size": [len(c.edges) + len(c.features) for c in candidates],
            "outcome": [_outcome(c) for c in candidates],
            "utility": [c.utility for c in candidates],
            "probability": [c.probability for c in candidates],
        }
    )


def _outcome(candidate: Candidate) -> str:
    if candidate.empty:
        return "∅ no intervention"
    return f"● flips to {candidate.predicted}" if candidate.flips else "× no flip"


def _marked_text(candidate: Candidate) -> str:
    if candidate.empty:
        return "Marked: ∅, a release that names no intervention."
    parts = []
    if candidate.edges:
        parts.append("cuts " + " and ".join(f"{escape(u)}–{escape(w)}" for u, w in candidate.edges))
    if candidate.features:
        parts.append("masks " + ", ".join(map(escape, candidate.features)))
    outcome = f"flips to {escape(candidate.predicted)}" if candidate.flips else "does not flip"
    return f"Marked: {', '.join(parts)}; {outcome}; probability {two_digits(candidate.probability)}."


def _heading(title: str, note: str = "", **options: Any) -> pn.pane.HTML:
    text = f'<h3>{title} <span class="quiet">{note}</span></h3>'
    return _html(style.LEGEND, text, **{"margin": (10, 0, 2, 0), **options})


def _html(sheet: str, text: str = "", **options: Any) -> pn.pane.HTML:
    return pn.pane.HTML(text, stylesheets=[sheet], **{"sizing_mode": "stretch_width", "margin": 0, **options})
