"""Seeded synthetic graphs of any size: communities, uneven degrees and topic features."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy import sparse

from core import checks
from core.datasets.dataset import Dataset
from core.datasets.edges import distinct, simple_edges
from core.datasets.splits import share_split
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph

WORDS_PER_NODE = 10
TOPIC_SHARE = 0.3
TAIL_INDEX = 2.5
MOST_NODES = 5_000_000
ROUNDS = 50


@dataclass(frozen=True)
class Recipe:
    """Keys of `synthetic:key=value,...`; raises `BadInput` for a value out of range.

    `nodes`: N. `classes`: C, of equal size. `degree`: mean degree. `homophily`: share of edges that
    stay within a class. `features`: number of words, F. `seed`: of the only generator used.
    """

    nodes: int = 2000
    classes: int = 5
    degree: float = 4.0
    homophily: float = 0.8
    features: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        checks.count(self.nodes, "synthetic nodes", 4, MOST_NODES)
        checks.count(self.classes, "synthetic classes", 2, self.nodes // 2)
        checks.count(self.features, "synthetic features", self.classes, 1_000_000)
        checks.count(self.seed, "synthetic seed", 0, 2**32 - 1)
        # Beyond a quarter of a class's own pairs, drawing without repeats gets slow.
        most = (self.nodes // self.classes - 1) / 4
        if not 0 < self.degree <= max(most, 1.0):
            expected = (
                f"a mean degree above 0, at most {max(most, 1.0):g} at {self.nodes} nodes, {self.classes} classes"
            )
            raise BadInput.number("synthetic degree", self.degree, expected)
        checks.rho(self.homophily, "synthetic homophily")

    @property
    def name(self) -> str:
        """The full name under which `load` finds this recipe again."""
        return "synthetic:" + ",".join(f"{key}={value}" for key, value in asdict(self).items())


def parse_recipe(text: str) -> Recipe:
    """Return the recipe written as `key=value,...`, the missing keys at their defaults.

    Raises `BadInput` for an unknown or repeated key and for a value that isn't a number in range.
    """
    kinds = {key: type(value) for key, value in asdict(Recipe()).items()}
    found: dict[str, int | float] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if key not in kinds or not equals:
            raise BadInput.choice("synthetic data set", item, [f"{known}=..." for known in kinds])
        if key in found:
            raise BadInput(f"synthetic data set: found {key} twice, expected each key once")
        try:
            found[key] = kinds[key](value)
        except ValueError:
            expected = "a whole number" if kinds[key] is int else "a number"
            raise BadInput.number(f"synthetic {key}", value, expected) from None
    return Recipe(**found)  # type: ignore[arg-type]


def load_synthetic(recipe: Recipe) -> Dataset:
    """Draw a degree-corrected stochastic block model (Karrer & Newman 2011) with topic features.

    `M = round(N * degree / 2)` edges: the first end falls on node `u` with chance proportional to
    its weight `theta_u ~ min(Pareto(2.5), sqrt(N))`, the second, by `theta` too, within the class of
    `u` with chance `homophily` and outside it else; repeats and self-loops are drawn again, in
    at most 50 rounds. Each node draws 10 words, each from the words of its own class with chance
    0.3 and from all words else. Equal recipes give equal data sets. Memory and time grow as N + M.
    """
    rng = np.random.default_rng(recipe.seed)
    labels = np.arange(recipe.nodes) * recipe.classes // recipe.nodes
    edges = _draw_edges(recipe, labels, rng)
    x = _draw_words(recipe, labels, rng)
    # Rows come out shuffled, so that a row number says nothing of the class.
    order = rng.permutation(recipe.nodes)
    place = np.empty_like(order)
    place[order] = np.arange(recipe.nodes)
    labels = labels[order]
    ids = tuple(f"n{row}" for row in range(recipe.nodes))
    words = tuple(f"word {word}" for word in range(recipe.features))
    nodes = Nodes(ids, x[order], words, tuple(f"topic {topic}" for topic in range(recipe.classes)))
    graph = PrivateGraph(nodes, place[edges])
    source = "drawn here by a seeded degree-corrected stochastic block model; no real person"
    return Dataset(recipe.name, f"Synthetic, {recipe.nodes:,} nodes", graph, labels, share_split(labels), source)


def _draw_edges(recipe: Recipe, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, wanted = recipe.nodes, max(1, round(recipe.nodes * recipe.degree / 2))
    weights = np.minimum(1.0 + rng.pareto(TAIL_INDEX, n), np.sqrt(n))
    ends = np.cumsum(weights)
    starts = np.concatenate([[0.0], ends[:-1]])
    bounds = np.searchsorted(labels, np.arange(recipe.classes + 1))
    low, high = starts[bounds[:-1]], ends[bounds[1:] - 1]
    edges = np.empty((0, 2), dtype=np.int64)
    for _ in range(ROUNDS):
        missing = wanted - len(edges)
        if missing == 0:
            break
        first = _node_at(rng.random(missing) * ends[-1], ends)
        own_low, own_high = low[labels[first]], high[labels[first]]
        inside = own_low + rng.random(missing) * (own_high - own_low)
        outside = rng.random(missing) * (ends[-1] - own_high + own_low)
        outside += np.where(outside >= own_low, own_high - own_low, 0.0)
        second = _node_at(np.where(rng.random(missing) < recipe.homophily, inside, outside), ends)
        edges = simple_edges(np.concatenate([edges, np.stack([first, second], axis=1)]), n)
    return edges


def _node_at(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)


def _draw_words(recipe: Recipe, labels: np.ndarray, rng: np.random.Generator) -> sparse.csr_array:
    shape = (recipe.nodes, WORDS_PER_NODE)
    bounds = np.arange(recipe.classes + 1) * recipe.features // recipe.classes
    own = rng.integers(bounds[labels][:, None], bounds[labels + 1][:, None], size=shape)
    words = np.where(rng.random(shape) < TOPIC_SHARE, own, rng.integers(recipe.features, size=shape))
    rows = np.repeat(np.arange(recipe.nodes), WORDS_PER_NODE)
    keys = distinct(rows * np.int64(recipe.features) + words.ravel())
    rows, columns = np.divmod(keys, recipe.features)
    counts = np.bincount(rows, minlength=recipe.nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((np.ones(len(keys)), columns, indptr), shape=(recipe.nodes, recipe.features))
