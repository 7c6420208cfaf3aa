"""Patterns: the small public graphs whose homomorphisms into a private graph are counted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core import checks
from core.errors import BadInput

MOST_VERTICES = 40
MOST_EXACT = 14  # vertices up to which the treewidth is found by dynamic programming over their subsets


@dataclass(frozen=True)
class Pattern:
    """A simple graph F on vertices 0..m-1 without a loop; public.

    `edges`: pairs, smaller end first, sorted. `name`: for people; two patterns of one structure and different
    names are equal. Raises `BadInput` for a loop, a repeated edge, an end out of range or too many vertices.
    """

    vertices: int
    edges: tuple[tuple[int, int], ...]
    name: str = ""

    def __post_init__(self) -> None:
        checks.count(self.vertices, "pattern vertices", 1, MOST_VERTICES)
        edges = tuple(sorted((min(a, b), max(a, b)) for a, b in self.edges))
        ends = {end for edge in edges for end in edge}
        if len(set(edges)) < len(edges) or any(a == b for a, b in edges) or not ends <= set(range(self.vertices)):
            raise BadInput(
                f"pattern {self.name}: found edges {edges[:6]} on {self.vertices} vertices, expected distinct pairs of "
                f"two vertices of 0..{self.vertices - 1}"
            )
        object.__setattr__(self, "edges", edges)
        if not self.name:
            object.__setattr__(self, "name", f"graph on {self.vertices} vertices with {len(edges)} edges")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self.vertices, self.edges) == (other.vertices, other.edges)

    def __hash__(self) -> int:
        return hash((self.vertices, self.edges))

    @property
    def size(self) -> int:
        """Number of edges, e(F)."""
        return len(self.edges)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the labelled structure, in hex."""
        return hashlib.sha256(repr((self.vertices, self.edges)).encode()).hexdigest()

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The vertices tied to each vertex, ascending."""
        found: list[list[int]] = [[] for _ in range(self.vertices)]
        for a, b in self.edges:
            found[a].append(b)
            found[b].append(a)
        return tuple(tuple(sorted(one)) for one in found)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Vertices of each connected component, ascending, in order of their first one."""
        left = set(range(self.vertices))
        found = []
        while left:
            reached, front = set(), {min(left)}
            while front:
                reached |= front
                front = {other for vertex in front for other in self.neighbours[vertex]} - reached
            left -= reached
            found.append(tuple(sorted(reached)))
        return tuple(found)

    @property
    def connected(self) -> bool:
        """Whether any two vertices are joined by a path."""
        return len(self.components) == 1

    def part(self, vertices: tuple[int, ...]) -> Pattern:
        """The pattern induced on some vertices."""
        place = {vertex: row for row, vertex in enumerate(vertices)}
        edges = tuple((place[a], place[b]) for a, b in self.edges if a in place and b in place)
        return Pattern(len(vertices), edges)

    @property
    def tree(self) -> bool:
        """Whether the pattern is a tree, a single vertex included."""
        return self.connected and self.size == self.vertices - 1

    @property
    def cycle(self) -> bool:
        """Whether the pattern is one cycle of at least three vertices."""
        return self.connected and self.size == self.vertices and all(len(near) == 2 for near in self.neighbours)

    @property
    def star(self) -> bool:
        """Whether the pattern is a tree with one vertex in all its edges."""
        return self.tree and any(len(near) == self.size for near in self.neighbours)

    @cached_property
    def treewidth(self) -> int:
        """Least width of a tree decomposition, exact; raises `BadInput` beyond `MOST_EXACT` vertices, but for cycles.

        `min` over elimination orders of the largest number of later vertices that one reaches through earlier
        ones, by dynamic programming over vertex subsets (Bodlaender et al. 2012).
        """
        if not self.size:
            return 0
        if self.tree or self.cycle:
            return 1 if self.tree else 2
        if self.vertices > MOST_EXACT:
            raise BadInput(f"treewidth: found a pattern of {self.vertices} vertices, expected at most {MOST_EXACT}")
        near = [sum(1 << other for other in row) for row in self.neighbours]
        width = np.zeros(1 << self.vertices, dtype=np.int64)
        for gone in range(1, 1 << self.vertices):
            best = self.vertices
            for last in range(self.vertices):
                if gone >> last & 1:
                    before = gone & ~(1 << last)
                    best = min(best, max(int(width[before]), _reached(near, before, last).bit_count()))
            width[gone] = best
        return int(width[-1])


def _reached(near: list[int], through: int, start: int) -> int:
    """Vertices outside `through` that `start` reaches by a path whose inner vertices lie in it, as bits."""
    seen, front = 1 << start, near[start]
    outside = 0
    while front:
        vertex = front & -front
        front ^= vertex
        if seen & vertex:
            continue
        seen |= vertex
        if through & vertex:
            front |= near[vertex.bit_length() - 1] & ~seen
        else:
            outside |= vertex
    return outside


def path(vertices: int) -> Pattern:
    """The path on that many vertices."""
    return Pattern(vertices, tuple((k, k + 1) for k in range(vertices - 1)), f"path of {vertices}")


def star(leaves: int) -> Pattern:
    """One vertex tied to `leaves` others."""
    return Pattern(leaves + 1, tuple((0, k) for k in range(1, leaves + 1)), f"star of {leaves} leaves")


def cycle(length: int) -> Pattern:
    """The cycle of that length, at least 3; raises `BadInput`."""
    checks.count(length, "cycle length", 3, MOST_VERTICES)
    return Pattern(length, tuple((k, (k + 1) % length) for k in range(length)), f"cycle of {length}")


def clique(vertices: int) -> Pattern:
    """All pairs of that many vertices tied."""
    edges = tuple((a, b) for b in range(vertices) for a in range(b))
    return Pattern(vertices, edges, f"clique of {vertices}")


EDGE = Pattern(2, ((0, 1),), "edge")
TRIANGLE = Pattern(3, ((0, 1), (0, 2), (1, 2)), "triangle")
