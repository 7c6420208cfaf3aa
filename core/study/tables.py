"""Result tables on disk: tidy CSV or Parquet that says what it is, how it was made, and that it is owner-only."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from core.errors import BadInput
from core.files import whole_file

if TYPE_CHECKING:  # a process that only reads tables must not load what opens graphs
    from core.study.plan import Plan
    from core.study.study import Study

ENDINGS = (".csv", ".parquet")
NOTICE = "owner-only: computed from private edges; releasing any of it spends no budget and gives no guarantee"
TEXTS = (
    "notice",
    "dataset",
    "dataset_sha256",
    "backbone_sha256",
    "snapshot",
    "mechanism",
    "sensitivity",
    "targets_sha256",
)  # entries that stand as they are
PACKAGES = ("privcfs-explorer", "torch", "numpy")


def check_ending(path: Path, what: str = "output") -> None:
    """Raise `BadInput` unless `path` ends in a format that `write_table` knows; `what`: how a message calls it."""
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{what} {path}: found the ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")


def described_run(study: Study, plan: Plan, targets: np.ndarray | None = None) -> dict[str, Any]:
    """What a frontier was computed from and with, as plain values: digests, versions, parameters (owner-only).

    `targets`: their rows, of which a digest is given.
    """
    settings = plan.settings
    asked = {} if targets is None else {"targets_sha256": _digest(targets)}
    return {
        "notice": NOTICE,
        "dataset": study.dataset.name,
        "dataset_sha256": study.dataset.digest,
        "backbone_sha256": study.backbone.weights.digest,
        **asked,
        "snapshot": "simulated" if study.snapshot.simulated else "given",
        "seeds": list(plan.seeds) if study.snapshot.simulated else [],
        "rho": list(plan.rhos),
        "epsilon": list(plan.epsilons),
        "limits": [getattr(settings.limits, name) for name in ("k_edges", "k_features", "max_edges", "max_features")],
        "utility_weights": [str(getattr(settings.utility, name)) for name in ("w_flip", "w_size", "w_plausible")],
        "soft": settings.utility.soft,
        "sensitivity": settings.utility.sensitivity,
        "mechanism": settings.mechanism.value,
        "size_penalty": settings.prior.size_penalty,
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def _digest(rows: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(rows, dtype=np.int64).tobytes()).hexdigest()


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


def read_made(path: Path) -> dict[str, Any]:
    """What `write_table` was told of how a table was made; raises `BadInput` for a file that doesn't say."""
    check_ending(path, "table")
    try:
        if path.suffix.lower() == ".parquet":
            made = json.loads((pyarrow.parquet.read_schema(path).metadata or {})[b"privcfs"])
        else:
            with path.open(encoding="utf-8", newline="") as stream:
                lines = list(itertools.takewhile(lambda line: line.startswith("#"), stream))
            made = dict(_entry(line) for line in lines)
        if not isinstance(made, dict) or not {"notice", "dataset"} <= set(made):
            raise ValueError("no header")
    except (OSError, KeyError, ValueError, pyarrow.ArrowException) as error:
        what = error.strerror if isinstance(error, OSError) else "it doesn't say how it was made"
        raise BadInput(f"table {path}: {what}; expected a file that privcfs frontier wrote") from None
    return made


def _entry(line: str) -> tuple[str, Any]:
    key, _, value = line.removeprefix("# ").rstrip("\n").partition(": ")
    return key, value if key in TEXTS else json.loads(value)


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote; raises `BadInput` for a file that it didn't write."""
    check_ending(path, "table")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        with path.open(encoding="utf-8", newline="") as stream:
            lines = itertools.dropwhile(lambda line: line.startswith("#"), stream)
            return pd.read_csv(io.StringIO("".join(lines)))
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise BadInput(f"table {path}: can't be read ({str(error).splitlines()[0]}); write it anew") from None
