"""What each class of patterns can tell apart in expectation, on all small graphs.

Noise has mean zero, so a noised embedding has the densities as its expectation: two graphs on n nodes are told apart in
expectation exactly if some pattern of the class has different counts. With patterns of bounded size the figures are
lower bounds; cycles up to length 2n + 2, and all patterns up to n vertices (Lovász 1967), leave nothing out.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from core import checks
from core.embeddings.counting import counts
from core.embeddings.patterns import MOST_VERTICES, Pattern, cycle
from core.embeddings.samplers import Family, PatternClass

ATLAS = 7  # most nodes of the graphs that NetworkX lists


@dataclass(frozen=True)
class ExpressivityRow:
    """How many `pairs` of non-isomorphic graphs a class separates. `missed`: edges of a pair that it doesn't."""

    kind: str
    patterns: int
    nodes: int
    pairs: int
    separated: int
    missed: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] | None


def expressivity(nodes: int, most_vertices: int = 6) -> list[ExpressivityRow]:
    """Trees, cycles, treewidth <= 2 and all patterns on all pairs of non-isomorphic graphs with that many nodes.

    Patterns have at most `most_vertices` vertices, at most `ATLAS`; cycles up to 2n + 2, trees up to 8.
    """
    checks.count(nodes, "nodes", 2, ATLAS)
    checks.count(most_vertices, "vertices of a pattern", 2, ATLAS)
    graphs = [graph for graph in _atlas() if len(graph) == nodes]
    stack = np.stack([_matrix(graph) for graph in graphs])
    rows = []
    for name, patterns in _classes(nodes, most_vertices).items():
        seen = counts(patterns, stack)
        groups: dict[bytes, list[int]] = {}
        for place, row in enumerate(seen):
            groups.setdefault(row.tobytes(), []).append(place)
        alike = next((group for group in groups.values() if len(group) > 1), None)
        pairs = len(graphs) * (len(graphs) - 1) // 2
        blind = sum(len(group) * (len(group) - 1) // 2 for group in groups.values())
        missed = None if alike is None else (_edges(graphs[alike[0]]), _edges(graphs[alike[1]]))
        rows.append(ExpressivityRow(name, len(patterns), nodes, pairs, pairs - blind, missed))
    return rows


def _classes(nodes: int, most_vertices: int) -> dict[str, tuple[Pattern, ...]]:
    import networkx as nx

    connected = [_pattern(graph) for graph in _atlas() if 2 <= len(graph) <= most_vertices and nx.is_connected(graph)]
    trees = [_pattern(tree) for size in range(2, 9) for tree in nx.nonisomorphic_trees(size)]
    cycles = [cycle(length) for length in range(3, min(2 * nodes + 2, MOST_VERTICES) + 1)]
    narrow = [pattern for pattern in connected if pattern.treewidth <= 2]
    return {
        Family.TREE.value: tuple(trees),
        Family.CYCLE.value: tuple(cycles),
        PatternClass(Family.TREEWIDTH, 2).name: tuple([*narrow, *trees, *cycles]),
        Family.FULL.value: tuple([*connected, *trees, *cycles]),
    }


@functools.cache
def _atlas() -> list[Any]:
    from networkx.generators.atlas import graph_atlas_g

    return list(graph_atlas_g())


def _pattern(graph: Any) -> Pattern:
    place = {node: row for row, node in enumerate(graph)}
    return Pattern(len(graph), tuple((place[u], place[v]) for u, v in graph.edges))


def _matrix(graph: Any) -> np.ndarray:
    import networkx as nx

    return np.asarray(nx.to_numpy_array(graph), dtype=np.float64)


def _edges(graph: Any) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((min(u, v), max(u, v)) for u, v in graph.edges))
