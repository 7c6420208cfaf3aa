"""How large an owner's files may be; beyond it they are refused before they fill the memory."""

from __future__ import annotations

MOST_BYTES = 2 * 2**30  # of a file, and of what a compressed one unpacks to
MOST_TREE_BYTES = 256 * 2**20  # of a GraphML, GEXF or GML file, which takes twenty to thirty times as much memory
MOST_NODES = 5_000_000
MOST_EDGES = 50_000_000  # lines or entries, before repeats are merged
MOST_CELLS = 50_000_000  # of a node table, or entries of a feature list
MOST_FEATURES = 1_000_000
LONGEST_LINE = 16 * 2**20  # characters
