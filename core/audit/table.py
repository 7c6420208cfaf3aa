"""Results as a table: CSV, JSON or HTML, each with what is needed to draw them again."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from core.audit.evaluation import Result
from core.errors import BadInput
from core.files import whole_file

ENDINGS = (".csv", ".json", ".html")
NOTICE = "Where no violation was found, that speaks of these events on these pairs only: it is no proof of privacy."
PACKAGES = ("privcfs-explorer", "networkx", "numpy", "opendp", "scipy")
SHOWN = {
    "pair": "pair",
    "witness": "witness",
    "event": "event",
    "favours": "more often on",
    "counts": "hits of draws",
    "alpha_low": "α at least",
    "beta_up": "β at most",
    "epsilon_lb": "ε at least",
    "claimed_epsilon": "ε claimed",
    "verdict": "verdict",
}


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Results as plain values, one dictionary each; a threshold that is no number is None."""
    found = []
    for result in results:
        row = asdict(result) | {"rejected": result.rejected, "verdict": result.verdict}
        if not math.isfinite(row["threshold"]):
            row["threshold"] = None
        found.append(row)
    return found


def report(results: Sequence[Result], made: dict[str, Any] | None = None) -> dict[str, Any]:
    """Results with the notice, versions, and `made`: how they were made."""
    versions = {name: metadata.version(name) for name in PACKAGES}
    return {"notice": NOTICE, **(made or {}), "versions": versions, "rows": rows(results)}


def check_ending(path: Path) -> None:
    """Raise `BadInput` unless `path` ends in a format that `write` knows."""
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"output {path}: found the ending {path.suffix!r}, expected one of {', '.join(ENDINGS)}")


def write(results: Sequence[Result], path: Path, made: dict[str, Any] | None = None) -> None:
    """Write results whole or not at all, in the format that the ending says. Raises `BadInput`."""
    check_ending(path)
    told = report(results, made)
    text = {".csv": _csv, ".json": _json, ".html": _html}[path.suffix.lower()](told)
    with whole_file(path) as stream:
        stream.write(text.encode())


def _json(told: dict[str, Any]) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(told: dict[str, Any]) -> str:
    text = io.StringIO()
    for key, value in told.items():
        if key != "rows":
            text.write(f"# {key}: {_text(value)}\n")
    if told["rows"]:
        table = csv.DictWriter(text, fieldnames=list(told["rows"][0]), lineterminator="\n")
        table.writeheader()
        table.writerows(told["rows"])
    return text.getvalue()


def _html(told: dict[str, Any]) -> str:
    head = "".join(f"<th scope='col'>{escape(title)}</th>" for title in SHOWN.values())
    body = "\n".join(_row(row) for row in told["rows"])
    made = "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(_text(value))}</dd>"
        for key, value in told.items()
        if key not in ("rows", "notice")
    )
    return PAGE.format(notice=escape(told["notice"]), head=head, body=body, made=made)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _row(row: dict[str, Any]) -> str:
    counts = f"{row['alpha_count']:,} and {row['beta_count']:,} of {row['evaluated']:,}"
    shown = row | {"counts": counts}
    cells = "".join(
        f"<td>{escape(f'{shown[key]:.4g}' if isinstance(shown[key], float) else str(shown[key]))}</td>" for key in SHOWN
    )
    return f"<tr{' class=rejected' if row['rejected'] else ''}>{cells}</tr>"


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Audit of a privacy claim</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }}
body {{ margin: 2rem; }}
div {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid; padding: 0.3rem 0.7rem; text-align: left; }}
.rejected {{ font-weight: bold; }}
dd {{ margin-left: 1.5rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>Audit of a privacy claim</h1>
<p>{notice}</p>
<div><table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>
<h2>How it was made</h2>
<dl>{made}</dl>
</body>
</html>
"""
