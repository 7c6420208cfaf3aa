from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest

from core.datasets import load, packaged
from core.datasets.lastfm import LISTENERS
from core.datasets.packaged import read_packaged
from core.datasets.positions import positions_file, stored_positions
from core.graph import Nodes
from tests.core.datasets.refusal import refusal


@pytest.fixture(scope="module")
def lastfm():
    return load("lastfm")


def test_cora_has_its_known_counts(cora):
    assert (cora.nodes.n, cora.graph.m, cora.nodes.n_features, len(cora.nodes.classes)) == (2708, 5278, 1433, 7)
    assert cora.graph.degree.max() == 168
    assert cora.nodes.x.nnz == 49_216
    assert set(cora.nodes.x.data) == {1.0}
    assert (len(cora.split.train), len(cora.split.validation), len(cora.split.test)) == (140, 500, 1000)


def test_cora_classes_have_their_known_sizes(cora):
    sizes = dict(zip(cora.nodes.classes, np.bincount(cora.labels).tolist(), strict=True))
    assert sizes == {
        "Neural Networks": 818,
        "Probabilistic Methods": 426,
        "Genetic Algorithms": 418,
        "Theory": 351,
        "Case Based": 298,
        "Reinforcement Learning": 217,
        "Rule Learning": 180,
    }


def test_cora_edges_are_those_of_the_file_by_id(cora):
    ties = read_packaged("cora/cora_rels.parquet.gzip")
    wanted = nx.Graph(zip(ties["sourceNodeId"].astype(str), ties["targetNodeId"].astype(str), strict=True))
    wanted.remove_edges_from(list(nx.selfloop_edges(wanted)))
    ids = cora.nodes.ids
    assert {frozenset((ids[u], ids[v])) for u, v in cora.graph.edges} == {frozenset(edge) for edge in wanted.edges}


def test_cora_features_stay_with_their_paper(cora):
    table = read_packaged("cora/cora_nodes.parquet.gzip").set_index("nodeId")
    for row in (0, 1234, 2707):
        assert cora.nodes.x[[row]].toarray()[0].tolist() == list(table.loc[int(cora.nodes.ids[row]), "features"])


def test_lastfm_has_its_known_counts(lastfm):
    assert (lastfm.nodes.n, lastfm.graph.m) == (1892, 12_717)
    assert (lastfm.nodes.n_features, len(lastfm.nodes.classes)) == (804, 5)
    assert int((lastfm.labels < 0).sum()) == 6
    assert lastfm.nodes.classes[0] == "tag 73"


def test_lastfm_features_are_the_artists_a_user_hears(lastfm):
    listens = read_packaged("lastfm/user_listen_artist_rels.parquet.gzip")
    popular = {artist for artist, count in Counter(listens["targetNodeId"]).items() if count >= LISTENERS}
    assert len(popular) == lastfm.nodes.n_features
    for row in (0, 777, 1891):
        heard = listens.loc[listens["sourceNodeId"] == int(lastfm.nodes.ids[row]), "targetNodeId"]
        wanted = {f"artist {artist - 10_000}" for artist in heard if artist in popular}
        assert {lastfm.nodes.feature_names[column] for column in lastfm.nodes.x[[row]].indices} == wanted


def test_lastfm_labels_follow_their_formula(lastfm):
    """Brute force over dictionaries, for every user."""
    tags = [int(name.removeprefix("tag ")) for name in lastfm.nodes.classes]
    taggings = read_packaged("lastfm/user_tag_artist_rels.parquet.gzip")
    users_of = taggings.groupby("tagID")["sourceNodeId"].nunique()
    assert set(tags) == set(users_of.nlargest(5).index)
    uses = defaultdict(Counter)
    for artist, tag in zip(taggings["targetNodeId"], taggings["tagID"], strict=True):
        if tag in tags:
            uses[artist][tag] += 1
    scores = {name: [0.0] * 5 for name in lastfm.nodes.ids}
    listens = read_packaged("lastfm/user_listen_artist_rels.parquet.gzip")
    for user, artist in zip(listens["sourceNodeId"], listens["targetNodeId"], strict=True):
        for place, tag in enumerate(tags):
            if uses[artist]:
                scores[str(user)][place] += uses[artist][tag] / uses[artist].total()
    totals = [sum(column) for column in zip(*scores.values(), strict=True)]
    for row, name in enumerate(lastfm.nodes.ids):
        lift = [score / total for score, total in zip(scores[name], totals, strict=True)]
        if not any(lift):
            assert lastfm.labels[row] == -1
        else:
            assert lift[lastfm.labels[row]] == pytest.approx(max(lift), rel=1e-9)


def test_lastfm_public_part_does_not_depend_on_friendships(lastfm, monkeypatch):
    def fewer_ties(path):
        table = read_packaged(path)
        return table.iloc[::3] if "friend" in path else table

    monkeypatch.setattr("core.datasets.lastfm.read_packaged", fewer_ties)
    other = load("lastfm")
    assert other.graph.m < lastfm.graph.m
    assert other.nodes.digest == lastfm.nodes.digest
    assert other.labels.tolist() == lastfm.labels.tolist()
    assert other.split.rows.tolist() == lastfm.split.rows.tolist()


def test_karate_is_zacharys():
    karate = load("karate")
    club = nx.karate_club_graph()
    assert (karate.nodes.n, karate.graph.m) == (34, 78)
    assert {frozenset(edge) for edge in karate.graph.edges.tolist()} == {frozenset(edge) for edge in club.edges}
    assert [karate.nodes.classes[label] for label in karate.labels] == [club.nodes[row]["club"] for row in range(34)]


def test_packaged_files_are_read_without_importing_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "graphdatascience", None)
    assert len(read_packaged("karate/karate_club.parquet.gzip")) == 78


def test_a_missing_package_or_file_is_named(monkeypatch):
    assert "cora/none.parquet" in refusal(read_packaged, "cora/none.parquet")
    monkeypatch.setattr(packaged, "PACKAGE", "no-such-package")
    assert "pip install no-such-package" in refusal(read_packaged, "cora/cora_nodes.parquet.gzip")


@pytest.mark.parametrize("name", ["cora", "lastfm"])
def test_stored_positions_draw_friends_together(name):
    """Ends of an edge lie nearer than random pairs: the file is in row order and not noise."""
    dataset = load(name)
    points, edges = dataset.positions, dataset.graph.edges
    assert points.shape == (dataset.nodes.n, 2)
    others = np.random.default_rng(0).permutation(dataset.nodes.n)
    near = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).mean()
    far = np.linalg.norm(points[others[edges[:, 0]]] - points[others[edges[:, 1]]], axis=1).mean()
    assert near < far / 2
    assert (np.ptp(points, axis=0) > 0.8).all()


def test_positions_of_other_nodes_are_ignored(cora):
    renamed = Nodes(cora.nodes.ids[::-1], cora.nodes.x, cora.nodes.feature_names, cora.nodes.classes)
    assert stored_positions("cora", cora.nodes) is not None
    assert stored_positions("cora", renamed) is None


def test_absent_positions_are_none(cora):
    assert not positions_file("none").exists()
    assert stored_positions("none", cora.nodes) is None
