"""GraphML, GEXF and GML, against what NetworkX writes."""

import gzip

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import Roles, load
from core.datasets.owner import limits
from tests.core.datasets.messy import GEXF, GML, GRAPHML, named_ties
from tests.core.datasets.refusal import refusal

WRITERS = {".graphml": nx.write_graphml, ".gexf": nx.write_gexf, ".gml": nx.write_gml}


def loaded(tmp_path, name, content, roles=None):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return load(str(tmp_path / name), roles=roles)


def features(dataset) -> dict[str, list[float]]:
    return dict(zip(dataset.nodes.feature_names, dataset.nodes.x.toarray().T.tolist(), strict=True))


def test_graphml_keeps_types_and_defaults(tmp_path):
    dataset = loaded(tmp_path, "g.graphml", GRAPHML)
    assert dataset.nodes.ids == ("Ann", "Bob", "Cyd", "Dan")
    assert features(dataset) == {"age": [30, 41.5, 0, 7], "member": [1, 0, 0, 0]}
    assert [dataset.nodes.classes[label] for label in dataset.labels] == ["north", "north", "south", "south"]


def test_gexf_keeps_types_and_leaves_display_names_out(tmp_path):
    dataset = loaded(tmp_path, "g.gexf", GEXF)
    assert features(dataset) == {"age": [30, 0, 0, 0], "tags=x": [0, 1, 0, 0], "tags=y": [0, 1, 0, 0]}
    assert dataset.labels.tolist() == [0, 0, -1, -1]
    assert any("'label' differs on most nodes" in note for note in dataset.report.notes)


def test_gml_nodes_go_by_their_label(tmp_path):
    dataset = loaded(tmp_path, "g.gml", GML, Roles(label="value"))
    assert dataset.nodes.ids == ("Zoë", "Bob", "Cyd")
    assert dataset.nodes.classes == ("1", "2")
    assert loaded(tmp_path, "g.gml", GML, Roles(id="")).nodes.ids == ("1", "2", "3")
    assert loaded(tmp_path, "g.gml", GML.replace('"Zoë"', '"Bob"')).nodes.ids == ("1", "2", "3")


def test_an_attribute_may_be_the_id(tmp_path):
    dataset = loaded(tmp_path, "g.gexf", GEXF, Roles(id="label"))
    assert dataset.nodes.ids == ("Ann B.", "Bob C.", "Cyd D.", "Dan E.")
    assert named_ties(dataset) == {"Ann B.-Bob C.", "Bob C.-Cyd D.", "Cyd D.-Dan E."}
    assert "'colour'" in refusal(loaded, tmp_path, "g.gexf", GEXF, Roles(id="colour"))
    assert "'north' again" in refusal(loaded, tmp_path, "g.graphml", GRAPHML, Roles(id="class"))


def test_a_text_that_looks_like_a_number_stays_a_text(tmp_path):
    text = GRAPHML.replace('attr.name="age" attr.type="double"', 'attr.name="zip" attr.type="string"')
    assert "zip=41.5" in features(loaded(tmp_path, "g.graphml", text))
    assert features(loaded(tmp_path, "g.graphml", text, Roles(numeric=("zip",))))["zip"] == [30, 41.5, 0, 7]


