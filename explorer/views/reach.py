"""The inverse question in one line: which ε, or which ρ, a wanted valid rate takes for the present target."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from core.prior.prior import PriorKind
from core.release.mechanism import Mechanism
from core.study.inspection import Inspection
from core.study.inverse import Answer, epsilon_for, rho_for
from core.study.study import Study
from explorer import style
from explorer.jobs import Job, Work
from explorer.state import Desk
from explorer.wording import two_digits

_BUTTON: dict[str, Any] = {"variant": "outlined", "size": "small", "height": 32, "margin": (4, 6)}


class ReachLine(pn.viewable.Viewer):
    """A rate to reach, and two answers that can be taken; worked out at once where that is quick, else on request.

    Every part keeps its place whatever the answer is; the button that asks stands last.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._answers: dict[str, Answer] = {}
        self.job = Job()
        self.valid = pmui.FloatInput(sx=style.STEPPER,
            label="Valid rate to reach", value=0.5, start=0.01, end=0.99, step=0.05, size="small", width=150,
            margin=(4, 6, 4, 0),
        )  # fmt: skip
        self.ask = pmui.Button(label="Find out", width=110, **_BUTTON)
        self.epsilon = pmui.Button(label="", width=150, **_BUTTON)
        self.rho = pmui.Button(label="", width=150, **_BUTTON)
        self._line = pn.pane.HTML(stylesheets=[style.TEXT], styles={"flex": "1 1 270px"}, margin=(0, 0, 0, 6))
        self.valid.param.watch(lambda _: self._moved(), "value")
        self.ask.on_click(lambda _: self.start())
        self.epsilon.on_click(lambda _: self._take("epsilon"))
        self.rho.on_click(lambda _: self._take("rho"))
        self.job.param.watch(lambda *_: self._worked(), ["state", "done"])
        desk.param.watch(lambda _: self._moved(), "inspection")
        self._view = pn.Column(
            pn.FlexBox(self.valid, self.epsilon, self.rho, self.ask, self._line, align_items="center", margin=0),
            sizing_mode="stretch_width",
            margin=(4, 0, 0, 0),
        )
        self._moved()

    @property
    def quick(self) -> bool:
        """Whether the answers take a few milliseconds: sums over what is scored already."""
        settings = self._desk.decisions.settings
        plain = settings.prior.kind is PriorKind.UNIFORM and settings.mechanism is Mechanism.EM
        return plain and not settings.arm.two_hop and not self._desk.study.slow

    def start(self) -> None:
        """Work the answers out in a thread."""
        self.job.start(*self._work())

    def _work(self) -> tuple[Work, Any]:
        study, seen, valid = self._desk.study, self._desk.inspection, self.valid.value

        def work(progress, cancelled):
            return _answers(study, seen, valid, progress, cancelled)

        def finish(answers: dict[str, Answer]) -> None:
            if seen is self._desk.inspection and valid == self.valid.value:
                self._show(answers)

        return work, finish

    def _moved(self) -> None:
        """Answer for what is on the desk now, or say that it takes a moment."""
        self.job.cancel()
        self.ask.param.update(visible=not self.quick, disabled=self.valid.value is None)
        if self.valid.value is None:
            self._nothing("Type a rate between 0.01 and 0.99.")
        elif self.quick:
            self._show(_answers(self._desk.study, self._desk.inspection, self.valid.value))
        else:
            self._nothing("Under these settings the answer takes a moment: ask for it.")

    def _worked(self) -> None:
        job = self.job
        self.ask.disabled = job.state == "running" or self.valid.value is None
        if job.state == "running":
            self._nothing("Working it out …")
        elif job.state == "failed":
            self._nothing(f"Stopped: {job.message}")
        elif not self._answers and not self.quick:
            self._nothing("Under these settings the answer takes a moment: ask for it.")

    def _nothing(self, text: str) -> None:
        self._answers = {}
        self.epsilon.param.update(label="ε …", disabled=True)
        self.rho.param.update(label="ρ …", disabled=True)
        self._say(text)

    def _show(self, answers: dict[str, Answer]) -> None:
        self._answers = answers
        for button, name, symbol in ((self.epsilon, "epsilon", "ε"), (self.rho, "rho", "ρ")):
            answer = answers[name]
            button.param.update(label=_label(answer, symbol), disabled=answer.value is None or _any(answer))
        self._say(_said(answers["epsilon"], answers["rho"]))

    def _take(self, name: str) -> None:
        answer = self._answers.get(name)
        if answer is not None and answer.value is not None and not _any(answer):
            self._desk.choose(**{name: answer.shown})

    def _say(self, text: str) -> None:
        self._line.object = f'<p class="quiet" role="status" id="reach">{escape(text)}</p>'

    def __panel__(self) -> pn.Column:
        return self._view


def _answers(study: Study, seen: Inspection, valid: float, progress=None, cancelled=None) -> dict[str, Answer]:
    """Both answers for the target of an inspection, each with the other of ε and ρ as it is."""
    target, epsilon = [seen.universe.target], seen.distribution.epsilon
    return {
        "epsilon": epsilon_for(study, target, valid, seen.rho, seen.settings, None, progress, cancelled),
        "rho": rho_for(study, target, valid, epsilon, seen.settings, None, progress, cancelled),
    }


def _any(answer: Answer) -> bool:
    """Whether there is no number to set: the smallest ε is as small as one likes."""
    return answer.asked == "epsilon" and answer.value == 0


def _label(answer: Answer, symbol: str) -> str:
    if answer.value is None:
        return f"no {symbol} does"
    return f"any {symbol} does" if _any(answer) else f"set {symbol} = {answer.shown:.6g}"


def _said(epsilon: Answer, rho: Answer) -> str:
    """Both answers in one line."""
    if epsilon.value is None:
        first = f"is not reachable at this ρ: ceiling {two_digits(epsilon.ceiling)}"
    else:
        first = f"needs {'any ε' if _any(epsilon) else f'ε = {epsilon.shown:.6g}'} at this ρ"
    if rho.value is None:
        second = f"no ρ reaches it at this ε: at best {two_digits(rho.reached)}"
    else:
        second = f"or ρ = {rho.shown:.6g} at this ε"
    grid = " First crossing on a grid." if epsilon.tried or rho.tried else ""
    return f"A valid rate of {epsilon.valid:g} {first}; {second}.{grid}"
