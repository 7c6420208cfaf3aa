"""The Embeddings view: homomorphism densities under noise, on classes of graphs that only cycles tell apart."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from core import checks
from core.embeddings.baselines import Baseline
from core.embeddings.experiments import Method, NoiseRow, UtilityRow, noise_table, utility_table
from core.embeddings.samplers import PatternClass
from core.embeddings.sbm import CYCLE_CLASSES, block_graphs
from core.errors import BadInput
from explorer import legend, style
from explorer.badge import badge
from explorer.figures.embeddings import NoiseFigure, UtilityFigure
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.panes import html
from explorer.state import Desk
from explorer.views.runner import Runner

KINDS = ("tree", "cycle")
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
NAMES = {
    Method.NONE: "no privacy",
    Method.DENSITIES: "noised densities",
    Method.RR: "graph by randomized response",
    Method.DPRR: "graph by degree-preserving response",
}
EACH, DIMENSIONS = 20, 20
BOUND = 0.72  # of the nodes: a public bound that these classes keep


class EmbeddingsView(pn.viewable.Viewer):
    """A utility curve over ε and the noise at one ε, on block models of a chosen size."""

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__()
        field: dict[str, Any] = {"size": "small", "margin": (7, 12, 7, 0)}
        self.nodes = pmui.Select(label="Nodes of a graph", options=[100, 300, 500], value=300, width=150, **field)
        self.bounded = pmui.Checkbox(label="public degree bound", value=True, size="small", margin=(12, 12, 7, 0))
        self.epsilon = pmui.TextInput(label="ε of the noise", value="1", width=110, **field)
        self.runner = Runner("Embed", "budgets", self._work)
        self.utility, self.noise = UtilityFigure(palette, KINDS), NoiseFigure(palette, KINDS)
        self._said, self._table = html(style.TEXT), html(style.TABLE_HTML)
        self._empty = html(style.EMPTY, _EMPTY)
        self._results = pn.Column(
            self._said,
            self.utility.pane,
            html(style.LEGEND, legend.embeddings()),
            self._table,
            html(style.LEGEND, "<h3>Noise against what tells the classes apart</h3>"),
            self.noise.pane,
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )
        self._view = pn.Column(
            badge("Simulated, on block models. The command privcfs embed releases your graph's, from a ledger."),
            pn.FlexBox(self.nodes, self.bounded, self.epsilon, *self.runner.buttons, margin=0),
            self.runner,
            self._empty,
            self._results,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _work(self) -> tuple[Work, Any]:
        nodes, bounded, written = self.nodes.value, self.bounded.value, self.epsilon.value

        def work(progress, cancelled):
            epsilon = _number(written)
            graphs = block_graphs(CYCLE_CLASSES, EACH, nodes, seed=0)
            kinds = [PatternClass.parse(kind) for kind in KINDS]
            bound = int(BOUND * nodes) if bounded else None
            rows = utility_table(
                graphs, kinds, EPSILONS, dimensions=DIMENSIONS, degree_bound=bound, repeats=3,
                baselines=[Baseline.RR, Baseline.DPRR], progress=progress, cancelled=cancelled,
            )  # fmt: skip
            noise = noise_table(graphs, kinds, epsilon, dimensions=DIMENSIONS, degree_bound=bound)
            return nodes, epsilon, bound, rows, noise

        return work, lambda found: self._show(*found)

    def _show(
        self, nodes: int, epsilon: float, bound: int | None, rows: list[UtilityRow], noise: list[NoiseRow]
    ) -> None:
        self.utility.draw(rows)
        self.noise.draw(noise)
        self._said.object = said(nodes, epsilon, bound, noise)
        self._table.object = table(rows)
        self._empty.visible, self._results.visible = False, True
        self.runner.say("Done.")

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self.utility.recolour(palette)
        self.noise.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def said(nodes: int, epsilon: float, bound: int | None, noise: list[NoiseRow]) -> str:
    """What the picture is of, and how many densities outweigh their noise."""
    seen = {kind: [row for row in noise if row.patterns == kind] for kind in KINDS}
    counts = ", ".join(
        f"{sum(row.ratio < 1 for row in rows)} of {len(rows)} {kind} densities" for kind, rows in seen.items()
    )
    domain = "any graph" if bound is None else f"graphs of public degree at most {bound}"
    return (
        f"<p>{EACH} graphs of each class on {nodes} nodes ({domain}), δ = 1e-5. At ε = {epsilon:g} the difference "
        f"between the classes outweighs the noise in <b>{counts}</b>.</p>"
    )


def table(rows: list[UtilityRow]) -> str:
    """Accuracy, a row for each class of patterns and method, a column for each ε."""
    head = "".join(f'<th scope="col">ε = {epsilon:g}</th>' for epsilon in EPSILONS)
    body = ""
    for kind in KINDS:
        for method in Method:
            found = {row.epsilon: row for row in rows if (row.patterns, row.method) == (kind, method)}
            if not found:
                continue
            one = found.get(None)
            if one is not None:
                cells = f'<td colspan="{len(EPSILONS)}">{one.accuracy:.3f}</td>'
            else:
                cells = "".join(
                    f"<td>{found[e].accuracy:.3f} ± {found[e].std:.3f}</td>" if e in found else "<td>–</td>"
                    for e in EPSILONS
                )
            body += f'<tr><th scope="row">{escape(kind)}, {escape(NAMES[method])}</th>{cells}</tr>'
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">patterns, method</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number(written: str) -> float:
    try:
        return checks.epsilon(float(written))
    except ValueError:
        raise BadInput.number("epsilon", written, "a number above 0") from None


_EMPTY = (
    "<p><b>Nothing embedded yet.</b> An embedding counts how often small patterns map into a graph, and adds noise. "
    "See which patterns still tell classes of graphs apart, at which ε, and what noise on the graph would leave.</p>"
)
