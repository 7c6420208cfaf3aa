from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

from core.audit.canaries import without_edge
from core.audit.certified import audit
from core.audit.claims import Claim, Pair, Relation
from core.audit.frame import NoisedGraph
from core.audit.identity import digest, identity
from core.audit.sampling import BATCH, Role, Sampling, Witness
from core.audit.statistics import edge_count, triangles
from core.audit.witnesses import Coordinate, vector_witnesses
from core.audit.zoo.counts import ELEVEN, NUMBER, GeometricCount, LaplaceCount
from core.audit.zoo.degrees import EdgeResponse
from core.errors import BadInput, Cancelled, PrivCFSError
from core.placement.mechanisms import RandomizedResponse
from tests.core.smallgraphs import make_case

GRAPH = make_case(1).graph
GRAPHS = Pair("pair", GRAPH, GRAPH.toggled(0, 1), Relation.EDGE)
FLIPPED = NoisedGraph(RandomizedResponse(), 1.0)
WITNESSES = (Witness("edges", edge_count), Witness("triangles", triangles))


def taken(release=FLIPPED, pair=GRAPHS, witnesses=WITNESSES, seed=0, role=Role.EVALUATION, start=0, stop=40, **options):
    with Sampling(release, [pair], witnesses, seed, **options) as sampling:
        return sampling.take(role, start, stop)[0]


def same(one, other):
    return np.array_equal(one.one, other.one) and np.array_equal(one.other, other.other)


def test_every_draw_has_a_seed_of_its_own():
    whole = taken()
    assert same(whole, taken())
    assert np.array_equal(taken(start=7, stop=23).one, whole.one[7:23])
    for other in (taken(seed=1), taken(role=Role.SELECTION), taken(pair=Pair("q", GRAPH, GRAPHS.other, Relation.EDGE))):
        assert not np.array_equal(other.one, whole.one)


def test_a_release_of_many_draws_them_in_batches_that_dont_depend_on_how_many_are_asked_for():
    whole = taken(LaplaceCount(1.0), ELEVEN, NUMBER, stop=3 * BATCH)
    part = taken(LaplaceCount(1.0), ELEVEN, NUMBER, start=BATCH - 3, stop=2 * BATCH + 1)
    assert np.array_equal(part.one, whole.one[BATCH - 3 : 2 * BATCH + 1])
    assert len(np.unique(whole.one)) == 3 * BATCH


def test_processes_draw_what_one_process_draws():
    """Both kinds of release; and a release that can't be sent is refused before anything is drawn."""
    ring, path = nx.cycle_graph(4), nx.path_graph(4)
    pairs = [without_edge(ring, (0, 1)), without_edge(path, (0, 1), "path")]
    for release in (EdgeResponse(1.0), EdgeResponse(1.0).__call__):
        with Sampling(release, pairs, vector_witnesses(6), 5, workers=2) as two:
            theirs = {role: two.take(role, 0, 600) for role in Role}
        with Sampling(release, pairs, vector_witnesses(6), 5) as one:
            ours = {role: one.take(role, 0, 600) for role in Role}
        assert all(same(theirs[role][pair], ours[role][pair]) for role in Role for pair in (0, 1))
    with pytest.raises(BadInput, match="can't be sent to another process"):
        taken(lambda data, rng: rng.random(), workers=2)


@pytest.mark.parametrize("release", [LaplaceCount(1.0), GeometricCount(0.5)])
def test_many_draws_have_the_distribution_of_single_ones(release):
    """Two-sample Kolmogorov-Smirnov on 2,000 draws a side: trips by chance in 1 of 10^6."""
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(0)
    single = [float(release(ELEVEN.one, rng)[0]) for _ in range(2_000)]
    assert ks_2samp(single, release.release_many(ELEVEN.one, 2_000, rng).ravel()).pvalue > 1e-6


@dataclass(frozen=True)
class Counted:
    """Draws that are counted, to see which were taken from the store."""

    calls: list

    @property
    def digest(self):
        return "counted"

    def __call__(self, data, rng):
        self.calls.append(1)
        return rng.random() + sum(data)


def test_what_is_kept_is_not_drawn_again(tmp_path):
    store = tmp_path / "draws"
    first, again, further, other = Counted([]), Counted([]), Counted([]), Counted([])
    one = taken(first, ELEVEN, NUMBER, stop=30, store=store)
    assert same(one, taken(again, ELEVEN, NUMBER, stop=30, store=store))
    assert (len(first.calls), len(again.calls)) == (60, 0)
    longer = taken(further, ELEVEN, NUMBER, start=20, stop=45, store=store)
    assert len(further.calls) == 30
    assert np.array_equal(longer.one[:10], one.one[20:])
    taken(other, ELEVEN, NUMBER, seed=1, stop=30, store=store)
    taken(other, ELEVEN, NUMBER, role=Role.SELECTION, stop=30, store=store)
    taken(other, ELEVEN, vector_witnesses(2), stop=30, store=store)
    assert len(other.calls) == 180


