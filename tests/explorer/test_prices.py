"""A price list as curves, tables and sentences: complete or in part, and honest where guided loses."""

from __future__ import annotations

import pandas as pd
import pytest

from core.prior.prior import PriorKind
from explorer.figures.curves import FrontierFigure
from explorer.palette import DARK, LIGHT
from explorer.prices import (
    CEILING,
    NOTHING,
    PRIOR,
    PUBLIC,
    RHO,
    epsilon_of,
    price_rows,
    price_table,
    saving_said,
    savings,
    savings_table,
    what_it_costs,
)

RHOS, EPSILONS = (0.3, 1.0), (0.1, 1.0, 8.0)
RATES = {
    (0.3, "uniform"): (0.1, 0.2, 0.6),
    (0.3, "guided"): (0.15, 0.15, 0.5),
    (1.0, "uniform"): (0.1, 0.2, 0.3),
    (1.0, "guided"): (0.4, 0.5, 0.6),
}


def prices_at(rhos: tuple[float, ...]) -> pd.DataFrame:
    """Made-up rows in the column order of `core.study.pricelist`, guided larger and more repetitive."""
    return pd.DataFrame(
        [
            {"rho": rho, "epsilon": epsilon, "prior": kind, "valid": RATES[rho, kind][place], "valid_std": 0.02,
             "ceiling": 0.7 + 0.1 * rho, "ceiling_std": 0.1, "public_only": 0.05 + 0.1 * rho,
             "size": {"uniform": 3.0, "guided": 4.0}[kind], "collision": {"uniform": 0.01, "guided": 0.2}[kind]}
            for rho in rhos
            for place, epsilon in enumerate(EPSILONS)
            for kind in ("uniform", "guided")
        ]
    ).sample(frac=1, random_state=4)  # fmt: skip


@pytest.fixture
def prices() -> pd.DataFrame:
    return prices_at(RHOS)


def test_price_table_has_a_row_per_rho_and_prior(prices: pd.DataFrame) -> None:
    table = price_table(prices, RHOS, EPSILONS)
    assert list(table.columns) == [RHO, PRIOR, PUBLIC, "ε = 0.1", "ε = 1", "ε = 8", CEILING]
    assert list(zip(table[RHO], table[PRIOR], strict=True)) == [
        ("ρ = 0.3", "uniform"), ("ρ = 0.3", "guided"), ("ρ = 1†", "uniform"), ("ρ = 1†", "guided"),
    ]  # fmt: skip
    assert list(table.iloc[1, 2:]) == ["0.0800", "0.1500 ± 0.020", "0.1500 ± 0.020", "0.5000 ± 0.020", "0.7300 ± 0.100"]
    assert list(table["ε = 8"]) == ["0.6000 ± 0.020", "0.5000 ± 0.020", "0.3000 ± 0.020", "0.6000 ± 0.020"]
    assert [epsilon_of(column) for column in table.columns] == [None, None, None, 0.1, 1.0, 8.0, None]
    assert [(f"ρ = {rho:g}", kind.value) for rho, kind in price_rows(RHOS)][:2] == [
        ("ρ = 0.3", "uniform"), ("ρ = 0.3", "guided"),
    ]  # fmt: skip


def test_rows_to_come_have_their_place_in_the_table() -> None:
    for known in (NOTHING, prices_at((0.3,))):
        table = price_table(known, RHOS, EPSILONS)
        assert list(table.columns) == list(price_table(prices_at(RHOS), RHOS, EPSILONS).columns)
        assert (table.iloc[2:, 2:] == "…").all(axis=None)
        assert (table.iloc[:2, 2:] == "…").all(axis=None) == known.empty


def saved(**changes: object) -> dict[str, object]:
    row = {"rho": 0.5, "epsilon": 8.0, "valid": 0.3, "guided_epsilon": 2.0, "factor": 4.0, "at_least": False}
    return row | changes


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (saved(), "At ρ = 0.5 guided reaches at ε = 2 what uniform needs ε = 8 for: 4 times less budget"),
        (
            saved(guided_epsilon=0.1, factor=80.0, at_least=True),
            "At ρ = 0.5 guided reaches at ε ≤ 0.1 what uniform needs ε = 8 for: at least 80 times less budget",
        ),
        (
            saved(epsilon=1.0, factor=0.5),
            "At ρ = 0.5 guided needs ε = 2 for what uniform reaches at ε = 1: 2 times more budget",
        ),
        (
            saved(rho=1.0, epsilon=2.0, factor=1.0),
            "At ρ = 1† guided reaches at ε = 2 what uniform needs ε = 2 for: about the same budget",
        ),
        (
            saved(epsilon=0.1, guided_epsilon=0.1, factor=1.0, at_least=True),
            "At ρ = 0.5 guided reaches at ε ≤ 0.1 what uniform needs ε = 0.1 for: no more budget",
        ),
        (
            saved(guided_epsilon=float("nan"), factor=float("nan")),
            "At ρ = 0.5 guided never reaches, on this table, what uniform reaches at ε = 8: it saves nothing",
        ),
        (
            saved(valid=0.0, guided_epsilon=float("nan"), factor=float("nan")),
            "At ρ = 0.5 nothing flips under the uniform prior at ε = 8: there is nothing to compare",
        ),
    ],
)
def test_a_saving_is_said_as_it_is(row: dict[str, object], said: str) -> None:
    assert saving_said(row) == said


