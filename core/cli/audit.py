"""`privcfs audit`: attempts to falsify a guarantee; one module a subcommand."""

from __future__ import annotations

import click

from core.cli.audit_certified import audit_certified_command
from core.cli.audit_exact import audit_exact_command, audit_small_graphs_command
from core.cli.audit_privdpr import audit_privdpr_command
from core.cli.audit_zoo import audit_zoo_command


@click.group("audit")
def audit_command() -> None:
    """Try to falsify a privacy claim. A pass means that no violation was found, never that a release is private."""


for command in (audit_exact_command, audit_small_graphs_command, audit_certified_command):
    audit_command.add_command(command)

for command in (audit_zoo_command, audit_privdpr_command):
    audit_command.add_command(command)
