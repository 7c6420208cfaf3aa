"""What a viewer of presented results looks at: always something that the files hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import param

from core.study.written import Frontiers

VIEWS = {"prices": "Price list", "curves": "Curves", "arms": "Arms", "about": "About"}
NAMES = ("view", "dataset", "population", "arm", "rho")  # as a link says them, in the order of their dependence


class Choice(param.Parameterized):
    """One view of one data set, population, arm and ρ; a wish that the files can't grant becomes the next best.

    `lost`: what the last wish asked for in vain, in words; empty when it was granted.
    """

    view = param.Parameter(default="")
    dataset = param.Parameter(default="")
    population = param.Parameter(default="")
    arm = param.Parameter(default="")
    rho = param.Parameter(default=None)
    lost = param.String(default="")

    def __init__(self, shown: Frontiers) -> None:
        super().__init__()
        self._rows = shown.rows
        self._settling = False
        self._settle()
        self.param.watch(lambda *_: self._settle(), list(NAMES))

    def options(self, name: str) -> list[Any]:
        """What may be chosen for `name`, given the choices that it depends on; in the order of the files."""
        return self._options(name, {before: getattr(self, before) for before in NAMES})

    def _options(self, name: str, chosen: Mapping[str, Any]) -> list[Any]:
        if name == "view":
            return list(VIEWS)
        rows = self._rows
        for before in NAMES[1 : NAMES.index(name)]:
            rows = rows[rows[before] == chosen[before]]
        found = rows[name].unique().tolist()
        return sorted(found) if name == "rho" else found

    @property
    def population_rows(self) -> pd.DataFrame:
        """The rows of the chosen population, every arm."""
        rows = self._rows
        return rows[(rows["dataset"] == self.dataset) & (rows["population"] == self.population)]

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of the chosen arm."""
        rows = self.population_rows
        return rows[rows["arm"] == self.arm]

    def _settle(self) -> None:
        """Grant what is wished for, all at once: nobody sees a choice half settled."""
        if self._settling:
            return
        chosen: dict[str, Any] = {}
        lost = []
        for name in NAMES:
            wish, options = getattr(self, name), self._options(name, chosen)
            chosen[name] = _granted(wish, options)
            if chosen[name] is None:
                chosen[name] = options[0]
                if wish not in ("", None):
                    lost.append(f"{name} {str(wish)[:40]}")
        self._settling = True
        try:
            self.param.update(**chosen, lost=", ".join(lost))
        finally:
            self._settling = False


def _granted(wish: Any, options: list[Any]) -> Any:
    """The option that a link's text or number means; None where there is none."""
    for option in options:
        if isinstance(option, str):
            if str(wish) == option:
                return option
        elif isinstance(wish, int | float) and not isinstance(wish, bool) and abs(wish - option) < 1e-9:
            return option
    return None
