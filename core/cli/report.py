"""`privcfs report`: written frontiers as one HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.figure import TABLE
from core.errors import BadInput
from core.study.written import read_frontiers


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=TABLE, metavar="FILE...")
@click.option("--out", type=TABLE, required=True, help="HTML file to write, some MB.")
def report_command(files: tuple[Path, ...], out: Path) -> None:
    """Put what privcfs frontier wrote into one HTML file: figures, tables, definitions, origin (owner-only)."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"report {out}: found the ending {out.suffix!r}, expected .html")
    from explorer.present.report import report_page, write_page

    size = write_page(report_page(read_frontiers(files)), out)
    click.echo(f"Report written to {out}, {size / 1e6:.1f} MB. Owner-only: computed from private edges.")
