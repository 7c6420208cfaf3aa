"""The `privcfs` command: one module a subcommand, errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from core.cli.advise import advise_command
from core.cli.audit import audit_command
from core.cli.check import check_command
from core.cli.compare import compare_command
from core.cli.embed import embed_command
from core.cli.figure import figure_command
from core.cli.frontier import frontier_command
from core.cli.inspect import inspect_command
from core.cli.labels import labels_command
from core.cli.ledger import ledger_command
from core.cli.losschain import losschain_command
from core.cli.placement import placement_command
from core.cli.reach import reach_command
from core.cli.release import release_command
from core.cli.report import report_command
from core.cli.serve import serve_command
from core.cli.verify import verify_command
from core.errors import PrivCFSError
from core.threads import use_one_thread


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="privcfs-explorer", prog_name="privcfs")
def cli() -> None:
    """Decide how much a counterfactual explanation of a private graph may say."""


for command in (serve_command, inspect_command, frontier_command, placement_command, check_command):
    cli.add_command(command)

for command in (figure_command, losschain_command, report_command, reach_command, advise_command, audit_command):
    cli.add_command(command)
for command in (release_command, verify_command, ledger_command, compare_command, labels_command, embed_command):
    cli.add_command(command)


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
