"""The controls of long work: run, progress, cancel, and one line that says how it stands."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from explorer import style
from explorer.jobs import Job, Work


class Runner(pn.viewable.Viewer):
    """A run button bound to one job; `noun` names a step in the plural ("targets")."""

    def __init__(self, label: str, noun: str, start: Callable[[], tuple[Work, Callable[[Any], None]]]) -> None:
        super().__init__()
        self.job = Job()
        self._noun = noun
        self._start = start
        self.run = pmui.Button(label=label, variant="contained", size="small", height=36, margin=(9, 8, 7, 0))
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", height=36, margin=(9, 8, 7, 0), disabled=True
        )
        self._bar = pmui.LinearProgress(
            value=0, variant="determinate", sizing_mode="stretch_width", margin=(0, 0, 4, 0), visible=False
        )
        self._line = pn.pane.HTML(stylesheets=[style.TEXT], sizing_mode="stretch_width", margin=(2, 0, 6, 0))
        self.run.on_click(lambda _: self.start())
        self.cancel.on_click(lambda _: self.job.cancel())
        self.job.param.watch(lambda *_: self._show(), ["state", "done", "total"])
        self.say("")

    @property
    def buttons(self) -> tuple[pmui.Button, pmui.Button]:
        """Run and cancel."""
        return self.run, self.cancel

    def start(self) -> None:
        """Begin, unless it runs already."""
        self.job.start(*self._start())

    def say(self, text: str) -> None:
        """Set the line under the bar."""
        self._line.object = f'<p class="quiet" role="status">{escape(text)}&nbsp;</p>'

    def _show(self) -> None:
        job = self.job
        running = job.state == "running"
        self.run.disabled, self.cancel.disabled = running, not running
        self._bar.visible = running
        self._bar.value = round(100 * job.done / job.total) if job.total else 0
        if running:
            self.say(f"{job.done:,} of {job.total:,} {self._noun}" if job.total else "starting …")
        elif job.state == "cancelled":
            self.say("Cancelled. What was shown before is unchanged.")
        elif job.state == "failed":
            self.say(f"Stopped: {job.message}")

    def __panel__(self) -> pn.Column:
        return pn.Column(self._bar, self._line, sizing_mode="stretch_width", margin=0)
