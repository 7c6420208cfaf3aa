"""`privcfs serve`: the explorer in a browser."""

from __future__ import annotations

import click

from core.cli.source import Source, data_source


@click.command("serve")
@data_source(default="cora")
@click.option("--port", type=click.IntRange(0, 65535), default=5006, show_default=True, help="0 takes a free port.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--show/--no-show", default=False, help="Open the default browser, where there is one.")
def serve_command(source: Source, port: int, address: str, show: bool) -> None:
    """Serve the explorer; it reads private edges and listens on this machine only unless told otherwise."""
    from explorer.serve import serve

    serve(source.study(source.dataset()), port=port, address=address, show=show)
