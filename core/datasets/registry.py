"""Which reader a data-set name calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.datasets.arxiv import load_arxiv_core
from core.datasets.cora import load_cora
from core.datasets.dataset import Dataset
from core.datasets.karate import load_karate
from core.datasets.lastfm import load_lastfm
from core.datasets.owner.edgelist import load_edge_list
from core.datasets.owner.folder import load_folder
from core.datasets.owner.gml import load_gml
from core.datasets.owner.mat import load_mat
from core.datasets.owner.npz import load_npz
from core.datasets.owner.roles import Roles
from core.datasets.owner.torchfile import load_torch
from core.datasets.owner.xmlgraphs import load_gexf, load_graphml
from core.datasets.planetoid import CLASSES, load_planetoid
from core.datasets.structure import with_structure
from core.datasets.synthetic import load_synthetic, parse_recipe
from core.errors import BadInput

FIXED: dict[str, Callable[[], Dataset]] = {"cora": load_cora, "lastfm": load_lastfm, "karate": load_karate}
ARXIV = "ogbn-arxiv-core"
FILES: dict[str, Callable[[Path, str, Roles | None], Dataset]] = {
    ".csv": load_edge_list,
    ".tsv": load_edge_list,
    ".txt": load_edge_list,
    ".edges": load_edge_list,
    ".graphml": load_graphml,
    ".gexf": load_gexf,
    ".gml": load_gml,
    ".npz": load_npz,
    ".pt": load_torch,
    ".mat": load_mat,
}


def names() -> list[str]:
    """Names that `load` takes as they stand and without an optional package, the default first."""
    return [*FIXED, *(f"planetoid:{name}" for name in CLASSES), "synthetic:nodes=2000"]


def load(name: str, root: Path | None = None, roles: Roles | None = None, structural: bool = False) -> Dataset:
    """Return the data set `name`: one of `names()`, `ogbn-arxiv-core`, `synthetic:key=value,...`, or an owner's path.

    A path is a folder with `nodes.csv` and `edges.csv`, or one file of `FILES`, packed by gzip or
    not. A name wins over a path that bears it; write `./cora` for the path. `root`: folder of
    Planetoid's raw files, in the place of the environment's `PLANETOID_ROOT`. `roles`: which column
    of an owner's file plays which part. `structural`: add features computed from the private edges,
    which void the guarantee (`with_structure`). Raises `BadInput` for an unknown name, listing what
    is allowed, and for unusable files.
    """
    dataset = _load(str(name), root, roles)
    return with_structure(dataset) if structural else dataset


def _load(name: str, root: Path | None, roles: Roles | None) -> Dataset:
    family, _, rest = name.partition(":")
    built_in = name in FIXED or name == ARXIV or family in ("planetoid", "synthetic")
    if built_in and roles not in (None, Roles()):
        raise BadInput(f"data set {name}: found column roles, expected none; give them with an owner's files")
    if name in FIXED:
        return FIXED[name]()
    if name == ARXIV:
        return load_arxiv_core(root)
    if family == "planetoid":
        return load_planetoid(rest, root)
    if family == "synthetic":
        return load_synthetic(parse_recipe(rest))
    path = os.path.expanduser(name)
    if os.path.isdir(path):
        return load_folder(Path(path), name, roles)
    if os.path.isfile(path):
        return _reader(Path(path))(Path(path), name, roles)
    raise BadInput.choice("data set", name, [*names(), ARXIV, "synthetic:key=value,...", "path of a folder or file"])


def _reader(path: Path) -> Callable[[Path, str, Roles | None], Dataset]:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in FILES:
        raise BadInput(
            f"data set: found the file {path.name!r}, expected a folder or a file that ends in one of "
            f"{', '.join(FILES)} (.gz too); rename it to what it is"
        )
    return FILES[ending]
