"""What is said beside presented figures: what they are, who may see them, how they were made."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from core.study.written import Frontiers, Written
from explorer.wording import CARDS, OWNER_ONLY, PRIOR_WHY, PUBLIC_ONLY_WHY

TITLE = "PrivCFS results"
NOTICE = (
    "These figures were computed from private edges. No budget was spent on them and no guarantee covers them: "
    "whoever shows them decides to disclose them."
)
_CARD = {card.key: card for card in CARDS}
CEILING_WHY = "Share of targets that some candidate flips: no budget can do better."
DEFINITIONS = {
    "valid-CF": f"{_CARD['valid'].definition} Mean over targets and snapshots; ± is the standard deviation over "
    "snapshot seeds.",
    "ceiling": CEILING_WHY,
    "public-only": f"Valid-CF of {PUBLIC_ONLY_WHY}.",
    "ε": "Privacy budget of one release: pure ε, edge level. Smaller is more private.",
    "ρ": "Share of the snapshot that is public. ρ = 1† makes every private tie public: an upper reference, never "
    "certified.",
    "prior": PRIOR_WHY,
    "arm": "Which interventions a release may name: ties and feature masks (full), ties alone (edge-only), masks "
    "alone (feature-only), masks that change nothing (inert-masks), pairs around public neighbours too (two-hop).",
}
NO_DIGESTS = (
    "Digests of graph and model stay in the files: with one, a guess at the private edges could be tested exactly."
)


def counted(number: int, noun: str) -> str:
    """`1 file`, `3 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def caption(rows: pd.DataFrame) -> str:
    """Whose figures these are, in a line."""
    first = rows.iloc[0]
    seeds = int(first["seeds"])
    over = f"mean ± std over {counted(seeds, 'snapshot seed')}" if seeds > 1 else "1 snapshot"
    return f"{counted(int(first['targets']), 'target')} ({first['population']}) of {first['dataset']}, {over}"


def notice_html() -> str:
    """The owner-only notice as a strip."""
    return f'<p class="notice" role="note"><b>{OWNER_ONLY}.</b> {escape(NOTICE)}</p>'


def definitions_html() -> str:
    """What every number is."""
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in DEFINITIONS.items())
    return f"<h3>What the numbers are</h3><dl>{lines}</dl>"


def made_html(shown: Frontiers) -> str:
    """From what and with what the files were made, one column a file; no digest of anything private."""
    entries = [_made(file) for file in shown.files]
    heads = "".join(f'<th scope="col">{escape(file.path.name)}</th>' for file in shown.files)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(made[name])}</td>" for made in entries)
        + "</tr>"
        for name in entries[0]
    )
    return (
        f'<h3>How the figures were made</h3><div class="scroll" tabindex="0" role="region" aria-label="Origin">'
        f'<table class="made"><thead><tr><th scope="col">file</th>{heads}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
        f'<p class="quiet">{escape(NO_DIGESTS)}</p>'
    )


def _made(file: Written) -> dict[str, str]:
    made, rows, first = file.made, file.rows, file.rows.iloc[0]
    pairs, masks, most_pairs, most_masks = made.get("limits") or ["?"] * 4
    names = ("flip", "size", "plausibility")
    weights = ", ".join(f"{name} {w}" for name, w in zip(names, made.get("utility_weights") or "???", strict=True))
    return {
        "data set": str(made["dataset"]),
        "targets": "; ".join(
            f"{counted(int(own['targets'].iloc[0]), 'target')}, {kind}" for kind, own in rows.groupby("population")
        ),
        "arms": ", ".join(rows["arm"].unique()),
        "priors": ", ".join(rows["prior"].unique()),
        "ρ": _listed(rows["rho"]),
        "ε": _listed(rows["epsilon"]),
        "snapshot": f"{made.get('snapshot', '?')}, {_seeds(made)}",
        "universe": f"at most {most_pairs} of {pairs} pairs and {most_masks} of {masks} masks",
        "utility": f"{weights}{', with partial credit' if made.get('soft') else ''}",
        "size penalty": f"{made['size_penalty']:g}" if "size_penalty" in made else "?",
        "mechanism": f"{first['mechanism']}, {first['sensitivity']} sensitivity",
        "versions": ", ".join(f"{name} {version}" for name, version in (made.get("versions") or {}).items()) or "?",
    }


def _seeds(made: dict[str, Any]) -> str:
    seeds = made.get("seeds") or []
    return f"seeds {', '.join(map(str, seeds))}" if seeds else "no seed"


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values.unique()))
