"""The Release desk view: a budget, a real release that spends from it, and the card that the analyst gets."""

from __future__ import annotations

import io
import uuid
from html import escape
from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui

from core.desk.amount import text
from explorer import releasing, sheets, style
from explorer.badge import badge
from explorer.jobs import Job
from explorer.panes import html
from explorer.paying import Paying
from explorer.state import Desk

if TYPE_CHECKING:
    from core.desk.card import ReleaseCard
    from core.desk.ledger import Ledger

REFRESH = 3_000  # milliseconds between two looks at a ledger that others spend from too
PLACE = "~/privcfs-ledger.db"
_FIELD = {"size": "small", "margin": (7, 12, 7, 0)}


class ReleaseDeskView(pn.viewable.Viewer):
    """Budget, history and the one button of the explorer that spends; `local`: whether it may open files here."""

    def __init__(self, desk: Desk, ledger: Ledger | None = None, local: bool = True) -> None:
        super().__init__()
        self._desk = desk
        self.paying = Paying(ledger)
        self._job = Job()
        self._asked: tuple[Any, ...] | None = None
        self.card: ReleaseCard | None = None
        self._local = local
        self._look: Any = None
        self._problem = html(sheets.DIALOG_TEXT)
        self._make_opening()
        self._make_desk()
        self._make_dialog()
        self._view = pn.Column(
            badge("Budget and history stay with the owner. Only a card is meant for the analyst."),
            self._problem,
            self._opening,
            self._counter,
            self.dialog,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.paying.param.watch(lambda *_: self._show(), ["ledger", "names", "account", "entries", "problem"])
        desk.param.watch(lambda _: self._offer(), "inspection")
        self._job.param.watch(lambda event: self._job_moved(event.new), "state")
        self._show()

    def _make_opening(self) -> None:
        self.place = pmui.TextInput(label="Ledger: a file, or postgresql://…", value=PLACE, width=330, **_FIELD)
        self.new_account = pmui.TextInput(
            label="Account (new)", placeholder=self._desk.dataset.name, width=200, **_FIELD
        )
        self.budget = pmui.TextInput(label="Total budget ε (new)", value="10", width=150, **_FIELD)
        self.open_button = _button("Open", "outlined", lambda _: self.paying.open(self.place.value))
        self.make_button = _button("Make new", "contained", lambda _: self._make())
        fields = [self.place, self.open_button, self.new_account, self.budget, self.make_button] if self._local else []
        self._opening = pn.Column(
            html(style.EMPTY, releasing.NO_LEDGER if self._local else releasing.NO_LEDGER_HERE),
            pn.FlexBox(*fields, margin=0),
            sizing_mode="stretch_width",
            margin=0,
        )

    def _make_desk(self) -> None:
        self.account = pmui.Select(label="Account", options=[], width=260, **_FIELD)
        self.account.param.watch(lambda event: event.new and self.paying.choose(event.new), "value")
        self.release = _button("Release …", "contained", lambda _: self.ask())
        self.gauge = html(sheets.GAUGE)
        self.offer = html(sheets.DIALOG_TEXT)
        self.costs = html(style.TABLE_HTML)
        self.history = html(sheets.HISTORY)
        self.shown = html(sheets.CARD, visible=False)
        self.download = pmui.FileDownload(
            callback=lambda: io.BytesIO(self.card.text.encode() if self.card else b""),
            filename="card.json",
            label="Download the card",
            size="small",
            visible=False,
            margin=(4, 0, 8, 0),
        )
        self._counter = pn.Column(
            self.gauge,
            pn.FlexBox(self.account, self.release, margin=0),
            self.offer,
            self.shown,
            self.download,
            html(style.LEGEND, "<h3>What it comes to</h3>"),
            self.costs,
            html(style.LEGEND, "<h3>History</h3>"),
            self.history,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _make_dialog(self) -> None:
        self.restated = html(sheets.DIALOG_TEXT)
        self.spend = _button("Release", "contained", lambda _: self.confirm())
        self.back = _button("Cancel", "outlined", lambda _: self.dialog.param.update(open=False))
        self.said = html(sheets.DIALOG_TEXT)
        self.dialog = pmui.Dialog(
            self.restated,
            pn.Row(self.spend, self.back, sizing_mode="stretch_width", margin=0),
            self.said,
            title="Release for real?",
            **style.DIALOG,
        )
        self.dialog.param.watch(lambda event: event.new or self._forget(), "open")

    def watch(self, seen: bool) -> None:
        """Look at the ledger every few seconds while the tab is open: another session may spend."""
        document = pn.state.curdoc
        if self._look is not None:
            document.remove_periodic_callback(self._look)
            self._look = None
        if seen:
            self.paying.refresh()
            if document is not None and document.session_context is not None:
                # Bokeh's own: Panel's would show the page as busy each time.
                self._look = document.add_periodic_callback(self.paying.refresh, REFRESH)

    def ask(self) -> None:
        """Restate what would be released and what it costs; nothing is spent yet."""
        account, seen = self.paying.account, self._desk.inspection
        if account is None or account.dataset != self._desk.dataset.name:
            return
        epsilon = releasing.exact(seen.distribution.epsilon)
        try:
            request = releasing.request(self._desk.study, seen, epsilon)
        except Exception as error:  # whatever it is, the owner reads it here and nothing was spent
            self._alert(self.restated, releasing.reason(error))
            self.spend.disabled = True
        else:
            self._asked = (self._desk.study, seen, epsilon, account.name, uuid.uuid4().hex)
            self.restated.object = releasing.restated(request, account)
            self.spend.param.update(
                disabled=epsilon > account.remaining, label=f"Spend ε = {text(epsilon)} and release"
            )
        self.said.object = ""
        self.dialog.open = True

    def confirm(self) -> None:
        """Spend and draw, once: the same key is asked again after a failure."""
        if self._asked is None or self._job.state == "running":
            return
        study, seen, epsilon, name, key = self._asked
        ledger = self.paying.ledger
        self.spend.disabled = True
        self.said.object = '<p class="quiet" role="status">Drawing …</p>'
        self._job.start(
            lambda progress, cancelled: releasing.made(study, seen, epsilon, ledger, name, key), self._released
        )

    def _released(self, card: ReleaseCard) -> None:
        self.card = card
        self.shown.param.update(object=releasing.card_html(card), visible=True)
        self.download.param.update(filename=f"card-{card.key[:8]}.json", visible=True)
        self._asked = None
        self.dialog.open = False
        self.paying.refresh()

    def _job_moved(self, state: str) -> None:
        if state == "failed":
            self._alert(self.said, self._job.message)
            self.spend.disabled = self._asked is None
            self.paying.refresh()

    def _forget(self) -> None:
        if self._job.state != "running":
            self._asked = None

    def _make(self) -> None:
        name = self.new_account.value.strip() or self._desk.dataset.name
        self.paying.create(self.place.value, name, self._desk.dataset.name, self.budget.value)

    def _show(self) -> None:
        paying = self.paying
        self._problem.object = f'<p class="problem" role="alert">{escape(paying.problem)}</p>' if paying.problem else ""
        ready = paying.account is not None
        self._opening.visible, self._counter.visible = not ready, ready
        if not ready:
            return
        if list(self.account.options) != paying.names or self.account.value != paying.account.name:
            self.account.param.update(options=paying.names, value=paying.account.name)
        self.gauge.object = releasing.gauge(paying.account)
        self.costs.object = releasing.costs(paying.entries, self._desk.inspection.distribution.epsilon, self._mechanism)
        self.history.object = releasing.history(paying.entries)
        self._offer()

    @property
    def _mechanism(self) -> str:
        return self._desk.inspection.settings.mechanism.value

    def _offer(self) -> None:
        account, seen = self.paying.account, self._desk.inspection
        if account is None:
            return
        epsilon = releasing.exact(seen.distribution.epsilon)
        self.release.disabled = epsilon > account.remaining or account.dataset != self._desk.dataset.name
        self.offer.object = releasing.offer(self._desk.study, seen, epsilon, account)
        self.costs.object = releasing.costs(self.paying.entries, float(epsilon), self._mechanism)

    def _alert(self, pane: pn.pane.HTML, said: str) -> None:
        pane.object = f'<p class="problem" role="alert">{escape(said)}</p>'

    def __panel__(self) -> pn.Column:
        return self._view


def _button(label: str, variant: str, act: Any) -> pmui.Button:
    return pmui.Button(label=label, variant=variant, size="small", height=36, margin=(9, 8, 7, 0), on_click=act)
