"""`privcfs audit certified`: a black-box audit of any release on neighbouring graphs."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import click
import numpy as np
from tqdm import tqdm

from core.audit import table
from core.audit.canaries import Context, cut_off, embedded, hub, star, without_edge
from core.audit.certified import audit_pairs
from core.audit.claims import Claim, Pair, Relation, as_networkx
from core.audit.evaluation import Result
from core.audit.frame import Frame
from core.audit.sampling import Witness
from core.audit.search import canary_grid, synthetic_grid
from core.audit.wired import WIRED, Wired, wired
from core.audit.witnesses import battery
from core.cli import options
from core.cli.source import Source, data_source
from core.errors import BadInput

CANARIES = "target, hub, star, embedded, grid, synthetic, degree, density, centrality, triangles"
LEAVES, ER_NODES, ER_DENSITY = 10, 30, 0.2
EXAMPLE = "my_mechanism:release"
SHOWN = 12
OWNER_ONLY = "Owner-only: this reads private edges. Nothing was released and no budget was spent."


@click.command("certified")
@data_source(default="karate")
@click.option(
    "--release", "release_name", metavar="NAME", default="privcfs-em", show_default=True,
    help=f"{', '.join(WIRED)}, or module:function of your own, called with a NetworkX graph and a NumPy generator.",
)  # fmt: skip
@click.option("--target", metavar="ID", help="Node that is explained; the one of smallest margin unless given.")
@options.rho(default=0.5)
@options.epsilon(default=1.0)
@click.option("--delta", type=float, default=0.0, show_default=True, help="Claimed delta of a release of your own.")
@click.option(
    "--relation", type=click.Choice([kind.value for kind in Relation if kind is not Relation.RECORD]),
    default=Relation.EDGE.value, show_default=True, help="When two graphs are neighbours, for a release of your own.",
)  # fmt: skip
@click.option(
    "--canary", "canaries", multiple=True, metavar="NAME",
    help=f"Pairs of graphs: {CANARIES}, or module:function that returns one. Repeat it. [default: target]",
)  # fmt: skip
@click.option(
    "--witness", "witnesses", multiple=True, metavar="NAME",
    help="Graph statistic by name, or module:function of an output. Repeat it. Those that fit unless given.",
)  # fmt: skip
@click.option("--select", type=click.IntRange(2), default=500, show_default=True, help="Selection draws a side.")
@click.option("--evaluate", type=click.IntRange(1), default=2_000, show_default=True, help="Evaluation draws a side.")
@click.option("--confidence", type=float, default=0.99, show_default=True, help="Of each test, or of all together.")
@click.option("--simultaneous", is_flag=True, help="All tests together at that confidence (Bonferroni).")
@click.option(
    "--keep", type=click.IntRange(1), help="Evaluate only so many tests, those that look best on the selection sample."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the draws, and of the simulated snapshot."
)
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
def audit_certified_command(
    source: Source,
    release_name: str,
    target: str | None,
    rho: float,
    epsilon: float,
    delta: float,
    relation: str,
    canaries: Sequence[str],
    witnesses: Sequence[str],
    select: int,
    evaluate: int,
    confidence: float,
    simultaneous: bool,
    keep: int | None,
    seed: int,
    workers: int,
    store: Path | None,
    outs: Sequence[Path],
    as_json: bool,
) -> None:
    """Look for an event that a claimed guarantee can't allow, with a bound that is certified (owner-only).

    What is reported is ε at least. A pass means that no violation was found.
    """
    for out in outs:
        table.check_ending(out)
    study = source.study(source.dataset(), seed)
    row = int(np.argmin(study.margins)) if target is None else study.dataset.resolve(target)[0]
    graph = study.dataset.graph
    frame = Frame(study, row, rho)
    if ":" in release_name:
        own = named(release_name, "release")
        pairs = _pairs(canaries, as_networkx(graph), row, Relation.parse(relation), seed)
        claim = Claim(epsilon, Relation.parse(relation), delta)
        mechanism = Wired(release_name, own, claim, False, lambda pair: battery())
    else:
        if relation != Relation.EDGE or delta:
            raise BadInput(
                f"release {release_name}: found a relation or delta, expected none; the claim that it makes is audited"
            )
        mechanism = wired(release_name, frame, epsilon)
        pairs = _pairs(canaries, graph, row, Relation.EDGE, seed)
    fitting = _witnesses(witnesses, mechanism, pairs)
    with tqdm(unit="‰", disable=None, leave=False) as bar:  # silent without a terminal

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        results = audit_pairs(
            mechanism.release, pairs, mechanism.claim, fitting, select=select, evaluate=evaluate, confidence=confidence,
            simultaneous=simultaneous, keep=keep, seed=seed, workers=workers, store=store, progress=progress,
        )  # fmt: skip
    made = {"owner_only": True, "release": release_name, "dataset": study.dataset.name, "seed": seed}
    if ":" not in release_name:
        made |= {"target": study.dataset.nodes.ids[row], "rho": rho, "proven": mechanism.kept}
    for out in outs:
        table.write(results, out, made)
    if as_json:
        options.print_json(table.report(results, made))
    else:
        click.echo(report(results, mechanism))


def report(results: Sequence[Result], mechanism: Wired) -> str:
    """Results as text for a person (owner-only)."""
    first = results[0]
    level = "of all tests together" if first.simultaneous else "of each test"
    delta = f", delta {first.claimed_delta:g}" if first.claimed_delta else ""
    rejected = sum(result.rejected for result in results)
    lines = [
        f"{mechanism.name}: claimed epsilon {first.claimed_epsilon:g}{delta}, relation {first.relation}",
        f"{len(results)} tests, {first.selected:,} selection and {first.evaluated:,} evaluation draws a side, "
        f"confidence {first.confidence:g} {level}",
        "",
    ]
    for result in sorted(results, key=lambda result: -result.epsilon_lb)[:SHOWN]:
        what = f"{result.pair}; {result.witness}: {result.event}"
        lines.append(f"  epsilon >= {result.epsilon_lb:.3f}  {result.verdict:<18}  {what}")
    if len(results) > SHOWN:
        lines.append(f"  and {len(results) - SHOWN} more with smaller bounds")
    outcome = f"claim rejected by {rejected} of them" if rejected else "no violation found"
    return "\n".join([*lines, "", f"{outcome}. {table.NOTICE}", OWNER_ONLY])


def named(name: str, what: str) -> Any:
    """Import `module:attribute` of the owner's own code, from the working folder too; raises `BadInput`."""
    where, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = attrgetter(attribute)(importlib.import_module(where))
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(
            f"{what} {name}: can't be imported ({reason}); expected module:function such as {EXAMPLE}"
        ) from error
    if not callable(found):
        raise BadInput(
            f"{what} {name}: found a {type(found).__name__}, expected a function; name one such as {EXAMPLE}"
        )
    return found


