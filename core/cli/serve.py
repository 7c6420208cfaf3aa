"""`privcfs serve`: the explorer in a browser, or written results without any graph."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from core.cli.source import Source, data_source
from core.errors import BadInput
from core.study.written import read_frontiers

WITH_RESULTS = {"present", "files", "port", "address", "show"}


@click.command("serve")
@data_source(default="cora")
@click.option(
    "--present", is_flag=True, help="Show what privcfs frontier wrote into FILE..., read-only and without any graph."
)
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path), metavar="[FILE...]")
@click.option("--port", type=click.IntRange(0, 65535), default=5006, show_default=True, help="0 takes a free port.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--show/--no-show", default=False, help="Open the default browser, where there is one.")
def serve_command(source: Source, present: bool, files: tuple[Path, ...], port: int, address: str, show: bool) -> None:
    """Serve the explorer; it reads private edges and listens on this machine only unless told otherwise."""
    if not present:
        if files:
            raise BadInput(f"serve: found {files[0]} without --present, expected it beside files of results")
        from explorer.serve import serve

        serve(source.study(source.dataset()), port=port, address=address, show=show)
        return
    context = click.get_current_context()
    for name in context.params:
        if name not in WITH_RESULTS and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = name.removesuffix("_name").removesuffix("_columns").replace("_", "-")
            raise BadInput(f"present: found --{option} beside it, expected result files alone; no graph is opened")
    shown = read_frontiers(files)
    from explorer.serve import present as serve_results

    serve_results(shown, port=port, address=address, show=show)
