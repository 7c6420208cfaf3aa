"""The Labels view: publishing node labels by subsampling stability, and the p_s at which that can work."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from core.backbone.gcn import GCNWeights
from core.datasets.dataset import Dataset
from core.desk.amount import amount, text
from core.errors import UnsupportedBackbone
from core.labels.classifier import Classifier, FilterClassifier, GCNClassifier, filter_for
from core.labels.csbm import FEATURES_SUFFICE, TIES_MATTER, load_csbm
from core.labels.experiment import Cell, sweep
from core.labels.feasible import Walls, walls
from core.labels.plan import Cap, Plan
from explorer import legend, style
from explorer.badge import badge
from explorer.figures.labels import LabelsFigure
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.panes import html
from explorer.state import Desk
from explorer.views.runner import Runner

HERE, DEMO, TIES = "target and its ties", "demonstration: 100 nodes", "demonstration: ties matter"
P_S = ("0.01", "0.02", "0.03", "0.04", "0.05", "0.06", "0.07", "0.08", "0.09", "0.1", "0.12", "0.15")
MOST_WRONG = 0.05  # of one subgraph
DEMOS = {DEMO: (FEATURES_SUFFICE, -0.05), TIES: (TIES_MATTER, -0.1)}  # and the filter's weight of the Laplacian
MOST_HERE = 4  # nodes of the owner's graph that must all agree


class LabelsView(pn.viewable.Viewer):
    """A sweep over p_s on the owner's graph or a demonstration, between its walls."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        self._desk = desk
        self._digest = ""
        field: dict[str, Any] = {"size": "small", "margin": (7, 12, 7, 0)}
        self.graph = pmui.Select(label="Graph", options=[DEMO, TIES, HERE], value=DEMO, width=230, **field)
        self.m = pmui.Select(label="Subgraphs m", options=[400, 1000, 2000], value=400, width=120, **field)
        self.epsilon = pmui.TextInput(label="ε", value="8", width=80, **field)
        self.delta = pmui.TextInput(label="δ", value="1e-5", width=90, **field)
        self.fitted = pmui.Checkbox(label="fitted cap", size="small", margin=(12, 12, 7, 0))
        self.runner = Runner("Try every p_s", "values of p_s", self._work)
        self.figure = LabelsFigure(palette)
        self._said, self._table = html(style.TEXT), html(style.TABLE_HTML)
        self._empty = html(style.EMPTY, _EMPTY)
        self._results = pn.Column(
            self._said,
            self.figure.pane,
            html(style.LEGEND, legend.labels()),
            self._table,
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            badge("Simulated on private ties. The command privcfs labels releases for real, from a ledger."),
            pn.FlexBox(self.graph, self.m, self.epsilon, self.delta, self.fitted, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _work(self) -> tuple[Work, Any]:
        which, m = self.graph.value, self.m.value
        rule = Cap.FITTED if self.fitted.value else Cap.PAPER
        written = self.epsilon.value, self.delta.value
        study, target = self._desk.study, self._desk.inspection.universe.target

        def work(progress, cancelled):
            epsilon, delta = amount(written[0], "epsilon"), amount(written[1], "delta")
            dataset, classifier, rows = _asked(which, study, target)
            plan = Plan(Fraction(P_S[0]), m, epsilon, delta, rule)
            truth = np.full(dataset.graph.n, -1)
            chosen = np.arange(dataset.graph.n) if rows is None else rows
            truth[chosen] = dataset.labels[chosen]
            bounded = isinstance(classifier, FilterClassifier)
            between = walls(dataset.graph, plan, *((classifier, truth, MOST_WRONG) if bounded else ()))
            cells = sweep(
                dataset, classifier, [Fraction(p) for p in P_S], [m], [epsilon], [delta], rule=rule, rows=rows,
                draws=2, progress=progress, cancelled=cancelled,
            )  # fmt: skip
            return dataset, len(chosen), between, cells

        return work, lambda found: self._show(which, *found)

    def _show(self, which: str, dataset: Dataset, nodes: int, between: Walls, cells: list[Cell]) -> None:
        self._digest = self._desk.dataset.digest if which == HERE else ""
        self.figure.draw(cells, between)
        self._said.object = said(dataset, nodes, between)
        self._table.object = table(cells)
        self._empty.visible, self._results.visible = False, True
        self.runner.say("Done.")

    def _moved(self) -> None:
        if self._digest and self._digest != self._desk.dataset.digest:
            self._digest = ""
            self._empty.visible, self._results.visible = True, False
            self.runner.say("")

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self.figure.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def said(dataset: Dataset, nodes: int, between: Walls) -> str:
    """The interval in words, with what stands on either side of it."""
    plan = between.plan
    if between.empty:
        interval = "<b>No p_s can work</b> at this m, ε and δ: the walls cross."
    else:
        interval = f"<b>p_s from {between.low:.3g} to {between.high:.3g} can work.</b>"
    left = (
        f"below {between.halting:.3g} an edge trips the halting step too often for δ"
        if between.halting >= between.accuracy
        else f"below {between.accuracy:.3g} subgraphs are too thin to be right"
    )
    return (
        f"<p>{interval} {nodes} labels of {escape(dataset.title)}, {plan.m} subgraphs, ε = {text(plan.epsilon)}, "
        f"δ = {float(plan.delta):g}: {left}; above {between.stability:.3g} not even full agreement is enough.</p>"
    )


def table(cells: list[Cell]) -> str:
    """One row a p_s, exact to three decimals; δ is what a release would really have."""
    heads = (
        ("labels", "Chance that labels come out"),
        ("halted", "Share of draws in which an edge sits in too many subgraphs"),
        ("disagree", "Chance of ⊥ because too few subgraphs agree"),
        ("stability", "Mean d̂"),
        ("needed", "ln(1/δ)/ε"),
        ("accuracy", "Of the most frequent answer"),
        ("of one subgraph", "Accuracy of a single subgraph's labels"),
        ("real δ", "What a release is private with; above δ the claim doesn't hold"),
    )
    head = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in heads)
    rows = "".join(
        f'<tr><th scope="row">{cell.p_s:g}</th>'
        + "".join(
            f"<td>{value}</td>"
            for value in (
                f"{cell.released:.3f}", f"{cell.halted:.3f}", f"{cell.unstable:.3f}", f"{cell.stability:.2f}",
                f"{cell.threshold:.2f}", f"{cell.accuracy:.3f}", f"{cell.accuracy_subgraph:.3f}",
                f"{cell.delta_total:.1e}" + ("" if cell.delta_total <= cell.delta else " ✗"),
            )
        )
        + "</tr>"
        for cell in cells
    )  # fmt: skip
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">p_s</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _asked(which: str, study: Any, target: int) -> tuple[Dataset, Classifier, np.ndarray | None]:
    """Data, classifier and the rows to label; the whole graph of a demonstration, a few nodes of the owner's."""
    if which != HERE:
        recipe, h1 = DEMOS[which]
        dataset = load_csbm(recipe)
        return dataset, filter_for(dataset, h1=h1), None
    weights = study.backbone.weights
    if not isinstance(weights, GCNWeights):
        raise UnsupportedBackbone("labels: found a foreign module on the desk, expected the two-layer GCN")
    near = study.dataset.graph.neighbours(target)[: MOST_HERE - 1]
    return study.dataset, GCNClassifier(weights, study.dataset.nodes), np.append([target], near)


_EMPTY = (
    "<p><b>Nothing tried yet.</b> Labels are published when enough subgraphs, each with a share p_s of the ties, "
    "agree on all of them. Too many ties in a subgraph and one tie matters too much; too few and they are wrong.</p>"
)
