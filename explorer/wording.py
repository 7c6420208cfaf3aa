"""The sentences and definitions of the screen: plain words, two significant digits."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

from core.metrics import Metrics
from core.wording import disclosed, odds

OWNER_ONLY = "Owner only"
OWNER_ONLY_WHY = "Computed from private edges. Releasing any of it spends no budget and gives no guarantee."
PRIOR_WHY = (
    "What a release favours before it looks at a private edge; neither costs budget. Uniform: every candidate alike. "
    "Guided: candidates that flip most of the graphs which the public snapshot leaves possible."
)
SIZE_PENALTY_WHY = (
    "Trades validity against size: beforehand, each further tie or mask makes a candidate exp(−penalty) times as "
    "likely. 0: sizes don't matter. Public, and costs no budget."
)
PRIOR_ALONE_WHY = "A draw from this release's own prior, before any private edge counts."
PUBLIC_ONLY_WHY = "a draw from the guided prior at ε = 0, which reads no private edge: what an analyst can do alone"
OTHER_PRIOR_WHY = "the same release under the {prior} prior"


def two_digits(value: float) -> str:
    """`value` with two significant digits and no exponent: 0.33, 12, 1,300."""
    if value == 0:
        return "0"
    places = 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}".rstrip("0").rstrip(".") if places > 0 else f"{rounded:,.0f}"


def answer(node: str, epsilon: float, rho: float, candidates: int, release: Metrics, public: Metrics) -> str:
    """The screen's first sentence: what a release does, what the public could do alone, how often two agree."""
    setting = f"At ε = {epsilon:.3g} with ρ = {two_digits(rho)} public, "
    if candidates == 1:
        return setting + f"node {node} has no public tie and no feature to name: every release says “no intervention”."
    if release.ceiling == 0:
        return (
            setting + f"no release can flip node {node}: none of its {candidates:,} candidate interventions changes "
            f"the prediction. Two releases agree {_times(release.collision)}."
        )
    return (
        setting + f"{odds(release.valid, 'release')} {_verb(release.valid)} node {node}; "
        f"the public snapshot alone gives {odds(public.valid).removeprefix('about ')}; "
        f"two releases agree {_times(release.collision)}."
    )


def snapshot_note(simulated: bool, rho: float, seed: int, pairs: int, ties: int) -> str:
    """What the public snapshot is, in one quiet line; `pairs` are disclosed, `ties` of them private edges still."""
    if not simulated:
        return f"Snapshot: the owner's own list. {disclosed(pairs, ties)}"
    if rho == 1:
        return (
            f"ρ = 1†: every private tie made public, a data-dependent upper reference, never certified (seed {seed})."
        )
    return f"Snapshot simulated from private ties (seed {seed}): an information-condition experiment, not a disclosure."


def _verb(p: float) -> str:
    """The verb after `odds`: 1 release flips, 2 releases flip."""
    singular = " release " in f" {odds(p, 'release')} "
    return "flips" if singular else "flip"


def _times(p: float) -> str:
    return "every time" if p >= 1 else f"{odds(p, 'time').removeprefix('about ')}"


@dataclass(frozen=True)
class Card:
    """One number: its key, name, unit or denominator, definition, and how to write it.

    `compared`: whether the card shows the same figure of the public alone and of the other prior.
    """

    key: str
    name: str
    unit: str
    definition: str
    kind: str = "share"
    compared: bool = False

    def text(self, value: float | None) -> str:
        """The value as it stands on the card: two significant digits, `–` where it isn't defined."""
        if value is None:
            return "–"
        return "<0.0001" if 0 < value < 1e-4 else two_digits(value)


CARDS = (
    Card(
        "valid",
        "Valid-CF",
        "of releases",
        "Share of releases whose intervention flips the prediction: Σ P(S) over flipping candidates.",
        compared=True,
    ),
    Card(
        "size",
        "Expected size",
        "of at most {k_max}",
        "Mean number of ties cut and features masked: E|S|.",
        "count",
        compared=True,
    ),
    Card(
        "collision",
        "Collision",
        "of release pairs",
        "Chance that two independent releases name the same candidate: Σ P(S)².",
        compared=True,
    ),
    Card(
        "ceiling",
        "Ceiling",
        "0 or 1",
        "1 if at least one candidate flips the prediction, else 0. No budget can do better (starCF).",
        "count",
    ),
    Card(
        "retention",
        "Retention",
        "of the ceiling",
        "Valid-CF divided by the ceiling: what privacy noise leaves of the attainable.",
    ),
    Card("empty", "Empty rate", "of releases", "Share of releases that name no intervention: P(∅)."),
    Card(
        "regret",
        "Regret",
        "of utility 1",
        "Best utility minus expected utility: what the noise costs on the utility scale.",
    ),
    Card("targeted", "Targeted", "of releases", "Share of releases that flip to the runner-up class {runner_up}."),
)
