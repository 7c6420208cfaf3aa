from __future__ import annotations

import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from core.audit.canaries import without_edge
from core.audit.certified import audit
from core.audit.claims import Claim, Pair, Relation
from core.audit.exact import compare
from core.audit.frame import Frame, PrivCFSRelease, Released
from core.audit.identity import identity
from core.audit.wired import WIRED, Bits, graph_witnesses, intervention_witnesses, wired
from core.datasets import load
from core.errors import BadInput
from core.release.mechanism import Mechanism
from core.study.study import Study
from core.threads import single_threaded

TARGET = 9  # the member of smallest margin
WITH_DELTA = ("privcf-out", "privcf-sgd", "graph-gaussian", "labels", "embedding")


@pytest.fixture(scope="module", autouse=True)
def quick():
    """One thread: two of them wait for each other in draws of milliseconds."""
    with single_threaded(0):
        yield


@pytest.fixture(scope="module")
def frame():
    return Frame(Study(load("karate")), TARGET, 0.7)


@pytest.fixture(scope="module")
def graph():
    return load("karate").graph


@pytest.fixture(scope="module")
def telling(frame, graph):
    """The neighbour whose releases differ most at ε = 8, from the exact distributions."""
    release = wired("privcfs-em", frame, 8.0).release
    pairs = [(min(v, TARGET), max(v, TARGET)) for v in range(graph.n) if v != TARGET]
    own = release.distribution(graph)
    best = max(pairs, key=lambda pair: compare(own, release.distribution(graph.toggled(*pair))).ratio)
    return Pair("telling", graph, graph.toggled(*best), Relation.EDGE)


@pytest.mark.parametrize("name", WIRED)
def test_everything_that_releases_can_be_audited(name, frame, graph):
    mechanism = wired(name, frame, 1.0)
    pair = without_edge(graph, (TARGET, 2))
    results = audit(
        mechanism.release, pair, mechanism.claim, mechanism.witnesses(pair), select=4, evaluate=3, seed=0,
        confidence=0.9999,
    )  # fmt: skip
    assert len(results) == len(mechanism.witnesses(pair)) >= 5
    assert {result.verdict for result in results} == {"no violation found"}
    assert mechanism.kept is (name != "privcf-out")
    assert mechanism.claim.relation is Relation.EDGE
    assert (mechanism.claim.delta > 0) is (name in WITH_DELTA)


@pytest.mark.parametrize("name", ["privcfs-em", "privcfs-pf", "privcfs-guided"])
def test_draws_have_the_exact_distribution(name, frame, graph):
    """Chi-square on 400 draws of OpenDP: trips by chance in 1 of 10^6."""
    release = wired(name, frame, 4.0).release
    exact = release.distribution(graph)
    assert exact.mechanism is (Mechanism.PF if name == "privcfs-pf" else Mechanism.EM)
    assert exact.prior.constant is (name != "privcfs-guided")
    members = [exact.universe.members(i, j) for i, j in np.ndindex(exact.universe.shape)]
    names = [(frozenset(map(tuple, pairs.tolist())), frozenset(dims.tolist())) for pairs, dims in members]
    place = {name: k for k, name in enumerate(names)}
    drawn = [release(graph, None) for _ in range(400)]
    found = np.bincount([place[one.pairs, one.features] for one in drawn], minlength=len(names))
    expected = exact.probability.ravel() * 400
    often = expected >= 5
    seen, asked = np.append(found[often], found[~often].sum()), np.append(expected[often], expected[~often].sum())
    kept = asked > 1e-9
    assert chisquare(seen[kept], asked[kept] * seen.sum() / asked[kept].sum()).pvalue > 1e-6


def test_neighbours_share_everything_public(frame, telling):
    for name in ("privcfs-em", "privcfs-guided"):
        one, other = (wired(name, frame, 1.0).release.distribution(data) for data in (telling.one, telling.other))
        assert one.universe.digest == other.universe.digest == frame.universe.digest
        assert one.prior.mass.tobytes() == other.prior.mass.tobytes()


@pytest.mark.parametrize("name", ["privcfs-em", "privcfs-pf"])
def test_the_real_sampler_at_a_larger_budget_than_claimed_is_rejected(name, frame, telling):
    """Drawn at ε = 8 and claimed at a quarter of what the exact distributions show; then at ε itself."""
    release = wired(name, frame, 8.0).release
    assert isinstance(release, PrivCFSRelease)
    truth = np.log(compare(*(release.distribution(data) for data in (telling.one, telling.other))).ratio)
    assert 1.0 < truth <= 8.0
    witnesses = intervention_witnesses(frame.universe)
    asked = {"select": 150, "evaluate": 300, "seed": 0}
    caught = audit(release, telling, Claim(truth / 4, Relation.EDGE), witnesses, **asked)
    assert any(result.rejected for result in caught)
    assert all(result.epsilon_lb <= truth for result in caught)


def test_a_graph_level_release_at_twice_its_budget_is_rejected(frame, graph):
    pair = without_edge(graph, (TARGET, 2))
    mechanism = wired("graph-rr", frame, 2.0)
    witnesses = graph_witnesses(pair)
    results = audit(mechanism.release, pair, Claim(1.0, Relation.EDGE), witnesses, select=200, evaluate=600, seed=0)
    caught = {result.witness for result in results if result.rejected}
    assert "edge 2 - 9" in caught
    assert max(result.epsilon_lb for result in results) <= 2.0


def test_a_released_intervention_is_named_by_its_bits():
    bits = Bits(((0, 1), (0, 4)), (7, 9))
    assert bits(Released(frozenset(), frozenset())) == 0
    assert bits(Released(frozenset({(0, 4)}), frozenset({7, 9}))) == 2 + 4 + 8


def test_a_frame_is_public_and_can_be_sent(frame, graph):
    release = wired("privcf-out", frame, 1.0).release
    release(graph, np.random.default_rng(0))
    again = pickle.loads(pickle.dumps(release))
    assert identity(again) == identity(release)
    one, other = (part(graph, np.random.default_rng(3)) for part in (release, again))
    assert one == other
    other_target = Frame(Study(load("karate")), 8, 0.7)
    digests = {frame.digest, other_target.digest, replace_rho(frame).digest}
    assert len(digests) == 3


def replace_rho(frame):
    return Frame(frame.study(load("karate").graph), frame.target, 0.3, replace(frame.settings))


def test_graph_witnesses_look_at_what_differs(graph):
    pair = without_edge(graph, (TARGET, 2))
    by_name = {witness.name: witness.value for witness in graph_witnesses(pair)}
    assert by_name["edge 2 - 9"](nx.Graph([(9, 2)])) == 1
    assert by_name["degree of 9"](nx.Graph([(9, 2), (9, 3)])) == 2
    assert {"edge count", "triangles"} <= set(by_name)


def test_names_and_targets(frame):
    with pytest.raises(BadInput, match="release: found 'lap', expected one of: privcfs-em, privcfs-pf"):
        wired("lap", frame, 1.0)
    with pytest.raises(BadInput, match="target: found 34"):
        Frame(Study(load("karate")), 34, 0.5)
    with pytest.raises(BadInput, match="epsilon: found 0"):
        wired("privcfs-em", frame, 0)
