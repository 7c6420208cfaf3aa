"""The `privcfs` command: one module a subcommand, errors in one line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from core.errors import PrivCFSError
from core.threads import use_one_thread

COMMANDS = (
    "serve", "check", "inspect", "frontier", "reach", "advise", "losschain", "report", "figure",
    "placement", "compare", "audit", "release", "verify", "ledger", "labels", "embed",
)  # fmt: skip


class Late(click.Group):
    """Subcommands of the modules of this package, each imported when it is asked for: a graph library takes seconds."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The subcommands, from looking at a graph to releasing from it."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """`NAME_command` of the module of that name."""
        if name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"core.cli.{name}"), f"{name}_command")


@click.group(cls=Late, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="privcfs-explorer", prog_name="privcfs")
def cli() -> None:
    """Decide how much a counterfactual explanation of a private graph may say."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with 0 (done), 2 (bad input) or 3 (budget refused)."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; an error is one line on stderr."""
    use_one_thread()
    try:
        return int(cli.main(arguments, prog_name="privcfs", standalone_mode=False) or 0)
    except PrivCFSError as error:
        click.echo(f"privcfs: {error}", err=True)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        hint = " (see privcfs --help)" if isinstance(error, click.UsageError) else ""
        click.echo(f"privcfs: {' '.join(error.format_message().split())}{hint}", err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("privcfs: stopped", err=True)
        return 130