def test_batches_are_kept_too(tmp_path):
    store = tmp_path / "draws"
    one = taken(LaplaceCount(1.0), ELEVEN, NUMBER, stop=700, store=store)
    assert same(one, taken(LaplaceCount(1.0), ELEVEN, NUMBER, stop=700, store=store))
    other = taken(LaplaceCount(2.0), ELEVEN, NUMBER, stop=700, store=store)
    assert not np.array_equal(one.one, other.one)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    store = tmp_path / "draws"
    calls = []

    def stop():
        return len(calls) >= 25

    with Sampling(Counted(calls), [ELEVEN], NUMBER, 0, store=store) as sampling, pytest.raises(Cancelled):
        sampling.take(Role.EVALUATION, 0, 5_000, cancelled=stop)
    drawn = len(calls)
    assert 25 <= drawn < 10_000
    with Sampling(Counted(calls), [ELEVEN], NUMBER, 0, store=store) as sampling:
        found = sampling.take(Role.EVALUATION, 0, 5_000)[0]
    assert len(calls) == 10_000
    assert same(found, taken(Counted([]), ELEVEN, NUMBER, stop=5_000))


DYING = """
import os, pathlib, signal
CALLS = []
def release(data, rng):
    CALLS.append(1)
    if pathlib.Path("die").exists() and len(CALLS) == 4_000:
        os.kill(os.getpid(), signal.SIGKILL)
    return sum(data) + rng.laplace()
"""
RUN = """
import pathlib, dying
from core.audit.certified import audit
from core.audit.claims import Claim
from core.audit.zoo.counts import ELEVEN, NUMBER
kept = pathlib.Path("kept")
audit(dying.release, ELEVEN, Claim(0.5, "record"), NUMBER, select=500, evaluate=3_000, seed=4, store=kept)
"""


def test_a_killed_run_that_goes_on_gives_the_table_of_an_uninterrupted_one(tmp_path, monkeypatch):
    (tmp_path / "dying.py").write_text(DYING, encoding="utf-8")
    (tmp_path / "die").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, env={"PYTHONPATH": ":".join(sys.path), "PATH": ""}, check=False
    )
    assert done.returncode == -9
    import dying

    monkeypatch.chdir(tmp_path)
    (tmp_path / "die").unlink()
    options = {"select": 500, "evaluate": 3_000, "seed": 4}
    resumed = audit(dying.release, ELEVEN, Claim(0.5, "record"), NUMBER, store=tmp_path / "kept", **options)
    drawn = len(dying.CALLS)
    assert 0 < drawn < 7_000
    assert resumed == audit(dying.release, ELEVEN, Claim(0.5, "record"), NUMBER, **options)
    assert len(dying.CALLS) == drawn + 7_000


def test_a_process_that_dies_is_told(tmp_path, monkeypatch):
    (tmp_path / "quitting.py").write_text("import os\ndef release(data, rng): os._exit(3)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import quitting

    with pytest.raises(PrivCFSError, match="a process died while drawing"):
        taken(quitting.release, ELEVEN, NUMBER, workers=2)


def test_an_output_that_a_witness_cant_read_is_told():
    with pytest.raises(BadInput, match=r"witness edges: found an output of type float that it can't read \(Attr"):
        taken(Counted([]), ELEVEN, WITNESSES)


def test_a_wrong_number_of_outputs_is_told():
    class Short(LaplaceCount):
        def release_many(self, data, n, rng):
            return super().release_many(data, n - 1, rng)

    with pytest.raises(BadInput, match="found 499 outputs for 500 draws"):
        taken(Short(1.0), ELEVEN, NUMBER)


@pytest.mark.parametrize("witnesses", [(), (NUMBER[0], NUMBER[0])])
def test_witnesses_need_names_of_their_own(witnesses):
    with pytest.raises(BadInput, match="witnesses: found"):
        taken(Counted([]), ELEVEN, witnesses)


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(BadInput, match="seed: found"):
        taken(seed=seed)


def test_the_digest_of_a_graph_is_that_of_its_content():
    one, other = nx.Graph([(0, 1), (2, 1)]), nx.Graph([(1, 2), (1, 0)])
    assert digest(one) == digest(other)
    assert digest(one) != digest(nx.Graph([(0, 1), (2, 0)]))
    other.nodes[0]["colour"] = "red"
    assert digest(one) != digest(other)
    assert digest(GRAPH) == GRAPH.digest
    assert digest(np.zeros(4)) != digest(np.zeros((2, 2)))


def test_the_identity_of_a_function_changes_with_its_parameters():
    assert identity(LaplaceCount(1.0)) == identity(LaplaceCount(1.0))
    assert identity(LaplaceCount(1.0)) != identity(LaplaceCount(2.0))
    assert identity(Coordinate(0)) != identity(Coordinate(1))
    assert identity(edge_count) != identity(triangles)
    assert identity(FLIPPED) != identity(NoisedGraph(RandomizedResponse(), 2.0))