def _witnesses(names: Sequence[str], mechanism: Wired, pairs: Sequence[Pair]) -> tuple[Witness, ...]:
    if not names:
        found = {witness.name: witness for pair in pairs for witness in mechanism.witnesses(pair)}
        return tuple(found.values())
    return tuple(Witness(name, named(name, "witness")) if ":" in name else battery([name])[0] for name in names)


def _pairs(names: Sequence[str], graph: Any, row: int, relation: Relation, seed: int) -> list[Pair]:
    rng = np.random.default_rng(seed)
    on_edges = relation in (Relation.EDGE, Relation.EDGE_REPLACE)
    makers: dict[str, Callable[[], list[Pair]]] = {
        "target": lambda: _at(graph, row) if on_edges else [cut_off(graph, row)],
        "hub": lambda: [hub(graph)],
        "star": lambda: [star(LEAVES, relation)],
        "embedded": lambda: [embedded(ER_NODES, ER_DENSITY, LEAVES, rng, free, relation) for free in (False, True)],
        "synthetic": lambda: synthetic_grid(relation, rng),
        "grid": lambda: canary_grid(graph, relation),
    }
    makers |= {kind.value: _grid(graph, relation, kind) for kind in Context}
    pairs: dict[str, Pair] = {}
    for name in names or ("target",):
        if ":" in name:
            maker = named(name, "canary")
            try:
                made = maker()
            except TypeError as error:
                raise BadInput(f"canary {name}: can't be made ({error}); name a function of no argument") from error
            if not isinstance(made, Pair):
                raise BadInput(f"canary {name}: found a {type(made).__name__}, expected a core.audit.claims.Pair")
            found = [made]
        elif name in makers:
            found = makers[name]()
        else:
            raise BadInput.choice("canary", name, [*makers, "module:function"])
        pairs |= {pair.name: pair for pair in found}
    return list(pairs.values())


def _grid(graph: Any, relation: Relation, kind: Context) -> Callable[[], list[Pair]]:
    return lambda: canary_grid(graph, relation, contexts=(kind,))


def _at(graph: Any, row: int) -> list[Pair]:
    near = sorted(as_networkx(graph)[row])
    if not near:
        raise BadInput(f"canary target: found no edge at row {row}, expected one; name another target or canary")
    return [without_edge(graph, (row, other)) for other in near]
