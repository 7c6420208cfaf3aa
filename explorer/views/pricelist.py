"""The Price list view: what each share of public structure and each ε buys, for a population."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from core.release.mechanism import Mechanism
from core.study.populations import SIZES, Population, population
from core.study.pricelist import price_list
from core.study.settings import Settings
from explorer import style
from explorer.badge import badge
from explorer.figures.curves import FrontierFigure, rho_label
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.state import EPSILON_STOPS, RHO_STOPS, Desk
from explorer.views.losschain import LossChainView
from explorer.views.runner import Runner

PUBLIC, CEILING, RHO = "prior alone", "ceiling", "share"


def population_options(desk: Desk) -> dict[str, str]:
    """Populations on offer for the data set, by what the menu says."""
    named = {f"{kind.value}, {size} test nodes": kind.value for kind, size in SIZES.items()}
    if desk.dataset.targets is not None and len(desk.dataset.targets):
        named[f"listed, {len(desk.dataset.targets)} targets"] = Population.LISTED.value
    return named


class PriceListView(pn.viewable.Viewer):
    """A table of ceiling and valid-CF per ρ and ε, and the frontier over ε; a cell sets both."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._palette = palette
        self._prices: pd.DataFrame | None = None
        self._priced: tuple[Any, ...] = ()
        self.population = pmui.Select(
            label="Population", options=population_options(desk), size="small", width=230, margin=(7, 12, 7, 0)
        )
        self.seeds = pmui.IntInput(
            label="Snapshot seeds", value=3, start=1, end=20, size="small", width=130, margin=(7, 12, 7, 0)
        )
        self.runner = Runner("Compute price list", "target scorings", self._work)
        self._badge = badge(_NOTE)
        self._caption = pn.pane.HTML(stylesheets=[style.LEGEND], sizing_mode="stretch_width", margin=(4, 0))
        self.table = pn.widgets.Tabulator(
            pd.DataFrame(),
            show_index=False,
            disabled=True,
            selectable=False,
            sortable=False,
            theme="simple",
            layout="fit_data_fill",
            sizing_mode="stretch_width",
            stylesheets=[style.TABLE, _CLICKABLE],
            margin=0,
            configuration={"rowHeight": 30},
            css_classes=["price-table"],
        )
        self.table.on_click(self._clicked)
        self._curves = FrontierFigure()
        self._curves.point_at(desk.decisions.epsilon)
        self._results = pn.Column(
            self._caption, self.table, self._curves.pane, sizing_mode="stretch_width", margin=0, visible=False
        )
        self._empty = pn.pane.HTML(_EMPTY, stylesheets=[style.EMPTY], sizing_mode="stretch_width", margin=(8, 0))
        self.chain = LossChainView(desk, palette, self.population, self.seeds)
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            self._badge,
            pn.FlexBox(self.population, self.seeds, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            self.chain,
            sizing_mode="stretch_width",
            margin=0,
        )

    def open(self) -> None:
        """Compute the first price list when the view is opened: it is a matter of a second."""
        if self._prices is None:
            self.runner.start()

    def _work(self) -> tuple[Work, Any]:
        study, kind = self._desk.study, Population.parse(self.population.value)
        settings = self._settings
        seeds = [study.seed + step for step in range(self.seeds.value)]

        def work(progress, cancelled):
            return (study.dataset.digest, study.seed, settings), price_list(
                study,
                population(study, kind),
                RHO_STOPS,
                EPSILON_STOPS,
                seeds,
                settings,
                kind.value,
                progress,
                cancelled,
            )

        return work, self._finish

    @property
    def _settings(self) -> Settings:
        return replace(self._desk.decisions.settings, mechanism=Mechanism.EM)

    def _finish(self, result: tuple[tuple[Any, ...], pd.DataFrame]) -> None:
        self._priced, self._prices = result
        first = self._prices.iloc[0]
        self._caption.object = (
            f"<h3>Valid-CF, mean ± std over {first['seeds']} snapshot {'seeds' if first['seeds'] > 1 else 'seed'}, "
            f"{first['targets']} {first['population']} targets of {escape(self._desk.dataset.title)}</h3>"
            '<p class="quiet">Click a value to set ε and ρ. Dotted lines: ceilings; upright dashes: the present ε. '
            "† never certified.</p>"
        )
        shown = price_table(self._prices)
        right = dict.fromkeys(shown.columns[1:], "right")
        widths = {RHO: 66, PUBLIC: 86, **dict.fromkeys(shown.columns[2:], 107)}
        self.table.param.update(value=shown, text_align=right, header_align=right, widths=widths)
        self._draw()
        self._empty.visible, self._results.visible = False, True
        self._say_what_for()

    def _draw(self) -> None:
        if self._prices is not None:
            self._curves.draw(self._prices, self._palette)

    def _moved(self) -> None:
        self._curves.point_at(self._desk.decisions.epsilon)
        options = population_options(self._desk)
        if options != self.population.options:
            self.population.param.update(options=options, value=next(iter(options.values())))
        if self._prices is None:
            return
        if self._priced[0] != self._desk.dataset.digest:
            self._prices = None
            self._empty.visible, self._results.visible = True, False
            self.runner.say("")
        elif self.runner.job.state != "running":
            self._say_what_for()

    def _say_what_for(self) -> None:
        """Under the buttons: which settings the table is for, and whether they are still the present ones."""
        _, seed, settings = self._priced
        text = (
            f"For the {settings.arm.value} arm, exponential mechanism, uniform prior, "
            f"{settings.utility.sensitivity} sensitivity."
        )
        if (seed, settings) != (self._desk.study.seed, self._settings):
            text += " The settings have changed since: compute again for the present ones."
        self.runner.say(text)

    def _clicked(self, event) -> None:
        epsilon = epsilon_of(event.column)
        if self._prices is not None:
            rho = sorted(self._prices["rho"].unique())[event.row]
            changes = {"rho": float(rho)} if epsilon is None else {"rho": float(rho), "epsilon": epsilon}
            self._desk.choose(**changes)

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self._palette = palette
        self._draw()
        self.chain.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def price_table(prices: pd.DataFrame) -> pd.DataFrame:
    """One row per ρ: the prior alone, valid-CF at each ε, the ceiling; exact to four decimals."""
    rows = []
    for rho, group in prices.groupby("rho", sort=True):
        row: dict[str, str] = {RHO: rho_label(float(rho)), PUBLIC: f"{group['public_only'].iloc[0]:.4f}"}
        for _, cell in group.sort_values("epsilon").iterrows():
            row[f"ε = {cell['epsilon']:g}"] = _with_spread(cell["valid"], cell["valid_std"])
        row[CEILING] = _with_spread(group["ceiling"].iloc[0], group["ceiling_std"].iloc[0])
        rows.append(row)
    return pd.DataFrame(rows)


def epsilon_of(column: str) -> float | None:
    """The ε that a column of `price_table` stands for; None for the others."""
    return float(column.removeprefix("ε = ")) if column.startswith("ε = ") else None


def _with_spread(mean: float, std: float) -> str:
    return f"{mean:.4f} ± {std:.4f}"


_NOTE = "Ceilings and valid-CF read private edges; stratified and borderline populations are chosen by private margins."
_EMPTY = (
    "<p><b>No price list yet.</b> Choose a population and compute it: one scoring pass per target and seed prices "
    "every ρ and ε.</p>"
)
_CLICKABLE = """
.tabulator-row .tabulator-cell { padding: 5px 6px !important; font-size: 13px !important; cursor: pointer; }
.tabulator-row .tabulator-cell:hover { text-decoration: underline; }
"""
