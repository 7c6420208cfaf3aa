"""From an inspection to what its ego graph shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.graph import PrivateGraph
from core.scoring.factorised import GCNScorer
from core.study.inspection import Inspection
from core.study.study import Study
from explorer.figures.ego import EgoView
from explorer.layout import EgoLayout, ego_layout

DRAWN_FALSE = 120


def layout_of(study: Study, inspection: Inspection) -> EgoLayout:
    """Layout that stays put while ρ moves: it makes room for the pairs of the whole snapshot."""
    whole = study.scores(inspection.universe.target, 1.0, inspection.settings).universe
    return ego_layout(study.dataset.graph, whole.target, whole.edge_pairs, study.dataset.positions)


def ego_view(study: Study, inspection: Inspection, layout: EgoLayout) -> EgoView:
    """The ego graph of an inspection: the private edges, and which pairs are public candidates."""
    ends = _other_ends(inspection.universe.edge_pairs, inspection.universe.target)
    public, absent = ends[inspection.scores.exists], ends[~inspection.scores.exists]
    private = np.setdiff1d(study.dataset.graph.neighbours(inspection.universe.target), public)
    return _view(study, layout, study.scorer, inspection, {"private": private, "public": public, "absent": absent})


def placement_layout(study: Study, target: int, noised: PrivateGraph) -> EgoLayout:
    """One layout for the clean and a noised graph: the nodes tied to the target in either.

    Of made-up neighbours only the first `DRAWN_FALSE` get a place; `hidden` counts the others.
    """
    false = np.setdiff1d(noised.neighbours(target), study.dataset.graph.neighbours(target))
    ends = false[:DRAWN_FALSE]
    pairs = np.stack([np.full(len(ends), target), ends], axis=1)
    layout = ego_layout(study.dataset.graph, target, pairs, study.dataset.positions, second=0)
    return replace(layout, hidden=len(false) - len(ends))


def clean_view(study: Study, layout: EgoLayout, inspection: Inspection) -> EgoView:
    """The target's private edges in a layout shared with a noised graph."""
    near = study.dataset.graph.neighbours(inspection.universe.target)
    return _view(study, layout.only(np.isin(layout.rows, near)), study.scorer, inspection, {"private": near})


def noised_view(study: Study, layout: EgoLayout, noisy: GCNScorer, inspection: Inspection) -> EgoView:
    """The target on a noised graph: ties that are left, ties made up, ties lost."""
    target = inspection.universe.target
    clean, noised = study.dataset.graph.neighbours(target), noisy.graph.neighbours(target)
    ties = {
        "private": np.intersect1d(clean, noised),
        "false": np.setdiff1d(noised, clean),
        "lost": np.setdiff1d(clean, noised),
    }
    bare = replace(layout, ties=np.empty((0, 2), dtype=np.int64))
    return _view(study, bare, noisy, inspection, ties)


def _other_ends(pairs: np.ndarray, target: int) -> np.ndarray:
    """The end of each pair that isn't the target (of a two-hop pair, its first end)."""
    return np.where(pairs[:, 0] == target, pairs[:, 1], pairs[:, 0]).astype(np.int64)


def _view(
    study: Study, layout: EgoLayout, scorer: GCNScorer, inspection: Inspection, ties: dict[str, np.ndarray]
) -> EgoView:
    nodes = study.dataset.nodes
    predicted = scorer.clean[layout.rows].argmax(axis=1)
    near = {inspection.scores.runner_up: "runner-up", inspection.scores.original: "same"}
    return EgoView(
        layout=layout,
        ids=tuple(nodes.ids[row] for row in layout.rows),
        classes=tuple(nodes.classes[label] for label in predicted),
        degrees=tuple(int(scorer.graph.degree[row]) for row in layout.rows),
        kinds=("target", *(near.get(int(label), "other") for label in predicted[1:])),
        ties={kind: np.flatnonzero(np.isin(layout.rows, rows)) for kind, rows in ties.items()},
    )
