"""`privcfs check`: what would be loaded from an owner's files, and what would be set right."""

from __future__ import annotations

from typing import Any

import click

from core.cli import options
from core.cli.source import Source, columns, taken
from core.datasets.description import describe, described


@click.command("check")
@click.argument("path", metavar="PATH")
@columns
@options.as_json
def check_command(path: str, as_json: bool, **values: Any) -> None:
    """Read the graph at PATH and say what was found (owner-only: it counts private edges)."""
    roles, structural = taken(values)
    dataset = Source(path, roles, structural).dataset()
    if as_json:
        options.print_json({"owner_only": True, **describe(dataset)})
    else:
        click.echo("\n".join(described(dataset)))
