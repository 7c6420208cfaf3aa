"""Graph-level rows: the cells of the placement diagnosis, and what each calibration proves."""

from __future__ import annotations

import numpy as np
import pytest

from core.baselines.graph_level import GraphGaussian, GraphGaussianClassical, GraphLaplace, GraphLevel, GraphRR
from core.placement.diagnosis import diagnose
from core.placement.mechanisms import Gaussian, Laplace
from core.placement.result import Operations
from tests.core.baselines.small import SETTINGS, make_study
from tests.core.placement.test_calibration import hockey_stick

ROWS = [GraphGaussian(), GraphGaussianClassical(), GraphLaplace(), GraphRR()]


@pytest.mark.parametrize("operations", list(Operations))
@pytest.mark.parametrize("method", ROWS, ids=lambda method: method.name)
def test_findings_are_the_cells_of_the_diagnosis(method, operations):
    study = make_study(1)
    placement = diagnose(
        study, range(9), 2.0, method.release, draws=2, seed=5, operations=operations, rho=0.7, settings=SETTINGS
    )
    variant = type(method)(operations=operations)
    for draw in range(2):
        explain = variant.session(study, 2.0, 0.7, SETTINGS, np.random.default_rng([5, draw]))
        for target in range(9):
            cell, finding = placement.cell(target, draw), explain(target)
            for name in ("found", "valid", "spurious", "polluted"):
                assert getattr(finding, name) == float(getattr(cell, name)), name
            assert finding.seen == cell.noised_prediction
            if not cell.found:
                assert finding.size is None
                continue
            assert finding.pairs.tolist() == cell.intervention.edges.tolist()
            assert finding.features.tolist() == cell.intervention.features.tolist()
            assert finding.size == len(finding.pairs) + len(finding.features) > 0
            second = int(np.argsort(study.scorer.clean[target])[-2])
            assert finding.targeted == float(cell.valid and cell.after == second)


def test_one_session_is_one_noised_graph():
    explain = GraphLaplace().session(make_study(1), 0.5, 0.7, SETTINGS, np.random.default_rng(0))
    first, again = explain(4), explain(4)
    assert (first.seen, first.pairs.tolist()) == (again.seen, again.pairs.tolist())


def test_what_each_row_proves():
    for method, delta in ((GraphGaussian(), 1e-5), (GraphLaplace(), 0.0), (GraphRR(), 0.0)):
        stated = method.guarantee(8.0, SETTINGS)
        assert (stated.certified, stated.epsilon, stated.delta) == (True, 8.0, delta)
    public = GraphLevel(Laplace(), Operations.PUBLIC).guarantee(8.0, SETTINGS)
    assert "snapshot is public" in public.reason


def test_the_classical_rule_is_certified_up_to_a_share_of_1():
    method = GraphGaussianClassical()
    assert method.guarantee(1.0, SETTINGS).certified
    assert method.guarantee(1 / 0.9, SETTINGS).certified
    stated = method.guarantee(8.0, SETTINGS)
    assert not stated.certified
    release = method.release
    assert isinstance(release, Gaussian)
    rest = stated.epsilon - 0.1 * 8.0
    assert float(hockey_stick(release.sigma(8.0), rest, 2**0.5)) == pytest.approx(1e-5, rel=1e-6)
    assert "no proof above 1" in stated.reason
