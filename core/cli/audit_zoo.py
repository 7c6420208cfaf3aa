"""`privcfs audit zoo`: the auditor held against mechanisms of known truth."""

from __future__ import annotations

from collections.abc import Sequence

import click
from tqdm import tqdm

from core.audit.zoo.catalogue import specimens
from core.audit.zoo.run import Tally, run_zoo
from core.cli import options
from core.errors import PrivCFSError


@click.command("zoo")
@options.epsilon(default=1.0)
@click.option(
    "--mechanism", "names", multiple=True, metavar="NAME", help="One of the zoo; all unless given. Repeat it."
)
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Audits of each; full gate: 200.")
@click.option("--select", type=click.IntRange(2), default=4_000, show_default=True, help="Selection draws a side.")
@click.option("--evaluate", type=click.IntRange(1), default=16_000, show_default=True, help="Evaluation draws a side.")
@click.option(
    "--confidence", type=float, default=0.99, show_default=True, help="Of all tests of one mechanism together."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draws.")
@options.as_json
def audit_zoo_command(
    epsilon: float,
    names: Sequence[str],
    runs: int,
    select: int,
    evaluate: int,
    confidence: float,
    seed: int,
    as_json: bool,
) -> None:
    """Audit mechanisms whose true epsilon is known, correct and broken: does the auditor tell them apart?

    A correct one may be rejected in a share 1 - confidence of the runs at most; leaves with 2 when the auditor
    fails: a correct one is rejected more often than that explains, or a broken one isn't rejected.
    """
    chosen = specimens(epsilon, names or None)
    with tqdm(unit="audit", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        tallies = run_zoo(
            chosen, runs=runs, select=select, evaluate=evaluate, confidence=confidence, seed=seed, progress=progress
        )
    if as_json:
        options.print_json(
            {
                "runs": runs,
                "select": select,
                "evaluate": evaluate,
                "confidence": confidence,
                "seed": seed,
                "passed": all(tally.passed for tally in tallies),
                "rows": [tally.to_json() for tally in tallies],
            }
        )
    else:
        click.echo("\n".join(report(tallies)))
    failed = [tally.specimen.name for tally in tallies if not tally.passed]
    if failed:
        raise PrivCFSError(
            f"zoo: found the auditor wrong about {', '.join(failed)}, expected it right; take more evaluation draws if "
            "a broken one passed"
        )


def report(tallies: Sequence[Tally]) -> list[str]:
    """Truth and finding side by side, as lines for a person."""
    lines = [f"  {'mechanism':<34}{'':9}{'claimed':>8}{'true':>8}{'found':>8}{'rejected':>12}"]
    for tally in tallies:
        row = tally.to_json()
        truth = "inf" if row["true_epsilon"] is None else f"{row['true_epsilon']:.3f}"
        kind = "correct" if row["correct"] else "broken"
        lines.append(
            f"  {row['mechanism']:<34}{kind:<9}{row['claimed_epsilon']:>8g}{truth:>8}{row['epsilon_lb']:>8.3f}"
            f"{row['rejections']:>7} of {row['runs']}"
        )
    return [*lines, "", "found: epsilon at least, of the median run. Not rejected means: no violation found."]
