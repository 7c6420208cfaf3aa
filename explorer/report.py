"""What was read from an owner's files, as HTML: owner-only, since it counts private edges."""

from __future__ import annotations

from html import escape

from core.datasets import Dataset
from core.datasets.description import described
from core.datasets.structure import WARNING
from core.errors import BadInput


def report_html(dataset: Dataset) -> str:
    """What `described` says: the graph as a heading, its columns as a table, then what was set right."""
    reason = not_trainable(dataset)
    roles = dataset.report.roles if dataset.report else ()
    title, *lines = (line for line in described(dataset) if line != reason)
    rest = "".join(
        f"<li{' class=warning' if line == WARNING else ''}>{escape(line)}</li>"
        for line in lines
        if line not in set(map(str, roles))
    )
    return f'<h3>{escape(title)}</h3><div class="beside"><ul>{rest}</ul>{_columns(dataset)}</div>'


def not_trainable(dataset: Dataset) -> str:
    """Why no model can be trained on `dataset`, one line; empty when one can."""
    try:
        dataset.check_trainable()
    except BadInput as error:
        return str(error)
    return ""


def _columns(dataset: Dataset) -> str:
    roles = dataset.report.roles if dataset.report else ()
    rows = "".join(
        f'<tr><th scope="row">{escape(role.file)}</th><td>{escape(role.part)}</td><td>{escape(role.column)}</td>'
        f"<td>{'guessed' if role.guessed else 'given'}</td></tr>"
        for role in roles
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("File", "Part", "Column", ""))
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>' if rows else ""
    )
