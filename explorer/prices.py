"""A price list in words and tables: exact values, what the guided prior saves, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isnan
from typing import Any

import pandas as pd

from core.prior.prior import PriorKind
from core.study.savings import budget_saved
from core.wording import odds
from explorer.figures.curves import rho_label
from explorer.wording import two_digits

RHO, PRIOR, PUBLIC, CEILING = "share", "prior", "public-only", "ceiling"
WAITS = "…"
_READ_OFF = "Read off the curves, taken as straight lines in ln ε."
_DRAWN = "rho prior epsilon valid valid_std ceiling ceiling_std public_only size collision"
NOTHING = pd.DataFrame(columns=_DRAWN.split())  # a price list of which nothing is priced yet
EQUAL = 0.05  # a factor this close to 1 is no saving


def price_rows(rhos: Sequence[float]) -> list[tuple[float, PriorKind]]:
    """The ρ and the prior of each row of `price_table`."""
    return [(rho, kind) for rho in sorted(rhos) for kind in PriorKind]


def price_table(prices: pd.DataFrame, rhos: Sequence[float], epsilons: Sequence[float]) -> pd.DataFrame:
    """One row per (ρ, prior): public-only, valid-CF at each ε, the ceiling; `…` where a ρ isn't priced yet.

    Means to four decimals, standard deviations to three.
    """
    columns = [f"ε = {epsilon:g}" for epsilon in sorted(epsilons)]
    rows = []
    for rho, kind in price_rows(rhos):
        found = prices[(prices["rho"] == rho) & (prices["prior"] == kind.value)].sort_values("epsilon")
        values = dict.fromkeys([PUBLIC, *columns, CEILING], WAITS)
        if not found.empty:
            first = found.iloc[0]
            values[PUBLIC] = f"{first['public_only']:.4f}"
            values |= {
                f"ε = {cell['epsilon']:g}": _with_spread(cell["valid"], cell["valid_std"])
                for _, cell in found.iterrows()
            }
            values[CEILING] = _with_spread(first["ceiling"], first["ceiling_std"])
        rows.append({RHO: rho_label(float(rho)), PRIOR: kind.value, **values})
    return pd.DataFrame(rows)


def epsilon_of(column: str) -> float | None:
    """The ε that a column of `price_table` stands for; None for the others."""
    return float(column.removeprefix("ε = ")) if column.startswith("ε = ") else None


def savings(prices: pd.DataFrame, rhos: Sequence[float]) -> str:
    """HTML of what the guided prior saves at the largest ε, a line per ρ, and of what it costs."""
    said = {rho: f"At {rho_label(float(rho))} {WAITS}" for rho in sorted(rhos)}
    if not prices.empty:
        saved = budget_saved(prices)
        alone = prices.groupby("rho")["public_only"].first()
        for row in saved.loc[saved.groupby("rho")["epsilon"].idxmax()].to_dict("records"):
            said[row["rho"]] = saving_said(row) + _for_nothing(row, alone[row["rho"]]) + "."
    lines = "".join(f"<li>{escape(line)}</li>" for line in said.values())
    return (
        f'<h3>Budget saved at equal validity <span class="quiet">{_READ_OFF}</span></h3><ul>{lines}</ul>'
        f'<p class="quiet">{escape(what_it_costs(prices)) if not prices.empty else WAITS}</p>'
    )


def savings_table(prices: pd.DataFrame) -> str:
    """HTML table: how many times less budget guided needs for what uniform reaches, per ρ and ε."""
    if prices.empty:
        return ""
    saved = budget_saved(prices)
    heads = "".join(f'<th scope="col">ε = {epsilon:g}</th>' for epsilon in sorted(saved["epsilon"].unique()))
    body = "".join(
        f'<tr><th scope="row">{rho_label(float(rho))}</th>'
        + "".join(
            f'<td title="{escape(saving_said(row))}">{_factor(row)}</td>'
            for row in rows.sort_values("epsilon").to_dict("records")
        )
        + "</tr>"
        for rho, rows in saved.groupby("rho")
    )
    return (
        '<h3>How many times less budget guided needs <span class="quiet">for what uniform reaches; each value says '
        'it in words on hover.</span></h3><div class="scroll"><table><thead><tr><th scope="col">uniform at</th>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def saving_said(row: dict[str, Any]) -> str:
    """One row of `budget_saved` as a sentence without its full stop, also where nothing is saved."""
    at, epsilon, enough = f"At {rho_label(row['rho'])}", row["epsilon"], row["guided_epsilon"]
    if row["valid"] <= 0:
        return f"{at} nothing flips under the uniform prior at ε = {epsilon:g}: there is nothing to compare"
    if isnan(enough):
        return f"{at} guided never reaches, on this table, what uniform reaches at ε = {epsilon:g}: it saves nothing"
    near = f"ε {'≤' if row['at_least'] else '='} {two_digits(enough)}"
    reached = f"{at} guided reaches at {near} what uniform needs ε = {epsilon:g} for: "
    factor = row["factor"]
    if factor < 1 - EQUAL:
        more = _times(1 / factor)
        return f"{at} guided needs {near} for what uniform reaches at ε = {epsilon:g}: {more} more budget"
    if factor <= 1 + EQUAL:
        return reached + ("no more budget" if row["at_least"] else "about the same budget")
    return reached + f"{'at least ' if row['at_least'] else ''}{_times(factor)} less budget"


def _for_nothing(row: dict[str, Any], public: float) -> str:
    """That no budget at all does as well, where it does."""
    return "; public-only needs none" if 0 < row["valid"] <= public else ""


def what_it_costs(prices: pd.DataFrame) -> str:
    """Size and repetition under both priors, averaged over the table, as one sentence."""
    guided, uniform = (
        prices[prices["prior"] == kind.value][["size", "collision"]].mean()
        for kind in (PriorKind.GUIDED, PriorKind.UNIFORM)
    )
    return (
        f"Averaged over the table, a guided release names {two_digits(guided['size'])} ties and masks, "
        f"a uniform one {two_digits(uniform['size'])}; two guided releases agree {odds(guided['collision'], 'time')}, "
        f"two uniform ones {odds(uniform['collision'], 'time')}."
    )


def _factor(row: dict[str, Any]) -> str:
    if isnan(row["factor"]):
        return "never" if row["valid"] > 0 else "–"
    return f"{'≥ ' if row['at_least'] else ''}{two_digits(row['factor'])} ×"


def _times(factor: float) -> str:
    return f"{two_digits(factor)} times"


def _with_spread(mean: float, std: float) -> str:
    return f"{mean:.4f} ± {std:.3f}"
