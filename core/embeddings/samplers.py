"""Which patterns are counted: seeded public draws from a class of graphs, the knob of expressivity.

Homomorphism counts from all trees see what one round-based message passing sees (1-WL), those from treewidth <= k
what k-WL sees, those from all graphs tell any two non-isomorphic graphs apart (Lovász; Dell, Grohe & Rattan 2018).
The distribution has full support on the connected members of its class, cut at `most_vertices` where one is set;
counts of disconnected patterns are products of those, so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from core import checks
from core.embeddings.patterns import EDGE, MOST_VERTICES, Pattern, cycle
from core.errors import BadInput

PATIENCE = 2_000  # draws in a row without a new pattern, after which the search for another ends


class Family(StrEnum):
    """A class of patterns."""

    TREE = "tree"
    CYCLE = "cycle"
    TREEWIDTH = "treewidth"
    FULL = "full"


@dataclass(frozen=True)
class PatternClass:
    """A class of patterns and how large its members are drawn.

    `width`: k of treewidth <= k. `growth`: chance of one more vertex, so sizes are geometric. `widening`: for
    `full`, chance of one more unit of treewidth; with `widening <= 1/n` counting takes polynomial time in expectation
    (Welke et al. 2023), larger values see more sooner. `most_vertices`: sizes above are drawn again.
    """

    family: Family
    width: int = 2
    growth: float = 0.7
    widening: float = 0.25
    most_vertices: int = 8

    def __post_init__(self) -> None:
        checks.count(self.width, "treewidth", 1, 8)
        checks.count(self.most_vertices, "most vertices of a pattern", 2, MOST_VERTICES)
        for what, chance in (("growth", self.growth), ("widening", self.widening)):
            if not 0 < chance < 1:
                raise BadInput.number(f"{what} of patterns", chance, "a chance above 0 and below 1")
        if self.family is Family.CYCLE and self.most_vertices < 3:
            raise BadInput.number("most vertices of a cycle", self.most_vertices, "3 or more")

    @classmethod
    def parse(cls, text: str) -> PatternClass:
        """Read `tree`, `cycle`, `full` or `treewidth:k`; raises `BadInput`."""
        found = re.fullmatch(r"(tree|cycle|full)|treewidth:([1-8])", text)
        if found is None:
            raise BadInput.choice("patterns", text, ["tree", "cycle", "full", *(f"treewidth:{k}" for k in range(1, 9))])
        if found.group(2):
            return cls(Family.TREEWIDTH, int(found.group(2)))
        return cls(Family(text))

    @property
    def name(self) -> str:
        """The spelling that `parse` reads."""
        return f"treewidth:{self.width}" if self.family is Family.TREEWIDTH else self.family.value

    def draw(self, rng: np.random.Generator) -> Pattern:
        """One member of the class."""
        if self.family is Family.TREE:
            return random_tree(_size(2, self, rng), rng)
        if self.family is Family.CYCLE:
            return cycle(_size(3, self, rng))
        width = self.width if self.family is Family.TREEWIDTH else _width(self, rng)
        return partial_k_tree(_size(2, self, rng), width, rng)

    def draws(self, rng: np.random.Generator) -> Iterator[Pattern]:
        """Members without end."""
        while True:
            yield self.draw(rng)


def sample(kind: PatternClass, count: int, seed: int) -> tuple[Pattern, ...]:
    """At most `count` distinct patterns of a class, no two isomorphic, smallest first; the same for one seed.

    A repeated pattern would be one more draw of noise for a number that is paid for already. Fewer come back when
    `PATIENCE` draws in a row bring nothing new: six cycles of at most eight vertices are all there are, and some
    trees are rare.
    """
    checks.count(count, "patterns", 1, 1_000)
    rng = np.random.default_rng(checks.count(seed, "seed of the patterns", 0, 2**63 - 1))
    found: dict[str, list[Pattern]] = {}
    kept: list[Pattern] = []
    idle = 0
    for pattern in kind.draws(rng):
        alike = found.setdefault(_invariant(pattern), [])
        if any(isomorphic(pattern, other) for other in alike):
            idle += 1
        else:
            alike.append(pattern)
            kept.append(pattern)
            idle = 0
        if len(kept) == count or idle >= PATIENCE:
            break
    return tuple(sorted(kept, key=lambda pattern: (pattern.vertices, pattern.size, pattern.edges)))


def random_tree(vertices: int, rng: np.random.Generator) -> Pattern:
    """A tree on labelled vertices, each of the m^(m-2) equally likely (Prüfer 1918)."""
    if vertices < 3:
        return EDGE if vertices == 2 else Pattern(1, (), "vertex")
    code = rng.integers(vertices, size=vertices - 2).tolist()
    degree = [1 + code.count(vertex) for vertex in range(vertices)]
    edges = []
    for vertex in code:
        leaf = degree.index(1)
        edges.append((leaf, vertex))
        degree[leaf] -= 1
        degree[vertex] -= 1
    last = [vertex for vertex in range(vertices) if degree[vertex] == 1]
    return Pattern(vertices, (*edges, (last[0], last[1])), f"tree of {vertices}")


def partial_k_tree(vertices: int, width: int, rng: np.random.Generator) -> Pattern:
    """A connected graph of treewidth <= `width`; every such graph has a chance, up to the names of its vertices.

    A random k-tree grows by tying each new vertex to a random clique of k; a random spanning tree of it is kept, and
    each other edge with probability one half. A connected graph of treewidth <= k spans a k-tree, and holds one of
    its spanning trees.
    """
    base = min(width + 1, vertices)
    edges = [(a, b) for b in range(base) for a in range(b)]
    cliques = [tuple(c for c in range(base) if c != left) for left in range(base)]
    for vertex in range(base, vertices):
        chosen = cliques[int(rng.integers(len(cliques)))]
        edges += [(other, vertex) for other in chosen]
        cliques += [(*(c for c in chosen if c != left), vertex) for left in chosen]
    kept = []
    group = list(range(vertices))
    for row in rng.permutation(len(edges)):
        a, b = edges[row]
        if group[a] != group[b]:
            group = [group[a] if one == group[b] else one for one in group]
            kept.append((a, b))
        elif rng.random() < 0.5:
            kept.append((a, b))
    return Pattern(vertices, tuple(kept))


def isomorphic(one: Pattern, other: Pattern) -> bool:
    """Whether two patterns are the same graph but for the names of their vertices."""
    if (one.vertices, one.size) != (other.vertices, other.size):
        return False
    if one.cycle or other.cycle:
        return one.cycle and other.cycle
    import networkx as nx

    return bool(nx.is_isomorphic(_networkx(one), _networkx(other)))


def _invariant(pattern: Pattern) -> str:
    """Equal for isomorphic patterns: degrees, and degrees of neighbours."""
    near = pattern.neighbours
    return repr(sorted((len(row), sorted(len(near[other]) for other in row)) for row in near))


def _networkx(pattern: Pattern) -> Any:
    import networkx as nx

    graph = nx.Graph(pattern.edges)
    graph.add_nodes_from(range(pattern.vertices))
    return graph


def _size(least: int, kind: PatternClass, rng: np.random.Generator) -> int:
    while True:
        size = least - 1 + int(rng.geometric(1 - kind.growth))
        if size <= kind.most_vertices:
            return size


def _width(kind: PatternClass, rng: np.random.Generator) -> int:
    return min(int(rng.geometric(1 - kind.widening)), kind.most_vertices - 1)
