"""The diagnosis against dense forwards of every candidate on both graphs, and on releases that are known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.backbone.train import Backbone
from core.datasets.dataset import Dataset, Split
from core.errors import BadInput, Cancelled
from core.graph import PrivateGraph
from core.placement.diagnosis import diagnose, noised
from core.placement.mechanisms import Gaussian, GraphMechanism, Laplace, RandomizedResponse
from core.placement.result import Cell, Operations, rates
from core.study.populations import Population, population
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from tests.core.smallgraphs import Case, brute_force_logits, dense_logits, make_case

LIMITS = Limits(k_edges=4, k_features=3, max_edges=2, max_features=2)
SETTINGS = Settings(limits=LIMITS)
TARGETS = [0, 3, 7]


class Fixed:
    """A "release" that puts out what it was given: no privacy, known noise."""

    kind = GraphMechanism.RR

    def __init__(self, edges: np.ndarray | None = None):
        self.edges = edges

    def release(self, graph: PrivateGraph, epsilon: float, rng: np.random.Generator) -> PrivateGraph:
        return graph if self.edges is None else graph.with_edges(self.edges)

    def parameters(self, epsilon: float) -> dict:
        return {"delta": 0.0, "certified": False}


def make_study(case: Case, test: tuple[int, ...] = (4, 5, 6, 7, 8)) -> Study:
    labels = np.random.default_rng(0).integers(3, size=case.graph.n)
    split = Split(np.array([0, 1]), np.array([2, 3]), np.array(test, dtype=np.int64))
    dataset = Dataset("small", "Small", case.graph, labels, split, "made here", snapshot=case.snapshot)
    return Study(dataset, Backbone(case.weights, float("nan"), float("nan")))


def hand_utility(universe, i: int, j: int, graph: PrivateGraph) -> Fraction:
    pairs, dims = universe.members(i, j)
    real = sum(tuple(pair) in set(map(tuple, graph.edges.tolist())) for pair in pairs.tolist())
    size = Fraction(len(pairs) + len(dims), universe.limits.k_max)
    return Fraction(7, 10) + Fraction(2, 10) * (1 - size) + Fraction(1, 10) * Fraction(real, max(len(pairs), 1))


@pytest.mark.parametrize("operations", list(Operations))
@pytest.mark.parametrize("release", [Gaussian(), Laplace(), RandomizedResponse()], ids=lambda r: r.kind.value)
@pytest.mark.parametrize("seed", range(3))
def test_every_cell_agrees_with_brute_force_on_both_graphs(release, operations, seed):
    case = make_case(seed)
    study, epsilon, rho = make_study(case), 2.0, 0.7
    placement = diagnose(
        study, TARGETS, epsilon, release, draws=2, seed=5, operations=operations, rho=rho, settings=SETTINGS
    )
    for draw in range(2):
        graph, own = noised(case.graph, release, epsilon, 5, draw)
        snapshot = own if operations is Operations.NOISED else case.snapshot.prefix(rho)
        noisy = Case(graph, snapshot, case.weights)
        for place, target in enumerate(TARGETS):
            cell = placement.cell(place, draw)
            universe = build_universe(graph.nodes, snapshot, case.weights, target, LIMITS)
            x = graph.nodes.x.toarray()
            before = int(dense_logits(x, graph.edges, case.weights)[target].argmax())
            truth = int(dense_logits(x, case.graph.edges, case.weights)[target].argmax())
            flips = brute_force_logits(noisy, universe).argmax(axis=2) != before
            assert (cell.target, cell.draw, cell.noised_prediction, cell.prediction) == (target, draw, before, truth)
            assert cell.noised_degree == (graph.edges == target).sum()
            assert cell.polluted == (before != truth)
            assert cell.found == flips.any()
            if not cell.found:
                assert not cell.spurious and not cell.valid and cell.after is None
                continue
            worth = {place: hand_utility(universe, *place, graph) for place in zip(*np.nonzero(flips), strict=True)}
            best = next(place for place in sorted(worth) if worth[place] == max(worth.values()))
            pairs, dims = universe.members(*best)
            assert cell.intervention.edges.tolist() == pairs.tolist()
            assert cell.intervention.features.tolist() == dims.tolist()
            assert cell.intervention.utility == pytest.approx(float(worth[best]))
            after = brute_force_logits(Case(case.graph, snapshot, case.weights), universe)[best].argmax()
            assert cell.after == after
            assert cell.valid == (after != truth)
            assert cell.spurious == (after == truth)


def test_some_cells_are_of_every_kind():
    """Or the test above would prove little."""
    cells = [
        cell
        for seed in range(3)
        for cell in diagnose(make_study(make_case(seed)), TARGETS, 2.0, Laplace(), draws=2, seed=5, rho=0.7,
                             settings=SETTINGS).cells
    ]  # fmt: skip
    for name in ("polluted", "found", "valid", "spurious"):
        assert {getattr(cell, name) for cell in cells} == {True, False}, name
    assert {cell.polluted for cell in cells if cell.spurious} == {True, False}


@pytest.mark.parametrize("operations", list(Operations))
def test_without_noise_nothing_is_polluted_or_spurious(operations):
    case = make_case(1)
    placement = diagnose(make_study(case), range(9), 1.0, Fixed(), draws=2, operations=operations, settings=SETTINGS)
    found = placement.rates
    assert (found.polluted, found.spurious, found.spurious_polluted) == (0.0, 0.0, None)
    assert found.valid == found.found > 0
    assert (placement.kept, placement.false_edges) == (1.0, 0.0)
    assert placement.accuracy == placement.clean_accuracy
    if operations is Operations.PUBLIC:
        assert found.found == placement.explanation_ceiling


def test_an_empty_release_leaves_nothing_to_delete():
    case = make_case(2)
    study = make_study(case)
    edge_only = Settings(limits=LIMITS, arm=Arm.EDGE_ONLY)
    placement = diagnose(study, range(9), 1.0, Fixed(np.empty((0, 2), dtype=np.int64)), draws=1, settings=edge_only)
    alone = dense_logits(case.graph.nodes.x.toarray(), np.empty((0, 2), dtype=int), case.weights).argmax(axis=1)
    truth = study.scorer.clean.argmax(axis=1)
    assert placement.rates.polluted == (alone != truth).mean() > 0
    assert placement.rates.found == 0
    assert (placement.kept, placement.false_edges) == (0.0, 0.0)
    test = study.dataset.split.test
    assert placement.accuracy == (alone[test] == study.dataset.labels[test]).mean()


def test_kept_and_false_edges_are_counted_against_the_private_graph():
    case = make_case(3)
    other = make_case(4).graph.edges
    placement = diagnose(make_study(case), [0], 1.0, Fixed(other), draws=1, settings=SETTINGS)
    mine, theirs = ({tuple(edge) for edge in edges.tolist()} for edges in (case.graph.edges, other))
    assert placement.kept == pytest.approx(len(mine & theirs) / len(mine))
    assert placement.false_edges == len(theirs - mine)


def test_explanation_level_is_the_exponential_mechanism_on_the_private_graph():
    case, epsilon, rho = make_case(5), 3.0, 0.6
    placement = diagnose(make_study(case), TARGETS, epsilon, draws=1, rho=rho, settings=SETTINGS)
    for target, row in zip(TARGETS, placement.explained, strict=True):
        universe = build_universe(case.graph.nodes, case.snapshot.prefix(rho), case.weights, target, LIMITS)
        predicted = brute_force_logits(case, universe).argmax(axis=2)
        weight, good = 0.0, 0.0
        for i, j in np.ndindex(universe.shape):
            flips = predicted[i, j] != predicted[0, 0]
            utility = 0.2 if (i, j) == (0, 0) else float(hand_utility(universe, i, j, case.graph)) if flips else 0.0
            mass = np.exp(epsilon * utility / (2 * 0.95))  # one existing edge of k_max = 4: 0.7 + 0.2 * 3/4 + 0.1
            weight, good = weight + mass, good + mass * flips
        assert row.valid == pytest.approx(good / weight, rel=1e-12)
        assert row.ceiling == float((predicted != predicted[0, 0]).any())
        assert (row.polluted, row.spurious) == (0.0, 0.0)
    assert placement.explanation_valid == pytest.approx(np.mean([row.valid for row in placement.explained]))


def make_cell(target: int, draw: int, noised_prediction: int, after: int | None) -> Cell:
    intervention = None if after is None else object()
    return Cell(target, draw, 0, noised_prediction, 2, intervention, after)  # type: ignore[arg-type]


def test_rates_are_shares_of_all_cells():
    cells = [
        make_cell(0, 0, 0, None),  # clean, nothing found
        make_cell(1, 0, 1, None),  # polluted, nothing found
        make_cell(2, 0, 1, 0),  # polluted and spurious
        make_cell(0, 1, 0, 0),  # spurious alone
        make_cell(1, 1, 2, 0),  # polluted and spurious
        make_cell(2, 1, 0, 1),  # valid
        make_cell(0, 2, 1, 2),  # polluted, yet valid
        make_cell(1, 2, 0, 2),  # valid
    ]
    found = rates(cells)
    assert found.cells == 8
    assert found.polluted == 4 / 8
    assert found.found == 6 / 8
    assert found.valid == 3 / 8
    assert found.spurious == 3 / 8
    assert found.spurious_polluted == pytest.approx(2 / 3)
    with pytest.raises(BadInput, match="no target"):
        rates([])


def test_rates_of_one_target_are_those_of_its_cells():
    placement = diagnose(make_study(make_case(1)), TARGETS, 1.0, Laplace(), draws=3, settings=SETTINGS)
    for place, target in enumerate(TARGETS):
        own = [cell for cell in placement.cells if cell.target == target]
        assert [cell.draw for cell in own] == [0, 1, 2]
        assert placement.rates_at(place) == rates(own)
        assert placement.cell(place, 2) is own[2]


def test_the_seed_alone_decides_the_diagnosis():
    study = make_study(make_case(1))
    first, again, other = (
        diagnose(study, TARGETS, 1.0, Laplace(), draws=3, seed=seed, settings=SETTINGS) for seed in (1, 1, 2)
    )
    assert first.to_json() == again.to_json()
    assert first.draws != other.draws
    assert len(set(first.draws)) > 1


def test_a_noised_graph_is_disclosed_in_a_seeded_order_of_its_edges():
    case = make_case(1)
    orders = []
    for draw in (0, 0, 1):
        graph, own = noised(case.graph, Fixed(), 1.0, 7, draw)
        assert not own.simulated
        assert sorted(own.pairs.tolist()) == graph.edges.tolist()
        assert own.pairs.tolist() != graph.edges.tolist()
        orders.append(own.digest)
    assert orders[0] == orders[1] != orders[2]


def test_without_test_nodes_there_is_no_accuracy():
    placement = diagnose(make_study(make_case(1), test=()), [0], 1.0, Laplace(), draws=1, settings=SETTINGS)
    assert placement.accuracy is None
    assert placement.clean_accuracy is None


def test_a_graph_without_edges_is_diagnosed():
    case = make_case(1, density=0.0)
    assert case.graph.m == 0
    placement = diagnose(make_study(case), [0], 1.0, RandomizedResponse(), draws=2, settings=SETTINGS)
    assert placement.kept is None
    assert placement.false_edges > 0


def test_progress_counts_cells_and_a_cancelled_diagnosis_keeps_nothing():
    study, seen = make_study(make_case(1)), []
    diagnose(study, TARGETS, 1.0, draws=2, settings=SETTINGS, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 6) for done in range(7)]
    with pytest.raises(Cancelled):
        diagnose(study, TARGETS, 1.0, draws=2, settings=SETTINGS, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"targets": []}, "no target"),
        ({"targets": [9]}, "target row"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"draws": 0}, "noise draws"),
        ({"seed": -1}, "seed"),
        ({"rho": 1.5}, "rho"),
    ],
)
def test_bad_arguments_are_refused(change, match):
    arguments = {"targets": [0], "epsilon": 1.0, "draws": 1, "settings": SETTINGS, **change}
    with pytest.raises(BadInput, match=match):
        diagnose(make_study(make_case(1)), **arguments)


def test_an_unknown_universe_lists_the_known_ones():
    with pytest.raises(BadInput, match=r"'own'.*noised, public"):
        Operations.parse("own")


def test_on_cora_randomized_response_keeps_the_edges_and_still_pollutes_borderline_nodes(cora, cora_backbone):
    study = Study(cora, cora_backbone)
    polluted = {}
    for kind in (Population.RANDOM, Population.BORDERLINE):
        for release in (Gaussian(), RandomizedResponse()):
            targets = population(study, kind)
            placement = diagnose(study, targets, 8.0, release, draws=4, settings=Settings(arm=Arm.INERT_MASKS))
            polluted[kind, release.kind] = placement.rates.polluted
            assert (placement.kept > 0.999) == (release.kind is GraphMechanism.RR)
            assert placement.accuracy < placement.clean_accuracy
    assert polluted[Population.BORDERLINE, GraphMechanism.GAUSSIAN] > 0.5
    assert polluted[Population.BORDERLINE, GraphMechanism.RR] > 0.3
    assert polluted[Population.RANDOM, GraphMechanism.RR] < 0.25
