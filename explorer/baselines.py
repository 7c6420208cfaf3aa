"""From a comparison of methods to rows of the screen."""

from __future__ import annotations

from html import escape

from core.baselines.compare import Cell, Comparison, Row
from core.baselines.method import Where
from core.baselines.suite import method
from core.graph import Nodes
from core.wording import odds

_WHERE = {Where.NONE: "no noise", Where.GRAPH: "noise on the graph", Where.EXPLANATION: "noise on the explanation"}
COLUMNS = (
    ("certified", "What the complete release of one explanation is proven to keep, edge level"),
    ("valid", "Share of targets and draws whose intervention flips the true graph"),
    ("targeted", "Share that flips it to the runner-up class"),
    ("size", "Mean size of an intervention, in what the method counts"),
    ("spurious", "Share whose intervention flips what the explainer saw and not the true graph"),
    ("of them polluted", "Share of the spurious ones whose prediction the noise alone had changed"),
    ("polluted", "Share whose prediction the noise alone changes"),
    ("ms", "Milliseconds an explanation took here"),
)


def table(comparison: Comparison) -> str:
    """HTML table, one row a method: mean and spread over seeds, to three decimals."""
    head = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in COLUMNS)
    left = "".join(
        f'<p class="quiet">{escape(method(name).title)} is left out: {escape(reason)}</p>'
        for name, reason in comparison.left_out.items()
    )
    body = "".join(_row(row, len(comparison.seeds) > 1) for row in comparison.rows)
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">method</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{left}"
    )


def _row(row: Row, several: bool) -> str:
    shared = "–" if row.spurious_polluted is None else f"{row.spurious_polluted:.3f}"
    cells = [
        _certificate(row),
        _spread(row, "valid", several),
        _spread(row, "targeted", several),
        _spread(row, "size", several),
        _spread(row, "spurious", several),
        shared,
        _spread(row, "polluted", several),
        f"{row.milliseconds:,.1f}",
    ]
    where = _WHERE[row.method.where]
    if row.method.where is Where.NONE and row.guarantee.certified:
        where = "reads no private edge"
    named = f"{escape(row.method.title)}<small>{where} · size in {escape(row.method.size_currency)}</small>"
    return f'<tr><th scope="row">{named}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _certificate(row: Row) -> str:
    found = row.guarantee
    if not found.certified:
        word = "none claimed" if row.method.where is Where.NONE else "not certified"
        return f'<span title="{escape(found.reason)}">{word}</span>'
    words = f"({found.epsilon:g}, {found.delta:g})" if found.delta else f"pure {found.epsilon:g}"
    return f'<span title="{escape(found.reason)}">✓ {words}</span>'


def _spread(row: Row, name: str, several: bool) -> str:
    value = getattr(row, name)
    if value is None:
        return "–"
    return f"{value:.3f}" + (f"<small>± {row.std[name]:.3f}</small>" if several else "")


def named(cell: Cell, nodes: Nodes) -> str:
    """The intervention of a cell in words: what it cuts and what it masks."""
    found = cell.finding
    parts = [f"cut {escape(nodes.ids[u])}–{escape(nodes.ids[w])}" for u, w in found.pairs]
    parts += [f"mask {escape(nodes.feature_names[d])}" for d in found.features]
    shown = ", ".join(parts[:MOST_NAMED])
    return shown + (f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else "")


MOST_NAMED = 8


def verdict(cell: Cell, title: str, nodes: Nodes, graph_level: bool) -> str:
    """What became of one target under one method and draw, in words (HTML)."""
    found = cell.finding
    words = []
    if graph_level:
        seen = f"Here node {escape(nodes.ids[found.target])} is predicted <b>{escape(nodes.classes[found.seen])}</b>"
        words.append(f"{seen}: <b>polluted</b> by the noise." if found.polluted else f"{seen}, as on the true graph.")
    if not len(found.pairs) and not len(found.features):
        if found.size is None:
            return " ".join([*words, f"{escape(title)} found no intervention."])
        if 0 < found.valid < 1:
            return " ".join(
                [*words, f"No single draw: {odds(found.valid, 'release')} would flip the true graph (closed form)."]
            )
        return " ".join([*words, f"{escape(title)} answers with no intervention."])
    if found.spurious:
        end = "flips what it saw, but <b>not</b> the true graph: <b>spurious</b>."
    elif found.valid:
        end = "flips the true graph."
    else:
        end = "does not flip the true graph."
    return " ".join([*words, f"The intervention ({named(cell, nodes)}) {end}"])
