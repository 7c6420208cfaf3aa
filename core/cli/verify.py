"""`privcfs verify`: is this card a release card, and does it fit the public objects it names?"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from core.backbone.store import backbone_for
from core.cli import options
from core.cli.source import Source, data_source
from core.datasets.owner.folder import load_folder
from core.datasets.owner.snapshotfile import read_snapshot
from core.desk.card import ReleaseCard, checked
from core.desk.cardfile import read_text
from core.desk.verify import Public, Verdict, verify
from core.errors import BadInput
from core.snapshot import simulate

MARKS = {True: "ok", False: "FAILED", None: "not checked"}


@click.command("verify")
@click.argument("card", type=click.Path(path_type=Path))
@data_source(required=False)
@options.as_json
def verify_command(card: Path, source: Source, as_json: bool) -> None:
    """Check a release CARD: its layout, and what it says of the public objects named beside it."""
    content = read_text(card)
    verdict = verify(content, public_objects(content, source))
    failed = [check for check in verdict.checks if check.passed is False]
    if as_json:
        options.print_json(
            {
                "valid": verdict.valid,
                "complete": verdict.complete,
                "certified": verdict.certified,
                "checks": [asdict(check) for check in verdict.checks],
            }
        )
    else:
        click.echo("\n".join(report(verdict)))
    if failed:
        first = failed[0]
        raise BadInput(f"card {card}: {first.name}: {first.detail}; {len(failed)} of its checks failed")


def public_objects(content: str, source: Source) -> Public:
    """What the options name; an owner's folder may lack `edges.csv`, which isn't needed.

    A whole data set without a named backbone stands for our own GCN trained on it, and one without a snapshot for
    the simulated one of a demonstration: only its owner has these.
    """
    if not source.name:
        if source.snapshot is not None or source.backbone is not None:
            raise BadInput("data set: found a snapshot or a backbone without one, expected --dataset beside it")
        return Public()
    folder = Path(os.path.expanduser(source.name))
    bare = folder.is_dir() and not any(path.name.lower().startswith("edges.") for path in folder.iterdir())
    dataset = load_folder(folder, source.name, source.roles, public=True) if bare else source.dataset()
    snapshot, named = dataset.snapshot, source.named_backbone(dataset)
    if bare and source.snapshot is not None:
        snapshot = read_snapshot(source.snapshot, dataset.nodes, source.roles)
    if not bare:
        disclosed = ReleaseCard.from_json(checked(content)).request.disclosed
        if snapshot is None and disclosed.seed is not None:
            snapshot = simulate(dataset.graph, disclosed.seed)
        named = named or backbone_for(dataset)
    return Public(dataset.nodes, snapshot, named.weights if named else None)


def report(verdict: Verdict) -> list[str]:
    """The checks, one a line, and what they come to."""
    lines = [f"  {MARKS[check.passed]:<12} {check.name:<12} {check.detail}" for check in verdict.checks]
    if not verdict.valid:
        return [*lines, "", "This card is not what it says."]
    kind = "a certified release" if verdict.certified else "a demonstration, not certified"
    how = "checked in full" if verdict.complete else "checked as far as the public objects were given"
    return [*lines, "", f"The card of {kind}, {how}. Who issued it isn't checked: a card isn't signed."]
