"""`privcfs audit privdpr`: a published mechanism whose claim the certified auditor rejects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from tqdm import tqdm

from core.audit import table
from core.audit.evaluation import Result
from core.audit.privdpr.case import DELTA, EPSILON, EVALUATE, SELECT, audit_privdpr
from core.cli import options


@click.command("privdpr")
@options.epsilon(default=EPSILON)
@click.option("--delta", type=float, default=DELTA, show_default=True, help="Claimed delta.")
@click.option("--select", type=click.IntRange(2), default=SELECT, show_default=True, help="Selection draws a side.")
@click.option(
    "--evaluate", type=click.IntRange(1), default=EVALUATE, show_default=True, help="Evaluation draws a side."
)
@click.option("--confidence", type=float, default=0.99, show_default=True, help="Of each test, or of all together.")
@click.option("--simultaneous", is_flag=True, help="All tests together at that confidence (Bonferroni).")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")
@click.option(
    "--store", type=click.Path(dir_okay=False, path_type=Path),
    help="File that keeps what was drawn; the same call goes on from there.",
)  # fmt: skip
@click.option(
    "--out", "outs", multiple=True, type=click.Path(dir_okay=False, path_type=Path),
    help="Table to write, .csv, .json or .html. Repeat it.",
)  # fmt: skip
@options.as_json
def audit_privdpr_command(
    epsilon: float,
    delta: float,
    select: int,
    evaluate: int,
    confidence: float,
    simultaneous: bool,
    seed: int,
    workers: int,
    store: Path | None,
    outs: Sequence[Path],
    as_json: bool,
) -> None:
    """Audit a compact re-implementation of PrivDPR, which claims node-level privacy, on six pairs of graphs."""
    for out in outs:
        table.check_ending(out)
    with tqdm(unit="‰", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        results = audit_privdpr(
            epsilon, delta, select=select, evaluate=evaluate, confidence=confidence, simultaneous=simultaneous,
            seed=seed, workers=workers, store=store, progress=progress,
        )  # fmt: skip
    made = {"release": "privdpr", "seed": seed}
    for out in outs:
        table.write(results, out, made)
    if as_json:
        told = table.report(results, made)
        told["rows"] = [{"canary": row.pop("pair"), **row} for row in told["rows"]]
        options.print_json(told)
    else:
        click.echo(report(results))


def report(results: Sequence[Result]) -> str:
    """The table for a person: a line a canary, ε at least by each witness, `*` where the claim is rejected."""
    first = results[0]
    canaries, witnesses = (list(dict.fromkeys(getattr(r, name) for r in results)) for name in ("pair", "witness"))
    found = {(result.pair, result.witness): result for result in results}
    width = max(len(name) for name in canaries)
    lines = [
        f"PrivDPR, claimed epsilon {first.claimed_epsilon:g}, delta {first.claimed_delta:g}, one node rewired",
        f"{first.selected:,} selection and {first.evaluated:,} evaluation draws a side, confidence "
        f"{first.confidence:g} {'of all tests together' if first.simultaneous else 'of each test'}; "
        "epsilon at least, * claim rejected",
        "",
        f"  {'canary':<{width}}" + "".join(f"{name:>19}" for name in witnesses),
    ]
    for canary in canaries:
        cells = [found[canary, witness] for witness in witnesses]
        marked = (f"{cell.epsilon_lb:.2f}{'*' if cell.rejected else ' '}" for cell in cells)
        lines.append(f"  {canary:<{width}}" + "".join(f"{text:>19}" for text in marked))
    missed = [canary for canary in canaries if not any(found[canary, witness].rejected for witness in witnesses)]
    outcome = f"no violation found on: {', '.join(missed)}" if missed else "claim rejected on every canary"
    return "\n".join([*lines, "", f"{outcome[0].upper()}{outcome[1:]}. {table.NOTICE}"])
