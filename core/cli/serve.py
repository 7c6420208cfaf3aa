"""`privcfs serve`: the explorer in a browser, or written results without any graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from core.cli.source import Source, data_source
from core.errors import BadInput
from core.study.written import read_frontiers

if TYPE_CHECKING:
    from core.desk.ledger import Ledger

LISTENING = (
    "address", "port", "show", "origins", "password_file", "oauth_provider", "oauth_key", "oauth_secret_file",
    "certificate", "certificate_key",
)  # fmt: skip
WITH_RESULTS = {"present", "files", *LISTENING}
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("serve")
@data_source(default="cora")
@click.option(
    "--present", is_flag=True, help="Show what privcfs frontier wrote into FILE..., read-only and without any graph."
)
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path), metavar="[FILE...]")
@click.option("--port", type=click.IntRange(0, 65535), default=5006, show_default=True, help="0 takes a free port.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--show/--no-show", default=False, help="Open the default browser, where there is one.")
@click.option("--ledger", metavar="URL", help="Ledger that pays for releases made in the explorer.")
@click.option(
    "--origin", "origins", multiple=True, metavar="HOST:PORT",
    help="What stands in the address bar of those who come from elsewhere; repeat for more.",
)  # fmt: skip
@click.option(
    "--password-file", type=FILE, help="Its first line is the password, or it is JSON of users and passwords."
)
@click.option("--oauth-provider", metavar="NAME", help="OAuth in the place of a password: github, google, azure, ...")
@click.option("--oauth-key", metavar="KEY", help="Public identifier at the OAuth provider.")
@click.option("--oauth-secret-file", type=FILE, help="Its first line is the secret of the OAuth provider.")
@click.option("--certificate", type=FILE, help="PEM file: serve over TLS.")
@click.option("--certificate-key", type=FILE, help="PEM file: its private key.")
def serve_command(source: Source, present: bool, files: tuple[Path, ...], ledger: str | None, **listening: Any) -> None:
    """Serve the explorer; it reads private edges and listens on this machine only unless told otherwise.

    An address that other machines reach needs a password or OAuth.
    """
    from explorer.access import Access

    access = Access(**listening)
    if not present:
        if files:
            raise BadInput(f"serve: found {files[0]} without --present, expected it beside files of results")
        access.check_private()
        from explorer.serve import serve

        serve(source.study(source.dataset()), access, _opened(ledger))
        return
    context = click.get_current_context()
    for name in context.params:
        if name not in WITH_RESULTS and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = name.removesuffix("_name").removesuffix("_columns").replace("_", "-")
            raise BadInput(f"present: found --{option} beside it, expected result files alone; no graph is opened")
    shown = read_frontiers(files)
    from explorer.serve import present as serve_results

    serve_results(shown, access)


def _opened(url: str | None) -> Ledger | None:
    if url is None:
        return None
    from core.desk.ledger import Ledger

    return Ledger.open(url)
