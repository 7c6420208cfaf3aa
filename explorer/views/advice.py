"""What other limits of the universe would buy, under the price list: a table on request."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from core.study.advice import WARNING, advise
from core.study.populations import Population, population
from explorer import style
from explorer.jobs import Work
from explorer.state import Desk
from explorer.views.runner import Runner

MOST = 12


class AdviceView(pn.viewable.Viewer):
    """A run button and the limits that change the valid rate most, for the population that `chosen` names."""

    def __init__(self, desk: Desk, chosen: pmui.Select, seeds: pmui.IntInput) -> None:
        super().__init__()
        self._desk = desk
        self._chosen = chosen
        self._seeds = seeds
        self._dataset = ""
        self.runner = Runner("Compare limits", "releases", self._work)
        self._table = pn.pane.HTML(
            stylesheets=[style.TABLE_HTML], sizing_mode="stretch_width", margin=(2, 0), visible=False
        )
        desk.param.watch(lambda _: self._moved(), "inspection")
        title = (
            '<h3>Limits of the universe <span class="quiet">Fewer candidates dilute less: what k_E, k_F and their '
            "limits change at the present ε and ρ.</span></h3>"
        )
        self._view = pn.Column(
            pn.pane.HTML(title, stylesheets=[style.LEGEND], sizing_mode="stretch_width", margin=(18, 0, 0, 0)),
            pn.FlexBox(*self.runner.buttons, margin=0),
            self.runner,
            self._table,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _work(self) -> tuple[Work, Any]:
        study, now = self._desk.study, self._desk.decisions
        kind, rho, epsilon, settings = Population.parse(self._chosen.value), now.rho, now.epsilon, now.settings
        seeds = [study.seed + step for step in range(self._seeds.value)]

        def work(progress, cancelled):
            rows = population(study, kind)
            return rows, advise(study, rows, rho, epsilon, settings, seeds, None, progress, cancelled)

        def finish(found: tuple[Any, pd.DataFrame]) -> None:
            rows, table = found
            if study.dataset.digest != self._desk.dataset.digest:
                return
            self._dataset = study.dataset.digest
            self._table.object = advice_table(table)
            self._table.visible = True
            self.runner.say(
                f"Done: {len(rows)} {kind.value} targets, ε = {epsilon:.3g}, ρ = {rho:g}, {settings.prior.kind} prior, "
                f"{settings.arm.value} arm."
            )

        return work, finish

    def _moved(self) -> None:
        if self._dataset and self._dataset != self._desk.dataset.digest:
            self._dataset = ""
            self._table.visible = False
            self.runner.say("")

    def __panel__(self) -> pn.Column:
        return self._view


def advice_table(table: pd.DataFrame) -> str:
    """HTML table: the present limits, then the others from the largest gain down, and the owner-only warning."""
    first = table[table["present"]]
    others = table[~table["present"]].sort_values("change", ascending=False, kind="stable")[:MOST]
    heads = ("pairs", "features", "pairs at once", "features at once", "candidates", "ceiling", "valid-CF", "change")
    rows = "".join(_row(row) for row in pd.concat([first, others]).to_dict("records"))
    return (
        '<div class="scroll"><table><thead><tr>'
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + f'</tr></thead><tbody>{rows}</tbody></table></div><p class="quiet">Owner-only. {escape(WARNING)}</p>'
    )


def _row(row: dict[Any, Any]) -> str:
    change = (
        "present"
        if row["present"]
        else f"{row['change']:+.4f}".replace("+0.0000", "0.0000").replace("-0.0000", "0.0000")
    )
    rest = "".join(f"<td>{row[name]}</td>" for name in ("k_features", "max_edges", "max_features"))
    return (
        f'<tr><th scope="row">{row["k_edges"]}</th>{rest}<td>{row["candidates"]:,.0f}</td>'
        f"<td>{row['ceiling']:.4f}</td><td>{row['valid']:.4f}</td><td>{change}</td></tr>"
    )
