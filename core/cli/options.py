"""Options that several subcommands share, so that a name means the same everywhere."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import click

from core.errors import BadInput
from core.prior.prior import LARGEST_PENALTY, PriorKind, PriorRule
from core.release.mechanism import Mechanism
from core.study.populations import Population
from core.study.settings import Settings
from core.universe import Arm, Limits
from core.utility import SENSITIVITIES, UtilityConfig

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

limits = click.option(
    "--limits", metavar="K_E,K_F,MAX_E,MAX_F", default=",".join(map(str, astuple(Limits()))), show_default=True,
    help="Candidate pairs and features, and how many of each an intervention combines.",
)  # fmt: skip
weights = click.option(
    "--weights", metavar="FLIP,SIZE,PLAUSIBLE", default="0.7,0.2,0.1", show_default=True,
    help="Weights of the utility: decimals or fractions that sum to exactly 1, for example 2/3,1/6,1/6.",
)  # fmt: skip
soft = click.option("--soft", is_flag=True, help="Give partial credit for a smaller margin.")
SETTINGS = (size_penalty, mechanism, sensitivity, limits, weights, soft)


def settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """What a release depends on besides arm, kind of prior, ε and rho, handed on as one `settings: Settings`."""

    @functools.wraps(command)
    def run(
        *, limits: str, weights: str, soft: bool, sensitivity: str, mechanism: str, size_penalty: float, **values: Any
    ) -> Any:
        worth: dict[str, Any] = dict(
            zip(("w_flip", "w_size", "w_plausible"), _parts(weights, "weights", 3), strict=True)
        )
        taken = Settings(
            limits=Limits(*(_whole(part, "limits") for part in _parts(limits, "limits", 4))),
            utility=UtilityConfig(**worth, soft=soft, sensitivity=sensitivity),
            mechanism=Mechanism.parse(mechanism),
            prior=PriorRule(size_penalty=size_penalty),
        )
        return command(settings=taken, **values)

    return functools.reduce(lambda decorated, option: option(decorated), reversed(SETTINGS), run)


def told(settings: Settings) -> dict[str, Any]:
    """The settings as the entries of a JSON object."""
    utility = settings.utility
    return {
        "arm": settings.arm.value,
        "prior": settings.prior.kind.value,
        "size_penalty": settings.prior.size_penalty,
        "mechanism": settings.mechanism.value,
        "sensitivity": utility.sensitivity,
        "limits": list(astuple(settings.limits)),
        "utility": "soft" if utility.soft else "hard",
        "utility_weights": [str(weight) for weight in (utility.w_flip, utility.w_size, utility.w_plausible)],
    }


def _parts(text: str, what: str, count: int) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != count or not all(parts):
        raise BadInput.number(what, text, f"{count} numbers with commas between them")
    return parts


def _whole(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise BadInput.number(what, text, "whole numbers from 0, for example 12,12,2,3")
    return int(text)


def print_json(value: dict[str, Any]) -> None:
    """Print strict JSON (NaN and infinities are refused by the encoder)."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
