"""The owner brings her own graph: files or a path, a check that says what was read, then a trained model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from core.datasets import Dataset, load
from core.datasets.owner.roles import Roles
from core.datasets.received import load_received
from core.errors import BadInput
from core.study.study import Study
from explorer import icons, sheets, style
from explorer.badge import badge_text
from explorer.jobs import Job
from explorer.report import not_trainable, report_html
from explorer.state import Desk
from explorer.upload import Upload

_PARTS = {
    "source": "Tie: source",
    "target": "Tie: target",
    "order": "Snapshot: order",
    "id": "Node: id",
    "label": "Node: label",
    "split": "Node: split",
}
_HEADER = {"guess": None, "yes": True, "no": False}
_FULL = {"sizing_mode": "stretch_width", "size": "small", "margin": (7, 0)}
READING, TRAINING = "Reading …", "Training the model …"
READ = "Read. Continue trains the model on it; the session changes when that is done."
CHANGED = "Changed since the check: check again."
STOPPED = "Stopped when the window was closed. What was chosen is still here."
FORMATS = (
    "One file: a list of edges (.csv, .tsv, .txt, .edges), .graphml, .gexf, .gml, .npz, .pt or .mat. Or a folder's "
    "files: nodes.csv and edges.csv, perhaps snapshot.csv, targets.csv, features.csv and classes.csv. Packed by gzip "
    "or not."
)


class OpenOwn(pn.viewable.Viewer):
    """A button and its dialog; the running session stays as it is until a study of the new graph is ready.

    `local`: the server listens on this machine only, so that a path on it may be read.
    """

    def __init__(self, desk: Desk, local: bool) -> None:
        super().__init__()
        self._desk = desk
        self._job = Job()
        self._checked: Dataset | None = None
        self.upload = Upload(self._uploaded, sizing_mode="stretch_width", margin=(8, 0, 4, 0))
        self.path = pmui.TextInput(label="Folder or file on this machine", placeholder="~/graphs/mine", **_FULL)
        self.columns = {part: pmui.TextInput(label=label, **_FULL) for part, label in _PARTS.items()}
        self.header = pmui.RadioButtonGroup(
            label="Header line",
            options=list(_HEADER),
            value="guess",
            size="small",
            color="primary",
            sizing_mode="stretch_width",
            margin=(4, 0, 8, 0),
            stylesheets=[style.LABEL_BESIDE],
        )
        self.structural = pmui.Checkbox(
            label="Structural features (void the guarantee)", size="small", margin=(4, 0), sizing_mode="stretch_width"
        )
        self.check = _button("Check", "contained", lambda _: self._check())
        self.go = _button("Continue", "contained", lambda _: self._continue(), disabled=True)
        self.close = _button("Close", "outlined", lambda _: self.dialog.param.update(open=False))
        self.status = pn.pane.HTML(stylesheets=[sheets.OPENING], sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        self.report = pn.pane.HTML(
            stylesheets=[sheets.OPENING, style.BADGE], sizing_mode="stretch_width", margin=(8, 0)
        )
        self.button = pmui.Button(
            label="Open …",
            icon=icons.UPLOAD,
            variant="outlined",
            size="small",
            margin=(9, 0),
            height=36,
            on_click=lambda _: self.dialog.param.update(open=True),
        )
        self.dialog = self._arrange(local)
        self._listen()
        self._say("")

    def _arrange(self, local: bool) -> pmui.Dialog:
        fields = pn.Column(
            pn.Row(*self.columns.values(), stylesheets=[sheets.OPENING_FIELDS], sizing_mode="stretch_width", margin=0),
            self.header,
            sizing_mode="stretch_width",
            margin=0,
        )
        columns = pmui.Accordion(
            ("Columns: guessed where left empty", fields),
            **style.FOLD,
        )
        intro = pn.pane.HTML(
            f'<p class="quiet">{escape(FORMATS)}</p>',
            stylesheets=[style.TEXT],
            sizing_mode="stretch_width",
            margin=0,
        )
        return pmui.Dialog(
            intro,
            self.upload,
            *([self.path] if local else []),
            columns,
            self.structural,
            pn.Row(self.check, self.go, self.close, sizing_mode="stretch_width", margin=0),
            self.status,
            self.report,
            title="Open your own graph",
            **style.DIALOG,
        )

    def _listen(self) -> None:
        for widget in (self.path, self.header, self.structural, *self.columns.values()):
            widget.param.watch(lambda _: self._changed(), "value")
        self.dialog.param.watch(lambda event: None if event.new else self._closed(), "open")

    def _uploaded(self, problem: str) -> None:
        self._changed()
        if problem:
            self._say(problem, alert=True)

    def _changed(self) -> None:
        """What was checked, or is being read, isn't what is chosen now."""
        self._job = Job()
        self._checked = None
        self.check.disabled, self.go.disabled = self.upload.busy, True
        if self.report.object:
            self.report.css_classes = ["stale"]
        self._say(CHANGED if self.report.object else "")

    def _closed(self) -> None:
        if self._job.state == "running" or self.upload.busy:
            if self.upload.busy:
                self.upload.clear()
            self._job = Job()
            self.check.disabled, self.go.disabled = False, self._checked is None
            self._say(STOPPED)

    def _check(self) -> None:
        self._checked = None
        self.go.disabled = True
        try:
            read = self._reader()
        except BadInput as error:
            self._say(str(error), alert=True)
        else:
            self._begin(READING, read, self._read)

    def _reader(self) -> Callable[[], Dataset]:
        """The work that reads what is chosen now; raises `BadInput` where nothing, or two things, are."""
        path, files, free = self.path.value.strip(), self.upload.files, self._desk.free_name
        if bool(path) == bool(files):
            found = "found both files and a path" if path else "found neither files nor a path"
            raise BadInput(f"graph: {found}, expected one of them; {'leave one out' if path else 'choose files'}")
        roles = Roles(
            **{part: widget.value.strip() or None for part, widget in self.columns.items()},
            header=_HEADER[self.header.value],
        )
        structural = self.structural.value
        if files:
            name = free(self.upload.folder or (_stem(next(iter(files))) if len(files) == 1 else "uploaded"))
            return lambda: load_received(files, name, roles, structural)
        place = Path(path).expanduser().absolute()  # a name such as "cora" would win over the path it is
        name = free(_stem(place.name))
        return lambda: replace(load(str(place), roles=roles, structural=structural), name=name)

    def _read(self, dataset: Dataset) -> None:
        reason = not_trainable(dataset)
        shown = badge_text("It counts private edges.") + report_html(dataset)
        self.report.param.update(object=shown, css_classes=[])
        if reason:
            self._say(reason, alert=True)
        else:
            self._checked = dataset
            self._say(READ)

    def _continue(self) -> None:
        dataset = self._checked
        if dataset is not None:
            self._begin(TRAINING, lambda: self._desk.prepare(dataset), self._open)

    def _open(self, study: Study) -> None:
        self._desk.replace_study(study)
        self._empty()
        self.dialog.open = False

    def _empty(self) -> None:
        self.upload.clear()
        for widget in (self.path, *self.columns.values()):
            widget.value = ""
        self.header.value, self.structural.value = "guess", False
        self._checked = None
        self.report.param.update(object="", css_classes=[])
        self._say("")

    def _begin(self, said: str, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        """Run `work` off the event loop; what it brings is dropped when something was changed meanwhile."""
        if self._job.state == "running":
            return
        job = self._job = Job()
        self.check.disabled = self.go.disabled = True
        self._say(said, busy=True)

        def ended(_: object) -> None:
            if job is self._job and job.state != "running":
                self.check.disabled, self.go.disabled = False, self._checked is None
                if job.state == "failed":
                    self._say(job.message, alert=True)

        job.param.watch(ended, "state")
        job.start(lambda progress, cancelled: work(), lambda result: finish(result) if job is self._job else None)

    def _say(self, text: str, alert: bool = False, busy: bool = False) -> None:
        role, kind = "alert" if alert else "status", "said busy" if busy else "said"
        self.status.object = f'<p class="{kind}" role="{role}">{escape(text)}</p>' if text else '<p class="said"></p>'

    def __panel__(self) -> pn.Column:
        return pn.Column(self.button, self.dialog, sizing_mode="stretch_width", margin=0)


def _button(label: str, variant: str, act: Callable[[Any], None], disabled: bool = False) -> pmui.Button:
    return pmui.Button(
        label=label, variant=variant, size="small", height=36, margin=(6, 8, 4, 0), disabled=disabled, on_click=act
    )


def _stem(file: str) -> str:
    return file.strip(".").partition(".")[0] or "uploaded"