def test_savings_speak_of_the_largest_epsilon_and_of_the_price(prices: pd.DataFrame) -> None:
    text = savings(prices, RHOS)
    assert text.count("<li>") == 2
    assert "<li>At ρ = 0.3 guided never reaches, on this table, what uniform reaches at ε = 8" in text
    assert (
        "<li>At ρ = 1† guided reaches at ε ≤ 0.1 what uniform needs ε = 8 for: at least 80 times less budget.</li>"
        in text
    )
    said = what_it_costs(prices)
    assert said in text
    assert "a guided release names 4 ties and masks, a uniform one 3;" in said
    assert "two guided releases agree about 1 time in 5, two uniform ones about 1 time in 100." in said


def test_a_saving_that_needs_no_budget_at_all_is_called_so(prices: pd.DataFrame) -> None:
    assert "needs none" not in savings(prices, RHOS)
    prices.loc[prices["rho"] == 1.0, "public_only"] = 0.3
    text = savings(prices, RHOS)
    assert text.count("needs none") == 1
    assert "at least 80 times less budget; public-only needs none.</li>" in text


def test_savings_of_what_is_priced_so_far() -> None:
    assert savings(NOTHING, RHOS).count("…</li>") == 2
    text = savings(prices_at((1.0,)), RHOS)
    assert text.count("<li>") == 2 and "<li>At ρ = 0.3 …</li>" in text and "At ρ = 1† guided reaches" in text
    assert savings_table(NOTHING) == ""


def test_the_table_of_factors_marks_bounds_and_losses(prices: pd.DataFrame) -> None:
    text = savings_table(prices)
    assert [cell.split("</td>")[0].split(">")[-1] for cell in text.split("<td")[1:]] == [
        "≥ 1 ×", "0.74 ×", "never", "≥ 1 ×", "≥ 10 ×", "≥ 80 ×",
    ]  # fmt: skip
    # uniform 0.2 at ε = 1; guided has 0.15 at 1 and 0.5 at 8: reached at ε = 8^(0.05/0.35) = 1.346.
    assert "guided needs ε = 1.3 for what uniform reaches at ε = 1: 1.3 times more budget" in text


def test_curves_hold_every_prior_and_the_flat_lines(prices: pd.DataFrame) -> None:
    figure = FrontierFigure(LIGHT, RHOS, EPSILONS)
    figure.draw(prices)
    for rho, panel in figure.panels.items():
        for kind in PriorKind:
            data = panel._curves[kind].data
            assert tuple(data["epsilon"]) == EPSILONS
            assert tuple(data["valid"]) == RATES[rho, kind.value]
            assert data["low"] == [pytest.approx(rate - 0.02) for rate in RATES[rho, kind.value]]
        assert panel._flat["public"].data["y"] == [pytest.approx(0.05 + 0.1 * rho)] * 2
        assert panel._flat["ceiling"].data["y"] == [pytest.approx(0.7 + 0.1 * rho)] * 2
        assert not panel.figure.title.text.endswith("…")


def test_a_panel_to_come_is_empty_and_says_so() -> None:
    figure = FrontierFigure(LIGHT, RHOS, EPSILONS)
    figure.draw(prices_at((0.3,)))
    first, second = figure.panels.values()
    assert (first.figure.title.text, second.figure.title.text) == ("ρ = 0.3", "ρ = 1† …")
    assert list(second._curves[PriorKind.GUIDED].data["valid"]) == []
    assert second._flat["public"].data == {"x": [], "y": []}
    figure.draw(prices_at(RHOS))
    assert second.figure.title.text == "ρ = 1†"
    figure.draw(NOTHING)
    assert list(first._curves[PriorKind.UNIFORM].data["valid"]) == []


def test_lines_of_a_panel_differ_without_colour_and_take_that_of_rho() -> None:
    figure = FrontierFigure(LIGHT, RHOS, EPSILONS)
    for panel in figure.panels.values():
        lines = [r.glyph for r in panel.figure.renderers if type(r.glyph).__name__ == "Line"]
        assert len({(tuple(line.line_dash), line.line_width) for line in lines}) == 4
        marks = [r.glyph for r in panel.figure.renderers if type(r.glyph).__name__ == "Scatter"]
        assert len({mark.marker for mark in marks}) == 3
        assert len({line.line_color for line in lines}) == 1
    colours = [panel._dots[PriorKind.GUIDED].glyph.line_color for panel in figure.panels.values()]
    assert colours == [LIGHT.rho[0], LIGHT.rho[-1]]
    figure.recolour(DARK)
    assert figure.panels[0.3]._dots[PriorKind.GUIDED].glyph.fill_color == DARK.rho[0]
    assert figure.panels[0.3]._dots[PriorKind.UNIFORM].glyph.fill_color == DARK.surface


def test_the_present_epsilon_stands_in_every_panel() -> None:
    figure = FrontierFigure(LIGHT, RHOS, EPSILONS)
    figure.point_at(2.5)
    assert [panel.here.location for panel in figure.panels.values()] == [2.5, 2.5]
