"""What the Audit view says, as HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from core.audit.evaluation import Result
from core.audit.exact import posterior_bound
from core.audit.pairs import PairKind
from core.audit.population import PairRecord, PopulationAudit
from core.graph import Nodes

SHOWN = 8
COLUMNS = (
    ("pairs", "Neighbouring graphs compared: one tie added or removed"),
    ("largest Δu", "Largest change of a utility; the bound is the sensitivity"),
    ("largest ratio", "Largest P/P′ of any answer; the bound is e^ε"),
    ("identical", "Share of pairs whose two release distributions are the same"),
    ("AUC, mean", "Of the best attack that tells the two graphs apart from one release; 0.5 is a guess"),
    ("AUC, worst", "The worst of these"),
    ("advantage, worst", "Largest total variation distance: the best hit rate minus false-alarm rate"),
)
KINDS = {PairKind.NEAR: "near the target", PairKind.ANYWHERE: "anywhere in the graph"}


def exact_table(audit: PopulationAudit) -> str:
    """Rows for pairs near the target and anywhere, then what is allowed."""
    head = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in COLUMNS)
    body = ""
    for kind, name in KINDS.items():
        found = audit.summary(kind)
        if not found.pairs:
            continue
        cells = (
            f"{found.pairs:,}", f"{found.max_delta_u:.4f}", f"{found.max_ratio:.4g}", f"{found.identical:.3f}",
            f"{found.auc_mean:.4f}", f"{found.auc_worst:.4f}", f"{found.advantage_worst:.4f}",
        )  # fmt: skip
        body += f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    most = posterior_bound(audit.epsilon)
    allowed = ("", f"{audit.sensitivity:.4f}", f"{audit.ratio_bound:.4g}", "", "", f"{most:.4f}", f"{2 * most - 1:.4f}")
    body += '<tr><th scope="row">allowed</th>' + "".join(f"<td>{cell}</td>" for cell in allowed) + "</tr>"
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">pairs</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def exact_sentence(audit: PopulationAudit) -> str:
    """The verdict, worded as an audit may word it."""
    epsilon = audit.epsilon
    shown = math.log(audit.worst.found.ratio) if audit.worst.found.ratio > 0 else 0.0
    if not audit.passed:
        return f"<b>{len(audit.violations)} of {len(audit.records)} pairs violate the guarantee.</b>"
    return (
        f"<b>No violation found</b> in {len(audit.records):,} pairs: the worst shows ε = {shown:.3g} of the "
        f"{epsilon:.3g} that are claimed. From an even belief in a tie, one release makes nobody surer than "
        f"{posterior_bound(epsilon):.4g}. That is no proof for pairs that were not asked about; the proof stands in "
        "docs/guarantee.md."
    )


def pair_words(record: PairRecord, nodes: Nodes) -> str:
    """Which two graphs the worst pair is, and what one release tells of them."""
    u, w = (escape(nodes.ids[row]) for row in record.asked.pair)
    change = "is a tie, and the neighbour lacks it" if record.asked.edge else "is no tie, and the neighbour has it"
    found = record.found
    steps = record.asked.distance
    away = {None: "", 0: ", at the target", 1: ", one step from the target"}
    where = away.get(steps, f", {steps} steps from the target")
    return (
        f"Pair {u}–{w} {change}{where}; target {escape(nodes.ids[record.asked.target])}. Largest ratio "
        f"{found.ratio:.4g}, largest Δu {found.delta_u:.3f}, the best attack's AUC {found.auc:.4f}."
    )


def live_sentence(results: Sequence[Result], drawn: int, final: bool) -> str:
    """How a live audit stands."""
    if not results:
        return f"{drawn:,} draws a side; no look at them yet."
    best = max(results, key=lambda result: result.epsilon_lb)
    claim = f"ε = {best.claimed_epsilon:.3g}" + (f", δ = {best.claimed_delta:g}" if best.claimed_delta else "")
    if best.rejected:
        said = f"<b>Claim rejected</b>: ε is at least {best.epsilon_lb:.3g}, and {claim} is claimed."
    else:
        far = "" if final else " so far"
        said = f"<b>No violation found</b>{far}: ε is at least {best.epsilon_lb:.3g}; {claim} is claimed."
    return (
        f"{said} {best.evaluated:,} draws a side, {best.tests} tests, sure at {100 * best.confidence:g} % "
        f"{'of all together' if best.simultaneous else 'each'}, at every look."
    )


def live_table(results: Sequence[Result], nodes: Nodes) -> str:
    """The tests with the largest bounds; a witness of a pair of rows is named by their ids."""

    def named(witness: str) -> str:
        pair = re.fullmatch(r"(\D+ )(\d+) - (\d+)", witness)
        return f"{pair[1]}{nodes.ids[int(pair[2])]}–{nodes.ids[int(pair[3])]}" if pair else witness

    heads = ("witness", "event", "on one side", "on the other", "ε at least", "verdict")
    rows = "".join(
        f'<tr><th scope="row">{escape(named(result.witness))}</th><td>{escape(result.event)}</td>'
        f"<td>{result.alpha_count:,} of {result.evaluated:,}</td><td>{result.beta_count:,}</td>"
        f"<td>{result.epsilon_lb:.3f}</td><td>{result.verdict}</td></tr>"
        for result in sorted(results, key=lambda result: -result.epsilon_lb)[:SHOWN]
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
