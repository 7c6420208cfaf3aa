"""Every baseline keeps to the one interface."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.backbone.module import freeze, measured_module
from core.baselines.method import Finding, Guarantee, Where
from core.baselines.suite import method, suite
from core.errors import BadInput, UnsupportedBackbone
from core.study.study import Study
from tests.core.baselines.small import SETTINGS, flips, make_study
from tests.core.foreign import PlainGCN

TARGETS = [0, 3, 7]
GRADIENTS = {"privcf-sgd", "privcf-out", "cf-gnnexplainer", "cf-gnnexplainer-universe", "unrestricted"}
CERTIFIED = {
    "privcfs": 0.0, "privcfs-guided": 0.0, "privcf-sgd": 1e-5, "rr-bits": 0.0, "graph-gaussian": 1e-5,
    "graph-laplace": 0.0, "graph-rr": 0.0, "public-only": 0.0, "random-candidate": 0.0,
}  # fmt: skip
EVERY = pytest.mark.parametrize("row", suite(), ids=lambda row: row.name)


@pytest.fixture(scope="module")
def study() -> Study:
    return make_study(1)


def findings(row, study, seed: int = 0, epsilon: float = 1.0) -> list[Finding]:
    explain = row.session(study, epsilon, 0.8, SETTINGS, np.random.default_rng(seed))
    return [explain(target) for target in TARGETS]


def test_names_are_unique_and_for_a_command_line():
    names = [row.name for row in suite()]
    assert len(set(names)) == len(names) == len({row.title for row in suite()}) == 15
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert method("privcf-sgd").title == "PrivCF-SGD"
    with pytest.raises(BadInput, match=r"'lime'.*privcfs, .*cf-gnnexplainer"):
        method("lime")


@EVERY
def test_the_guarantee_is_of_the_complete_release(row):
    stated = row.guarantee(8.0, SETTINGS)
    assert stated.certified == (row.name in CERTIFIED)
    assert stated.reason and "\n" not in stated.reason
    if stated.certified:
        assert stated.epsilon == (0.0 if row.name in ("public-only", "random-candidate") else 8.0)
        assert stated.delta == CERTIFIED[row.name]
    if row.where is Where.NONE and not stated.certified:
        assert stated.epsilon is None
    with pytest.raises(BadInput, match="epsilon"):
        row.guarantee(0.0, SETTINGS)


@EVERY
def test_a_finding_says_what_the_intervention_does_to_the_private_graph(row, study):
    clean = study.scorer.clean
    for finding, target in zip(findings(row, study), TARGETS, strict=True):
        assert finding.target == target
        assert finding.found == pytest.approx(finding.valid + finding.spurious)
        assert finding.targeted <= finding.valid
        assert finding.polluted == float(finding.seen != clean[target].argmax())
        if row.where is not Where.GRAPH:
            assert (finding.spurious, finding.polluted) == (0.0, 0.0)
        if finding.size is None:
            assert finding.found == finding.valid == 0
        elif len(finding.pairs) or len(finding.features):
            assert finding.size == len(finding.pairs) + len(finding.features)
            assert finding.valid == float(flips(study, target, finding.pairs, finding.features))
        assert finding.pairs.shape[1] == 2


@EVERY
def test_draws_differ_just_where_the_row_says_so(row, study):
    def key(seed: int) -> list:
        rows = findings(row, study, seed, epsilon=0.3)
        return [(f.seen, f.valid, f.size, f.pairs.tolist(), f.features.tolist()) for f in rows]

    draws = [key(seed) for seed in range(3 if row.random else 2)]
    assert draws[0] == key(0)
    assert (any(draw != draws[0] for draw in draws)) == row.random


@EVERY
def test_a_foreign_backbone_is_explained_or_refused_in_one_line(row, study):
    module = freeze(PlainGCN(study.backbone.weights), study.dataset.nodes)
    foreign = Study(study.dataset, measured_module(study.dataset, module))
    if row.name in GRADIENTS:
        with pytest.raises(UnsupportedBackbone, match=f"{row.name}: found backbone PlainGCN") as caught:
            findings(row, foreign)
        assert "\n" not in str(caught.value)
        return
    if row.name in ("privcfs-guided", "public-only"):  # a foreign module's public model is another one
        assert all(0 <= finding.valid <= 1 for finding in findings(row, foreign))
        return
    for mine, its in zip(findings(row, study), findings(row, foreign), strict=True):
        assert mine.valid == pytest.approx(its.valid, abs=1e-9)
        assert mine.pairs.tolist() == its.pairs.tolist()


@EVERY
@pytest.mark.parametrize(
    ("change", "match"), [({"epsilon": 0.0}, "epsilon"), ({"rho": 1.5}, "rho"), ({"target": 9}, "row")]
)
def test_bad_arguments_are_refused(row, study, change, match):
    given = {"epsilon": 1.0, "rho": 0.8, "target": 0, **change}
    with pytest.raises(BadInput, match=match):
        row.session(study, given["epsilon"], given["rho"], SETTINGS, np.random.default_rng(0))(given["target"])


def test_a_certificate_needs_numbers_and_a_rate_is_a_share():
    with pytest.raises(BadInput, match="guarantee"):
        Guarantee(True, None, 0.0, "because")
    with pytest.raises(BadInput, match="finding, valid"):
        Finding(0, np.empty((0, 2)), np.empty(0), 0, 1.5, 0.0, 0.0, 0.0, 0.0, None)
