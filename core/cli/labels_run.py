"""What `privcfs labels` does once data, classifier and plan are known: simulate, sweep, or release."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from core.cli import options
from core.cli.release import account_for
from core.datasets.dataset import Dataset
from core.desk.amount import text
from core.labels.classifier import Classifier, FilterClassifier
from core.labels.plan import Cap, Plan

if TYPE_CHECKING:
    from core.labels.feasible import Walls
    from core.labels.simulate import Simulated

OWNER_ONLY = "Simulated, owner-only: this reads private edges. Nothing was released and no budget was spent."


def simulate_labels(
    dataset: Dataset,
    classifier: Classifier,
    plan: Plan,
    rows: np.ndarray | None,
    most_wrong: float,
    seed: int,
    as_json: bool,
) -> None:
    """Draw once from a seeded generator and say all of it (owner-only)."""
    from core.labels.experiment import accuracy
    from core.labels.feasible import walls
    from core.labels.simulate import simulate
    from core.labels.stability import node_rows

    wanted = node_rows(rows, dataset.graph.n)
    filtered = isinstance(classifier, FilterClassifier)
    truth = np.full(dataset.graph.n, -1)
    truth[wanted] = dataset.labels[wanted]
    interval = (
        walls(dataset.graph, plan, classifier, truth, most_wrong) if isinstance(classifier, FilterClassifier)
        else walls(dataset.graph, plan)
    )  # fmt: skip
    drawn = simulate(dataset.graph, classifier, plan, np.random.default_rng(seed), rows)
    whole = classifier.labels(dataset.graph.edges, np.ones((1, dataset.graph.m), dtype=bool))[0][wanted]
    right = accuracy(drawn.tally.votes.labels, dataset.labels[wanted])
    right_whole = accuracy(whole, dataset.labels[wanted])
    if not as_json:
        click.echo("\n".join(_report(dataset, classifier, plan, drawn, interval, len(wanted), right, right_whole)))
        return
    votes = drawn.tally.votes
    options.print_json(
        {
            "dataset": dataset.name,
            "nodes": len(wanted),
            "classifier": classifier.kind,
            **_public(plan),
            "stability": drawn.tally.stability,
            "released": drawn.released,
            "release_probability": drawn.tally.release_probability,
            "feasible": [interval.low, interval.high],
            "feasible_empty": interval.empty,
            "walls": {
                "accuracy": interval.accuracy if filtered else None,
                "halting": interval.halting,
                "stability": interval.stability,
            },
            "accuracy": _number(right),
            "accuracy_whole_graph": _number(right_whole),
            "agreement": votes.first / plan.m,
            "second": votes.second / plan.m,
            "vectors": votes.vectors,
            "edges_max_count": drawn.tally.most,
            "halted": drawn.tally.halted,
            "simulation": True,
            "owner_only": True,
            "seed": seed,
        }
    )


def _report(
    dataset: Dataset,
    classifier: Classifier,
    plan: Plan,
    drawn: Simulated,
    interval: Walls,
    nodes: int,
    right: float,
    right_whole: float,
) -> list[str]:
    found, votes = drawn.tally, drawn.tally.votes
    if found.halted:
        said = f"⊥: an edge sits in {found.most} subgraphs, more than the {plan.cap} allowed (halting step)"
    elif drawn.released:
        said = "labels come out"
    else:
        said = "⊥: too few subgraphs agree (stability test)"
    lines = [
        f"{dataset.name}: {nodes} nodes by {classifier.kind}, {plan.m} subgraphs at p_s {text(plan.p_s)}, "
        f"ε {text(plan.epsilon)}, δ {text(plan.delta)}.",
        f"{said[0].upper()}{said[1:]}. Chance of labels over the noise: {found.release_probability:.2g}.",
        f"  {votes.first} of {plan.m} subgraphs agree on all {nodes} labels, {votes.second} on the next; "
        f"{votes.vectors} different answers",
        f"  stability {found.stability:.3g}, needed {plan.threshold:.3g}; most subgraphs an edge sat in: {found.most}, "
        f"allowed {plan.cap}",
        f"  accuracy of the most frequent answer {right:.3g}, of the whole graph {right_whole:.3g}",
        f"  feasible p_s: {'none' if interval.empty else f'{interval.low:.3g} to {interval.high:.3g}'}"
        f" (halting wall {interval.halting:.3g}, stability wall {interval.stability:.3g}"
        + (f", accuracy wall {interval.accuracy:.3g})" if interval.wrong is not None else ", no accuracy bound)"),
    ]
    if not plan.holds:
        lines.append(
            f"  a release would be private with δ {plan.delta_total:.2g}, not {text(plan.delta)}: an edge may trip the "
            "halting step; take more subgraphs, or --cap fitted"
        )
    if not plan.reachable:
        lines.append("  p_s is beyond the stability wall: full agreement wouldn't be enough, on any graph")
    elif 2 * votes.first < plan.votes_needed and nodes > 1:
        lines.append(f"  {nodes} labels hardly ever agree all at once here: ask for fewer nodes (--nodes, --targets)")
    return [*lines, OWNER_ONLY]


def sweep_labels(
    dataset: Dataset,
    classifier: Classifier,
    grid: tuple[list[Fraction], list[int], list[Fraction], list[Fraction]],
    rule: Cap,
    rows: np.ndarray | None,
    draws: int,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Write accuracy and ⊥-rate over a grid of plans to a file (owner-only)."""
    from tqdm import tqdm

    from core.files import whole_file
    from core.labels.experiment import sweep, table

    with tqdm(unit="sweep", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        cells = sweep(
            dataset, classifier, *grid, rule=rule, rows=rows, draws=draws, seed=seed, progress=progress
        )  # fmt: skip
    with whole_file(out) as stream:
        stream.write(table(cells).encode("utf-8"))
    if as_json:
        options.print_json({"dataset": dataset.name, "out": str(out), "rows": len(cells), "owner_only": True})
    else:
        best = max(cells, key=lambda cell: cell.released if cell.delta_total <= cell.delta else -1.0)
        click.echo(f"{len(cells)} rows in {out}. Most often released within δ: p_s {best.p_s:g}, {best.released:.2g}.")
        click.echo(OWNER_ONLY)


def release_labels(
    dataset: Dataset,
    classifier: Classifier,
    plan: Plan,
    rows: np.ndarray | None,
    url: str,
    account: str | None,
    key: str,
    out: Path,
    as_json: bool,
) -> None:
    """Debit, draw and write the card; raises `BadInput` before that for a claim that doesn't hold."""
    from core.desk.ledger import Ledger
    from core.labels.card import check_place, write_card
    from core.labels.feasible import public_walls
    from core.labels.release import release

    plan.check_holds()
    check_place(out, key)
    with Ledger.open(url) as ledger:
        chosen = account_for(ledger, account, dataset.name)
        click.echo(
            f"privcfs: note: if this is interrupted, repeat it with --key {key}: nothing is paid twice", err=True
        )
        card, entry = release(dataset, classifier, plan, ledger, chosen, key, rows)
        write_card(card, out)
        left = ledger.account(chosen)
    if as_json:
        options.print_json(
            {
                **_public(plan),
                "stability": None,
                "released": card.outcome.labels is not None,
                "feasible": list(public_walls(plan)),
                "accuracy": None,
                "edges_max_count": None,
                "halted": None,
                "simulation": False,
                "out": str(out),
                "key": key,
                "account": chosen,
                "entry": entry.number,
                "spent": text(left.spent),
                "remaining": text(left.remaining),
                "delta_remaining": text(left.delta_remaining),
                "card": card.to_json(),
            }
        )
        return
    labels = card.outcome.labels
    click.echo("⊥: no labels came out." if labels is None else f"Labels of {len(labels)} nodes came out.")
    if not card.certified:
        click.echo(f"A demonstration, not certified: {'; '.join(card.request.doubts)}.")
    click.echo(
        f"ε {text(plan.epsilon)} and δ {text(plan.delta)} debited from account {chosen}, ε {text(left.remaining)} and "
        f"δ {text(left.delta_remaining)} left."
    )
    click.echo(f"Card written to {out}.")


def _public(plan: Plan) -> dict[str, Any]:
    """What a plan says without a graph."""
    return {
        "p_s": float(plan.p_s),
        "m": plan.m,
        "epsilon": float(plan.epsilon),
        "delta": float(plan.delta),
        "delta_total": plan.delta_total,
        "holds": plan.holds,
        "threshold": plan.threshold,
        "cap": plan.cap,
        "votes_needed": plan.votes_needed,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
