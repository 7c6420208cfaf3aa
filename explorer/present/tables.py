"""Presented tables as HTML: exact values in cells that say on hover what they are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isnan

import pandas as pd

from core.prior.prior import PriorKind
from explorer.figures.curves import rho_label
from explorer.present.words import DEFINITIONS
from explorer.prices import savings, savings_table

MISSING = "–"  # not among the written rows


def price_html(rows: pd.DataFrame) -> str:
    """The price list of one arm: a row per ρ and prior, a column per ε, beside public-only and ceiling."""
    groups = [
        (rho_label(float(rho)), mine[mine["prior"] == kind.value], kind.value)
        for rho, mine in rows.groupby("rho")
        for kind in PriorKind
        if (mine["prior"] == kind.value).any()
    ]
    return _table("ρ", groups, sorted(rows["epsilon"].unique()), "Price list")


def arms_html(rows: pd.DataFrame) -> str:
    """Every arm at one ρ: a row per arm and prior."""
    groups = [
        (arm, mine[mine["prior"] == kind.value], kind.value)
        for arm, mine in rows.groupby("arm", sort=False)
        for kind in PriorKind
        if (mine["prior"] == kind.value).any()
    ]
    return _table("arm", groups, sorted(rows["epsilon"].unique()), "Arms compared")


def saved_html(rows: pd.DataFrame) -> str:
    """What the guided prior saves in one arm, as sentences and a table; where a prior is missing, that it is."""
    priors = rows.groupby("rho")["prior"].agg(set)
    both = sorted(rho for rho, found in priors.items() if {kind.value for kind in PriorKind} <= found)
    if not both:
        found = ", ".join(rows["prior"].unique())
        return (
            f"<h3>Budget saved at equal validity</h3><p>Only the {escape(found)} prior was priced: there is nothing to "
            "compare.</p>"
        )
    own = rows[rows["rho"].isin(both)]
    return savings(own, both) + savings_table(own)


def _table(first: str, groups: Sequence[tuple[str, pd.DataFrame, str]], epsilons: Sequence[float], name: str) -> str:
    heads = [first, "prior", "public-only", *[f"ε = {epsilon:g}" for epsilon in epsilons], "ceiling"]
    head = "".join(f'<th scope="col" title="{escape(_why(text))}">{escape(text)}</th>' for text in heads)
    body, before = "", None
    for label, rows, prior in groups:
        body += f'<tr class="{"first" if label != before else "next"}"><th scope="row">{escape(label)}</th>'
        body += f"<td>{escape(prior)}</td>{_cells(label, rows, prior, epsilons)}</tr>"
        before = label
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table class="prices"><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(label: str, rows: pd.DataFrame, prior: str, epsilons: Sequence[float]) -> str:
    one = rows.iloc[0]
    alone = MISSING if isnan(one["public_only"]) else f"{one['public_only']:.4f}"
    cells = [_cell(alone, f"{label}: {DEFINITIONS['public-only']}")]
    for epsilon in epsilons:
        found = rows[rows["epsilon"] == epsilon]
        if found.empty:
            cells.append(_cell(MISSING, f"{label}, {prior} prior, ε = {epsilon:g}: not in the files."))
            continue
        cell = found.iloc[0]
        said = (
            f"{label}, {prior} prior, ε = {epsilon:g}: {cell['valid']:.4f} of releases flip the prediction, "
            f"± {cell['valid_std']:.4f} over snapshot seeds; {cell['size']:.2f} ties and masks named on average; "
            f"two releases agree with chance {cell['collision']:.4f}."
        )
        cells.append(_cell(_with_spread(cell["valid"], cell["valid_std"], int(cell["seeds"])), said))
    cells.append(
        _cell(_with_spread(one["ceiling"], one["ceiling_std"], int(one["seeds"])), f"{label}: {_why('ceiling')}")
    )
    return "".join(cells)


def _cell(text: str, title: str) -> str:
    return f'<td title="{escape(title)}">{text}</td>'


def _why(head: str) -> str:
    return DEFINITIONS["valid-CF"] + " " + DEFINITIONS["ε"] if head.startswith("ε = ") else DEFINITIONS[head]


def _with_spread(mean: float, std: float, seeds: int) -> str:
    return f"{mean:.4f} <small>± {std:.3f}</small>" if seeds > 1 else f"{mean:.4f}"
