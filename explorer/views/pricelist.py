"""The Price list view: what each share of public structure, each ε and each prior buys, for a population."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from core.prior.prior import PriorKind
from core.release.mechanism import Mechanism
from core.study.populations import SIZES, Population, population
from core.study.pricelist import price_list
from core.study.settings import Settings
from explorer import legend, sheets, style
from explorer.badge import badge
from explorer.figures.curves import FrontierFigure, rho_label
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.prices import (
    CEILING,
    NOTHING,
    PRIOR,
    PUBLIC,
    RHO,
    epsilon_of,
    price_rows,
    price_table,
    savings,
    savings_table,
)
from explorer.state import EPSILON_STOPS, RHO_STOPS, Desk
from explorer.views.advice import AdviceView
from explorer.views.losschain import LossChainView
from explorer.views.runner import Runner
from explorer.wording import PRIOR_WHY, PUBLIC_ONLY_WHY

_WIDTHS = {RHO: 58, PRIOR: 70, PUBLIC: 78, **dict.fromkeys([f"ε = {e:g}" for e in EPSILON_STOPS], 97), CEILING: 97}


def population_options(desk: Desk) -> dict[str, str]:
    """Populations on offer for the data set, by what the menu says."""
    named = {f"{kind.value}, {size} test nodes": kind.value for kind, size in SIZES.items()}
    if desk.dataset.targets is not None and len(desk.dataset.targets):
        named[f"listed, {len(desk.dataset.targets)} targets"] = Population.LISTED.value
    return named


class PriceListView(pn.viewable.Viewer):
    """The frontier over ε, the budget saved and a table per ρ, ε and prior; a cell of it sets all three.

    A first list shows each ρ as soon as it is priced; a later one takes the place of what is shown when it
    is complete.
    """

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._prices: pd.DataFrame | None = None
        self._priced: tuple[Any, ...] = ()
        self._complete = False
        self.population = pmui.Select(
            label="Population", options=population_options(desk), size="small", width=230, margin=(7, 12, 7, 0)
        )
        self.seeds = pmui.IntInput(
            sx=style.STEPPER,
            label="Snapshot seeds",
            value=3,
            start=1,
            end=20,
            size="small",
            width=130,
            margin=(7, 12, 7, 0),
        )
        self.runner = Runner("Compute price list", "steps (one target at one ρ and seed)", self._work)
        self._badge = badge(_NOTE)
        self._caption = _html(margin=(4, 0))
        self.table = _table()
        self.table.on_click(self._clicked)
        self._curves = FrontierFigure(palette, RHO_STOPS, EPSILON_STOPS)
        self._curves.point_at(desk.decisions.epsilon)
        options: dict[str, Any] = {"stylesheets": [style.TABLE_HTML, sheets.SAVINGS], "sizing_mode": "stretch_width"}
        self._saved = pn.pane.HTML(**options, margin=(14, 0, 0, 0))
        self._factors = pn.pane.HTML(**options, margin=(16, 0, 4, 0))
        self._results = pn.Column(
            self._caption,
            self._curves.pane,
            _html(legend.frontier()),
            self._saved,
            _html(_CLICK, margin=(8, 0, 2, 0)),
            self.table,
            self._factors,
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )
        self._empty = pn.pane.HTML(_EMPTY, stylesheets=[style.EMPTY], sizing_mode="stretch_width", margin=(8, 0))
        self.chain = LossChainView(desk, palette, self.population, self.seeds)
        self.advice = AdviceView(desk, self.population, self.seeds)
        self.runner.job.param.watch(lambda _: self._stopped(), "state")
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            self._badge,
            pn.FlexBox(self.population, self.seeds, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            self.chain,
            self.advice,
            sizing_mode="stretch_width",
            margin=0,
        )

    def open(self) -> None:
        """Compute the first price list when the view is opened, if that is a matter of seconds."""
        if self._desk.study.slow:
            self.runner.say(_FOREIGN if self._desk.study.foreign else _LARGE)
        elif self._prices is None and self.runner.job.state != "running":
            self.runner.start()

    def _work(self) -> tuple[Work, Any]:
        study, kind, settings = self._desk.study, Population.parse(self.population.value), self._settings
        seeds = [study.seed + step for step in range(self.seeds.value)]
        key = (study.dataset.digest, study.seed, settings)
        first = not self._complete
        if first:
            self._show(key, NOTHING)

        def work(progress, cancelled):
            rows = population(study, kind)
            parts = []
            for step, rho in enumerate(RHO_STOPS):
                part = price_list(
                    study,
                    rows,
                    [rho],
                    EPSILON_STOPS,
                    seeds,
                    settings,
                    kind.value,
                    list(PriorKind),
                    progress=lambda done, total, step=step: progress(step * total + done, len(RHO_STOPS) * total),
                    cancelled=cancelled,
                )
                parts.append(part)
                known = pd.concat(parts, ignore_index=True)
                if first:
                    self.runner.job.hand(lambda known=known: self._show(key, known))
            return known

        return work, lambda prices: self._show(key, prices, complete=True)

    @property
    def _settings(self) -> Settings:
        """The present settings, as far as a price list depends on them: it shows every prior."""
        now = self._desk.decisions.settings
        return replace(now, mechanism=Mechanism.EM, prior=replace(now.prior, kind=PriorKind.UNIFORM))

    def _show(self, key: tuple[Any, ...], prices: pd.DataFrame, complete: bool = False) -> None:
        """Show what is priced so far; nothing of a data set that has left the desk meanwhile."""
        if key[0] != self._desk.dataset.digest:
            return
        self._priced, self._prices, self._complete = key, prices, complete
        self._caption.object = f"<h3>{escape(_caption(prices, self._desk.dataset.title))}</h3>"
        self._curves.draw(prices)
        self.table.value = price_table(prices, RHO_STOPS, EPSILON_STOPS)
        self._saved.object = savings(prices, RHO_STOPS)
        self._factors.object = savings_table(prices)
        self._empty.visible, self._results.visible = False, True
        if complete:
            self._say_what_for()

    def _stopped(self) -> None:
        """After a first list was cancelled or failed: what is there of it, or the empty view."""
        state = self.runner.job.state
        if state not in ("cancelled", "failed") or self._complete:
            return
        said = "Cancelled."
        if self._prices is None:
            said = ""  # with the data set it was for
        elif self._prices.empty:
            self._clear()
        else:
            said += f" Priced so far: {', '.join(rho_label(float(rho)) for rho in self._prices['rho'].unique())}."
        if state == "cancelled":
            self.runner.say(said)

    def _clear(self) -> None:
        self._prices, self._complete = None, False
        self._empty.visible, self._results.visible = True, False

    def _moved(self) -> None:
        self._curves.point_at(self._desk.decisions.epsilon)
        options = population_options(self._desk)
        if options != self.population.options:
            self.population.param.update(options=options, value=next(iter(options.values())))
        if self._prices is None:
            return
        if self._priced[0] != self._desk.dataset.digest:
            self.runner.job.cancel()
            self._clear()
            self.runner.say("")
        elif self._complete and self.runner.job.state != "running":
            self._say_what_for()

    def _say_what_for(self) -> None:
        """Under the buttons: which settings the table is for, and whether they are still the present ones."""
        _, seed, settings = self._priced
        penalty = f", size penalty {settings.prior.size_penalty:g}" if settings.prior.size_penalty else ""
        text = (
            f"For the {settings.arm.value} arm, exponential mechanism, "
            f"{settings.utility.sensitivity} sensitivity{penalty}."
        )
        if (seed, settings) != (self._desk.study.seed, self._settings):
            text += " The settings have changed since: compute again for the present ones."
        self.runner.say(text)

    def _clicked(self, event) -> None:
        epsilon = epsilon_of(event.column)
        rho, kind = price_rows(RHO_STOPS)[event.row]
        changes = {"rho": rho, "prior": kind.value}
        self._desk.choose(**(changes if epsilon is None else changes | {"epsilon": epsilon}))

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self._curves.recolour(palette)
        self.chain.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def _table() -> pn.widgets.Tabulator:
    shown = price_table(NOTHING, RHO_STOPS, EPSILON_STOPS)
    right = dict.fromkeys(shown.columns[2:], "right")
    return pn.widgets.Tabulator(
        shown,
        show_index=False,
        disabled=True,
        selectable=False,
        sortable=False,
        theme="simple",
        layout="fit_data_fill",
        sizing_mode="stretch_width",
        stylesheets=[style.TABLE, _CLICKABLE],
        margin=0,
        configuration={"rowHeight": 28},
        css_classes=["price-table"],
        text_align=right,
        header_align=right,
        widths=_WIDTHS,
        header_tooltips={
            PRIOR: PRIOR_WHY,
            PUBLIC: f"Valid-CF of {PUBLIC_ONLY_WHY}.",
            CEILING: "Share of targets that some candidate flips: no budget can do better.",
        },
    )


def _html(text: str = "", **options: Any) -> pn.pane.HTML:
    return pn.pane.HTML(
        text, stylesheets=[style.LEGEND], **{"sizing_mode": "stretch_width", "margin": (2, 0), **options}
    )


def _caption(prices: pd.DataFrame, title: str) -> str:
    if prices.empty:
        return f"Valid-CF over ε on {title}"
    first = prices.iloc[0]
    seeds = f"{first['seeds']} snapshot {'seeds' if first['seeds'] > 1 else 'seed'}"
    return f"Valid-CF over ε, mean ± std over {seeds}, {first['targets']} {first['population']} targets of {title}"


_NOTE = "Ceilings and valid-CF read private edges; stratified and borderline populations are chosen by private margins."
_CLICK = '<h3>Valid-CF <span class="quiet">Click a value to set ε, ρ and the prior. † never certified.</span></h3>'
_EMPTY = (
    "<p><b>No price list yet.</b> Choose a population and compute it: what every ρ and ε buys under the uniform and "
    "the guided prior, and what the public can do alone.</p>"
)
_LARGE = "A graph of this size takes minutes to price: what the public knows is worked out for each ρ and seed."
_FOREIGN = (
    "This model is scored by forward passes: seconds to minutes for each target, ρ and seed. Take a small population "
    "and one seed; what has been scored stays."
)
_CLICKABLE = """
.tabulator-row .tabulator-cell { padding: 4px 5px !important; font-size: 12.5px !important; line-height: 20px; }
.tabulator-row .tabulator-cell { cursor: pointer; }
.tabulator-row, .tabulator-row .tabulator-cell { min-height: 28px !important; }
.tabulator .tabulator-col.empty { visibility: hidden; }
.tabulator .tabulator-col-title { font-size: 12.5px !important; }
.tabulator .tabulator-col .tabulator-col-content { padding: 4px 5px !important; }
.tabulator-row .tabulator-cell:hover { text-decoration: underline; }
.tabulator-row:nth-child(odd) { border-bottom-color: transparent !important; }
"""
