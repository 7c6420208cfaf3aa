"""The explorer: one object that renders in a notebook, and as a page when it is served."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui
import param

from core.datasets import Dataset
from core.study.study import Study
from core.wording import edges_add
from explorer import style
from explorer.later import Later
from explorer.notebook import Frame
from explorer.palette import palette
from explorer.rail import Rail
from explorer.state import Desk
from explorer.views.placement import PlacementView
from explorer.views.pricelist import PriceListView
from explorer.views.release import ReleaseView
from explorer.wording import answer

if TYPE_CHECKING:
    from core.desk.ledger import Ledger

TITLE = "PrivCFS Explorer"
PRICES, FIRST_LATER = 1, 3  # places of the price list and of the first tab that is made when it is opened


class Explorer(pn.viewable.Viewer):
    """Pick a node, move ε and ρ, and see what a private explanation of it would reveal.

    `source`: a name as `core.datasets.load` takes it, a `Dataset`, or a `Study` under any backbone.
    Decisions (`target`, `epsilon`, `rho`, `seed`, `arm`, ...) may be given by name. `dark`: figures for
    a dark notebook. `local`: whether whoever sees this may also open files of this machine by their path.
    `ledger`: pays for releases made here; None: previews only, until one is opened.
    Raises `BadInput` for a value that can't be used.
    """

    dark = param.Boolean(default=False, doc="Whether the colours are those of the dark theme.")

    def __init__(
        self,
        source: Study | Dataset | str = "cora",
        dark: bool | None = None,
        local: bool = True,
        ledger: Ledger | None = None,
        **decisions: Any,
    ) -> None:
        pn.extension("tabulator", inline=True)  # a notebook may be without a network
        super().__init__(dark=pn.config.theme == "dark" if dark is None else dark)
        self.desk = Desk(source, **decisions)
        colours = palette(self.dark)
        self.rail = Rail(self.desk, local)
        self.release = ReleaseView(self.desk, colours)
        self.prices = PriceListView(self.desk, colours)
        self.placement = PlacementView(self.desk, colours)
        self._later = Later(self, ledger, local)
        self.answer = pn.pane.HTML(
            stylesheets=[style.ANSWER], css_classes=["answer"], sizing_mode="stretch_width", margin=0
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, on_click=lambda _: self.desk.cancel()
        )
        self.tabs = pmui.Tabs(
            ("Release", self.release),
            ("Price list", self.prices),
            ("Placement", self.placement),
            *self._later.tabs,
            css_classes=["views"],
            sx={"& .MuiTab-root": {"textTransform": "none"}},
            sizing_mode="stretch_width",
            margin=0,
        )
        self._root = pn.Column(
            self.rail,
            self.answer,
            self.cancel,
            self.tabs,
            stylesheets=[style.ROOT],
            css_classes=["explorer"],
            styles=style.variables(colours),
            sizing_mode="stretch_width",
            margin=0,
        )
        self._frame = Frame(self._root, stylesheets=[style.FRAME], sizing_mode="stretch_width", margin=0)
        self.desk.param.watch(lambda *_: self._answer(), ["inspection", "waiting"])
        self.desk.scoring.param.watch(lambda event: self.cancel.param.update(visible=event.new == "running"), "state")
        self.tabs.param.watch(lambda event: self._opened(event.new), "active")
        self._answer()

    def open(self, title: str) -> Any:
        """Turn to the tab of that title and return its view."""
        titles = [name for name, _ in self._later.tabs]
        self.tabs.active = FIRST_LATER + titles.index(title)
        return self._later.views[title]

    def _opened(self, tab: int) -> None:
        if tab == PRICES:
            self.prices.open()
        self._later.show(tab - FIRST_LATER)

    def _answer(self) -> None:
        if self.desk.waiting:
            said, added = self.desk.waiting, ""
        else:
            seen = self.desk.inspection
            epsilon, release, public = seen.distribution.epsilon, seen.metrics, seen.public_only
            said = answer(seen.target_id, epsilon, seen.rho, seen.universe.size, release, public)
            added = edges_add(release.valid, public.valid, epsilon) if release.ceiling else ""
        self.answer.object = (
            f'<p role="status" id="answer">{escape(said)}</p><p class="quiet" id="edges-add">{escape(added)}</p>'
        )

    @param.depends("dark", watch=True)
    def _recolour(self) -> None:
        colours = palette(self.dark)
        self._root.styles = style.variables(colours)
        for view in (self.release, self.prices, self.placement, self._later):
            view.recolour(colours)

    def page(self) -> pmui.Page:
        """The served page around the same object."""
        page = pmui.Page(
            title=TITLE,
            main=[self._frame],
            theme_config=style.theme_config(),
            dark_theme=self.dark,
            busy_indicator="linear",
        )
        page.param.watch(lambda event: setattr(self, "dark", event.new), "dark_theme")
        return page

    def __panel__(self) -> pn.Column:
        return self._frame


def build_page(source: Study | Dataset | str = "cora", **decisions: Any) -> pmui.Page:
    """A fresh explorer for one session, as a page."""
    return Explorer(source, **decisions).page()


if pn.state.served:
    build_page().servable(title=TITLE)
