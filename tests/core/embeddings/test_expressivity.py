"""The table against what each class is known to see: colour refinement for trees, spectra for cycles, all for all."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
import sympy
from networkx.generators.atlas import graph_atlas_g

from core.embeddings.expressivity import expressivity


def blind(keys: list[object]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(keys).values())


def refined(graph: nx.Graph) -> tuple:
    """Colours of 1-WL after as many rounds as there are nodes, as nested multisets."""
    colour = {node: 0 for node in graph}
    names: dict[object, int] = {}
    for _ in range(len(graph)):
        signature = {node: (colour[node], tuple(sorted(colour[other] for other in graph[node]))) for node in graph}
        colour = {node: NAMES.setdefault(signature[node], len(NAMES) + 1) for node in graph}
    assert names == {}
    return tuple(sorted(colour.values()))


NAMES: dict[object, int] = {}  # one name a signature, on all graphs


@pytest.mark.parametrize("nodes", [4, 5, 6])
def test_each_class_separates_what_theory_says(nodes):
    graphs = [graph for graph in graph_atlas_g() if len(graph) == nodes]
    pairs = len(graphs) * (len(graphs) - 1) // 2
    rows = {row.kind: row for row in expressivity(nodes)}
    spectra = [tuple(sympy.Matrix(nx.to_numpy_array(graph).astype(int)).charpoly().all_coeffs()) for graph in graphs]
    assert {row.pairs for row in rows.values()} == {pairs}
    assert rows["tree"].separated == pairs - blind([refined(graph) for graph in graphs])
    assert rows["cycle"].separated == pairs - blind(spectra)
    assert rows["full"].separated == pairs
    assert rows["full"].missed is None
    assert rows["tree"].separated <= rows["treewidth:2"].separated <= pairs
    assert rows["cycle"].separated <= rows["treewidth:2"].separated


def test_a_missed_pair_is_one():
    row = next(row for row in expressivity(5) if row.kind == "cycle")
    one, other = (nx.Graph(list(edges)) for edges in row.missed)
    for graph in (one, other):
        graph.add_nodes_from(range(5))
    assert not nx.is_isomorphic(one, other)
    spectrum = [np.sort(np.linalg.eigvalsh(nx.to_numpy_array(graph))) for graph in (one, other)]
    assert spectrum[0] == pytest.approx(spectrum[1], abs=1e-9)
