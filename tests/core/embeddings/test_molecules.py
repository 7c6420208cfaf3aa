"""Molecules as OGB documents them; reading the real files needs the optional package and a download."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from core.embeddings.molecules import load_molecules, molecules
from core.errors import BadInput


def test_bonds_in_both_directions_become_edges_and_unlabelled_molecules_are_left_out():
    bonds = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [{"edge_index": bonds, "num_nodes": 4}, {"edge_index": bonds[:, :2], "num_nodes": 2}] * 2
    made = molecules("ogbg-molbace", graphs, np.array([[1.0], [np.nan], [0.0], [1.0]]))
    assert [graph.n for graph in made.graphs] == [4, 4, 2]
    assert made.graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert made.labels.tolist() == [1, 0, 1]


def test_unknown_names_and_a_missing_package_are_refused():
    with pytest.raises(BadInput, match="expected one of: ogbg-molhiv"):
        load_molecules("ogbg-code2")
    if importlib.util.find_spec("ogb") is None:
        with pytest.raises(BadInput, match=r"pip install 'privcfs-explorer\[ogb\]'"):
            load_molecules("ogbg-molbace")
