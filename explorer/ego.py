"""From an inspection to what its ego graph shows."""

from __future__ import annotations

import bisect
from dataclasses import replace

import numpy as np

from core.graph import PrivateGraph
from core.scoring.factorised import GCNScorer
from core.snapshot import Snapshot
from core.study.inspection import Inspection
from core.study.study import Study
from explorer.figures.ego import EgoView
from explorer.layout import EgoLayout, ego_layout

DRAWN_FALSE = 120


def layout_of(study: Study, inspection: Inspection) -> EgoLayout:
    """Layout that stays put while ρ moves: it makes room for every pair that is a candidate at some ρ."""
    target, settings = inspection.universe.target, inspection.settings
    if settings.arm.two_hop:
        pairs = ever_candidates(study.snapshot, target, settings.limits.k_edges)
    else:
        pairs = study.scores(target, 1.0, settings).universe.edge_pairs
    return ego_layout(study.dataset.graph, target, pairs, study.dataset.positions)


def ever_candidates(snapshot: Snapshot, target: int, k: int) -> np.ndarray:
    """All pairs that some prefix of `snapshot` has among its first `k` two-hop candidates, snapshot order (k' x 2).

    A pair away from the target is a candidate from when both it and its neighbour's pair are public. Its
    rank never gets better from then on, so that moment decides.
    """
    own = snapshot.incident(target)[:k]
    since: dict[int, int] = {}
    for u, joined in zip((snapshot.pairs[own].sum(axis=1) - target).tolist(), own.tolist(), strict=True):
        for place in snapshot.incident(u).tolist():
            if target not in snapshot.pairs[place]:
                since[place] = min(since.get(place, len(snapshot)), max(place, joined))
    before: list[int] = []
    listed = []
    for moment, place in sorted((moment, place) for place, moment in since.items()):
        if np.searchsorted(own, moment, side="right") + bisect.bisect(before, place) < k:
            listed.append(place)
        bisect.insort(before, place)
    return snapshot.pairs[np.sort(np.concatenate([own, np.array(listed, dtype=np.int64)]))]


def ego_view(study: Study, inspection: Inspection, layout: EgoLayout) -> EgoView:
    """The ego graph of an inspection: the private edges, and which pairs are public candidates."""
    pairs, exists, target = inspection.universe.edge_pairs, inspection.scores.exists, inspection.universe.target
    private = np.setdiff1d(study.dataset.graph.neighbours(target), pairs[exists])
    ties = {"private": _joined(target, private), "public": pairs[exists], "absent": pairs[~exists]}
    return _view(study, layout, study.scorer, inspection, ties)


def placement_layout(study: Study, target: int, noised: PrivateGraph) -> EgoLayout:
    """One layout for the clean and a noised graph: the nodes tied to the target in either.

    Of made-up neighbours only the first `DRAWN_FALSE` get a place; `hidden` counts the others.
    """
    false = np.setdiff1d(noised.neighbours(target), study.dataset.graph.neighbours(target))
    ends = false[:DRAWN_FALSE]
    layout = ego_layout(study.dataset.graph, target, _joined(target, ends), study.dataset.positions, second=0)
    return replace(layout, hidden=len(false) - len(ends))


def clean_view(study: Study, layout: EgoLayout, inspection: Inspection) -> EgoView:
    """The target's private edges in a layout shared with a noised graph."""
    target = inspection.universe.target
    near = study.dataset.graph.neighbours(target)
    ties = {"private": _joined(target, near)}
    return _view(study, layout.only(np.isin(layout.rows, near)), study.scorer, inspection, ties)


def noised_view(study: Study, layout: EgoLayout, noisy: GCNScorer, inspection: Inspection) -> EgoView:
    """The target on a noised graph: ties that are left, ties made up, ties lost."""
    target = inspection.universe.target
    clean, noised = study.dataset.graph.neighbours(target), noisy.graph.neighbours(target)
    ties = {
        "private": _joined(target, np.intersect1d(clean, noised)),
        "false": _joined(target, np.setdiff1d(noised, clean)),
        "lost": _joined(target, np.setdiff1d(clean, noised)),
    }
    bare = replace(layout, ties=np.empty((0, 2), dtype=np.int64))
    return _view(study, bare, noisy, inspection, ties)


def pair_views(
    study: Study, target: int, toggled: tuple[int, int], graphs: tuple[PrivateGraph, PrivateGraph]
) -> tuple[EgoView, EgoView]:
    """The target's neighbourhood on two graphs that differ in one pair, in one layout that holds both its ends."""
    near = np.union1d(*(graph.neighbours(target) for graph in graphs))
    away = np.setdiff1d(np.array(toggled), [target])
    ends = np.union1d(near, away)
    layout = ego_layout(study.dataset.graph, target, _joined(target, ends), study.dataset.positions, second=0)
    layout = replace(layout, ties=np.empty((0, 2), dtype=np.int64))
    pair = np.array([toggled])
    views = []
    for graph, lost in ((graphs[0], "none"), (graphs[1], "lost")):
        there = bool(graph.contains(pair)[0])
        own = graph.neighbours(target)
        ties = {"private": np.concatenate([_joined(target, own), pair[: there and target not in toggled]])}
        if lost == "lost":
            kind = "false" if there else "lost"
            keep = ~((ties["private"] == pair).all(axis=1) | (ties["private"][:, ::-1] == pair).all(axis=1))
            ties = {"private": ties["private"][keep], kind: pair}
        views.append(_plain_view(study, layout, study.scorer.on(graph), target, ties))
    return views[0], views[1]


def _joined(target: int, ends: np.ndarray) -> np.ndarray:
    """The pairs that join `ends` (k rows) to the target, k x 2."""
    return np.stack([np.full(len(ends), target), ends], axis=1)


def _view(
    study: Study, layout: EgoLayout, scorer: GCNScorer, inspection: Inspection, ties: dict[str, np.ndarray]
) -> EgoView:
    near = {inspection.scores.runner_up: "runner-up", inspection.scores.original: "same"}
    return _coloured(study, layout, scorer, near, ties)


def _plain_view(
    study: Study, layout: EgoLayout, scorer: GCNScorer, target: int, ties: dict[str, np.ndarray]
) -> EgoView:
    order = np.argsort(-study.scorer.clean[target], kind="stable").tolist()
    near = {label: kind for label, kind in zip(order[1::-1], ("runner-up", "same"), strict=False)}
    return _coloured(study, layout, scorer, near, ties)


def _coloured(
    study: Study, layout: EgoLayout, scorer: GCNScorer, near: dict[int, str], ties: dict[str, np.ndarray]
) -> EgoView:
    nodes = study.dataset.nodes
    predicted = scorer.clean[layout.rows].argmax(axis=1)
    return EgoView(
        layout=layout,
        ids=tuple(nodes.ids[row] for row in layout.rows),
        classes=tuple(nodes.classes[label] for label in predicted),
        degrees=tuple(int(scorer.graph.degree[row]) for row in layout.rows),
        kinds=("target", *(near.get(int(label), "other") for label in predicted[1:])),
        ties={kind: layout.places(pairs) for kind, pairs in ties.items()},
    )
