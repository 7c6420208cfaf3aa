"""Options that several subcommands share, so that a name means the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from core.prior.prior import LARGEST_PENALTY, PriorKind
from core.release.mechanism import Mechanism
from core.study.populations import Population
from core.universe import Arm
from core.utility import SENSITIVITIES

Decorator = Callable[[Any], Any]


def _given(default: Any) -> dict[str, Any]:
    return {"required": True} if default is None else {"default": default, "show_default": True}


def epsilon(default: float | None = None) -> Decorator:
    """`--epsilon E`: the privacy budget of one release."""
    return click.option(
        "--epsilon", type=float, help="Privacy budget of one release (pure, edge level).", **_given(default)
    )


def rho(default: float | None = None) -> Decorator:
    """`--rho R`: the share of the snapshot that is public."""
    return click.option("--rho", type=float, help="Share of the snapshot that is public, 0 to 1.", **_given(default))


seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated snapshot."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines.")
arm = click.option(
    "--arm", type=click.Choice([arm.value for arm in Arm]), default=Arm.FULL.value, show_default=True,
    help="Which interventions the universe holds.",
)  # fmt: skip
prior = click.option(
    "--prior", type=click.Choice([kind.value for kind in PriorKind]), default=PriorKind.UNIFORM.value,
    show_default=True, help="Public base measure: the same for all, or what the snapshot already says.",
)  # fmt: skip
size_penalty = click.option(
    "--size-penalty", type=float, metavar="P", default=0.0, show_default=True,
    help=f"Favour brevity: each further pair or mask weighs exp(-P) in the base measure; 0 to {LARGEST_PENALTY:g}.",
)  # fmt: skip
mechanism = click.option(
    "--mechanism", type=click.Choice([kind.value for kind in Mechanism]), default=Mechanism.EM.value,
    show_default=True, help="Exponential mechanism or permute-and-flip.",
)  # fmt: skip
sensitivity = click.option(
    "--sensitivity", type=click.Choice(SENSITIVITIES), default="tight", show_default=True,
    help="Proven bound on the utility's change, or the paper's 1.",
)  # fmt: skip
population = click.option(
    "--population", type=click.Choice([kind.value for kind in Population]), default=Population.RANDOM.value,
    show_default=True, help="Which targets.",
)  # fmt: skip


def print_json(value: dict[str, Any]) -> None:
    """Print strict JSON (NaN and infinities are refused by the encoder)."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
