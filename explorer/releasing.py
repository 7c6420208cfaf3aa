"""What the Release desk says: offers, confirmations, costs, history and cards, as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from core.desk.accounting import Payment, compose, group, posterior
from core.desk.amount import amount, text
from core.desk.request import PublicRequest
from core.errors import BadInput, PrivCFSError
from core.study.inspection import Inspection
from core.study.study import Study

if TYPE_CHECKING:
    from core.desk.card import ReleaseCard
    from core.desk.entries import Account, Entry
    from core.desk.ledger import Ledger

DELTA = 1e-5
TEN = 10
MOST_ENTRIES = 200

NO_LEDGER = (
    "<p><b>No ledger is open.</b> Up to here everything is a preview: nothing was drawn and nothing was spent. A real "
    "release is paid from a ledger, which keeps one budget for the whole life of a data set. Open one, or make one: "
    "its budget is set once.</p>"
)
NO_LEDGER_HERE = (
    "<p><b>No ledger is open.</b> Everything here is a preview: nothing can be released. Whoever serves this page can "
    "start it with a ledger (<code>privcfs serve --ledger URL</code>).</p>"
)


def exact(epsilon: float) -> Fraction:
    """The amount that a release at this ε costs: ε itself, or its three shown digits where it has too many."""
    try:
        return amount(repr(epsilon), "epsilon")
    except BadInput:
        return amount(f"{epsilon:.3g}", "epsilon")


def request(study: Study, seen: Inspection, epsilon: Fraction) -> PublicRequest:
    """What would be asked of a release of what is on screen. Raises `PrivCFSError` where it can't be made."""
    from core.desk.release import asked

    return asked(study, seen.universe.target, seen.rho, seen.settings, epsilon)[2]


def made(study: Study, seen: Inspection, epsilon: Fraction, ledger: Ledger, account: str, key: str) -> ReleaseCard:
    """Spend, draw, and return the card. Raises `PrivCFSError`."""
    from core.desk.release import release

    return release(study, seen.universe.target, seen.rho, seen.settings, epsilon, ledger, account, key)[0]


def reason(error: Exception) -> str:
    """An error as one line for the owner."""
    return str(error) if isinstance(error, PrivCFSError) else f"unexpected {type(error).__name__}: {error}"


def gauge(account: Account) -> str:
    """The budget as a bar and in exact numbers."""
    share = float(account.spent / account.budget)
    return (
        f'<div class="gauge"><div class="bar" role="img" aria-label="{100 * share:.0f} % of the budget is spent">'
        f'<div class="spent" style="width:{100 * share:.2f}%"></div></div>'
        f'<p><b id="remaining">ε = {text(account.remaining)}</b> of {text(account.budget)} remains '
        f'<span class="quiet">· {text(account.spent)} spent on {account.entries} '
        f"{'release' if account.entries == 1 else 'releases'} · account {escape(account.name)}, data set "
        f"{escape(account.dataset)}, opened {account.opened:%Y-%m-%d}</span></p></div>"
    )


def offer(study: Study, seen: Inspection, epsilon: Fraction, account: Account) -> str:
    """What the button would do, in one line, and what stands against it."""
    candidates = f"one of {seen.universe.size:,} public candidates"
    said = f"Draws {candidates} for node <b>{escape(seen.target_id)}</b> and spends <b>ε = {text(epsilon)}</b>."
    notes = []
    if account.dataset != study.dataset.name:
        notes.append(
            f"The account was opened for {escape(account.dataset)}, and {escape(study.dataset.name)} is on the desk: "
            "a budget belongs to one data set."
        )
    if epsilon > account.remaining:
        notes.append(f"Too little is left: ε = {text(account.remaining)}.")
    if study.snapshot.simulated:
        notes.append("The snapshot is simulated from private ties: the card will say demonstration, not certified.")
    return f"<p>{said}</p>" + "".join(f'<p class="quiet">{note}</p>' for note in notes)


