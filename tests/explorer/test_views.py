"""The whole explorer without a browser: controls and state stay in step, long work arrives."""

from __future__ import annotations

import numpy as np
import pytest

from core.datasets import Dataset
from core.errors import BadInput
from core.placement.mechanisms import GraphMechanism
from core.study.populations import Population, population
from core.study.pricelist import price_list
from explorer.app import Explorer, build_page
from explorer.state import EPSILON_STOPS, RHO_STOPS


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
    rail.limits["max_edges"].value = 1
    rail.rho.value = 0.7
    rail.target.value = explorer.desk.dataset.nodes.ids[5]
    rail.seed.value = 2
    now = explorer.desk.decisions
    assert (now.epsilon, now.rho, now.target, now.seed) == (0.37, 0.7, 5, 2)
    assert (now.settings.arm.value, now.settings.limits.max_edges) == ("edge-only", 1)
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
        study, population(study, Population.RANDOM), RHO_STOPS, EPSILON_STOPS, (0, 1), population="random"
    )
    np.testing.assert_allclose(view._prices["valid"], direct["valid"])
    view._clicked(type("Event", (), {"row": 2, "column": "ε = 4"}))
    assert (explorer.desk.decisions.rho, explorer.desk.decisions.epsilon) == (0.7, 4.0)
    view._clicked(type("Event", (), {"row": 0, "column": "ceiling"}))
    assert (explorer.desk.decisions.rho, explorer.desk.decisions.epsilon) == (0.3, 4.0)


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
    assert first is not None and len(first) == len(RHO_STOPS) * len(EPSILON_STOPS)
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
    assert "have changed" not in view.runner._line.object
    explorer.rail.arm.value = "edge-only"
    assert "For the full arm" in view.runner._line.object and "have changed" in view.runner._line.object
    explorer.rail.arm.value = "full"
    assert "have changed" not in view.runner._line.object
