"""What the figures are given to draw, without a browser."""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics import Level
from core.prior.prior import PriorKind
from explorer.figures.distribution import LevelFigure, RankFigure, drawn_ranks, level_bars
from explorer.figures.ego import EgoFigure
from explorer.palette import DARK, LIGHT
from explorer.state import Desk
from explorer.views.release import ReleaseView


@pytest.mark.parametrize("size", [1, 2, 40, 300, 301, 5000, 23_621])
def test_drawn_ranks_hold_the_first_and_the_last_once_each(size: int) -> None:
    ranks = drawn_ranks(size)
    assert len(ranks) <= 300
    assert ranks[0] == 0 and ranks[-1] == size - 1
    assert (np.diff(ranks) > 0).all()
    assert np.array_equal(ranks[: min(size, 40)], np.arange(min(size, 40)))


def test_rank_figure_shows_the_empty_candidate_wherever_it_ranks() -> None:
    probability = np.linspace(2, 1, 4000)
    probability[0] = 1.2345
    probability /= probability.sum()
    order = np.argsort(-probability, kind="stable")
    prior = np.full(4000, 1 / 4000)
    drawn = RankFigure(LIGHT)
    drawn.draw(order, probability, np.arange(4000) % 3 == 1, prior)
    empty = drawn._sources["empty"].data
    assert list(empty["rank"]) == [int(np.flatnonzero(order == 0)[0]) + 1]
    assert list(empty["probability"]) == [probability[0]]
    shown = sum(len(drawn._sources[kind].data["rank"]) for kind in ("flip", "same", "empty"))
    assert shown <= 301
    assert drawn.figure.y_range.start < probability.min() < probability.max() < drawn.figure.y_range.end


def test_each_mark_has_the_prior_mass_of_its_own_candidate() -> None:
    rng = np.random.default_rng(5)
    probability, prior, flips = rng.dirichlet(np.ones(2000)), rng.dirichlet(np.ones(2000) / 4), rng.random(2000) < 0.4
    order = np.argsort(-probability, kind="stable")
    drawn = RankFigure(LIGHT)
    drawn.draw(order, probability, flips, prior)
    for kind in ("flip", "same", "empty"):
        data = drawn._sources[kind].data
        assert len(data["rank"])
        chosen = [order[rank - 1] for rank in data["rank"]]
        np.testing.assert_array_equal(data["prior"], prior[chosen])
        np.testing.assert_array_equal(data["probability"], probability[chosen])
    assert drawn.figure.y_range.start <= max(prior.min(), 1e-300)
    drawn.draw(order, probability, flips, np.r_[np.full(1999, 0.5 / 1999), 0.5])
    assert drawn.figure.y_range.end > 0.5 > 10 * probability.max()
    for mark in drawn._priors:
        assert (mark.glyph.y, mark.glyph.marker) == ("prior", "dash")
        assert mark.data_source in drawn._sources.values()


def test_axes_stand_still_for_a_small_change() -> None:
    drawn = RankFigure(LIGHT)
    framed = []
    for tilt in (1.0, 1.05):
        weight = np.exp(tilt * np.linspace(1, 0, 500))
        drawn.draw(np.arange(500), weight / weight.sum(), np.zeros(500, dtype=bool), np.full(500, 1 / 500))
        framed.append((drawn.figure.y_range.start, drawn.figure.y_range.end))
    assert framed[0] == framed[1]


def test_few_levels_keep_their_own_bar_and_many_are_binned() -> None:
    few = [Level(0.96, 3, 0.5, True, False), Level(0.2, 1, 0.1, False, True), Level(0.0, 9, 0.4, False, False)]
    assert [bar.label for bar in level_bars(few, [0.3, 0.1, 0.6])] == ["0.96", "∅ 0.2", "0"]
    many = [Level(0.3 + 0.001 * k, 2, 0.01, False, False) for k in range(100)]
    bars = level_bars(many, [0.01] * 100)
    assert len(bars) == 2
    assert sum(bar.count for bar in bars) == 200
    assert sum(bar.probability for bar in bars) == pytest.approx(1.0)
    assert sum(bar.prior for bar in bars) == pytest.approx(1.0)


def test_level_figure_keeps_the_kinds_apart(desk: Desk) -> None:
    drawn = LevelFigure(LIGHT)
    levels = [Level(0.9, 3, 0.5, True, False), Level(0.2, 1, 0.1, False, True), Level(0.0, 9, 0.4, False, False)]
    drawn.draw(levels, [0.2, 0.1, 0.7])
    assert drawn.figure.x_range.factors == ["0", "∅ 0.2", "0.9"]
    assert [drawn._sources[kind].data["probability"] for kind in ("same", "flip", "empty")] == [[0.4], [0.5], [0.1]]
    assert len({bar.glyph.hatch_pattern for bar in drawn._bars.values()}) == 3


