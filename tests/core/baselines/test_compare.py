"""The comparison table against sums by hand, the placement diagnosis, and itself under another choice of methods."""

from __future__ import annotations

import numpy as np
import pytest

from core.baselines.compare import RATES, Comparison, compare, noise
from core.baselines.graph_level import GraphRR
from core.baselines.suite import method, suite
from core.datasets import load
from core.errors import BadInput, Cancelled
from core.study.study import Study

TARGETS = np.array([8, 13])


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(load("karate"))


# The slow ones have tests of their own.
METHODS = [some for some in suite() if some.name not in ("cf-gnnexplainer-universe", "privcf-out", "unrestricted")]


@pytest.fixture(scope="module")
def table(study: Study) -> Comparison:
    return compare(study, TARGETS, 2.0, METHODS, draws=2, seeds=(0, 1))


def test_every_cell_is_there_once(table: Comparison) -> None:
    for row in table.rows:
        draws = 2 if row.method.random else 1
        found = [(cell.seed, cell.draw, cell.finding.target) for cell in table.of(row.method.name)]
        assert found == [(s, d, t) for s in (0, 1) for d in range(draws) for t in TARGETS.tolist()]
        assert row.draws == draws and row.milliseconds > 0
    assert len(table.of("optimum", 8)) == 2


def test_rows_are_means_over_targets_and_draws_then_seeds(table: Comparison) -> None:
    for row in table.rows:
        for name in (*RATES, "size"):
            seeds = []
            for seed in (0, 1):
                values = [getattr(c.finding, name) for c in table.of(row.method.name) if c.seed == seed]
                values = [value for value in values if value is not None]
                if values:
                    seeds.append(sum(values) / len(values))
            if not seeds:
                assert getattr(row, name) is None
                continue
            assert getattr(row, name) == pytest.approx(sum(seeds) / len(seeds), abs=1e-12), (row.method.name, name)
            spread = abs(seeds[0] - seeds[1]) / 2**0.5 if len(seeds) == 2 else 0.0
            assert row.std[name] == pytest.approx(spread, abs=1e-12)


def test_spurious_is_what_is_found_and_not_valid(table: Comparison) -> None:
    for cell in table.cells:
        found = cell.finding
        assert found.spurious <= found.found
        if method(cell.method).where.value != "graph":
            assert found.polluted == found.spurious == 0
    for row in table.rows:
        assert row.found == pytest.approx(row.valid + row.spurious, abs=1e-9) or row.method.where.value != "graph"


def test_a_method_alone_gives_the_same_cells(study: Study, table: Comparison) -> None:
    alone = compare(study, TARGETS, 2.0, [GraphRR()], draws=2, seeds=(0, 1))
    for one, other in zip(alone.cells, table.of("graph-rr"), strict=True):
        assert (one.seed, one.draw) == (other.seed, other.draw)
        assert (one.finding.seen, one.finding.valid, one.finding.size) == (
            other.finding.seen, other.finding.valid, other.finding.size,
        )  # fmt: skip
        assert np.array_equal(one.finding.pairs, other.finding.pairs)


def test_a_cell_of_a_noised_graph_can_be_opened_again(study: Study, table: Comparison) -> None:
    for cell in table.of("graph-gaussian"):
        scorer, _ = method("graph-gaussian").noised(study, 2.0, noise(cell.method, cell.seed, cell.draw))
        assert int(scorer.clean[cell.finding.target].argmax()) == cell.finding.seen


def test_draws_and_methods_have_noise_of_their_own() -> None:
    first = {noise(name, seed, draw).integers(2**62) for name in "ab" for seed in (0, 1) for draw in (0, 1)}
    assert len(first) == 8


def test_json_has_the_keys_of_the_contract(table: Comparison) -> None:
    keys = {"method", "placement", "certified", "epsilon", "delta", "valid", "targeted", "size", "size_currency"}
    for row in table.rows:
        said = row.to_json()
        assert keys | {"spurious", "polluted"} <= said.keys()
        assert said["certified"] is row.guarantee.certified
        if said["certified"]:
            assert 0 <= said["epsilon"] <= 2.0 and 0 <= said["delta"] <= 1e-5
    certified = {row.method.name for row in table.rows if row.guarantee.certified}
    assert {"privcfs", "privcf-sgd", "rr-bits", "graph-gaussian", "graph-laplace", "graph-rr"} <= certified
    assert not {"optimum", "cf-gnnexplainer", "graph-gaussian-classical"} & certified


def test_progress_counts_up_and_work_can_be_stopped(study: Study) -> None:
    seen: list[tuple[int, int]] = []
    compare(study, TARGETS, 2.0, [GraphRR()], draws=2, seeds=(0,), progress=lambda *at: seen.append(at))
    assert seen == [(done, 4) for done in range(1, 5)]
    with pytest.raises(Cancelled):
        compare(study, TARGETS, 2.0, [GraphRR()], cancelled=lambda: True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"targets": []}, "nothing to do"),
        ({"targets": [99]}, "target row"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"methods": []}, "nothing to do"),
        ({"seeds": ()}, "nothing to do"),
        ({"draws": 0}, "noise draws"),
        ({"rho": 2.0}, "rho"),
    ],
)
def test_bad_input_is_refused(study: Study, change: dict, said: str) -> None:
    given = {"targets": TARGETS, "epsilon": 2.0, "methods": [GraphRR()]} | change
    with pytest.raises(BadInput, match=said):
        compare(study, **given)


def test_what_cannot_run_is_left_out_with_its_reason() -> None:
    large = Study(load("synthetic:nodes=12000,classes=3,degree=2,features=20,seed=0"))
    found = compare(large, [0], 0.5, [GraphRR(), method("public-only")], draws=1, seeds=(0,))
    assert [row.method.name for row in found.rows] == ["public-only"]
    assert "raise epsilon" in found.left_out["graph-rr"]
    with pytest.raises(BadInput, match=r"no method that can run here: .*raise epsilon"):
        compare(large, [0], 0.5, [GraphRR()])
