"""`privcfs ledger`: open a data set's budget, see what is left of it and what it bought."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from core.cli import options
from core.cli.source import Source, columns, taken
from core.desk.accounting import Composition, Payment, compose, group, more, posterior
from core.desk.amount import amount, text
from core.desk.entries import Account, Entry, delta
from core.errors import BadInput

if TYPE_CHECKING:
    from core.desk.ledger import Ledger

MORE = 10  # releases of the same kind, to show what going on would cost

where = click.option(
    "--ledger", "url", metavar="URL", required=True,
    help="SQLite file, sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
)  # fmt: skip
which = click.option("--account", metavar="NAME", help="Needed where the ledger has more than one.")
OWNER_ONLY = "Owner-only: entries name targets and outcomes. Nothing was released and no budget was spent."


@click.group("ledger")
def ledger_command() -> None:
    """Open a privacy budget and see what it was spent on (owner-only)."""


@ledger_command.command("init")
@where
@click.option("--dataset", "dataset_name", required=True, help="The data set whose whole life the budget is for.")
@click.option("--budget", required=True, metavar="E", help="Total ε, exact: 2, 0.5 or 1/3. It is set once.")
@click.option("--delta", "delta_budget", default="0", show_default=True, metavar="D", help="Total δ; 0: pure only.")
@click.option("--account", metavar="NAME", help="Name of the account, if not the data set's.")
@columns
@options.as_json
def init(
    url: str, dataset_name: str, budget: str, delta_budget: str, account: str | None, as_json: bool, **values: Any
) -> None:
    """Open an account for a data set, in a ledger that is made if there is none."""
    total, total_delta = amount(budget, "budget"), delta(delta_budget)
    roles, structural = taken(values)
    dataset = Source(dataset_name, roles, structural).dataset().name
    from core.desk.ledger import Ledger

    with Ledger.create(url) as ledger:
        others = [other for other in ledger.accounts() if other.dataset == dataset]
        opened = ledger.open_account(account or dataset, dataset, total, total_delta)
    for other in others:
        click.echo(
            f"privcfs: note: the data set {dataset} has the account {other.name} too, with a budget of "
            f"{text(other.budget)}; what both reveal adds up",
            err=True,
        )
    if as_json:
        options.print_json(told(opened))
    else:
        click.echo(f"Account {opened.name} opened: budget {text(total)} for the whole life of {dataset}.")


@ledger_command.command("show")
@where
@which
@click.option("--delta", "at", type=float, default=1e-5, show_default=True, help="δ of the zCDP line.")
@click.option("--epsilon", metavar="E", help=f"Price {MORE} more at this ε, if not the last one's.")
@click.option(
    "--ties", type=click.IntRange(min=1), default=10, show_default=True, help="Of one person, hidden at once."
)
@options.as_json
def show(url: str, account: str | None, at: float, epsilon: str | None, ties: int, as_json: bool) -> None:
    """Show what an account has left, and what its releases reveal together."""
    next_epsilon = None if epsilon is None else amount(epsilon, "epsilon")
    from core.desk.ledger import Ledger

    with Ledger.open(url) as ledger:
        book = ledger.book(_chosen(ledger, account))
    found, entries = book.account, book.entries
    now = compose(entries, at)
    like: Payment | None = None
    if next_epsilon is not None:
        like = Payment(entries[-1].mechanism if entries else "em", next_epsilon)
    elif entries:
        like = Payment(entries[-1].mechanism, entries[-1].epsilon, entries[-1].delta)
    then = None if like is None else more(entries, like, MORE, at)
    if as_json:
        ten_more = None
        if like is not None and then is not None:
            ten_more = {"epsilon": text(like.epsilon), "fit": _fit(found, like), **lines(then)}
        options.print_json(
            {
                "owner_only": True,
                **told(found),
                "composition": lines(now),
                "ten_more": ten_more,
                "posterior": posterior(float(found.spent)),
                "group": {"ties": ties, "epsilon": text(group(found.spent, ties))},
                "entries": [entry_told(entry) for entry in entries],
            }
        )
    else:
        click.echo("\n".join(shown(found, now, like, then, ties)))


@ledger_command.command("history")
@where
@which
@options.as_json
def history(url: str, account: str | None, as_json: bool) -> None:
    """List every debit of an account, the first one first."""
    from core.desk.ledger import Ledger

    with Ledger.open(url) as ledger:
        book = ledger.book(_chosen(ledger, account))
    if as_json:
        entries = [entry_told(entry) for entry in book.entries]
        options.print_json({"owner_only": True, "account": book.account.name, "entries": entries})
    else:
        click.echo("\n".join([*listed(book.entries), "", OWNER_ONLY]))


def told(account: Account) -> dict[str, Any]:
    """An account as the entries of a JSON object; amounts are exact texts."""
    return {
        "account": account.name,
        "dataset": account.dataset,
        "opened": account.opened.isoformat(),
        "budget": text(account.budget),
        "spent": text(account.spent),
        "remaining": text(account.remaining),
        "delta_budget": text(account.delta_budget),
        "delta_spent": text(account.delta_spent),
    }


def entry_told(entry: Entry) -> dict[str, Any]:
    """An entry as a JSON object; amounts are exact texts, request and outcome JSON texts."""
    return {
        "number": entry.number,
        "key": entry.key,
        "epsilon": text(entry.epsilon),
        "delta": text(entry.delta),
        "mechanism": entry.mechanism,
        "what": entry.what,
        "request": entry.request,
        "graph_digest": entry.graph_digest,
        "at": entry.at.isoformat(),
        "outcome": entry.outcome,
    }


def lines(composition: Composition) -> dict[str, Any]:
    """Both lines as a JSON object; null for a line that doesn't hold at this δ."""
    finite = {part: getattr(composition, part) for part in ("zcdp", "best")}
    return {
        "pure": text(composition.pure),
        "pure_delta": text(composition.pure_delta),
        "delta": composition.delta,
        **{part: value if math.isfinite(value) else None for part, value in finite.items()},
    }


