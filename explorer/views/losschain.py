"""The loss chain under the price list: which restriction costs how much, at the present ε and ρ."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from core.prior.prior import PriorKind
from core.study.losschain import LossChain, loss_chain
from core.study.populations import Population, population
from explorer import style
from explorer.figures.losschain import LossChainFigure, stages
from explorer.jobs import Work
from explorer.palette import Palette
from explorer.state import Desk
from explorer.views.runner import Runner


class LossChainView(pn.viewable.Viewer):
    """A run button, four bars and their exact values, for the population that `chosen` names."""

    def __init__(self, desk: Desk, palette: Palette, chosen: pmui.Select, seeds: pmui.IntInput) -> None:
        super().__init__()
        self._desk = desk
        self._chosen = chosen
        self._seeds = seeds
        self._dataset = ""
        self.runner = Runner("Compute loss chain", "targets", self._work)
        self.figure = LossChainFigure(palette)
        self._table = pn.pane.HTML(stylesheets=[style.TABLE_HTML], sizing_mode="stretch_width", margin=(2, 0))
        self._results = pn.Column(self.figure.pane, self._table, sizing_mode="stretch_width", margin=0, visible=False)
        desk.param.watch(lambda _: self._moved(), "inspection")
        title = '<h3>Loss chain <span class="quiet">What each restriction costs at the present ε and ρ.</span></h3>'
        self._view = pn.Column(
            pn.pane.HTML(title, stylesheets=[style.LEGEND], sizing_mode="stretch_width", margin=(18, 0, 0, 0)),
            pn.FlexBox(*self.runner.buttons, margin=0),
            self.runner,
            self._results,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _work(self) -> tuple[Work, Any]:
        study, now = self._desk.study, self._desk.decisions
        kind, rho, epsilon, settings = Population.parse(self._chosen.value), now.rho, now.epsilon, now.settings
        seeds = [study.seed + step for step in range(self._seeds.value)]

        def work(progress, cancelled):
            targets = population(study, kind)
            chain = loss_chain(study, targets, rho, epsilon, seeds, settings, progress, cancelled)
            return study, kind, settings.prior.kind, chain

        return work, lambda result: self._show(*result)

    def _show(self, study: Any, kind: Population, prior: PriorKind, chain: LossChain) -> None:
        self._dataset = study.dataset.digest
        self.figure.draw(chain)
        self._table.object = chain_table(chain)
        self._results.visible = True
        self.runner.say(
            f"Done: {chain.targets} {kind.value} targets, ε = {chain.epsilon:.3g}, ρ = {chain.rho:g}, "
            f"{chain.seeds} snapshot {'seeds' if chain.seeds > 1 else 'seed'}, {prior} prior."
        )

    def _moved(self) -> None:
        if self._dataset and self._dataset != self._desk.dataset.digest:
            self._dataset = ""
            self._results.visible = False
            self.runner.say("")

    def recolour(self, palette: Palette) -> None:
        """Take the colours of a theme."""
        self.figure.recolour(palette)

    def __panel__(self) -> pn.Column:
        return self._view


def chain_table(chain: LossChain) -> str:
    """HTML table of the stages, exact to four decimals; the first is a lower bound where its search was cut short."""
    bound = f" at least ({chain.not_exhaustive} searches cut short)" if chain.not_exhaustive else ""
    lost = ["–", *(f"{step:+.4f}".replace("+0.0000", "0.0000") for step in chain.steps.values())]
    rows = "".join(
        f'<tr><th scope="row">{name}{bound if place == 0 else ""}</th><td>{rate:.4f}</td><td>{step}</td></tr>'
        for place, ((name, rate), step) in enumerate(zip(stages(chain), lost, strict=True))
    )
    return (
        '<div class="scroll"><table><thead><tr><th scope="col">stage</th><th scope="col">share that flips</th>'
        f'<th scope="col">lost at this stage</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
