"""Result tables on disk: tidy CSV or Parquet that says what it is, how it was made, and that it is owner-only."""

from __future__ import annotations

import io
import itertools
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.parquet

from core.errors import BadInput
from core.files import whole_file
from core.study.plan import Plan
from core.study.study import Study

ENDINGS = (".csv", ".parquet")
NOTICE = "owner-only: computed from private edges; releasing any of it spends no budget and gives no guarantee"
PACKAGES = ("privcfs-explorer", "torch", "numpy")


def check_ending(path: Path) -> None:
    """Raise `BadInput` unless `path` ends in a format that `write_table` knows."""
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"output {path}: found the ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")


def described_run(study: Study, plan: Plan) -> dict[str, Any]:
    """What a frontier was computed from and with, as plain values: digests, versions, parameters (owner-only)."""
    settings = plan.settings
    return {
        "notice": NOTICE,
        "dataset": study.dataset.name,
        "dataset_sha256": study.dataset.digest,
        "backbone_sha256": study.backbone.weights.digest,
        "snapshot": "simulated" if study.snapshot.simulated else "given",
        "seeds": list(plan.seeds) if study.snapshot.simulated else [],
        "rho": list(plan.rhos),
        "epsilon": list(plan.epsilons),
        "limits": [getattr(settings.limits, name) for name in ("k_edges", "k_features", "max_edges", "max_features")],
        "utility_weights": [str(getattr(settings.utility, name)) for name in ("w_flip", "w_size", "w_plausible")],
        "soft": settings.utility.soft,
        "size_penalty": settings.prior.size_penalty,
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def write_table(table: pd.DataFrame, made: dict[str, Any], path: Path) -> None:
    """Write `table` whole or not at all; `made` stands in `#` lines before the CSV header, or as Parquet metadata.

    Figures are written so that they read back as the same float64. Raises `BadInput`.
    """
    check_ending(path)
    if path.suffix.lower() == ".parquet":
        columns = pyarrow.Table.from_pandas(table, preserve_index=False)
        columns = columns.replace_schema_metadata(
            {**(columns.schema.metadata or {}), b"privcfs": json.dumps(made).encode()}
        )
        with whole_file(path) as stream:
            pyarrow.parquet.write_table(columns, stream)
        return
    text = io.StringIO()
    for key, value in made.items():
        text.write(f"# {key}: {value if isinstance(value, str) else json.dumps(value)}\n")
    table.to_csv(text, index=False, lineterminator="\n")
    with whole_file(path) as stream:
        stream.write(text.getvalue().encode())


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote; raises `BadInput` for a file that it didn't write."""
    check_ending(path)
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        with path.open(encoding="utf-8", newline="") as stream:
            lines = itertools.dropwhile(lambda line: line.startswith("#"), stream)
            return pd.read_csv(io.StringIO("".join(lines)))
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise BadInput(f"table {path}: can't be read ({str(error).splitlines()[0]}); write it anew") from None
