"""The whole explorer without a browser: controls and state stay in step, long work arrives."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets import Dataset
from core.errors import BadInput
from core.placement.mechanisms import GraphMechanism
from core.prior.prior import PriorKind
from core.study.populations import Population, population
from core.study.pricelist import price_list
from core.study.study import Study
from core.wording import edges_add
from explorer import legend
from explorer.app import Explorer, build_page
from explorer.state import EPSILON_STOPS, RHO_STOPS
from explorer.studies import shared_study
from explorer.views import pricelist


@pytest.fixture
def explorer(karate: Dataset) -> Explorer:
    return Explorer(karate)


def shown(explorer: Explorer) -> str:
    return explorer.answer.object


def test_a_slider_moves_the_state_the_sentence_and_the_cards(explorer: Explorer) -> None:
    before = shown(explorer), explorer.release.cards.object
    explorer.rail.log_epsilon.value = np.log10(8)
    assert explorer.desk.decisions.epsilon == pytest.approx(8, rel=0.01)
    assert "ε = 8" in shown(explorer)
    assert (shown(explorer), explorer.release.cards.object) != before
    assert explorer.rail.epsilon.value == "8"


def test_moving_one_control_leaves_the_others(explorer: Explorer) -> None:
    rail = explorer.rail
    rail.epsilon.value = "0.37"
    rail.arm.value = "edge-only"
    rail.prior.value = "guided"
    rail.size_penalty.value = 1.3
    rail.limits["max_edges"].value = 1
    rail.rho.value = 0.7
    rail.target.value = explorer.desk.dataset.nodes.ids[5]
    rail.seed.value = 2
    now = explorer.desk.decisions
    assert (now.epsilon, now.rho, now.target, now.seed) == (0.37, 0.7, 5, 2)
    assert (now.settings.arm.value, now.settings.limits.max_edges) == ("edge-only", 1)
    assert (now.settings.prior.kind, now.settings.prior.size_penalty) == (PriorKind.GUIDED, 1.3)
    assert rail.epsilon.value == "0.37"
    assert 10**rail.log_epsilon.value == pytest.approx(0.37, rel=0.01)


def test_epsilon_beyond_the_slider_is_kept_exactly(explorer: Explorer) -> None:
    explorer.rail.epsilon.value = "123.25"
    assert explorer.desk.decisions.epsilon == 123.25
    assert explorer.rail.log_epsilon.value == explorer.rail.log_epsilon.end
    explorer.rail.rho.value = 0.31
    assert explorer.desk.decisions.epsilon == 123.25


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "much", ""])
def test_a_refused_text_stays_where_it_was_typed_with_the_reason(explorer: Explorer, text: str) -> None:
    answer = shown(explorer)
    explorer.rail.epsilon.value = text
    assert explorer.rail.epsilon.value == text
    assert explorer.rail.epsilon.error_state
    assert 'role="alert"' in explorer.rail._problem.object
    assert shown(explorer) == answer
    explorer.rail.epsilon.value = "2"
    assert not explorer.rail.epsilon.error_state
    assert explorer.rail._problem.object == ""


def test_the_rail_shows_the_prior_on_the_desk(karate: Dataset) -> None:
    explorer = Explorer(karate, prior="guided", size_penalty=7.5)
    assert (explorer.rail.prior.value, explorer.rail.size_penalty.value) == ("guided", 7.5)
    assert explorer.desk.choose(prior="uniform", size_penalty=0.2)
    assert (explorer.rail.prior.value, explorer.rail.size_penalty.value) == ("uniform", 0.2)
    explorer.rail.size_penalty.value = None
    assert 'role="alert"' in explorer.rail._problem.object
    assert explorer.rail.size_penalty.value == 0.2


def test_the_prior_moves_the_sentences_the_cards_and_the_figures(explorer: Explorer) -> None:
    assert explorer.desk.choose(target=9, rho=0.6, epsilon=2.0)
    seen = explorer.desk.inspection
    before = shown(explorer), explorer.release.rank._sources["flip"].data["prior"]
    assert "the public snapshot alone gives" in shown(explorer)
    assert edges_add(seen.metrics.valid, seen.public_only.valid, 2.0) in shown(explorer)
    explorer.rail.prior.value = "guided"
    now = explorer.desk.inspection
    assert now.public_only == seen.public_only and now.metrics.valid != seen.metrics.valid
    assert shown(explorer) != before[0]
    assert edges_add(now.metrics.valid, now.public_only.valid, 2.0) in shown(explorer)
    assert len(set(before[1])) == 1
    assert len(set(explorer.release.rank._sources["flip"].data["prior"])) > 1


def test_nothing_is_added_where_nothing_flips(explorer: Explorer) -> None:
    assert explorer.desk.choose(target=0, rho=0.6)
    assert explorer.desk.inspection.metrics.ceiling == 0
    assert '<p class="quiet" id="edges-add"></p>' in shown(explorer)


@pytest.mark.parametrize("kind", PriorKind)
def test_three_cards_stand_beside_the_public_alone_and_the_other_prior(explorer: Explorer, kind: PriorKind) -> None:
    assert explorer.desk.choose(target=9, rho=0.6, epsilon=3.0, prior=kind.value)
    seen = explorer.desk.inspection
    other = next(one for one in PriorKind if one is not kind)
    settings = replace(seen.settings, prior=replace(seen.settings.prior, kind=other))
    under = Study(explorer.desk.dataset, explorer.desk.study.backbone).inspect(9, 0.6, 3.0, settings).metrics
    cards = dict(zip(("", "valid", "size", "collision"), explorer.release.cards.object.split("<dl")[:4], strict=True))
    for key in ("valid", "size", "collision"):
        public = getattr(seen.public_only, key)
        assert f'<div class="beside" data-value="{public!r}"><dt>public-only</dt>' in cards[key]
        assert f'<div class="beside" data-value="{getattr(under, key)!r}"><dt>{other}</dt>' in cards[key]
    assert explorer.release.cards.object.count('class="beside"') == 6


def test_the_prior_alone_is_not_called_free_of_epsilon() -> None:
    assert "prior alone" in legend.kinds()
    assert "ε" not in legend.kinds()


def test_the_ego_graph_stands_still_when_the_prior_changes(explorer: Explorer) -> None:
    layout = explorer.release._layout
    explorer.rail.prior.value = "guided"
    explorer.rail.size_penalty.value = 2.0
    assert explorer.release._layout is layout


def test_every_view_that_reads_private_edges_bears_the_badge(explorer: Explorer) -> None:
    for view in (explorer.release, explorer.prices, explorer.placement):
        badges = view.__panel__().select(lambda part: "owner-only" in part.css_classes)
        assert badges and "Owner only" in badges[0].object


def test_cards_carry_exact_values(explorer: Explorer) -> None:
    metrics = explorer.desk.inspection.metrics
    assert f'id="card-valid" tabindex="0" data-value="{metrics.valid!r}"' in explorer.release.cards.object
    assert f'id="card-collision" tabindex="0" data-value="{metrics.collision!r}"' in explorer.release.cards.object


def test_price_list_matches_the_core_and_a_cell_sets_epsilon_and_rho(explorer: Explorer) -> None:
    view = explorer.prices
    view.population.value = Population.RANDOM.value
    view.seeds.value = 2
    view.runner.start()
    view.runner.job.wait()
    assert view.runner.job.state == "done", view.runner.job.message
    study = explorer.desk.study
    direct = price_list(
        study,
        population(study, Population.RANDOM),
        RHO_STOPS,
        EPSILON_STOPS,
        (0, 1),
        population="random",
        priors=list(PriorKind),
    )
    pd.testing.assert_frame_equal(view._prices, direct)
    assert list(view.table.value["ε = 4"])[5] == next(
        f"{row.valid:.4f} ± {row.valid_std:.3f}"
        for row in direct.itertuples()
        if (row.rho, row.epsilon, row.prior) == (0.7, 4.0, "guided")
    )
    now = explorer.desk.decisions
    for row, column, chosen in (
        (5, "ε = 4", (0.7, 4.0, "guided")),
        (0, "ceiling", (0.3, 4.0, "uniform")),
        (3, "public-only", (0.5, 4.0, "guided")),
    ):
        view._clicked(type("Event", (), {"row": row, "column": column}))
        assert (now.rho, now.epsilon, now.settings.prior.kind.value) == chosen


def test_the_loss_chain_never_rises_and_ends_at_the_sampled_rate(explorer: Explorer) -> None:
    assert explorer.desk.choose(epsilon=2.0, rho=0.3)
    view = explorer.prices.chain
    explorer.prices.seeds.value = 1
    view.runner.start()
    view.runner.job.wait()
    assert view.runner.job.state == "done", view.runner.job.message
    drawn = view.figure._source.data
    assert drawn["stage"][2:] == ["public support, ρ = 0.3", "sampled at ε = 2"]
    assert drawn["rate"] == sorted(drawn["rate"], reverse=True)
    assert sum(drawn["lost"]) == pytest.approx(drawn["rate"][0] - drawn["rate"][-1])
    study = explorer.desk.study
    rows = population(study, Population.RANDOM)
    assert drawn["rate"][-1] == pytest.approx(np.mean([study.inspect(v, 0.3, 2.0).metrics.valid for v in rows]))
    assert f"{drawn['rate'][-1]:.4f}" in view._table.object


def test_a_cancelled_price_list_keeps_what_was_shown(explorer: Explorer) -> None:
    view = explorer.prices
    view.runner.job.cancel()
    view.seeds.value = 1
    view.runner.start()
    view.runner.job.wait()
    first = view._prices
    view.seeds.value = 20
    view.runner.start()
    view.runner.job.cancel()
    view.runner.job.wait()
    assert view.runner.job.state == "cancelled"
    assert view._prices is first


def test_placement_compares_every_mechanism_at_the_present_epsilon(explorer: Explorer) -> None:
    assert explorer.desk.choose(target=3, epsilon=6.0, rho=0.7)
    view = explorer.placement
    view.draws.value = 2
    view.runner.start()
    view.runner.job.wait()
    assert view.runner.job.state == "done", view.runner.job.message
    run = view._run
    assert set(run.placements) == set(GraphMechanism)
    assert {placement.epsilon for placement in run.placements.values()} == {6.0}
    rows = population(explorer.desk.study, Population.RANDOM)
    placement = run.any
    assert placement.targets[run.target_place] == 3
    cells = [cell for cell in placement.cells if cell.target in rows]
    rates = run.population_rates(placement.release.kind)
    assert rates.cells == len(rows) * 2
    assert rates.polluted == pytest.approx(np.mean([cell.polluted for cell in cells]))
    for bar in run.bars():
        assert bar.valid + bar.spurious_polluted + bar.spurious_clean <= 1 + 1e-9
        assert bar.spurious_polluted <= bar.polluted + 1e-9
    assert explorer.desk.choose(epsilon=1.0)
    assert "Compare again" in view.runner._line.object


def test_dark_theme_reaches_the_figures(explorer: Explorer) -> None:
    explorer.dark = True
    assert explorer.release.ego._palette.dark
    assert (
        explorer.release.rank._glyphs["flip"].glyph.line_color
        != Explorer(explorer.desk.dataset).release.rank._glyphs["flip"].glyph.line_color
    )


def test_the_same_object_is_a_page_when_served(karate: Dataset) -> None:
    page = build_page(karate, target="5", epsilon=2.0)
    assert "ε = 2" in page.main[0][0][1].object
    page.dark_theme = True
    assert page.dark_theme


def test_bad_decisions_given_by_name_are_refused(karate: Dataset) -> None:
    with pytest.raises(BadInput, match="epsilon"):
        Explorer(karate, epsilon=0)
    with pytest.raises(BadInput, match="target"):
        Explorer(karate, target="nobody")


def test_opening_the_price_list_computes_it_once(explorer: Explorer) -> None:
    view = explorer.prices
    explorer.tabs.active = 1
    view.runner.job.wait()
    first = view._prices
    assert first is not None and len(first) == len(RHO_STOPS) * len(EPSILON_STOPS) * len(PriorKind)
    explorer.tabs.active = 0
    explorer.tabs.active = 1
    view.runner.job.wait()
    assert view._prices is first


def test_a_price_list_says_when_the_settings_have_moved_on(explorer: Explorer) -> None:
    view = explorer.prices
    view.runner.start()
    view.runner.job.wait()
    assert "have changed" not in view.runner._line.object
    explorer.rail.epsilon.value = "3"
    explorer.rail.prior.value = "guided"
    assert "have changed" not in view.runner._line.object
    explorer.rail.size_penalty.value = 0.5
    assert "have changed" in view.runner._line.object
    explorer.rail.size_penalty.value = 0.0
    explorer.rail.arm.value = "edge-only"
    assert "For the full arm" in view.runner._line.object and "have changed" in view.runner._line.object
    explorer.rail.arm.value = "full"
    assert "have changed" not in view.runner._line.object


class Steps:
    """A price list that waits before each ρ, so that a test can look at what is shown between."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.gates = threading.Semaphore(0), threading.Semaphore(0)
        monkeypatch.setattr(pricelist, "price_list", self)

    def __call__(self, *args, **options) -> pd.DataFrame:
        self.reached.release()
        assert self.gates.acquire(timeout=60)
        return price_list(*args, **options)

    def wait(self) -> None:
        """Until the next ρ is about to be priced."""
        assert self.reached.acquire(timeout=60)


