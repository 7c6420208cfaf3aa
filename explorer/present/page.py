"""The served dashboard on written results: read-only, without a graph, every view under its own link."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from core.study.written import Frontiers
from explorer import legend, style
from explorer.figures.curves import CurvePanels, FrontierFigure, rho_label, top_of
from explorer.palette import palette
from explorer.present import look, words
from explorer.present.choice import NAMES, VIEWS, Choice
from explorer.present.tables import arms_html, price_html, saved_html

PANEL_HEIGHT = 250
BACK = "<script>window.onpopstate = () => window.location.reload()</script>"  # or the address would lie
LABELS = {"dataset": "Data set", "population": "Population", "arm": "Arm", "rho": "ρ"}
USED = {
    "prices": ("dataset", "population", "arm"),
    "curves": ("dataset", "population", "arm"),
    "arms": ("dataset", "population", "rho"),
    "about": (),
}


class Presentation(pn.viewable.Viewer):
    """Price list, curves, arms and origin of written frontiers; the address of the page says which is seen."""

    dark = param.Boolean(default=False, doc="Whether the colours are those of the dark theme.")

    def __init__(self, shown: Frontiers, dark: bool | None = None) -> None:
        pn.extension()
        super().__init__(dark=pn.config.theme == "dark" if dark is None else dark)
        self._shown = shown
        self.choice = Choice(shown)
        self._follow_address()
        self._refreshing = False
        self._drawn: dict[str, tuple[Any, CurvePanels]] = {}
        self.view = pmui.RadioButtonGroup(
            label="View",
            options={said: name for name, said in VIEWS.items()},
            value=self.choice.view,
            size="small",
            stylesheets=[look.VIEW],
            sx={"& .MuiToggleButton-root": {"whiteSpace": "nowrap", "textTransform": "none", "color": "text.primary"}},
            margin=0,
        )
        self.selects = {
            name: pmui.Select(label=label, size="small", width=150, margin=0) for name, label in LABELS.items()
        }
        for name, control in [("view", self.view), *self.selects.items()]:
            control.param.watch(lambda event, name=name: self._chosen(name, event.new), "value")
        self._head = self._html(f'<h1 class="paper">{words.TITLE}</h1>{words.notice_html()}')
        self._lost = self._html("", visible=False)
        self._upper = self._html("")
        self._figures = pn.Column(stylesheets=[look.FIGURES], sizing_mode="stretch_width", margin=0)
        self._key = self._html(f'<div class="key">{legend.frontier(here=False)}</div>')
        self._lower = self._html("")
        self._controls = pn.FlexBox(
            self.view, *self.selects.values(), stylesheets=[look.CONTROLS], css_classes=["controls"], margin=(6, 0),
            gap="12px", align_items="center",
        )  # fmt: skip
        colours = palette(self.dark)
        self._root = pn.Column(
            self._head,
            self._controls,
            self._lost,
            self._upper,
            self._figures,
            self._key,
            self._lower,
            stylesheets=[look.ROOT],
            css_classes=["presentation"],
            styles=style.variables(colours),
            sizing_mode="stretch_width",
            margin=0,
        )
        self.choice.param.watch(lambda *_: self._refresh(), [*NAMES, "lost"])
        self._refresh()

    def _follow_address(self) -> None:
        """Take what the address asks for; once the page stands, keep the address at what is seen."""
        location = pn.state.location
        if location is None:  # in a notebook
            return
        asked = {name: value for name, value in location.query_params.items() if name in NAMES}
        self.choice.param.update(**asked)

        def follow() -> None:
            location.update_query(**{name: _said(getattr(self.choice, name)) for name in NAMES})
            location.sync(self.choice, list(NAMES))

        pn.state.onload(follow)  # what is sent before is not heard

    def _html(self, text: str, **options: Any) -> pn.pane.HTML:
        return pn.pane.HTML(
            text, stylesheets=[look.TEXT, look.LEGEND], sizing_mode="stretch_width", margin=(2, 0), **options
        )

    def _chosen(self, name: str, value: Any) -> None:
        if not self._refreshing:
            setattr(self.choice, name, value)

    def _refresh(self) -> None:
        """Show what is chosen; the controls offer what the files hold."""
        if self._refreshing:
            return
        choice, self._refreshing = self.choice, True
        self.view.value = choice.view
        for name, select in self.selects.items():
            found = choice.options(name)
            options = {rho_label(rho): rho for rho in found} if name == "rho" else {value: value for value in found}
            select.param.update(
                options=options, value=getattr(choice, name), visible=name in USED[choice.view],
                disabled=len(options) == 1,
            )  # fmt: skip
        self._refreshing = False
        self._lost.param.update(
            object=f'<p class="lost" role="status">Not in these files: {escape(choice.lost)}. Shown instead: the first '
            "that they hold.</p>",
            visible=bool(choice.lost),
        )
        getattr(self, f"_show_{choice.view}")()

    def _show_prices(self) -> None:
        rows = self.choice.rows
        self._show(
            _head(words.caption(rows), f"{self.choice.arm} arm") + price_html(rows),
            None,
            saved_html(rows) + words.definitions_html(),
        )

    def _show_curves(self) -> None:
        rows = self.choice.rows
        rhos, epsilons = sorted(rows["rho"].unique()), sorted(rows["epsilon"].unique())
        key = (tuple(rhos), tuple(epsilons), top_of(rows))
        if self._drawn.get("curves", (None,))[0] != key:
            figure = FrontierFigure(palette(self.dark), rhos, epsilons, PANEL_HEIGHT, top_of(rows))
            self._drawn["curves"] = (key, figure)
        self._drawn["curves"][1].draw(rows)
        self._show(
            _head("Valid-CF over ε", f"{self.choice.arm} arm, {words.caption(rows)}"),
            self._drawn["curves"][1],
            saved_html(rows) + words.definitions_html(),
        )

    def _show_arms(self) -> None:
        rows = self.choice.population_rows
        top, rows = top_of(rows), rows[rows["rho"] == self.choice.rho]
        arms, epsilons = rows["arm"].unique().tolist(), sorted(rows["epsilon"].unique())
        key = (tuple(arms), tuple(epsilons), top)
        if self._drawn.get("arms", (None,))[0] != key:
            titles = {arm: f"{arm} arm" for arm in arms}
            self._drawn["arms"] = (key, CurvePanels(palette(self.dark), "arm", titles, epsilons, PANEL_HEIGHT, top))
        self._drawn["arms"][1].draw(rows)
        self._show(
            _head(f"Arms at {rho_label(self.choice.rho)}", words.caption(rows)),
            self._drawn["arms"][1],
            arms_html(rows) + words.definitions_html(),
        )

    def _show_about(self) -> None:
        self._show(words.made_html(self._shown) + words.definitions_html(), None, "")

    def _show(self, upper: str, figure: CurvePanels | None, lower: str) -> None:
        self._upper.object, self._lower.object = upper, lower
        self._figures.objects = [panel.pane for panel in figure.panels.values()] if figure else []
        self._figures.visible = self._key.visible = figure is not None

    @param.depends("dark", watch=True)
    def _recolour(self) -> None:
        colours = palette(self.dark)
        self._root.styles = style.variables(colours)
        self._figures.stylesheets = [look.FIGURES, *([look.DARK_FIGURE] if self.dark else [])]
        for _, figure in self._drawn.values():
            figure.recolour(colours)

    def page(self) -> pmui.Page:
        """The served page around it."""
        page = pmui.Page(
            title=words.TITLE,
            main=[self._root, self._html(BACK)],
            theme_config=style.theme_config(),
            dark_theme=self.dark,
            busy_indicator="linear",
            sx=look.PRINTED,
            stylesheets=[look.PRINTED_HINTS],
        )
        page.config.raw_css = [look.PRINTED_PAGE]
        page.param.watch(lambda event: setattr(self, "dark", event.new), "dark_theme")
        return page

    def __panel__(self) -> pn.Column:
        return self._root


def _head(title: str, quiet: str) -> str:
    return f'<h2 id="seen">{escape(title)} <span class="quiet">{escape(quiet)}</span></h2>'


def _said(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
