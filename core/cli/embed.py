"""`privcfs embed`: homomorphism densities of a graph beside the noise that hides an edge, and their paid release."""

from __future__ import annotations

import json
import math
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import options
from core.cli.source import Source, columns, taken
from core.desk.amount import amount, text
from core.embeddings.samplers import PatternClass, sample
from core.errors import BadInput
from core.files import check_output, whole_file
from core.graph import PrivateGraph

if TYPE_CHECKING:
    import numpy as np

    from core.embeddings.plan import NoisePlan
    from core.embeddings.release import EmbeddingRequest

DEMONSTRATION = "demonstration"
DEMONSTRATION_NODES = 300


@dataclass(frozen=True)
class Payment:
    """Where a release is paid and written."""

    url: str
    account: str | None
    key: str
    out: Path
    asked: bool


@click.command("embed")
@click.option("--dataset", "dataset_name", help="Data set to embed; a small simulated block model unless given.")
@columns
@click.option(
    "--patterns", default="cycle", show_default=True, metavar="CLASS",
    help="tree, cycle, treewidth:k or full: what the embedding can see, and what noise it needs.",
)  # fmt: skip
@click.option(
    "--d", "dimensions", type=click.IntRange(1, 1000), default=50, show_default=True, help="Patterns, at most."
)
@click.option("--most-vertices", type=int, default=8, show_default=True, help="Vertices of a pattern, at most.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Public seed of the patterns.")
@click.option(
    "--epsilon", default="1", show_default=True, metavar="E", help="Budget, exact: 1, 0.1 or 1/3 (edge level)."
)
@click.option("--delta", default="1e-5", show_default=True, metavar="D", help="The δ of (ε, δ), exact.")
@click.option(
    "--degree-bound", type=int, metavar="D", help="Public bound on every degree: less noise. Never read it off."
)
@click.option(
    "--project", is_flag=True, help="Project a graph over the bound (three times the noise); refuse it otherwise."
)
@click.option("--smooth", is_flag=True, help="Noise by a smooth bound on the local sensitivity: pays on large graphs.")
@click.option(
    "--spread", type=click.Choice(["equal", "own"]), default="equal", show_default=True,
    help="The same noise on each density, or in proportion to its own bound.",
)  # fmt: skip
@click.option("--ledger", "url", metavar="URL", help="Release it, and debit this ledger; needs --out and --dataset.")
@click.option("--account", metavar="NAME", help="Which of its accounts, if not that of the data set.")
@click.option(
    "--key", metavar="KEY", help="Names the release: a retry under its key pays nothing. Random unless given."
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The released embedding.")
@click.option("--yes", is_flag=True, help="Don't ask before the budget is spent.")
@options.as_json
def embed_command(
    dataset_name: str | None,
    patterns: str,
    dimensions: int,
    most_vertices: int,
    seed: int,
    epsilon: str,
    delta: str,
    degree_bound: int | None,
    project: bool,
    smooth: bool,
    spread: str,
    url: str | None,
    account: str | None,
    key: str | None,
    out: Path | None,
    yes: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Show densities beside their noise (owner-only); with --ledger, release them once and for all."""
    from dataclasses import replace

    from core.embeddings.domain import Domain, OverBound
    from core.embeddings.plan import Spread
    from core.embeddings.release import EmbeddingRequest

    payment = _payment(url, account, key, out, yes, dataset_name)
    kind = replace(PatternClass.parse(patterns), most_vertices=most_vertices)
    exact, exact_delta = amount(epsilon, "epsilon"), amount(delta, "delta")
    name, graph = _graph(dataset_name, values)
    over = OverBound.PROJECT if project else OverBound.REFUSE
    request = EmbeddingRequest(
        name,
        sample(kind, dimensions, seed),
        Domain(graph.n, degree_bound, over),
        exact,
        exact_delta,
        smooth,
        Spread(spread),
    )
    if payment is not None:
        _release(request, graph, payment, as_json)
        return
    from core.embeddings.counting import densities

    plan = request.plan
    admitted = plan.domain.admit(graph)
    counted = densities(plan.patterns, admitted)
    told = _told(request, plan, kind, counted, int(admitted.degree.max()))
    if as_json:
        options.print_json(told)
    else:
        click.echo("\n".join(_lines(told)))


def _payment(
    url: str | None, account: str | None, key: str | None, out: Path | None, yes: bool, dataset: str | None
) -> Payment | None:
    if url is None:
        for option, found in (("out", out), ("account", account), ("key", key)):
            if found is not None:
                raise BadInput(f"{option}: found it without --ledger, expected both: what is released is paid for")
        return None
    if out is None or dataset is None:
        raise BadInput(
            "ledger: found it without --out or --dataset, expected all three: a demonstration isn't released"
        )
    key = key or str(uuid.uuid4())
    check_output(out, lambda: _is_release(out, key), f"the embedding of key {key}")
    return Payment(url, account, key, out, not yes and sys.stdin.isatty())


def _is_release(out: Path, key: str) -> bool:
    try:
        return bool(json.loads(out.read_bytes())["key"] == key)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _graph(dataset_name: str | None, values: dict[str, Any]) -> tuple[str, PrivateGraph]:
    roles, structural = taken(values)
    if dataset_name is not None:
        dataset = Source(dataset_name, roles, structural).dataset()
        return dataset.name, dataset.graph
    from core.embeddings.sbm import CYCLE_CLASSES, block_graphs

    return DEMONSTRATION, block_graphs(CYCLE_CLASSES[1:], 1, DEMONSTRATION_NODES, seed=0).graphs[0]


def _told(
    request: EmbeddingRequest, plan: NoisePlan, kind: PatternClass, counted: np.ndarray, degree: int
) -> dict[str, Any]:
    """What is shown to the owner, as the entries of a JSON object; `noise_std`: root mean square over the patterns."""
    std = plan.noise_std(degree)
    overall = float(math.sqrt((std**2).mean()))
    public = {part: value for part, value in request.to_json().items() if part not in ("patterns", "epsilon", "delta")}
    smooth = {} if plan.smooth is None else {"beta": plan.smooth.beta, "rho_noise": plan.smooth.rho_noise}
    worst = plan.sensitivity
    if plan.smooth is not None:
        worst = overall * math.sqrt(2 * plan.smooth.rho_noise)
    return {
        "owner_only": True,
        "demonstration": request.dataset == DEMONSTRATION,
        **public,
        "pattern_class": kind.name,
        "dimensions": len(plan.patterns),
        "epsilon": float(request.epsilon),
        "delta": float(request.delta),
        "smooth": plan.smooth is not None,
        **smooth,
        "sensitivity": worst,
        "noise_std": overall,
        "patterns": [
            {
                "name": pattern.name,
                "vertices": pattern.vertices,
                "edges": pattern.size,
                "edge_list": [list(edge) for edge in pattern.edges],
                "density": float(density),
                "noise_std": float(noise),
            }
            for pattern, density, noise in zip(plan.patterns, counted, std, strict=True)
        ],
    }


def _lines(told: dict[str, Any]) -> list[str]:
    """The same for a person."""
    omega = "∞" if told["omega"] is None else f"{told['omega']:.4g}"
    subject = "a simulated block model" if told["demonstration"] else told["dataset"]
    lines = [
        f"{subject}: {told['dimensions']} patterns of class {told['pattern_class']} on {told['domain']}",
        f"  ({told['epsilon']:g}, {told['delta']:g})-DP at the edge level, by ({told['rho']:.4g}, {omega})-tCDP",
        f"  sensitivity {told['sensitivity']:.3g}"
        + (" (smooth, depends on the graph)" if told["smooth"] else "")
        + f", noise {told['noise_std']:.3g} on a density (root mean square)",
        "",
        f"  {'pattern':<40}{'vertices':>9}{'edges':>7}{'density':>13}{'noise':>13}{'noise/density':>15}",
    ]
    for row in told["patterns"]:
        ratio = row["noise_std"] / row["density"] if row["density"] else math.inf
        lines.append(
            f"  {row['name']:<40}{row['vertices']:>9}{row['edges']:>7}{row['density']:>13.4g}{row['noise_std']:>13.4g}"
            f"{ratio:>15.3g}"
        )
    drowned = sum(row["noise_std"] > row["density"] for row in told["patterns"])
    return [
        *lines,
        "",
        f"The noise is larger than the density itself for {drowned} of {told['dimensions']} patterns.",
        f"Besides, the number of nodes, {told['nodes']}, is public and part of the embedding.",
        "Owner-only: densities read private edges. Nothing was released and no budget was spent.",
    ]


def _release(request: EmbeddingRequest, graph: PrivateGraph, payment: Payment, as_json: bool) -> None:
    from core.cli.release import account_for
    from core.desk.ledger import Ledger
    from core.embeddings.release import release

    with Ledger.open(payment.url) as ledger:
        account = account_for(ledger, payment.account, request.dataset)
        if payment.asked:
            left = ledger.account(account)
            click.confirm(
                f"Spend ε {text(request.epsilon)} and δ {text(request.delta)} of the {text(left.remaining)} and "
                f"{text(left.delta_remaining)} left in account {account}?",
                abort=True,
                err=True,
            )
        click.echo(
            f"privcfs: note: if this is interrupted, repeat it with --key {payment.key}: nothing is paid twice",
            err=True,
        )
        embedding, entry = release(request, graph, ledger, account, payment.key)
        with whole_file(payment.out) as stream:
            stream.write((json.dumps(embedding.to_json(), indent=2, ensure_ascii=False) + "\n").encode())
        left = ledger.account(account)
    if as_json:
        options.print_json(
            {
                "out": str(payment.out),
                "key": payment.key,
                "account": account,
                "entry": entry.number,
                "epsilon": text(request.epsilon),
                "delta": text(request.delta),
                "spent": text(left.spent),
                "remaining": text(left.remaining),
                "delta_remaining": text(left.delta_remaining),
                "embedding": embedding.to_json(),
            }
        )
        return
    click.echo(f"{len(request.patterns)} noised densities and the number of nodes written to {payment.out}.")
    click.echo(
        f"ε {text(request.epsilon)} and δ {text(request.delta)} debited from account {account}, "
        f"{text(left.remaining)} of {text(left.budget)} left."
    )