def test_a_first_price_list_shows_each_rho_as_it_comes(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    view, steps = explorer.prices, Steps(monkeypatch)
    view.seeds.value = 1
    explorer.tabs.active = 1
    steps.wait()
    assert view._results.visible and (view.table.value.iloc[:, 2:] == "…").all(axis=None)
    steps.gates.release()
    steps.wait()
    waiting = (view.table.value.iloc[:, 2:] == "…").all(axis=1)
    assert list(waiting) == [False] * 2 + [True] * 6
    assert "For the full arm" not in view.runner._line.object
    assert view.runner.job.total == len(RHO_STOPS) * len(population(explorer.desk.study, Population.RANDOM))
    view.runner.job.cancel()
    steps.gates.release(9)
    view.runner.job.wait()
    assert view.runner.job.state == "cancelled"
    assert "Priced so far: ρ = 0.3." in view.runner._line.object
    assert list((view.table.value.iloc[:, 2:] == "…").all(axis=1)) == list(waiting)


def test_a_first_price_list_cancelled_at_once_leaves_the_empty_view(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, steps = explorer.prices, Steps(monkeypatch)
    view.runner.start()
    steps.wait()
    view.runner.job.cancel()
    steps.gates.release(9)
    view.runner.job.wait()
    assert (view._empty.visible, view._results.visible, view._prices) == (True, False, None)
    assert "Cancelled." in view.runner._line.object and "unchanged" not in view.runner._line.object


def test_a_later_price_list_replaces_the_first_when_complete(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = explorer.prices
    view.seeds.value = 1
    view.runner.start()
    view.runner.job.wait()
    first, steps = view._prices, Steps(monkeypatch)
    assert explorer.desk.choose(size_penalty=2.0)
    view.runner.start()
    steps.wait()
    steps.gates.release()
    steps.wait()
    assert view._prices is first
    steps.gates.release(9)
    view.runner.job.wait()
    assert view._prices is not first and len(view._prices) == len(first)
    assert "size penalty 2" in view.runner._line.object


def test_prices_of_a_data_set_that_has_left_are_not_shown(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRIVCFS_CACHE", str(tmp_path))
    other = replace(explorer.desk.dataset, name="twin", graph=explorer.desk.dataset.graph.toggled(0, 33))
    view, steps = explorer.prices, Steps(monkeypatch)
    view.runner.start()
    steps.wait()
    late, prices = view._priced, view._prices
    explorer.desk.replace_study(shared_study(other))
    assert view._empty.visible and not view._results.visible
    view._show(late, prices)
    assert view._empty.visible and not view._results.visible
    steps.gates.release(9)
    view.runner.job.wait()
    assert view.runner.job.state == "cancelled"
    assert view._empty.visible and not view._results.visible
    assert "unchanged" not in view.runner._line.object
