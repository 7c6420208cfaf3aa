"""What the guided prior saves: the smaller ε at which it is as valid as the uniform one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.errors import BadInput
from core.prior.prior import PriorKind

COLUMNS = ["rho", "epsilon", "valid", "guided_epsilon", "factor", "at_least"]


def budget_saved(prices: pd.DataFrame) -> pd.DataFrame:
    """For each uniform row of a price list, the ε at which the guided prior first has the same valid rate.

    The guided curve is taken as piecewise linear in `ln ε` on its own ε of the table: the answer is read
    off, not solved. Columns `rho, epsilon, valid` of the uniform row; `guided_epsilon`; `factor`,
    `epsilon / guided_epsilon`, below 1 where the guided prior needs more; `at_least`, whether the guided
    rate is above already at its smallest ε, so that the factor is a lower bound. NaN where the table's
    guided rates never reach it, or where nothing flips at any budget. Raises `BadInput` unless every rho
    has both priors and each (prior, rho, ε) one row.
    """
    if missing := {"prior", "rho", "epsilon", "valid"} - set(prices.columns):
        raise BadInput(f"prices: found no column {', '.join(sorted(missing))}, expected the rows of a price list")
    if prices.duplicated(["prior", "rho", "epsilon"]).any():
        raise BadInput("prices: found several rows of one prior, rho and epsilon, expected one population and arm")
    curves = {kind: prices[prices["prior"] == kind.value].sort_values(["rho", "epsilon"]) for kind in PriorKind}
    rhos = {kind: set(rows["rho"]) for kind, rows in curves.items()}
    if not rhos[PriorKind.UNIFORM] or rhos[PriorKind.UNIFORM] != rhos[PriorKind.GUIDED]:
        found = "; ".join(f"{kind.value} at rho {sorted(rhos[kind]) or 'none'}" for kind in PriorKind)
        raise BadInput(f"prices: found {found}, expected uniform and guided rows at every rho")
    rows = []
    for rho, uniform in curves[PriorKind.UNIFORM].groupby("rho"):
        guided = curves[PriorKind.GUIDED]
        guided = guided[guided["rho"] == rho]
        budgets, rates = guided["epsilon"].to_numpy(), guided["valid"].to_numpy()
        for epsilon, valid in zip(uniform["epsilon"], uniform["valid"], strict=True):
            enough = _first_reached(budgets, rates, valid)
            rows.append((rho, epsilon, valid, enough, epsilon / enough, bool(0 < valid < rates[0])))
    return pd.DataFrame(rows, columns=COLUMNS)


def _first_reached(budgets: np.ndarray, rates: np.ndarray, valid: float) -> float:
    """Smallest ε at which the curve through (ln ε, rate) reaches `valid`; the guided curve need not be monotone."""
    reached = np.flatnonzero(rates >= valid)
    if not len(reached) or valid <= 0:
        return float("nan")
    last = reached[0]
    if last == 0:
        return float(budgets[0])
    low, high = np.log(budgets[last - 1 : last + 1])
    share = (valid - rates[last - 1]) / (rates[last] - rates[last - 1])
    return float(np.exp(low + share * (high - low)))
