"""Data files that ship inside the `graphdatascience` package, read without importing it."""

from __future__ import annotations

from importlib import metadata

import pandas as pd

from core.errors import BadInput

PACKAGE = "graphdatascience"


def read_packaged(path: str) -> pd.DataFrame:
    """Read the parquet file `graphdatascience/resources/<path>` as a data frame.

    Raises `BadInput` when the package isn't installed or holds no such file.
    """
    wanted = f"{PACKAGE}/resources/{path}"
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise BadInput(f"data: found no package {PACKAGE!r}, which holds {path}; pip install {PACKAGE}") from None
    for file in files:
        if file.as_posix() == wanted:
            return pd.read_parquet(str(file.locate()))
    raise BadInput(f"data: found no {wanted} in the installed {PACKAGE}; reinstall it at the pinned version")
