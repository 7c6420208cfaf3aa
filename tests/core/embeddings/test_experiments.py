"""Block models by their limits, pipelines, and that cycles see what trees don't, through the noise."""

from __future__ import annotations

import numpy as np
import pytest

from core.embeddings.baselines import Baseline
from core.embeddings.counting import densities
from core.embeddings.experiments import Method, noise_table, treewidth_classes, utility_table
from core.embeddings.graphset import GraphSet, bare_graph
from core.embeddings.patterns import EDGE, cycle, path, star
from core.embeddings.pipelines import Classifier, cross_validated
from core.embeddings.samplers import PatternClass
from core.embeddings.sbm import CYCLE_CLASSES, BlockClass, block_graphs
from core.errors import BadInput, Cancelled

KINDS = [PatternClass.parse("tree"), PatternClass.parse("cycle")]


@pytest.fixture(scope="module")
def graphs():
    return block_graphs(CYCLE_CLASSES, 20, 150, seed=0)


@pytest.mark.parametrize("kind", [*CYCLE_CLASSES, BlockClass("four", 4, 0.3, 0.08)])
def test_block_models_have_the_densities_of_their_limits(kind):
    """At n = 1,500 within 2 % or 4 / n; chance moves an edge density of 0.3 by 0.1 %."""
    graph = kind.draw(1_500, np.random.default_rng(1))
    trees = [EDGE, path(4), star(3)]
    assert densities(trees, graph) == pytest.approx([kind.density**tree.size for tree in trees], rel=0.02)
    lengths = (3, 4, 5)
    limits = [kind.density**m + (kind.blocks - 1) * kind.strength**m for m in lengths]
    assert densities([cycle(m) for m in lengths], graph) == pytest.approx(limits, rel=0.02, abs=4 / 1_500)


def test_cycles_tell_classes_apart_that_trees_cannot(graphs):
    rows = utility_table(graphs, KINDS, [4.0], degree_bound=110, repeats=2, dimensions=10, baselines=list(Baseline))
    found = {(row.patterns, row.method): row for row in rows}
    assert len(rows) == 2 + 2 * 3
    assert found["cycle", Method.NONE].accuracy > 0.9
    assert found["cycle", Method.DENSITIES].accuracy > 0.85
    assert found["tree", Method.DENSITIES].accuracy < 0.75
    assert found["cycle", Method.NONE].epsilon is None
    assert (found["cycle", Method.DENSITIES].delta, found["cycle", Method.RR].delta) == (1e-5, 0.0)
    assert found["cycle", Method.DENSITIES].dimensions == 6


def test_tables_are_the_same_for_one_seed_and_stop_on_request(graphs):
    def table(seed):
        return utility_table(graphs, KINDS[1:], [1.0], baselines=[], repeats=2, seed=seed)

    assert table(3) == table(3)
    with pytest.raises(Cancelled):
        utility_table(graphs, KINDS[1:], [1.0], baselines=[], repeats=2, cancelled=lambda: True)


def test_graphs_of_several_sizes_are_noised_each_for_its_own():
    """Complete graphs against paths, 4 to 6 nodes: told apart without noise and at a huge ε, not at a small one."""
    sizes = [4, 5, 6] * 5
    whole = [bare_graph(n, np.argwhere(np.triu(np.ones((n, n)), 1))) for n in sizes]
    paths = [bare_graph(n, np.array([[k, k + 1] for k in range(n - 1)])) for n in sizes]
    mixed = GraphSet("mixed", (*whole, *paths), np.repeat([0, 1], 15), ("whole", "path"))
    rows = utility_table(mixed, KINDS[1:], [0.01, 1e4], repeats=2, baselines=[])
    assert [row.accuracy > 0.9 for row in rows] == [True, False, True]


def test_noise_beside_density_and_signal(graphs):
    rows = {row.vertices: row for row in noise_table(graphs, KINDS[1:], 1.0)}
    bounded = {row.vertices: row for row in noise_table(graphs, KINDS[1:], 1.0, degree_bound=110)}
    assert rows[3].density == pytest.approx(0.133, rel=0.05)
    assert rows[3].signal == pytest.approx(0.25**3, rel=0.3)
    assert rows[3].ratio == rows[3].noise_std / rows[3].signal
    assert bounded[3].noise_std < 0.5 * rows[3].noise_std
    assert (rows[5].edges, rows[5].treewidth) == (5, 2)


@pytest.mark.parametrize("kind", list(Classifier))
def test_classifiers_learn_and_find_nothing_in_noise(kind):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    noise = rng.standard_normal((120, 3))
    assert cross_validated(noise + 3 * labels[:, None], labels, kind).mean > 0.95
    assert 0.25 < cross_validated(noise, labels, kind).mean < 0.75  # 5 standard errors of a fair coin
    scaled = (noise + 3 * labels[:, None]) * [1, 1e-9, 1e9]
    assert cross_validated(scaled, labels, kind).mean > 0.95


def test_what_cannot_be_compared_is_refused(graphs):
    mixed = GraphSet(
        "mixed", (bare_graph(4, np.array([[0, 1]])), bare_graph(5, np.array([[0, 1]]))), [0, 1], ("a", "b")
    )
    with pytest.raises(BadInput, match="2 numbers of nodes"):
        noise_table(mixed, KINDS, 1.0)
    with pytest.raises(BadInput, match="over the public bound"):
        utility_table(graphs, KINDS, [1.0], degree_bound=10)
    with pytest.raises(BadInput, match="labels"):
        GraphSet("bad", mixed.graphs, [0, 2], ("a", "b"))
    with pytest.raises(BadInput, match="folds"):
        cross_validated(np.zeros((4, 1)), np.array([0, 0, 0, 1]), Classifier.KNN)
    with pytest.raises(BadInput, match="expected one of: knn"):
        Classifier.parse("tree")
    with pytest.raises(BadInput, match="strength"):
        BlockClass("impossible", 2, 0.9, 0.2)
    assert [kind.width for kind in treewidth_classes(3)] == [1, 2, 3]
