"""The Embeddings view: its table and curves are those of the experiment."""

from __future__ import annotations

import pytest

from core.datasets import Dataset, load
from core.embeddings.experiments import Method
from explorer.palette import palette
from explorer.state import Desk
from explorer.views import embeddings as module
from explorer.views.embeddings import EmbeddingsView


@pytest.fixture(scope="module")
def view() -> EmbeddingsView:
    shown = EmbeddingsView(Desk(load("karate")), palette(False))
    shown.nodes.value = 100
    shown.runner.start()
    shown.runner.job.wait()
    assert shown.runner.job.state == "done", shown.runner.job.message
    return shown


def test_every_class_and_method_has_its_curve_and_row(view: EmbeddingsView) -> None:
    for (kind, method), drawn in view.utility._sources.items():
        budgets = list(drawn.data["epsilon"])
        ends = [module.EPSILONS[0], module.EPSILONS[-1]]
        assert budgets == (ends if method is Method.NONE else list(module.EPSILONS))
        assert f"{kind}, {module.NAMES[method]}" in view._table.object
        for accuracy in drawn.data["accuracy"]:
            assert 0 <= accuracy <= 1 and f"{accuracy:.3f}" in view._table.object


def test_cycles_tell_the_classes_apart_and_trees_do_not(view: EmbeddingsView) -> None:
    best = {kind: view.utility._sources[kind, Method.NONE].data["accuracy"][0] for kind in module.KINDS}
    assert best["cycle"] > 0.9 and best["tree"] < 0.75


def test_the_noise_is_counted_against_what_it_hides(view: EmbeddingsView) -> None:
    for kind, drawn in view.noise._sources.items():
        above = sum(s > n for s, n in zip(drawn.data["signal"], drawn.data["noise"], strict=True))
        assert f"{above} of {len(drawn.data['signal'])} {kind} densities" in view._said.object


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan"])
def test_bad_input_is_said_and_shows_nothing(karate: Dataset, text: str) -> None:
    view = EmbeddingsView(Desk(karate), palette(False))
    view.epsilon.value = text
    view.runner.start()
    view.runner.job.wait()
    assert view.runner.job.state == "failed" and "epsilon" in view.runner._line.object
    assert not view._results.visible
