"""The searchable table from which a target is picked."""

from __future__ import annotations

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer import style
from explorer.badge import badge
from explorer.state import Desk, target_table


class TargetPicker(pn.viewable.Viewer):
    """A dialog with every node; a click on a row takes it as the target. Filled when first opened."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._filled_for = ""
        self.table = pn.widgets.Tabulator(
            pd.DataFrame(target_table(desk.study)).iloc[:0],
            show_index=False,
            disabled=True,
            selectable=1,
            layout="fit_columns",
            sizing_mode="stretch_width",
            pagination="local",
            page_size=11,
            theme="simple",
            stylesheets=[style.TABLE],
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
            css_classes=["target-table"],
        )
        self.table.on_click(self._clicked)
        self.dialog = pmui.Dialog(
            badge("Degree, prediction and margin read private edges."),
            self.table,
            title="Choose a target",
            title_variant="h4",
            show_close_button=True,
            close_on_click=True,
            width_option="md",
            sizing_mode="stretch_width",
        )

    def open(self) -> None:
        """Show the dialog."""
        study = self._desk.study
        if self._filled_for != study.dataset.digest:
            self.table.value = pd.DataFrame(target_table(study))
            self._filled_for = study.dataset.digest
        self.dialog.open = True

    def _clicked(self, event) -> None:
        node = self.table.value["node"].iloc[event.row]
        self.dialog.open = False
        self._desk.choose_target(node)

    def __panel__(self) -> pmui.Dialog:
        return self.dialog
