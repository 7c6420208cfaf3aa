"""The left rail: every decision, each control bound to one field of the desk."""

from __future__ import annotations

from html import escape
from math import isnan, log10

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from core.backbone.module import ModuleBackbone
from core.prior.prior import PriorKind
from core.release.mechanism import Mechanism
from core.study.study import Study
from core.universe import Arm
from core.utility import SENSITIVITIES
from explorer import icons, style
from explorer.jobs import Job
from explorer.opening import OpenOwn
from explorer.picker import TargetPicker
from explorer.state import EPSILON_HIGH, EPSILON_LOW, EPSILON_STOPS, RHO_STOPS, Desk
from explorer.wording import PRIOR_WHY, SIZE_PENALTY_WHY

_LIMITS = {
    "k_edges": ("Candidate ties", 0, 64),
    "k_features": ("Candidate masks", 0, 64),
    "max_edges": ("Ties a release", 0, 3),
    "max_features": ("Masks a release", 0, 4),
}
PENALTY_HIGH = 5.0
UPPER_REFERENCE = "† data-dependent upper reference, never certified"
_FULL = {"sizing_mode": "stretch_width", "size": "small", "margin": (7, 0)}
_BESIDE = _FULL | {"margin": (7, 8, 7, 0)}


class Rail(pn.viewable.Viewer):
    """Widgets for the decisions of `desk`; a refused value is explained where it was typed.

    `local`: whether files of this machine may be opened by their path.
    """

    def __init__(self, desk: Desk, local: bool = True) -> None:
        super().__init__()
        self._desk = desk
        self._syncing = False
        self._job = Job()
        self.picker = TargetPicker(desk)
        self.own = OpenOwn(desk, local)
        self.dataset = pmui.Select(label="Data set", options=desk.names, value=desk.dataset.name, **_BESIDE)
        self._model = pn.pane.HTML(stylesheets=[style.RAIL_NOTE], sizing_mode="stretch_width", margin=(0, 2, 2, 2))
        self.target = pmui.TextInput(label="Target node", **_BESIDE)
        self.browse = pmui.Button(
            label="Browse",
            icon=icons.ROWS,
            variant="outlined",
            size="small",
            margin=(9, 0),
            height=36,
            on_click=lambda _: self.picker.open(),
        )
        self._about = pn.pane.HTML(stylesheets=[style.RAIL_NOTE], sizing_mode="stretch_width", margin=(0, 2, 8, 2))
        show = CustomJSTickFormatter(code="return String(Number(Math.pow(10, tick).toPrecision(3)))")
        self.log_epsilon = pmui.FloatSlider(
            label="Privacy budget ε",
            start=log10(EPSILON_LOW),
            end=log10(EPSILON_HIGH),
            step=0.02,
            format=show,
            marks=[{"value": log10(stop), "label": f"{stop:g}"} for stop in EPSILON_STOPS],
            sizing_mode="stretch_width",
            size="small",
            margin=(4, 12, 0, 2),
            show_value=False,
        )
        self.epsilon = pmui.TextInput(label="ε", width=76, size="small", margin=(6, 0, 0, 0))
        self.rho = pmui.FloatSlider(
            label="Public share of ties ρ",
            start=0,
            end=1,
            step=0.01,
            sizing_mode="stretch_width",
            size="small",
            margin=(10, 12, 0, 2),
        )
        self.prior = pmui.RadioButtonGroup(
            label="Prior",
            description=PRIOR_WHY,
            options=[kind.value for kind in PriorKind],
            size="small",
            color="primary",
            sizing_mode="stretch_width",
            margin=(4, 0, 2, 2),
            stylesheets=[style.LABEL_BESIDE],
        )
        self.size_penalty = pmui.FloatInput(
            sx=style.STEPPER,
            label="Size penalty",
            description=SIZE_PENALTY_WHY,
            start=0.0,
            end=PENALTY_HIGH,
            step=0.1,
            **_FULL,
        )
        self.mechanism = pmui.Select(
            label="Mechanism",
            options={"exponential": Mechanism.EM.value, "permute-and-flip": Mechanism.PF.value},
            **_FULL,
        )
        self.arm = pmui.Select(label="Arm", options=[arm.value for arm in Arm], **_FULL)
        self.soft = pmui.Select(label="Utility", options={"hard": False, "soft": True}, **_FULL)
        self.sensitivity = pmui.Select(label="Sensitivity", options=list(SENSITIVITIES), **_FULL)
        self.limits = {
            field: pmui.IntInput(sx=style.STEPPER, label=label, start=low, end=high, **_FULL)
            for field, (label, low, high) in _LIMITS.items()
        }
        self.seed = pmui.IntInput(sx=style.STEPPER, label="Snapshot seed", start=0, **_FULL)
        self._problem = pn.pane.HTML(
            stylesheets=[style.RAIL_NOTE], sizing_mode="stretch_width", margin=(4, 2), css_classes=["problem"]
        )
        self._view = self._arrange()
        self._listen()
        self._sync()

    def _arrange(self) -> pn.Column:
        def note(text: str, **options: object) -> pn.pane.HTML:
            return pn.pane.HTML(text, stylesheets=[style.RAIL_NOTE], sizing_mode="stretch_width", **options)

        ends = note(
            '<div class="ends"><span>← more private</span><span>more telling →</span></div>', margin=(0, 0, 0, 2)
        )
        self._dagger = note("", margin=(0, 2, 4, 2))
        more = pn.GridBox(
            self.arm,
            self.mechanism,
            self.soft,
            self.sensitivity,
            *self.limits.values(),
            self.size_penalty,
            self.seed,
            ncols=2,
            sizing_mode="stretch_width",
            margin=0,
            stylesheets=[":host { grid-template-columns: 1fr 1fr !important; column-gap: 10px; }"],
        )
        return pn.Column(
            pn.Row(self.dataset, self.own.button, sizing_mode="stretch_width", margin=0),
            self._model,
            pn.Row(self.target, self.browse, sizing_mode="stretch_width", margin=0),
            self._about,
            pn.Row(self.log_epsilon, self.epsilon, sizing_mode="stretch_width", margin=0),
            ends,
            self.rho,
            self._dagger,
            self.prior,
            pmui.Accordion(
                ("More", more),
                **style.FOLD,
            ),
            self._problem,
            self.picker,
            self.own.dialog,
            css_classes=["rail"],
            sizing_mode="stretch_width",
            margin=0,
        )

    def _listen(self) -> None:
        desk = self._desk
        self.dataset.param.watch(self._load, "value")
        self.target.param.watch(lambda event: self._send(lambda: desk.choose_target(event.new)), "value")
        self.log_epsilon.param.watch(
            lambda event: self._send(lambda: desk.choose(epsilon=float(f"{10**event.new:.3g}"))), "value"
        )
        self.epsilon.param.watch(lambda event: self._send(lambda: desk.choose(epsilon=_number(event.new))), "value")
        self.rho.param.watch(lambda event: self._send(lambda: desk.choose(rho=round(event.new, 4))), "value")
        named = ("prior", "size_penalty", "mechanism", "arm", "soft", "sensitivity", "seed")
        for field, widget in {**{name: getattr(self, name) for name in named}, **self.limits}.items():
            widget.param.watch(
                lambda event, field=field: self._send(lambda: desk.choose(**{field: event.new})), "value"
            )
        desk.param.watch(lambda *_: self._sync(), ["inspection", "names", "waiting"])
        desk.param.watch(lambda *_: self._explain(), ["problem", "problem_field"])
        self._job.param.watch(lambda _: self._loading(), "state")

    def _send(self, choose) -> None:
        if not self._syncing:
            choose()

    def _load(self, event) -> None:
        if self._syncing or event.new == self._desk.dataset.name:
            return
        name = event.new
        self._desk.waiting = f"Loading {name} …"
        self._job.start(lambda progress, cancelled: self._desk.opened(name), self._desk.replace_study)

    def _loading(self) -> None:
        if self._job.state == "running":
            return
        self._desk.waiting = ""
        if self._job.state == "failed":
            self._desk.param.update(problem=self._job.message, problem_field="dataset")
            self._sync()
        self.dataset.disabled = False

    def _sync(self, leave: str = "") -> None:
        """Show what the desk holds, but leave a refused text as it was typed."""
        decisions, seen = self._desk.decisions, self._desk.inspection
        settings = decisions.settings
        self._syncing = True
        try:
            self.dataset.param.update(options=self._desk.names, value=self._desk.dataset.name)
            if leave != "target":
                self.target.value = seen.target_id
            if abs(10**self.log_epsilon.value / decisions.epsilon - 1) > 0.006:
                self.log_epsilon.value = min(max(log10(decisions.epsilon), log10(EPSILON_LOW)), log10(EPSILON_HIGH))
            if leave != "epsilon":
                self.epsilon.value = f"{decisions.epsilon:.6g}"
            dagger = "†" if seen.simulated else ""
            marks = [{"value": stop, "label": f"{stop:g}{dagger if stop == 1 else ''}"} for stop in RHO_STOPS]
            self.rho.param.update(value=decisions.rho, marks=marks)
            self._dagger.object = f"<p>{UPPER_REFERENCE if seen.simulated else '&nbsp;'}</p>"
            self.seed.param.update(value=decisions.seed, disabled=not seen.simulated)
            self.prior.value = settings.prior.kind.value
            self.size_penalty.value = settings.prior.size_penalty
            self.mechanism.value, self.arm.value = settings.mechanism.value, settings.arm.value
            self.soft.value, self.sensitivity.value = settings.utility.soft, settings.utility.sensitivity
            for field, widget in self.limits.items():
                widget.value = getattr(settings.limits, field)
        finally:
            self._syncing = False
        self._model.object = _model(self._desk.study)
        nodes, scores = self._desk.dataset.nodes, seen.scores
        self._about.object = (
            f'<p class="two-lines">predicted <b>{escape(nodes.classes[scores.original])}</b>, runner-up '
            f"{escape(nodes.classes[scores.runner_up])}; margin {scores.clean_margin:.3f}, {seen.degree} ties</p>"
        )

    def _explain(self) -> None:
        problem, field = self._desk.problem, self._desk.problem_field
        self._problem.object = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
        for name, widget in (("target", self.target), ("epsilon", self.epsilon)):
            widget.error_state = field == name
        if problem:
            self._sync(leave=field)

    def __panel__(self) -> pn.Column:
        return self._view


def _model(study: Study) -> str:
    """Which model is explained and how good it is, with what the owner must know of it."""
    backbone = study.backbone
    named = backbone.weights.name if isinstance(backbone, ModuleBackbone) else "two-layer GCN"
    right = "" if isnan(backbone.accuracy) else f", right for {backbone.accuracy:.1%} of the test nodes"
    warnings = "".join(f'<p class="problem">{escape(note)}</p>' for note in study.notes)
    return f"<p>{escape(named)}{right}</p>{warnings}"


def _number(text: str) -> object:
    """The number that `text` shows, else `text` itself, so that the core's check names what it found."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
