"""`privcfs release`: debit the budget, draw one intervention, write the card that the analyst gets."""

from __future__ import annotations

import sys
import uuid
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core import checks
from core.cli import options
from core.cli.source import Source, data_source
from core.cli.targets import listed_rows
from core.desk.amount import amount, text
from core.errors import BadInput
from core.prior.prior import PriorKind
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm

if TYPE_CHECKING:
    from core.desk.ledger import Ledger

SIMULATED_RHO = 0.5


@click.command("release")
@data_source()
@click.option("--target", metavar="ID", help="Node id; #12 is row 12.")
@click.option(
    "--targets", "targets_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Node ids, one a line: one release each; --out is a folder then.",
)  # fmt: skip
@click.option("--epsilon", required=True, metavar="E", help="Budget of each release, exact: 1, 0.1 or 1/3.")
@click.option("--rho", type=float, help="Share of the snapshot that is public; all of a real one unless given.")
@options.seed
@options.arm
@options.prior
@options.settings
@click.option("--ledger", "url", metavar="URL", required=True, help="The ledger that is debited.")
@click.option("--account", metavar="NAME", help="Which of its accounts, if not that of the data set.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The card's file, or the batch's folder.")
@click.option(
    "--key", metavar="KEY", help="Names the release: a retry under its key pays nothing. Random unless given."
)
@click.option("--yes", is_flag=True, help="Don't ask before the budget is spent.")
@options.as_json
def release_command(
    source: Source,
    target: str | None,
    targets_file: Path | None,
    epsilon: str,
    rho: float | None,
    seed: int,
    arm: str,
    prior: str,
    settings: Settings,
    url: str,
    account: str | None,
    out: Path,
    key: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Release what is drawn for TARGET, once and for all, and debit its epsilon from the ledger."""
    exact = amount(epsilon, "epsilon")
    settings = replace(settings, arm=Arm.parse(arm), prior=replace(settings.prior, kind=PriorKind.parse(prior)))
    if (target is None) == (targets_file is None):
        raise BadInput(
            f"target: found {'neither' if target is None else 'both'} of --target and --targets, expected one"
        )
    if rho is not None:
        checks.rho(rho)
    from core.desk.cardfile import check_place
    from core.desk.ledger import Ledger

    with Ledger.open(url) as ledger:
        dataset = source.dataset()
        if target is not None:
            row, note = dataset.resolve(target)
            if note:
                click.echo(f"privcfs: note: {note}", err=True)
            rows = [row]
            key = str(uuid.uuid4()) if key is None else key
            check_place(out, key)
        else:
            assert targets_file is not None
            rows = listed_rows(dataset, targets_file).tolist()
        chosen = account_for(ledger, account, dataset.name)
        study = source.study(dataset, seed)
        if rho is None:
            rho = SIMULATED_RHO if study.snapshot.simulated else 1.0
        if not yes and sys.stdin.isatty():
            _ask(ledger, chosen, exact, len(rows))
        if target is None:
            _batch(study, rows, rho, settings, exact, ledger, chosen, out, key, as_json)
        else:
            assert key is not None
            _one(study, rows[0], rho, settings, exact, ledger, chosen, out, key, as_json)


def account_for(ledger: Ledger, name: str | None, dataset: str) -> str:
    """The account to debit: the named one, that of the data set's name, or the only one of the data set.

    Raises `BadInput` for none of them, and for an account of another data set: its budget isn't this graph's.
    """
    known = {account.name: account for account in ledger.accounts()}
    own = [account.name for account in known.values() if account.dataset == dataset]
    if name is None:
        name = dataset if dataset in own else own[0] if len(own) == 1 else None
    if name in known and name in own:
        return name
    if name in known:
        raise BadInput(
            f"account: found {name} for the data set {known[name].dataset}, expected one for {dataset}: a budget "
            "belongs to one private graph"
        )
    listed = ", ".join(f"{account.name} ({account.dataset})" for account in known.values())
    found = "no account" if name is None else f"no account {name}"
    raise BadInput(
        f"account: found {found} for the data set {dataset}, expected one of: {listed or 'none yet'}; name it with "
        "--account, or open one with privcfs ledger init"
    )


def _ask(ledger: Ledger, account: str, epsilon: Fraction, releases: int) -> None:
    left = ledger.account(account)
    asked = f"{text(epsilon)} each for {releases} releases" if releases > 1 else text(epsilon)
    click.confirm(
        f"Spend ε {asked} of the {text(left.remaining)} left of {text(left.budget)} in account {account}?",
        abort=True,
        err=True,
    )


def _one(
    study: Study,
    row: int,
    rho: float,
    settings: Settings,
    epsilon: Fraction,
    ledger: Ledger,
    account: str,
    out: Path,
    key: str,
    as_json: bool,
) -> None:
    from core.desk.cardfile import write_card
    from core.desk.release import release

    click.echo(f"privcfs: note: if this is interrupted, repeat it with --key {key}: nothing is paid twice", err=True)
    card, entry = release(study, row, rho, settings, epsilon, ledger, account, key)
    write_card(card, out)
    left = ledger.account(account)
    if as_json:
        options.print_json(
            {
                "out": str(out),
                "key": key,
                "account": account,
                "entry": entry.number,
                "epsilon": text(epsilon),
                "spent": text(left.spent),
                "remaining": text(left.remaining),
                "card": card.to_json(),
            }
        )
        return
    click.echo(f"Node {card.request.target}: {card.outcome.sentence}.")
    if not card.certified:
        click.echo(f"A demonstration, not certified: {'; '.join(card.request.doubts)}.")
    click.echo(f"ε {text(epsilon)} debited from account {account}, {text(left.remaining)} of {text(left.budget)} left.")
    click.echo(f"Card written to {out}; check it with privcfs verify.")


def _batch(
    study: Study,
    rows: list[int],
    rho: float,
    settings: Settings,
    epsilon: Fraction,
    ledger: Ledger,
    account: str,
    out: Path,
    key: str | None,
    as_json: bool,
) -> None:
    from tqdm import tqdm

    from core.desk.batch import open_batch, release_all

    batch = open_batch(out, key)
    with tqdm(unit="release", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        places = list(release_all(study, rows, rho, settings, epsilon, ledger, account, batch, progress))
    left = ledger.account(account)
    if as_json:
        options.print_json(
            {
                "out": str(out),
                "key": batch.key,
                "account": account,
                "epsilon": text(epsilon),
                "spent": text(left.spent),
                "remaining": text(left.remaining),
                "cards": [str(place) for place in places],
            }
        )
    else:
        click.echo(f"{len(places)} cards in {out}; {text(left.remaining)} of {text(left.budget)} left in {account}.")
