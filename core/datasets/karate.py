"""Zachary's karate club, as NetworkX ships it."""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.splits import share_split
from core.graph import Nodes, PrivateGraph

SOURCE = "Zachary 1977, as shipped by NetworkX (BSD-3-Clause); split seeded here"


def load_karate() -> Dataset:
    """Return the karate club: 34 members, 78 ties, 2 clubs after the rift.

    The club comes without attributes, so each member has one feature, their own identity.
    Ids are NetworkX's, `0` to `33`.
    """
    club = nx.karate_club_graph()
    members = sorted(club)
    sides = [club.nodes[member]["club"] for member in members]
    classes = tuple(sorted(set(sides)))
    labels = np.array([classes.index(side) for side in sides])
    ids = tuple(str(member) for member in members)
    names = tuple(f"is member {member}" for member in members)
    nodes = Nodes(ids, sparse.eye_array(len(members), format="csr"), names, classes)
    graph = PrivateGraph(nodes, np.array(list(club.edges)))
    return Dataset("karate", "Zachary's karate club", graph, labels, share_split(labels), SOURCE)
