"""A contextual stochastic block model: communities, and features whose gap and margin are set apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy import sparse

from core import checks
from core.datasets.dataset import Dataset
from core.datasets.splits import share_split
from core.errors import BadInput
from core.graph import Nodes, PrivateGraph

FAMILY = "csbm:"
MOST_NODES = 3000
ROUNDS = 1000


@dataclass(frozen=True)
class Recipe:
    """Keys of `csbm:key=value,...`; raises `BadInput` for a value out of range.

    `nodes`: N. `classes`: C, of equal size. `degree`: mean degree, sets the density. `homophily`: share of edges
    within a class. `gap`: distance between class means, in units of the noise, sets how many nodes the features
    alone get wrong. `margin`: the least distance of a node's features from the decision boundary, on either side
    of it, sets how easily a few edges turn a label. `seed`: of the only generator used.
    """

    nodes: int = 100
    classes: int = 2
    degree: float = 17.6
    homophily: float = 0.9
    gap: float = 4.0
    margin: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        checks.count(self.nodes, "csbm nodes", 4, MOST_NODES)
        checks.count(self.classes, "csbm classes", 2, self.nodes // 2)
        checks.count(self.seed, "csbm seed", 0, 2**32 - 1)
        checks.rho(self.homophily, "csbm homophily")
        for name, most in (("gap", 100.0), ("margin", self.gap)):
            value = getattr(self, name)
            if not 0 <= value <= most:
                raise BadInput.number(f"csbm {name}", value, f"a number from 0 to {most:g}")
        inside, outside = (self.edges_inside, self.edges - self.edges_inside)
        same = sum(size * (size - 1) // 2 for size in np.bincount(self.classes_of_rows))
        other = self.nodes * (self.nodes - 1) // 2 - int(same)
        if not 0 < self.degree < np.inf or not (inside <= same and 0 <= outside <= other and self.edges):
            raise BadInput.number(
                "csbm degree",
                self.degree,
                f"one that {self.nodes} nodes have pairs for: {same} in a class, {other} between, at homophily "
                f"{self.homophily:g}",
            )

    @property
    def edges(self) -> int:
        """M, exactly."""
        return round(self.nodes * min(self.degree, self.nodes) / 2)

    @property
    def edges_inside(self) -> int:
        """Edges within a class."""
        return round(self.edges * self.homophily)

    @property
    def classes_of_rows(self) -> np.ndarray:
        """Classes of equal size, N int64, not yet shuffled."""
        return np.arange(self.nodes) * self.classes // self.nodes

    @property
    def name(self) -> str:
        """The full name under which `parse` finds this recipe again."""
        return FAMILY + ",".join(f"{key}={value}" for key, value in asdict(self).items())


FEATURES_SUFFICE = Recipe()  # 880 edges, mean gap 4: the features alone get all labels right
TIES_MATTER = Recipe(nodes=200, degree=90.0, homophily=0.98, seed=1)  # features alone get 1 % wrong, h1 -0.1 none


def parse(name: str) -> Recipe:
    """Read `csbm:key=value,...`, missing keys at their defaults; raises `BadInput`."""
    kinds = {key: type(value) for key, value in asdict(Recipe()).items()}
    found: dict[str, int | float] = {}
    for item in filter(None, name.removeprefix(FAMILY).split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if key not in kinds or not equals or key in found:
            raise BadInput.choice("csbm data set", item, [f"{known}=..." for known in kinds])
        try:
            found[key] = kinds[key](value)
        except ValueError:
            expected = "a whole number" if kinds[key] is int else "a number"
            raise BadInput.number(f"csbm {key}", value, expected) from None
    return Recipe(**found)  # type: ignore[arg-type]


def load_csbm(recipe: Recipe) -> Dataset:
    """Draw the graph: M pairs without repeats, a share `homophily` of them within a class.

    Two classes: one feature, `x = ±gap/2 + N(0, 1)`, its boundary at 0; a row is drawn again while
    `|x| < margin`. More: C features, `x = e_class gap/√2 + N(0, I)`, so that two class means lie `gap` apart, drawn
    again while the largest leads the second by less than `margin`. Deshpande et al. 2018, and the paper's
    numerical part; margin and exact number of edges are ours. Equal recipes give equal data sets. Raises `BadInput`
    when a margin is met by too few rows.
    """
    rng = np.random.default_rng(recipe.seed)
    labels = rng.permutation(recipe.classes_of_rows)
    x = _features(recipe, labels, rng)
    names = tuple(f"signal {column}" for column in range(x.shape[1]))
    classes = tuple(f"class {label}" for label in range(recipe.classes))
    nodes = Nodes(tuple(f"n{row}" for row in range(recipe.nodes)), sparse.csr_array(x), names, classes)
    pairs = np.stack(np.triu_indices(recipe.nodes, 1), axis=1)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    inside, outside = np.flatnonzero(same), np.flatnonzero(~same)
    chosen = [
        rng.choice(inside, recipe.edges_inside, replace=False),
        rng.choice(outside, recipe.edges - recipe.edges_inside, replace=False),
    ]
    graph = PrivateGraph(nodes, pairs[np.concatenate(chosen)])
    source = "drawn here by a seeded contextual stochastic block model; no real person"
    title = f"Contextual SBM, {recipe.nodes} nodes"
    return Dataset(recipe.name, title, graph, labels, share_split(labels), source)


def _features(recipe: Recipe, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if recipe.classes == 2:
        centres = (labels[:, None] - 0.5) * recipe.gap
    else:
        centres = np.eye(recipe.classes)[labels] * recipe.gap / np.sqrt(2)
    x = centres + rng.standard_normal(centres.shape)
    for _ in range(ROUNDS):
        close = np.flatnonzero(_distance(x) < recipe.margin)
        if not len(close):
            return x
        x[close] = centres[close] + rng.standard_normal((len(close), x.shape[1]))
    raise BadInput.number("csbm margin", recipe.margin, f"one that nodes of gap {recipe.gap:g} often reach: smaller")


def _distance(x: np.ndarray) -> np.ndarray:
    if x.shape[1] == 1:
        return np.abs(x[:, 0])
    ordered = np.sort(x, axis=1)
    return ordered[:, -1] - ordered[:, -2]
