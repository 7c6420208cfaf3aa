"""The Baselines view: every method at one ε beside the guarantee it really carries, and any cell of it opened."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from core.baselines.compare import Cell, Comparison, compare, noise
from core.baselines.graph_level import GraphLevel
from core.baselines.optimum import Optimum
from core.baselines.suite import method, suite
from core.study.inspection import Inspection
from core.study.populations import Population, population
from core.study.study import Study
from explorer import baselines, legend, sheets, style
from explorer.badge import badge
from explorer.ego import clean_view, noised_view, placement_layout
from explorer.figures.ego import EgoFigure
from explorer.jobs import Job, Work
from explorer.palette import Palette
from explorer.panes import html
from explorer.state import Desk
from explorer.views.pricelist import population_options
from explorer.views.runner import Runner


class BaselinesView(pn.viewable.Viewer):
    """The comparison table of a population and, of one cell, the true graph beside what the method saw."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._shown: tuple[Study, Inspection, Comparison] | None = None
        self._job = Job()
        self._again = False
        self.population = pmui.Select(
            label="Population", options=population_options(desk), size="small", width=230, margin=(7, 12, 7, 0)
        )
        self.draws = pmui.IntInput(
            sx=style.STEPPER,
            label="Draws a seed",
            value=2,
            start=1,
            end=50,
            size="small",
            width=120,
            margin=(7, 12, 7, 0),
        )
        self.seeds = pmui.IntInput(
            sx=style.STEPPER, label="Seeds", value=3, start=1, end=20, size="small", width=90, margin=(7, 12, 7, 0)
        )
        self.runner = Runner("Compare methods", "explanations", self._work)
        self.method = pmui.Select(label="Method", options=[], size="small", width=290, margin=(7, 12, 7, 0))
        self.target = pmui.Select(label="Target", options=[], size="small", width=150, margin=(7, 12, 7, 0))
        self.draw = pmui.Select(label="Draw", options=[], size="small", width=150, margin=(7, 0))
        self.clean = EgoFigure(palette, "Ego graph on the private graph", height=280, extent=1.4)
        self.seen = EgoFigure(palette, "Ego graph that the method saw", height=280, extent=1.4)
        self._heading, self._table = html(style.LEGEND), html(sheets.METHODS)
        self._clean_text, self._seen_text = html(style.TEXT), html(style.TEXT, css_classes=["noised"])
        self._seen_title = html(style.LEGEND)
        self._empty = html(style.EMPTY, _EMPTY)
        self._results = self._arrange()
        self._results.visible = False
        self.method.param.watch(lambda _: self._draws_of(), "value")
        for widget in (self.target, self.draw):
            widget.param.watch(lambda _: self._picture(), "value")
        self._job.param.watch(lambda event: event.new == "done" and self._again and self._picture(), "state")
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            badge("All of it is simulated and held against the private graph; nothing is released."),
            pn.FlexBox(self.population, self.draws, self.seeds, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _arrange(self) -> pn.Column:
        options: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
        left = pn.Column(
            html(style.LEGEND, "<h3>The true graph, and the best intervention on it</h3>"),
            self.clean.pane,
            self._clean_text,
            **options,
        )
        right = pn.Column(self._seen_title, self.seen.pane, self._seen_text, **options)
        return pn.Column(
            self._heading,
            self._table,
            html(style.LEGEND, "<h3>Open a cell</h3>"),
            pn.FlexBox(self.method, self.target, self.draw, margin=0),
            pn.Column(left, right, stylesheets=[style.TWO_COLUMNS], **options),
            html(style.LEGEND, legend.noised_ties()),
            **options,
        )

    def _work(self) -> tuple[Work, Any]:
        study, seen = self._desk.study, self._desk.inspection
        kind, draws, count = Population.parse(self.population.value), self.draws.value, self.seeds.value

        def work(progress, cancelled):
            return compare(
                study,
                population(study, kind),
                seen.distribution.epsilon,
                suite(),
                rho=seen.rho,
                draws=draws,
                seeds=range(study.seed, study.seed + count),
                settings=seen.settings,
                progress=progress,
                cancelled=cancelled,
            )

        return work, lambda found: self._show(study, seen, kind, found)

    def _show(self, study: Study, seen: Inspection, kind: Population, found: Comparison) -> None:
        self._shown = (study, seen, found)
        seeds = len(found.seeds)
        self._heading.object = (
            f"<h3>{len(found.targets)} {escape(kind.value)} targets at ε = {found.epsilon:.3g}, ρ = {found.rho:.3g}"
            f' <span class="quiet">{f"mean ± std over {seeds} seeds" if seeds > 1 else "one seed"}</span></h3>'
        )
        self._table.object = baselines.table(found)
        ids = study.dataset.nodes.ids
        self._empty.visible, self._results.visible = False, True
        with pn.io.hold():
            self.target.param.update(options={ids[row]: int(row) for row in found.targets}, value=int(found.targets[0]))
            self.method.param.update(
                options={row.method.title: row.method.name for row in found.rows},
                value=next(row.method.name for row in found.rows if isinstance(row.method, GraphLevel)),
            )
        self._draws_of()
        self.runner.say("Done.")

    def _draws_of(self) -> None:
        """Offer the draws that the chosen method has."""
        if self._shown is None or self.method.value is None:
            return
        cells = self._shown[2].of(self.method.value, self.target.value)
        several = len({cell.draw for cell in cells}) > 1
        names = {
            f"seed {cell.seed}" + (f", draw {cell.draw + 1}" if several else ""): place
            for place, cell in enumerate(cells)
        }
        chosen = self.draw.value if self.draw.value in names.values() else 0
        self.draw.param.update(options=names, value=chosen)
        self._picture()

    def _picture(self) -> None:
        """Draw the cell that the controls name; what the method saw is worked out off the event loop."""
        if self._shown is None or self.draw.value is None:
            return
        if self._job.state == "running":
            self._again = True
            return
        self._again = False
        study, _, found = self._shown
        cells = found.of(self.method.value, self.target.value)
        if self.draw.value >= len(cells):
            return
        cell = cells[self.draw.value]
        chosen = method(cell.method)
        self._seen_text.object = '<p class="quiet" role="status">Opening the cell …</p>'

        def work(progress, cancelled):
            desk = study if cell.seed == study.seed or not study.snapshot.simulated else study.with_seed(cell.seed)
            own = desk.inspect(cell.finding.target, found.rho, found.epsilon, found.settings)
            best = Optimum().session(desk, found.epsilon, found.rho, found.settings, noise("optimum", cell.seed, 0))
            scorer = desk.scorer
            if isinstance(chosen, GraphLevel):
                scorer, _ = chosen.noised(desk, found.epsilon, noise(cell.method, cell.seed, cell.draw))
            return desk, own, best(cell.finding.target), scorer

        self._job.start(work, lambda result: self._draw_pair(cell, *result))

    def _draw_pair(self, cell: Cell, study: Study, seen: Inspection, best: Any, scorer: Any) -> None:
        graph_level = scorer is not study.scorer
        nodes, found = study.dataset.nodes, cell.finding
        layout = placement_layout(study, found.target, scorer.graph)
        self.clean.draw(clean_view(study, layout, seen))
        self.clean.mark(best.pairs, bool(best.valid))
        shown = Cell("optimum", cell.seed, 0, best)
        predicted = escape(nodes.classes[int(study.scorer.clean[found.target].argmax())])
        self._clean_text.object = (
            f"<p class='quiet'>Node {escape(nodes.ids[found.target])} is predicted <b>{predicted}</b>. "
            f"{baselines.verdict(shown, 'The exact optimum over the public candidates', nodes, False)}</p>"
        )
        title = method(cell.method).title
        what = "the noised graph it explains" if graph_level else "the true graph, and its own intervention"
        self._seen_title.object = f"<h3>{escape(title)}: {what}</h3>"
        self.seen.draw(noised_view(study, layout, scorer, seen) if graph_level else clean_view(study, layout, seen))
        self.seen.mark(found.pairs, bool(found.valid))
        hidden = f" {layout.hidden:,} more neighbours are not drawn." if layout.hidden else ""
        away = int((~(found.pairs == found.target).any(axis=1)).sum()) if len(found.pairs) else 0
        further = f" {away} of its cuts lie further away and are not drawn." if away else ""
        said = baselines.verdict(cell, title, nodes, graph_level)
        self._seen_text.object = f"<p class='quiet'>{said}{further}{hidden}</p>"

    def _moved(self) -> None:
        options = population_options(self._desk)
        if options != self.population.options:
            self.population.param.update(options=options, value=next(iter(options.values())))
        if self._shown is None:
            return
        if self._shown[0].dataset.digest != self._desk.dataset.digest:
            self._shown = None
            self._empty.visible, self._results.visible = True, False
            self.runner.say("")
        elif self.runner.job.state != "running":
            now, then = self._desk.inspection, self._shown[2]
            same = (now.distribution.epsilon, now.rho, now.settings) == (then.epsilon, then.rho, then.settings)
            self.runner.say(
                ""
                if same
                else f"Shown: ε = {then.epsilon:.3g}, ρ = {then.rho:.3g}. Compare again for the present choice."
            )

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for drawn in (self.clean, self.seen):
            drawn.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


_EMPTY = (
    "<p><b>Nothing compared yet.</b> Compare methods to run every baseline on the same targets at the present ε and ρ: "
    "what it finds, what of it is true, and whether its complete release is certified.</p>"
)
