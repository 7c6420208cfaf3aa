"""Which reader a data-set name calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.datasets.cora import load_cora
from core.datasets.dataset import Dataset
from core.datasets.folder import load_folder
from core.datasets.karate import load_karate
from core.datasets.lastfm import load_lastfm
from core.datasets.planetoid import CLASSES, load_planetoid
from core.datasets.synthetic import load_synthetic, parse_recipe
from core.errors import BadInput

FIXED: dict[str, Callable[[], Dataset]] = {"cora": load_cora, "lastfm": load_lastfm, "karate": load_karate}


def names() -> list[str]:
    """Names that `load` takes as they stand, the default first."""
    return [*FIXED, *(f"planetoid:{name}" for name in CLASSES), "synthetic:nodes=2000"]


def load(name: str, root: Path | None = None) -> Dataset:
    """Return the data set `name`: one of `names()`, `synthetic:key=value,...`, or an owner's folder.

    A name wins over a folder that bears it; write `./cora` for the folder. `root`: folder of
    Planetoid's raw files, in the place of the environment's `PLANETOID_ROOT`. Raises `BadInput` for
    an unknown name, listing what is allowed, and for unusable files.
    """
    name = str(name)
    family, _, rest = name.partition(":")
    if name in FIXED:
        return FIXED[name]()
    if family == "planetoid":
        return load_planetoid(rest, root)
    if family == "synthetic":
        return load_synthetic(parse_recipe(rest))
    if os.path.isdir(folder := os.path.expanduser(name)):
        return load_folder(Path(folder), name)
    if os.path.isfile(folder):
        raise BadInput(
            f"data set: found the file {name!r}, expected its folder with nodes.csv and edges.csv; name that"
        )
    raise BadInput.choice("data set", name, [*names(), "synthetic:key=value,...", "path of an existing folder"])