def restated(request: PublicRequest, account: Account) -> str:
    """The confirmation: ε, target, budget before and after, and what the guarantee assumes."""
    from core.desk.card import ASSUMPTIONS

    left = account.remaining - request.epsilon
    snapshot = request.disclosed
    known = (
        f"simulated, ρ = {snapshot.rho:g}, seed {snapshot.seed}"
        if snapshot.simulated
        else f"the owner's own list, its first {snapshot.pairs:,} pairs (ρ = {snapshot.rho:g})"
    )
    rows = (
        ("target", f"node {request.target} of {request.dataset}"),
        ("ε", text(request.epsilon)),
        ("remaining", f"{text(account.remaining)}, then {text(left) if left >= 0 else 'too little'}"),
        ("mechanism", f"{request.mechanism.upper()}, {request.prior.kind.value} prior, {request.arm.value} arm"),
        ("candidates", f"{request.candidates:,}"),
        ("snapshot", known),
    )
    table = "".join(f'<tr><th scope="row">{name}</th><td>{escape(value)}</td></tr>' for name, value in rows)
    doubts = "".join(f"<li>{escape(doubt)}</li>" for doubt in request.doubts)
    status = f"<p><b>A demonstration, not certified:</b></p><ul>{doubts}</ul>" if doubts else ""
    assumed = "".join(f"<li>{escape(line)}</li>" for line in ASSUMPTIONS)
    return (
        f"<p>This draws once and can't be undone; the budget counts as spent even if the card is never sent.</p>"
        f'<table class="facts">{table}</table>{status}'
        f'<details><summary>What the guarantee assumes</summary><ul class="quiet">{assumed}</ul></details>'
    )


def costs(entries: Sequence[Entry], epsilon: float, mechanism: str) -> str:
    """Table: what was released so far, and with ten more at the present ε; both ways of adding up."""
    more = [Payment(mechanism, exact(epsilon))] * TEN
    rows = ""
    for name, paid in (("so far", list(entries)), (f"with ten more at ε = {text(exact(epsilon))}", [*entries, *more])):
        both = compose(paid, DELTA)
        zcdp = f"{both.zcdp:.4g}" if both.zcdp < float("inf") else "–"
        rows += (
            f'<tr><th scope="row">{name}</th><td>{text(both.pure)}</td><td>{zcdp}</td>'
            f"<td>{_belief(float(both.pure))}</td><td>{text(group(both.pure, TEN))}</td></tr>"
        )
    heads = (
        ("Σ ε (pure)", "The headline: holds however the releases were chosen"),
        (f"ε at δ = {DELTA:g} (zCDP)", "Often less for many small releases; for a number of releases fixed beforehand"),
        ("belief at most", "What an even belief in one tie can grow to: e^ε / (1 + e^ε)"),
        ("ten ties together", "Hiding all ten ties of a person costs ten times ε"),
    )
    head = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in heads)
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">releases</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _belief(epsilon: float) -> str:
    most = posterior(epsilon)
    return f"{most:.4f}" if most < 0.9999 else f"1 − {1 / (1 + math.exp(min(epsilon, 700.0))):.1e}"


def history(entries: Sequence[Entry]) -> str:
    """Table of the debits, the last one first."""
    if not entries:
        return '<p class="quiet">Nothing was spent yet.</p>'
    rows = "".join(
        f'<tr><th scope="row">{entry.number}</th><td>{entry.at:%Y-%m-%d %H:%M:%S} UTC</td><td>{escape(entry.what)}</td>'
        f"<td>{text(entry.epsilon)}</td><td>{escape(entry.mechanism)}</td>"
        f"<td>{'drawn' if entry.outcome is not None else 'paid, not drawn yet'}</td></tr>"
        for entry in reversed(entries[-MOST_ENTRIES:])
    )
    hidden = len(entries) - MOST_ENTRIES
    note = f'<p class="quiet">{hidden:,} earlier ones: privcfs ledger history.</p>' if hidden > 0 else ""
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("no.", "when", "what", "ε", "mechanism", "state"))
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def card_html(card: ReleaseCard) -> str:
    """The card as the owner reads it before she hands it on."""
    value = card.to_json()
    stamp = "certified" if card.certified else "demonstration"
    request = card.request
    return (
        f'<article class="card {stamp}" aria-label="Release card"><header><b>Release card</b>'
        f'<span class="stamp">{stamp}</span></header>'
        f'<p class="said">Node {escape(request.target)}: <b>{escape(card.outcome.sentence)}</b></p>'
        f'<p class="quiet">{escape(value["guarantee"]["statement"])}</p>'
        f'<p class="quiet">ε = {text(request.epsilon)} · {escape(request.mechanism)} · '
        f"{request.candidates:,} candidates · {escape(value['issued'])} · key {escape(card.key)}</p>"
        f'<details><summary>The file</summary><pre tabindex="0">{escape(card.text)}</pre></details></article>'
    )
