import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets import export_folder, load
from core.datasets.structure import WARNING, with_structure
from tests.core.datasets.refusal import refusal


def columns(dataset) -> dict[str, list[float]]:
    x = dataset.nodes.x.toarray()
    named = {name: x[:, place].tolist() for place, name in enumerate(dataset.nodes.feature_names)}
    return {name.removeprefix("structure: "): found for name, found in named.items() if name.startswith("structure: ")}


def expected(graph) -> dict[str, list[float]]:
    """The three features by NetworkX."""
    twin = nx.empty_graph(graph.n)
    twin.add_edges_from(graph.edges.tolist())
    around, clustering = nx.average_neighbor_degree(twin), nx.clustering(twin)
    return {
        "log degree": [np.log(1 + twin.degree(node)) for node in twin],
        "log degree of neighbours": [np.log(1 + around[node]) for node in twin],
        "clustering": [clustering[node] for node in twin],
    }


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]), min_size=1))
def test_structural_features_are_those_of_networkx(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("owner")
    (folder / "nodes.csv").write_text("id\n" + "\n".join(f"n{row}" for row in range(8)) + "\n")
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{u},n{v}\n" for u, v in pairs))
    dataset = load(str(folder), structural=True)
    for name, values in expected(dataset.graph).items():
        assert columns(dataset)[name] == pytest.approx(values)


def test_blocks_of_rows_do_not_show():
    dataset = with_structure(load("synthetic:nodes=9000,degree=6,features=10"))
    assert columns(dataset)["clustering"] == pytest.approx(expected(dataset.graph)["clustering"])


def test_structure_comes_on_request_only_and_says_what_it_costs(tmp_path):
    (tmp_path / "g.csv").write_text("a,b\nb,c\n")
    plain, structural = load(str(tmp_path / "g.csv")), load(str(tmp_path / "g.csv"), structural=True)
    assert not plain.structural
    assert plain.nodes.n_features == 0
    assert structural.structural
    assert structural.nodes.n_features == 3
    assert WARNING in structural.report.notes
    assert WARNING not in plain.report.notes


def test_structure_is_added_to_other_features_and_to_published_data():
    plain, structural = load("karate"), load("karate", structural=True)
    assert structural.nodes.n_features == plain.nodes.n_features + 3
    assert structural.nodes.x[:, :34].toarray().tolist() == plain.nodes.x.toarray().tolist()
    assert structural.graph.edges.tolist() == plain.graph.edges.tolist()
    assert structural.digest != plain.digest


def test_an_export_does_not_lose_the_mark(tmp_path):
    export_folder(load("karate", structural=True), tmp_path / "out")
    assert load(str(tmp_path / "out")).structural


def test_structure_is_not_added_twice():
    assert "structural features" in refusal(with_structure, load("karate", structural=True))
