"""What a data set holds, in figures and in lines for people: owner-side, since it counts private edges."""

from __future__ import annotations

from core.datasets.dataset import Dataset
from core.datasets.report import LoadReport
from core.datasets.structure import WARNING
from core.errors import BadInput


def describe(dataset: Dataset) -> dict[str, object]:
    """Return the figures of a data set as plain values, for `json`.

    `nodes`, `edges`, `features`, `classes`, `snapshot_pairs`, `labelled`, `targets` are counts;
    `snapshot_pairs` is 0 without a snapshot, `targets` without a list of them. `structural`: whether
    features depend on private edges. `trainable`: whether our own backbone can be trained on it,
    else `not_trainable` says why not. `report`: `LoadReport.to_json`.
    """
    try:
        dataset.check_trainable()
        reason = None
    except BadInput as error:
        reason = str(error)
    return {
        "name": dataset.name,
        "title": dataset.title,
        "source": dataset.source,
        "nodes": dataset.nodes.n,
        "edges": dataset.graph.m,
        "features": dataset.nodes.n_features,
        "classes": len(dataset.nodes.classes),
        "labelled": int((dataset.labels >= 0).sum()),
        "snapshot_pairs": len(dataset.snapshot) if dataset.snapshot else 0,
        "targets": 0 if dataset.targets is None else len(dataset.targets),
        "structural": dataset.structural,
        "trainable": reason is None,
        "not_trainable": reason,
        "report": _report(dataset).to_json(),
    }


def described(dataset: Dataset) -> list[str]:
    """Return the same for people, a line each: what was loaded, then what the report says."""
    nodes, snapshot = dataset.nodes, dataset.snapshot
    lines = [
        f"{dataset.title}: {nodes.n:,} nodes, {dataset.graph.m:,} edges, {nodes.n_features:,} features, "
        f"{len(nodes.classes)} classes, {int((dataset.labels >= 0).sum()):,} nodes labelled",
        f"snapshot: {len(snapshot):,} pairs" if snapshot is not None else "snapshot: none given, so a simulated one",
        *_report(dataset).lines(),
    ]
    if dataset.structural and WARNING not in lines:
        lines.append(WARNING)
    try:
        dataset.check_trainable()
    except BadInput as error:
        lines.append(str(error))
    return lines


def _report(dataset: Dataset) -> LoadReport:
    """The report of an owner's files; of a published data set, what can be counted afterwards."""
    if dataset.report is not None:
        return dataset.report
    isolated, unlabelled = int((dataset.graph.degree == 0).sum()), int((dataset.labels < 0).sum())
    return LoadReport(isolated=isolated, unlabelled=unlabelled)
