"""The Placement view: privacy put on the explanation against privacy put on the graph, at one ε."""

from __future__ import annotations

from collections import OrderedDict
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from core.placement.diagnosis import diagnose, noised
from core.placement.mechanisms import GraphMechanism, graph_release
from core.placement.result import Cell, Placement
from core.scoring.scorer import Scorer
from core.study.inspection import Inspection
from core.study.populations import Population, population
from core.study.study import Study
from core.wording import odds
from explorer import legend, style
from explorer.badge import badge
from explorer.ego import clean_view, noised_view, placement_layout
from explorer.figures.ego import EgoFigure
from explorer.figures.placement import PlacementFigure
from explorer.jobs import Job, Work
from explorer.palette import Palette
from explorer.panes import html
from explorer.placement import Run
from explorer.state import Desk
from explorer.views.pricelist import population_options
from explorer.views.runner import Runner

KEPT_PICTURES = 3
_SHORT = {"Gaussian": "gaussian", "Laplace": "laplace", "Randomized": "rr"}


class PlacementView(pn.viewable.Viewer):
    """Rates per placement for a population and for the target, and the target's neighbourhood under noise."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._run: Run | None = None
        self._seen: tuple[Study, Inspection] | None = None
        self._pictures: OrderedDict[tuple[str, int], Scorer] = OrderedDict()
        self._picture_job = Job()
        self.population = pmui.Select(
            label="Population", options=population_options(desk), size="small", width=230, margin=(7, 12, 7, 0)
        )
        self.draws = pmui.IntInput(
            sx=style.STEPPER,
            label="Noise draws",
            value=3,
            start=1,
            end=50,
            size="small",
            width=120,
            margin=(7, 12, 7, 0),
        )
        self.runner = Runner("Compare placements", "targets explained on a noised graph", self._work)
        self.bars = PlacementFigure(palette)
        self.clean = EgoFigure(palette, "Ego graph on the private graph", height=280, extent=1.4)
        self.noisy = EgoFigure(palette, "Ego graph on a noised graph", height=280, extent=1.4)
        self.kind = pmui.RadioButtonGroup(
            label="", options=_SHORT, value="gaussian", size="small", margin=(4, 12, 4, 0), color="primary"
        )
        self.draw = pmui.IntInput(
            sx=style.STEPPER, label="Draw", value=1, start=1, end=1, size="small", width=100, margin=(4, 0)
        )
        self._heading, self._rates = html(style.LEGEND), html(style.TABLE_HTML)
        self._clean_text, self._noisy_text = html(style.TEXT), html(style.TEXT, css_classes=["noised"])
        self._empty = html(style.EMPTY, _EMPTY)
        # Hidden and shown, never taken out: a model that arrives late can miss changes on their way.
        self._results = self._arrange()
        self._results.visible = False
        for widget in (self.kind, self.draw):
            widget.param.watch(lambda _: self._picture(), "value")
        self._picture_job.param.watch(lambda event: event.new == "done" and self._picture(), "state")
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            badge("Noised graphs are simulations of a release; everything here is held against the private graph."),
            pn.FlexBox(self.population, self.draws, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _arrange(self) -> pn.Column:
        options: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
        left = pn.Column(
            html(style.LEGEND, "<h3>Privacy on the explanation: the true graph</h3>"),
            self.clean.pane,
            self._clean_text,
            **options,
        )
        right = pn.Column(
            html(style.LEGEND, "<h3>Privacy on the graph: what the explainer sees</h3>"),
            self.noisy.pane,
            self._noisy_text,
            **options,
        )
        return pn.Column(
            self._heading,
            self.bars.pane,
            html(style.LEGEND, legend.placements()),
            self._rates,
            pn.FlexBox(self.kind, self.draw, align_items="center", margin=(16, 0, 0, 0)),
            pn.Column(left, right, stylesheets=[style.TWO_COLUMNS], **options),
            html(style.LEGEND, legend.noised_ties()),
            **options,
        )

    def _work(self) -> tuple[Work, Any]:
        study, seen = self._desk.study, self._desk.inspection
        kind, draws = Population.parse(self.population.value), self.draws.value
        target = seen.universe.target

        def work(progress, cancelled):
            rows = population(study, kind)
            targets = rows if target in rows else np.append(rows, target)
            place = int(np.flatnonzero(targets == target)[0])
            found: dict[GraphMechanism, Placement] = {}
            size = draws * len(targets)
            for step, mechanism in enumerate(GraphMechanism):
                found[mechanism] = diagnose(
                    study,
                    targets,
                    seen.distribution.epsilon,
                    graph_release(mechanism),
                    draws=draws,
                    rho=seen.rho,
                    settings=seen.settings,
                    cancelled=cancelled,
                    progress=lambda done, _, step=step: progress(step * size + done, 3 * size),
                )
                run = Run(seen.target_id, kind.value, len(rows), place, dict(found))
                self.runner.job.hand(lambda run=run: self._show(run, study, seen))
            return None

        return work, lambda _: self.runner.say("Done.")

    def _show(self, run: Run, study: Study, seen: Inspection) -> None:
        """Show the mechanisms that are finished so far."""
        first = len(run.placements) == 1
        self._run, self._seen = run, (study, seen)
        self._heading.object = (
            f"<h3>At ε = {seen.distribution.epsilon:.3g} with ρ = {seen.rho:.3g}, "
            f"{len(run.any.draws)} noise draws a mechanism</h3>"
        )
        self.bars.draw(run.bars())
        self._rates.object = run.table()
        self._pictures.clear()
        self.draw.end = len(run.any.draws)
        if first:
            self.draw.value = 1
            self.kind.value = next(iter(run.placements)).value
            self._empty.visible, self._results.visible = False, True
        self._picture()

    def _picture(self) -> None:
        """Draw the noised neighbourhood that the controls name, off the event loop when it isn't at hand."""
        if self._run is None or self._seen is None:
            return
        wanted = (self.kind.value, self.draw.value - 1)
        kind = GraphMechanism.parse(wanted[0])
        if kind not in self._run.placements:
            self._noisy_text.object = '<p class="quiet">Not computed yet.</p>'
            return
        if wanted in self._pictures:
            self._draw_pair(self._run.placements[kind], wanted[1], self._pictures[wanted])
            return
        study, placement = self._seen[0], self._run.placements[kind]

        def work(progress, cancelled):
            graph, _ = noised(study.dataset.graph, placement.release, placement.epsilon, placement.seed, wanted[1])
            return study.scorer.on(graph)

        def finish(scorer: Scorer) -> None:
            self._pictures[wanted] = scorer
            while len(self._pictures) > KEPT_PICTURES:
                self._pictures.popitem(last=False)

        if self._picture_job.state != "running":
            self._noisy_text.object = '<p class="quiet" role="status">Drawing the noised neighbourhood …</p>'
            self._picture_job.start(work, finish)

    def _draw_pair(self, placement: Placement, draw: int, scorer: Scorer) -> None:
        study, seen = self._seen
        cell = placement.cell(self._run.target_place, draw)
        layout = placement_layout(study, cell.target, scorer.graph)
        self.clean.draw(clean_view(study, layout, seen))
        top = seen.candidates(1)[0]
        pairs, _ = seen.universe.members(*top.index)
        self.clean.mark(pairs, top.flips)
        classes = study.dataset.nodes.classes
        self._clean_text.object = (
            f"<p class='quiet'>Node {escape(seen.target_id)} is predicted <b>{escape(classes[cell.prediction])}</b>, "
            f"and this prediction is explained. {odds(seen.metrics.valid, 'release').capitalize()} would flip it; "
            "the most likely one is marked.</p>"
        )
        self.noisy.draw(noised_view(study, layout, scorer, seen))
        if cell.intervention is not None:
            self.noisy.mark(cell.intervention.edges, cell.valid)
        self._noisy_text.object = f"<p class='quiet'>{_verdict(cell, study, layout.hidden)}</p>"

    def _moved(self) -> None:
        options = population_options(self._desk)
        if options != self.population.options:
            self.population.param.update(options=options, value=next(iter(options.values())))
        if self._run is None or self._seen is None:
            return
        if self._seen[0].dataset.digest != self._desk.dataset.digest:
            self._run, self._seen = None, None
            self._empty.visible, self._results.visible = True, False
            self.runner.say("")
        elif self.runner.job.state != "running":
            now, then = self._desk.inspection, self._seen[1]
            same = (now.universe.digest, now.distribution.epsilon) == (then.universe.digest, then.distribution.epsilon)
            self.runner.say(
                ""
                if same
                else f"Shown: node {then.target_id} at ε = {then.distribution.epsilon:.3g}, "
                f"ρ = {then.rho:.3g}. Compare again for the present choice."
            )

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for drawn in (self.bars, self.clean, self.noisy):
            drawn.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def _verdict(cell: Cell, study: Study, hidden: int) -> str:
    """What became of the target on one noised graph, in words."""
    nodes = study.dataset.nodes
    seen = f"predicted <b>{escape(nodes.classes[cell.noised_prediction])}</b> here"
    words = [f"{seen}: <b>polluted</b> by the noise." if cell.polluted else f"{seen}, as on the true graph."]
    if cell.intervention is None:
        words.append("No intervention flips it on the noised graph.")
    else:
        parts = [f"cut {escape(nodes.ids[u])}–{escape(nodes.ids[w])}" for u, w in cell.intervention.edges]
        parts += [f"mask {escape(nodes.feature_names[d])}" for d in cell.intervention.features]
        end = (
            "and it flips the true graph too."
            if cell.valid
            else "but it does <b>not</b> flip the true graph: <b>spurious</b>."
        )
        words.append(f"The best flip found ({', '.join(parts)}) works on the noised graph, {end}")
    if hidden:
        words.append(f"{hidden:,} more neighbours are not drawn.")
    return f"Node {escape(nodes.ids[cell.target])} has {cell.noised_degree:,} ties and is " + " ".join(words)


_EMPTY = (
    "<p><b>Nothing compared yet.</b> Compare placements to explain the same targets on graphs that were noised at the "
    "present ε, and to see how often the noise itself changes the answer.</p>"
)