def shown(account: Account, now: Composition, like: Payment | None, then: Composition | None, ties: int) -> list[str]:
    """What `show` prints for a person."""
    spent = f"{text(account.spent)} spent on {_releases(account.entries)}, {text(account.remaining)} left"
    out = [f"account {account.name} of the data set {account.dataset}: budget {text(account.budget)}, {spent}"]
    if account.delta_budget:
        out.append(f"  δ: budget {text(account.delta_budget)}, {text(account.delta_spent)} spent")
    zcdp = _approximate(now.zcdp, now.delta)
    out += [
        "",
        f"  {'together, pure':<16}{_pure(now):<24}holds for amounts chosen on the way; the budget goes by it",
        f"  {'together, zCDP':<16}{zcdp:<24}holds for amounts fixed before the first release; information only",
    ]
    out.append(f"  {'the smaller':<16}{_approximate(now.best, now.delta)}")
    if like is not None and then is not None:
        out.append(
            f"  {f'{MORE} more at {text(like.epsilon)}':<16}{_pure(then)}, or {_approximate(then.zcdp, then.delta)}; "
            f"the budget covers {_fit(account, like)} more"
        )
    total = group(account.spent, ties)
    out += [
        "",
        "In words: whoever knows all else and holds one tie for as likely as not is, after all these releases, at most "
        f"{_share(posterior(float(account.spent)))} sure of it.",
        f"Hiding all {ties} ties of one person at once: ε = {ties} × {text(account.spent)} = {text(total)}, at most "
        f"{_share(posterior(float(total)))} sure.",
    ]
    if account.delta_spent:
        out.append(f"Both but for a chance of δ = {text(account.delta_spent)} (more for more ties).")
    return [*out, OWNER_ONLY]


def listed(entries: Sequence[Entry]) -> list[str]:
    """One line an entry."""
    if not entries:
        return ["no entries yet"]
    rows = [("no", "ε", "mechanism", "at (UTC)", "outcome", "key", "what")]
    for entry in entries:
        cost = text(entry.epsilon) + (f", δ {text(entry.delta)}" if entry.delta else "")
        settled = "settled" if entry.outcome is not None else "open"
        when = entry.at.strftime("%Y-%m-%d %H:%M:%S")
        rows.append((str(entry.number), cost, entry.mechanism, when, settled, entry.key, entry.what))
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _chosen(ledger: Ledger, account: str | None) -> str:
    if account is not None:
        return account
    names = [found.name for found in ledger.accounts()]
    if len(names) != 1:
        listed = ", ".join(names) if names else "none yet; open one with privcfs ledger init"
        raise BadInput(f"account: found no --account, expected one of: {listed}")
    return names[0]


def _fit(account: Account, like: Payment) -> int:
    """How many more releases like this one the budget covers."""
    fits = account.remaining // like.epsilon
    return int(min(fits, account.delta_remaining // like.delta) if like.delta else fits)


def _releases(count: int) -> str:
    return "1 release" if count == 1 else f"{count} releases"


def _pure(composition: Composition) -> str:
    also = f", δ = {text(composition.pure_delta)}" if composition.pure_delta else ""
    return f"ε = {text(composition.pure)}{also}"


def _approximate(epsilon: float, delta: float) -> str:
    if not math.isfinite(epsilon):
        return f"none at δ = {delta:g}"
    return f"ε = {math.ceil(epsilon * 1e3) / 1e3:g} at δ = {delta:g}"  # never rounded down


def _share(chance: float) -> str:
    percent = math.ceil(chance * 1e4) / 1e2
    return f"{percent:g} %" if percent < 100 else "100 %"
