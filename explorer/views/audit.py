"""The Audit view: what neighbouring graphs' releases give away, exactly, and from outside by drawing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from core.audit.certified import Auditing
from core.audit.claims import Pair, Relation
from core.audit.frame import Frame
from core.audit.pairs import AuditPair, PairKind, population_pairs, target_pairs
from core.audit.population import OpenedPair, PopulationAudit, audit_population, layers_of, opened
from core.audit.wired import WIRED, wired
from core.study.inspection import Inspection
from core.study.populations import Population, population
from core.study.study import Study
from explorer import audits, legend, sheets, style
from explorer.badge import badge
from explorer.ego import pair_views
from explorer.figures.audit import BoundFigure, RatioFigure, RocFigure
from explorer.figures.ego import EgoFigure
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.panes import html
from explorer.state import Desk
from explorer.views.pricelist import population_options
from explorer.views.runner import Runner

THIS = "this target"
FIRST = 250  # evaluation draws a side before the first look
SELECT = 500
CONFIDENCE = 0.99


class AuditView(pn.viewable.Viewer):
    """An exact audit of the present release over a target or a population, and a live one of any release."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._shown: tuple[Study, PopulationAudit] | None = None
        self.population = pmui.Select(
            label="Pairs around", options=self._options(), value=THIS, size="small", width=230, margin=(7, 12, 7, 0)
        )
        self.pairs = pmui.IntInput(
            sx=style.STEPPER,
            label="Pairs of a kind",
            value=80,
            start=1,
            end=10_000,
            size="small",
            width=130,
            margin=(7, 12, 7, 0),
        )
        self.exact = Runner("Audit exactly", "pairs of graphs", self._exact_work)
        self.ratios, self.roc = RatioFigure(palette), RocFigure(palette)
        self.one = EgoFigure(palette, "Ego graph on the private graph", height=260, extent=1.4)
        self.other = EgoFigure(palette, "Ego graph on the neighbouring graph", height=260, extent=1.4)
        self._said, self._table = html(style.TEXT), html(style.TABLE_HTML)
        self._worst, self._marks = html(style.TEXT), html(style.LEGEND)
        self._empty = html(style.EMPTY, _EMPTY)
        self._results = self._arrange()
        self._results.visible = False
        self._make_live(palette)
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            badge("Both graphs of a pair are the owner's; an audit spends no budget and releases nothing."),
            pn.FlexBox(self.population, self.pairs, *self.exact.buttons, margin=0),
            self.exact,
            self._empty,
            self._results,
            self._live,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _arrange(self) -> pn.Column:
        options: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}
        title = '<h3>The worst pair <span class="quiet">the best attack, and what ε allows it (dashed)</span></h3>'
        return pn.Column(
            self._said,
            self._table,
            html(style.LEGEND, legend.audit_pairs()),
            self.ratios.pane,
            html(style.LEGEND, title),
            self._worst,
            pn.Column(
                pn.Column(html(style.LEGEND, "<h3>Private graph</h3>"), self.one.pane, **options),
                pn.Column(html(style.LEGEND, "<h3>Neighbouring graph</h3>"), self.other.pane, **options),
                stylesheets=[style.TWO_COLUMNS],
                **options,
            ),
            self._marks,
            self.roc.pane,
            **options,
        )

    def _make_live(self, palette: Palette) -> None:
        self.release = pmui.Select(label="Release", options=list(WIRED), size="small", width=200, margin=(7, 12, 7, 0))
        self.most = pmui.Select(
            label="Draws a side", options=[1_000, 4_000, 16_000], value=4_000, size="small", width=130,
            margin=(7, 12, 7, 0),
        )  # fmt: skip
        self.drawing = Runner("Audit by drawing", "‰ of the draws", self._live_work)
        self.bound = BoundFigure(palette)
        self._live_said, self._live_table = html(style.TEXT), html(sheets.HISTORY)
        self._live_shown = pn.Column(
            self._live_said, self.bound.pane, self._live_table, sizing_mode="stretch_width", margin=0, visible=False
        )
        self._live = pn.Column(
            html(
                style.LEGEND,
                '<h3>From outside <span class="quiet">draws at the present target and ε, on the private graph and one '
                "neighbour; an event is chosen on one sample and bounded on another</span></h3>",
            ),
            pn.FlexBox(self.release, self.most, *self.drawing.buttons, margin=0),
            self.drawing,
            self._live_shown,
            sizing_mode="stretch_width",
            margin=(18, 0, 0, 0),
        )

    def _options(self) -> dict[str, str]:
        return {THIS: THIS, **population_options(self._desk)}

    def _exact_work(self) -> tuple[Work, Any]:
        study, seen = self._desk.study, self._desk.inspection
        around, count = self.population.value, self.pairs.value

        def work(progress, cancelled):
            rng = np.random.default_rng(study.seed)
            graph, target, layers = study.dataset.graph, seen.universe.target, layers_of(study)
            if around == THIS:
                found = target_pairs(graph, target, rng, layers)
                pairs = [pair for kind in PairKind for pair in _some([p for p in found if p.kind is kind], count, rng)]
            else:
                pairs = population_pairs(graph, population(study, Population.parse(around)), count, rng, layers)
            epsilon = seen.distribution.epsilon
            audit = audit_population(
                study, pairs, seen.rho, epsilon, seen.settings, progress=progress, cancelled=cancelled
            )
            return audit, opened(study, audit.worst.asked, seen.rho, epsilon, seen.settings)

        return work, lambda found: self._show(study, *found)

    def _show(self, study: Study, audit: PopulationAudit, pair: OpenedPair) -> None:
        self._shown = (study, audit)
        self._said.object = f"<p>{audits.exact_sentence(audit)}</p>"
        self._table.object = audits.exact_table(audit)
        near, anywhere = (
            [math.log(record.found.ratio) if record.found.ratio > 0 else 0.0 for record in audit.of(kind)]
            for kind in (PairKind.NEAR, PairKind.ANYWHERE)
        )
        self.ratios.draw(near, anywhere, audit.epsilon)
        self.roc.draw(*pair.roc(), audit.epsilon)
        worst = audit.worst
        self._worst.object = f'<p class="quiet">{audits.pair_words(worst, study.dataset.nodes)}</p>'
        first, second = pair_views(study, worst.asked.target, worst.asked.pair, pair.graphs)
        self.one.draw(first)
        self.other.draw(second)
        if worst.asked.edge:
            self.one.mark(np.array([worst.asked.pair]), False)
        self._marks.object = legend.audit_marks()
        self._empty.visible, self._results.visible = False, True
        self.exact.say("Done.")

    def _live_work(self) -> tuple[Work, Any]:
        study, seen = self._desk.study, self._desk.inspection
        name, most = self.release.value, self.most.value

        def work(progress, cancelled):
            target, graph = seen.universe.target, study.dataset.graph
            mechanism = wired(name, Frame(study, target, seen.rho, seen.settings), seen.distribution.epsilon)
            toggled = self._canary(study, seen)
            pair = Pair("canary", graph, graph.toggled(*toggled), Relation.EDGE)
            certified: list[tuple[int, float]] = []
            preview: list[tuple[int, float]] = []
            with Auditing(
                mechanism.release,
                [pair],
                mechanism.claim,
                mechanism.witnesses(pair),
                select=SELECT,
                first=FIRST,
                confidence=CONFIDENCE,
                simultaneous=True,
                seed=study.seed,
            ) as run:
                while run.drawn < most:
                    step = max(FIRST, run.drawn)  # the sample doubles: a look after each step
                    share = (run.drawn, min(step, most - run.drawn))
                    results = run.more(
                        share[1],
                        lambda done, total, share=share: progress(
                            round(1000 * (share[0] + share[1] * done / total) / most), 1000
                        ),
                        cancelled,
                    )
                    certified.append((run.drawn, max(r.epsilon_lb for r in results)))
                    preview.append((run.drawn, max(r.epsilon_lb for r in run.preview())))
                    shown = (list(results), list(certified), list(preview), run.drawn, run.drawn >= most)
                    self.drawing.job.hand(lambda shown=shown: self._live_show(mechanism.claim.epsilon, *shown))
            u, w = (study.dataset.nodes.ids[row] for row in toggled)
            return f"Done: {name} at node {seen.target_id}; the neighbour differs in {u}–{w}."

        return work, self.drawing.say

    def _canary(self, study: Study, seen: Inspection) -> tuple[int, int]:
        """The pair whose status is toggled: the worst of an exact audit at this target, else one at the target."""
        target, graph = seen.universe.target, study.dataset.graph
        if self._shown is not None and self._shown[0] is study:
            here = [record for record in self._shown[1].records if record.asked.target == target]
            if here:
                return max(here, key=lambda record: (record.found.ratio, record.found.auc)).asked.pair
        near = graph.neighbours(target)
        if len(near):
            return tuple(sorted((target, int(near[0]))))
        return tuple(sorted((target, (target + 1) % graph.n)))

    def _live_show(self, claim: float, results, certified, preview, drawn: int, final: bool) -> None:
        self._live_said.object = f'<p role="status">{audits.live_sentence(results, drawn, final)}</p>'
        self.bound.draw(certified, preview, claim)
        self._live_table.object = audits.live_table(results, self._desk.dataset.nodes)
        self._live_shown.visible = True

    def _moved(self) -> None:
        if (options := self._options()) != self.population.options:
            self.population.param.update(options=options, value=THIS)
        if self._shown is None:
            return
        study, audit = self._shown
        if study.dataset.digest != self._desk.dataset.digest:
            self._shown = None
            self._empty.visible, self._results.visible, self._live_shown.visible = True, False, False
            self.exact.say("")
            self.drawing.say("")
        elif self.exact.job.state != "running":
            now = self._desk.inspection
            same = (now.distribution.epsilon, now.rho, now.settings) == (audit.epsilon, audit.rho, audit.settings)
            self.exact.say(
                ""
                if same
                else f"Shown: ε = {audit.epsilon:.3g}, ρ = {audit.rho:.3g}. Audit again for the present choice."
            )

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        for drawn in (self.ratios, self.roc, self.one, self.other, self.bound):
            drawn.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def _some(pairs: list[AuditPair], count: int, rng: np.random.Generator) -> list[AuditPair]:
    """`count` of the pairs, drawn evenly, in their order; all where there are no more."""
    chosen = np.sort(rng.permutation(len(pairs))[:count])
    return [pairs[place] for place in chosen]


_EMPTY = (
    "<p><b>Nothing audited yet.</b> An exact audit compares the release distributions of graphs that differ in one "
    "tie, near the target and anywhere: what the claimed ε really gives away.</p>"
)
