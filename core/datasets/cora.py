"""Cora, the citation network, from the data files of the `graphdatascience` package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.edges import simple_edges
from core.datasets.packaged import read_packaged
from core.datasets.positions import stored_positions
from core.datasets.splits import citation_split
from core.graph import Nodes, PrivateGraph

# The file numbers the subjects; the package's own serialize_cora.py says which is which.
CLASSES = (
    "Neural Networks",
    "Rule Learning",
    "Reinforcement Learning",
    "Probabilistic Methods",
    "Theory",
    "Genetic Algorithms",
    "Case Based",
)
SOURCE = (
    "Cora (McCallum et al. 2000; Sen et al. 2008), data files of the graphdatascience package (Apache-2.0); "
    "split seeded here: 20 a class, 500, 1000"
)


def load_cora() -> Dataset:
    """Return Cora: 2,708 papers, 5,278 citations, 1,433 binary words, 7 subjects; ids are paper ids."""
    table = read_packaged("cora/cora_nodes.parquet.gzip")
    ties = read_packaged("cora/cora_rels.parquet.gzip")
    x = sparse.csr_array(np.stack(table["features"].to_list()).astype(np.float64))
    labels = table["subject"].to_numpy(dtype=np.int64)
    words = tuple(f"word {column}" for column in range(x.shape[1]))
    nodes = Nodes(tuple(table["nodeId"].astype(str)), x, words, CLASSES)
    index = pd.Index(table["nodeId"])
    rows = np.stack([index.get_indexer(ties["sourceNodeId"]), index.get_indexer(ties["targetNodeId"])], axis=1)
    graph = PrivateGraph(nodes, simple_edges(rows, nodes.n))
    return Dataset(
        "cora",
        "Cora citations",
        graph,
        labels,
        citation_split(labels),
        SOURCE,
        positions=stored_positions("cora", nodes),
    )
