"""`privcfs figure`: the curves of a written frontier as a file."""

from __future__ import annotations

from pathlib import Path

import click

from core.errors import BadInput
from core.study.written import read_frontiers

TABLE = click.Path(dir_okay=False, path_type=Path)


@click.command("figure")
@click.argument("files", nargs=-1, required=True, type=TABLE, metavar="FILE...")
@click.option("--population", help="Which one to draw, where the files hold several.")
@click.option("--out", type=TABLE, required=True, help="SVG, PNG or HTML file to write.")
def figure_command(files: tuple[Path, ...], population: str | None, out: Path) -> None:
    """Draw what privcfs frontier wrote into FILE: valid-CF over ε for every rho and arm (owner-only)."""
    from explorer.figures.static import check_ending, frontier_file

    check_ending(out, also=(".html",))
    shown = read_frontiers(files)
    groups = {(name, kind) for name, kind in zip(shown.rows["dataset"], shown.rows["population"], strict=True)}
    found = sorted(group for group in groups if population in (None, group[1]))
    if len(found) != 1:
        held = ", ".join(f"{kind} targets of {name}" for name, kind in sorted(groups))
        asked = "--population" if population is None else f"population {population}"
        raise BadInput(f"{asked}: found {held}, expected one of them to draw; name it, or fewer files")
    if out.suffix.lower() == ".html":
        from explorer.present.report import figure_page, write_page

        write_page(figure_page(shown, *found[0]), out)
    else:
        frontier_file(shown.of(*found[0]), out)
    click.echo(f"Figure written to {out}. Owner-only: its figures were computed from private edges.")
