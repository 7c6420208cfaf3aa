"""The searchable table from which a target is picked."""

from __future__ import annotations

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer import style
from explorer.badge import badge
from explorer.state import Desk, target_table

MOST_SENT = 10_000  # rows that the browser holds; of more, it is sent a page at a time


class TargetPicker(pn.viewable.Viewer):
    """A dialog with every node; a click on a row takes it as the target. Filled when first opened."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._filled_for = ""
        self._badge = badge("Degree, prediction and margin read private edges.")
        self.table: pn.widgets.Tabulator | None = None
        self.dialog = pmui.Dialog(
            self._badge,
            title="Choose a target",
            **style.DIALOG,
        )

    def open(self) -> None:
        """Show the dialog, with a new table when the data set is another than last time."""
        study = self._desk.study
        if self._filled_for != study.dataset.digest:
            # A table that isn't on screen takes no new rows: its browser side doesn't exist yet.
            self.table = _table(pd.DataFrame(target_table(study)))
            self.table.on_click(self._clicked)
            self.dialog[:] = [self._badge, self.table]
            self._filled_for = study.dataset.digest
        self.dialog.open = True

    def _clicked(self, event) -> None:
        node = self.table.value["node"].iloc[event.row]
        self.dialog.open = False
        self._desk.choose_target(node)

    def __panel__(self) -> pmui.Dialog:
        return self.dialog


def _table(rows: pd.DataFrame) -> pn.widgets.Tabulator:
    return pn.widgets.Tabulator(
        rows,
        show_index=False,
        disabled=True,
        selectable=False,
        layout="fit_columns",
        sizing_mode="stretch_width",
        pagination="remote" if len(rows) > MOST_SENT else "local",
        page_size=11,
        theme="simple",
        stylesheets=[style.TABLE, ".tabulator-row { cursor: pointer; }"],
        height=470,
        margin=0,
        configuration={"rowHeight": 30},
        header_filters={
            "node": {"type": "input", "func": "starts", "placeholder": "starts with"},
            "class": {"type": "input", "func": "like", "placeholder": "contains"},
            "prediction": {"type": "input", "func": "like", "placeholder": "contains"},
            "degree": {"type": "number", "func": ">=", "placeholder": "at least"},
            "margin": {"type": "number", "func": "<=", "placeholder": "at most"},
        },
        formatters={"margin": {"type": "money", "precision": 4}},
        text_align={"degree": "right", "margin": "right"},
        header_align={"degree": "right", "margin": "right"},
        css_classes=["target-table"],
    )
