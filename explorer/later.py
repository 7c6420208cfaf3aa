"""Tabs that are made when they are first opened, so that the first page comes sooner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn

from explorer.palette import Palette, palette

if TYPE_CHECKING:
    from core.desk.ledger import Ledger
    from explorer.app import Explorer


class Later:
    """The tabs behind the first three. `tabs`: title and an empty column each; `views`: those that are made.

    What a view needs is imported with it. `ledger`, `local`: for the release desk.
    """

    def __init__(self, explorer: Explorer, ledger: Ledger | None, local: bool) -> None:
        self._explorer = explorer
        self._ledger, self._local = ledger, local
        self._makers: dict[str, Callable[[Palette], Any]] = {
            "Baselines": self._baselines,
            "Audit": self._audit,
            "Release desk": self._desk,
            "Labels": self._labels,
            "Embeddings": self._embeddings,
        }
        self.tabs = [(title, pn.Column(sizing_mode="stretch_width", margin=0)) for title in self._makers]
        self.views: dict[str, Any] = {}

    def show(self, place: int) -> None:
        """Make the tab at `place` unless it is there; any other place: none of them is seen."""
        title, column = self.tabs[place] if 0 <= place < len(self.tabs) else ("", None)
        if column is not None and title not in self.views:
            self.views[title] = self._makers[title](palette(self._explorer.dark))
            column.append(self.views[title])
        for name, view in self.views.items():
            if hasattr(view, "watch"):
                view.watch(name == title)

    def recolour(self, colours: Palette) -> None:
        """Hand on the colours of a theme."""
        for view in self.views.values():
            if hasattr(view, "recolour"):
                view.recolour(colours)

    def _baselines(self, colours: Palette) -> Any:
        from explorer.views.baselines import BaselinesView

        return BaselinesView(self._explorer.desk, colours)

    def _audit(self, colours: Palette) -> Any:
        from explorer.views.audit import AuditView

        return AuditView(self._explorer.desk, colours)

    def _labels(self, colours: Palette) -> Any:
        from explorer.views.labels import LabelsView

        return LabelsView(self._explorer.desk, colours)

    def _embeddings(self, colours: Palette) -> Any:
        from explorer.views.embeddings import EmbeddingsView

        return EmbeddingsView(self._explorer.desk, colours)

    def _desk(self, colours: Palette) -> Any:
        from explorer.views.releasedesk import ReleaseDeskView

        return ReleaseDeskView(self._explorer.desk, self._ledger, self._local)
