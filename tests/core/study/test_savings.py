"""What the guided prior saves, against tables small enough to read off by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import load
from core.errors import BadInput
from core.prior.prior import PriorKind
from core.study.pricelist import price_list
from core.study.savings import budget_saved
from core.study.study import Study


def table(uniform: dict[float, float], guided: dict[float, float], rho: float = 0.5) -> pd.DataFrame:
    """A price list of two curves, each valid rate by ε."""
    rows = [("uniform", rho, e, v) for e, v in uniform.items()] + [("guided", rho, e, v) for e, v in guided.items()]
    return pd.DataFrame(rows, columns=["prior", "rho", "epsilon", "valid"])


GUIDED = {1.0: 0.2, 2.0: 0.4, 8.0: 0.8}


@pytest.mark.parametrize(
    ("epsilon", "valid", "guided_epsilon", "at_least"),
    [
        (8.0, 0.1, 1.0, True),
        (8.0, 0.2, 1.0, False),
        (8.0, 0.3, math.sqrt(2), False),
        (8.0, 0.4, 2.0, False),
        (4.0, 0.5, 2 * 4**0.25, False),
        (4.0, 0.6, 4.0, False),
        (2.0, 0.6, 4.0, False),
        (8.0, 0.8, 8.0, False),
        (8.0, 0.81, math.nan, False),
        (8.0, 0.0, math.nan, False),
    ],
)
def test_is_read_off_the_guided_curve(epsilon, valid, guided_epsilon, at_least):
    found = budget_saved(table({epsilon: valid}, GUIDED))
    assert list(found.columns) == ["rho", "epsilon", "valid", "guided_epsilon", "factor", "at_least"]
    assert len(found) == 1
    row = found.iloc[0]
    assert (row.rho, row.epsilon, row.valid, row.at_least) == (0.5, epsilon, valid, at_least)
    assert row.guided_epsilon == pytest.approx(guided_epsilon, nan_ok=True)
    assert row.factor == pytest.approx(epsilon / guided_epsilon, nan_ok=True)


def test_takes_the_first_of_several_crossings():
    dips = {1.0: 0.2, 2.0: 0.5, 4.0: 0.3, 8.0: 0.6}
    assert budget_saved(table({8.0: 0.5}, dips))["guided_epsilon"].tolist() == [2.0]
    assert budget_saved(table({8.0: 0.35}, dips))["guided_epsilon"].tolist() == pytest.approx([math.sqrt(2)])
    assert budget_saved(table({8.0: 0.55}, dips))["guided_epsilon"].tolist() == pytest.approx([4 * 2 ** (0.25 / 0.3)])


def test_every_rho_has_its_own_curve_and_rows_may_stand_in_any_order():
    first, second = table({1.0: 0.1, 4.0: 0.3}, GUIDED, 0.3), table({4.0: 0.4, 1.0: 0.2}, {1.0: 0.3, 4.0: 0.6}, 0.7)
    found = budget_saved(pd.concat([second, first]).sample(frac=1, random_state=0))
    assert found[["rho", "epsilon", "valid"]].to_numpy().tolist() == [
        [0.3, 1.0, 0.1], [0.3, 4.0, 0.3], [0.7, 1.0, 0.2], [0.7, 4.0, 0.4],
    ]  # fmt: skip
    assert found["guided_epsilon"].tolist() == pytest.approx([1.0, math.sqrt(2), 1.0, 4 ** (1 / 3)])
    assert found["factor"].tolist() == pytest.approx([1.0, 4 / math.sqrt(2), 1.0, 4 ** (2 / 3)])
    assert found["at_least"].tolist() == [True, False, True, False]


rates = st.floats(0, 1)
curves = st.dictionaries(st.floats(0.01, 100), rates, min_size=1, max_size=7)


@given(curves, curves)
def test_the_guided_curve_gives_the_valid_rate_back(uniform, guided):
    found = budget_saved(table(uniform, guided))
    budgets = np.array(sorted(guided))
    heights = np.array([guided[e] for e in budgets])
    assert found["epsilon"].tolist() == sorted(uniform)
    for row in found.itertuples():
        assert row.valid == uniform[row.epsilon]
        assert row.at_least == (0 < row.valid < heights[0])
        assert math.isnan(row.guided_epsilon) == (row.valid == 0 or row.valid > heights.max())
        assert math.isnan(row.factor) == math.isnan(row.guided_epsilon)
        if math.isnan(row.guided_epsilon):
            continue
        assert row.factor * row.guided_epsilon == pytest.approx(row.epsilon)
        assert budgets[0] <= row.guided_epsilon * (1 + 1e-9) and row.guided_epsilon <= budgets[-1] * (1 + 1e-9)
        if not row.at_least:
            height = np.interp(math.log(row.guided_epsilon), np.log(budgets), heights)
            if len(budgets) < 2 or np.diff(np.log(budgets)).min() > 1e-6:
                assert height == pytest.approx(row.valid, abs=1e-8)
        assert (heights[budgets < row.guided_epsilon * (1 - 1e-9)] < row.valid).all()


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (table({1.0: 0.1}, {}), "guided at rho none"),
        (table({}, {1.0: 0.1}), "uniform at rho none"),
        (table({}, {}), "uniform at rho none"),
        (table({1.0: 0.1}, {}).assign(prior="other"), "uniform at rho none"),
        (
            pd.concat([table({1.0: 0.1}, {1.0: 0.2}, 0.3), table({1.0: 0.1}, {}, 0.7)]),
            r"uniform at rho \[0.3, 0.7\]; guided at rho \[0.3\]",
        ),
        (pd.concat([table({1.0: 0.1}, {1.0: 0.2})] * 2), "several rows"),
        (table({1.0: 0.1}, {1.0: 0.2}).drop(columns=["valid", "rho"]), "no column rho, valid"),
    ],
)
def test_a_table_that_can_not_be_compared_is_refused(prices, message):
    with pytest.raises(BadInput, match=message):
        budget_saved(prices)


def test_reads_a_price_list():
    epsilons = (0.1, 1.0, 8.0)
    prices = price_list(
        Study(load("karate")), np.array([9, 18, 30]), (0.3, 0.6), epsilons, (0, 1), priors=list(PriorKind)
    )
    found = budget_saved(prices)
    assert list(zip(found["rho"], found["epsilon"], strict=True)) == [(r, e) for r in (0.3, 0.6) for e in epsilons]
    uniform = prices[prices["prior"] == "uniform"]
    assert found["valid"].tolist() == uniform["valid"].tolist()
    assert found["guided_epsilon"].notna().any()