def test_marked_intervention_is_ringed_at_both_ends(desk: Desk) -> None:
    assert desk.choose(target=0, rho=1.0)
    view = ReleaseView(desk, LIGHT)
    pair = desk.inspection.universe.edge_pairs[:1]
    end = int(pair.max())
    view.ego.mark(pair, True)
    place = view.ego._view.layout.place(end)
    layout = view.ego._view.layout
    assert list(view.ego._ends.data["x"]) == [0.0, layout.x[place]]
    assert list(view.ego._cuts.data["y"]) == [layout.y[place] / 2]
    assert view.ego._cut_glyph.glyph.line_color == LIGHT.flip
    view.recolour(DARK)
    assert view.ego._cut_glyph.glyph.line_color == DARK.flip
    view.ego.mark(np.empty((0, 2), dtype=np.int64), False)
    assert list(view.ego._ends.data["x"]) == []


def test_a_pair_away_from_the_target_is_drawn_and_marked_where_it_is(desk: Desk) -> None:
    """Its line joins its own ends and the cross stands between them; the end two steps away says what it is."""
    assert desk.choose(target=16, rho=1.0, arm="two-hop")
    view = ReleaseView(desk, LIGHT)
    layout, pairs = view.ego._view.layout, desk.inspection.universe.edge_pairs
    away = pairs[(pairs != 16).all(axis=1)]
    assert len(away)
    at = {row: (x, y) for row, x, y in zip(layout.rows.tolist(), layout.x, layout.y, strict=True)}
    drawn = view.ego._ties["public"].data
    lines = {((a, b), (c, d)) for a, b, c, d in zip(*(drawn[end] for end in ("x0", "y0", "x1", "y1")), strict=True)}
    assert lines == {(at[u], at[w]) for u, w in pairs.tolist()}
    names = dict(zip(layout.rows.tolist(), view.ego._nodes.data["tie"], strict=True))
    outer = {row for row in away.ravel().tolist() if layout.ring[layout.place(row)] == 2}
    assert outer and {names[row] for row in outer} == {"two hops away, public candidate"}
    u, w = away[0].tolist()
    view.ego.mark(away[:1], False)
    assert (view.ego._cuts.data["x"][0], view.ego._cuts.data["y"][0]) == pytest.approx(np.add(at[u], at[w]) / 2)
    assert sorted(view.ego._ends.data["x"]) == sorted([at[u][0], at[w][0]])
    view.ego.mark(np.array([[16, 40]]), True)
    assert not len(view.ego._cuts.data["x"])


def test_a_tap_takes_the_node_and_leaves_no_selection(desk: Desk) -> None:
    view = ReleaseView(desk, LIGHT)
    row = int(view.ego._nodes.data["row"][2])
    view.ego._nodes.selected.indices = [2]
    assert desk.decisions.target == row
    assert view.ego._nodes.selected.indices == []


def test_a_table_row_marks_its_candidate_and_epsilon_keeps_it(desk: Desk) -> None:
    assert desk.choose(target=0, rho=1.0, epsilon=1.0)
    view = ReleaseView(desk, LIGHT)
    view.select(3)
    chosen = view._candidates[3]
    assert desk.decisions.marked == (chosen.edges, chosen.features)
    assert view.table.selection == [3]
    assert desk.choose(epsilon=4.0)
    place = view.table.selection[0]
    assert (view._candidates[place].edges, view._candidates[place].features) == desk.decisions.marked
    assert list(view.table.value["probability"]) == [c.probability for c in desk.candidates(25)]


def test_ego_styles_differ_without_colour(desk: Desk) -> None:
    view = EgoFigure(LIGHT, "an ego graph")
    cues = {
        name: (view._lines[name].glyph.line_width, tuple(view._lines[name].glyph.line_dash))
        for name in ("private", "public", "absent", "false", "lost")
    }
    assert len(set(cues.values())) == 5


@pytest.mark.parametrize("kind", PriorKind)
def test_level_outlines_hold_the_prior_of_this_very_release(desk: Desk, kind: PriorKind) -> None:
    assert desk.choose(target=9, rho=0.6, epsilon=4.0, prior=kind.value, size_penalty=0.7)
    view, seen = ReleaseView(desk, LIGHT), desk.inspection
    mass, flips = seen.distribution.prior.mass, seen.scores.flips
    drawn = {kind: view.level._sources[kind].data for kind in ("flip", "same", "empty")}
    for level, prior in zip(drawn["flip"]["level"], drawn["flip"]["prior"], strict=True):
        at_level = flips & (np.abs(seen.distribution.utility.fractions - float(level)) < 1e-9)
        assert prior == pytest.approx(mass[at_level].sum())
    assert drawn["empty"]["prior"] == [pytest.approx(mass[0, 0])]
    assert sum(sum(data["prior"]) for data in drawn.values()) == pytest.approx(1)
    assert sum(drawn["flip"]["prior"]) == pytest.approx(seen.prior_alone.valid)
    assert sum(drawn["flip"]["prior"]) != pytest.approx(seen.public_only.valid, rel=1e-3)