def test_packed_graph_files_are_read(tmp_path):
    assert loaded(tmp_path, "g.graphml.gz", gzip.compress(GRAPHML.encode())).graph.m == 3


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("g.graphml", "", "line 1: found broken XML"),
        ("g.graphml", "<html><body/></html>", "found no <graph>"),
        ("g.graphml", GEXF, "can't be read as GraphML"),
        ("g.gexf", GRAPHML, "can't be read as GEXF"),
        ("g.graphml", GRAPHML.replace('<node id="Bob">', "<node>"), "line 9: found a node without an id"),
        ("g.graphml", GRAPHML.replace('source="Cyd" ', ""), "line 15: found an edge without a source"),
        (
            "g.graphml",
            GRAPHML.replace('<edge source="Cyd"', '<hyperedge/><edge source="Cyd"'),
            "line 15: found a hyperedge",
        ),
        ("g.graphml", GRAPHML.replace("</graph>", "</graph><graph/>"), "found a second graph"),
        ("g.graphml", GRAPHML.replace('id="Dan">', 'id="Dan"><graph/>'), "line 11: found a second graph"),
        ("g.graphml", GRAPHML.replace("UTF-8", "klingon"), "unknown encoding: klingon"),
        ("g.graphml", GRAPHML.replace('key="a">7', 'key="q">7'), "no key q"),
        ("g.gml", "", "no graph"),
        ("g.gml", GML + "]", "line 12"),
        ("g.gml", GML.replace("target 3", "target 9"), "undefined target 9"),
        ("g.gml", GML.replace("id 2", "id 1"), "1 is duplicated"),
        ("g.gml", GML.encode("latin-1"), "line 5: found a byte that is not UTF-8"),
    ],
)
def test_faults_are_named(tmp_path, name, content, said):
    message = refusal(loaded, tmp_path, name, content)
    assert message.startswith(name)
    assert said in message


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf", "g.gml"])
def test_large_trees_are_refused(tmp_path, name, monkeypatch):
    monkeypatch.setattr(limits, "MOST_TREE_BYTES", 500)
    content = {"g.graphml": GRAPHML, "g.gexf": GEXF, "g.gml": GML + " " * 500}[name]
    assert "more than 500 bytes" in refusal(loaded, tmp_path, name, content)


@pytest.mark.parametrize(("limit", "what"), [("MOST_NODES", "nodes"), ("MOST_EDGES", "edges")])
@pytest.mark.parametrize("name", ["g.graphml", "g.gml"])
def test_large_graphs_are_refused(tmp_path, name, limit, what, monkeypatch):
    monkeypatch.setattr(limits, limit, 2)
    content = {"g.graphml": GRAPHML, "g.gml": GML}[name]
    assert f"more than 2 {what}" in refusal(loaded, tmp_path, name, content)


names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)


@given(
    st.lists(names, min_size=2, max_size=6, unique=True),
    st.data(),
    st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]),
    st.sampled_from(list(WRITERS)),
)
def test_what_networkx_writes_is_read_back(tmp_path_factory, ids, data, kind, ending):
    """Ids, numbers, classes and ties, whatever the kind of graph; the oracle is the graph that was written."""
    graph = kind()
    ages = data.draw(st.lists(st.integers(0, 99), min_size=len(ids), max_size=len(ids)))
    for name, age in zip(ids, ages, strict=True):
        graph.add_node(name, age=age, club=f"club {age % 2}")
    pair = st.tuples(st.sampled_from(ids), st.sampled_from(ids))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=8).filter(lambda found: any(u != v for u, v in found)))
    graph.add_edges_from(pairs)
    file = tmp_path_factory.mktemp("graph") / f"g{ending}"
    WRITERS[ending](graph, file)
    dataset = load(str(file), roles=Roles(label="club", features=("age",)))
    assert sorted(dataset.nodes.ids) == sorted(ids)
    found = dict(zip(dataset.nodes.ids, dataset.nodes.x.toarray()[:, 0].tolist(), strict=True))
    assert found == dict(zip(ids, map(float, ages), strict=True))
    assert {frozenset(dataset.nodes.ids[row] for row in edge) for edge in dataset.graph.edges} == {
        frozenset(pair) for pair in pairs if pair[0] != pair[1]
    }
    loops = sum(u == v for u, v in graph.edges())
    assert dataset.report.self_loops == loops
    assert dataset.report.duplicates + dataset.report.reversed == graph.number_of_edges() - loops - dataset.graph.m
    assert np.array_equal(dataset.labels >= 0, np.ones(len(ids), dtype=bool))
