import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets import load
from core.datasets.synthetic import Recipe, load_synthetic, parse_recipe
from tests.core.datasets.refusal import refusal


@st.composite
def recipes(draw):
    nodes = draw(st.integers(4, 120))
    classes = draw(st.integers(2, min(6, nodes // 2)))
    degree = draw(st.floats(0.1, max((nodes // classes - 1) / 4, 1.0)))
    homophily = draw(st.sampled_from([0.0, 0.3, 1.0]))
    return Recipe(nodes, classes, degree, homophily, draw(st.integers(classes, 60)), draw(st.integers(0, 99)))


@given(recipes())
@settings(max_examples=60)
def test_counts_are_those_asked_for(recipe):
    dataset = load_synthetic(recipe)
    assert dataset.nodes.n == recipe.nodes
    assert dataset.graph.m == max(1, round(recipe.nodes * recipe.degree / 2))
    assert dataset.nodes.n_features == recipe.features
    sizes = np.bincount(dataset.labels, minlength=recipe.classes)
    assert sizes.max() - sizes.min() <= 1


@given(recipes())
@settings(max_examples=30)
def test_full_and_zero_homophily_are_exact(recipe):
    dataset = load_synthetic(recipe)
    same = dataset.labels[dataset.graph.edges[:, 0]] == dataset.labels[dataset.graph.edges[:, 1]]
    if recipe.homophily == 1.0:
        assert same.all()
    if recipe.homophily == 0.0:
        assert not same.any()


def test_equal_seeds_give_equal_data_and_others_do_not():
    one, two, three = (load(f"synthetic:nodes=300,seed={seed}") for seed in (1, 1, 2))
    assert one.graph.digest == two.graph.digest
    assert one.labels.tolist() == two.labels.tolist()
    assert one.graph.digest != three.graph.digest


def test_the_full_name_loads_the_same_data_again():
    one = load("synthetic:nodes=300,degree=2.5,homophily=0.55,seed=3")
    assert load(one.name).graph.digest == one.graph.digest


def test_homophily_degrees_and_topics_show_at_size():
    """20,000 edges: the share within a class strays more than 0.02 from 0.8 once in 10^8 runs at most."""
    dataset = load("synthetic:nodes=10000,classes=4,degree=4,homophily=0.8,features=200,seed=5")
    edges, labels = dataset.graph.edges, dataset.labels
    assert (labels[edges[:, 0]] == labels[edges[:, 1]]).mean() == pytest.approx(0.8, abs=0.02)
    # A Poisson degree of mean 4 would pass 30 with chance 1e-16.
    assert dataset.graph.degree.max() > 30
    words = dataset.nodes.x.tocoo()
    own = words.col // 50 == labels[words.row]
    # 0.3 of the words from the own quarter, 0.7 from all: 0.475 in the own quarter, less a few repeats.
    assert own.mean() == pytest.approx(0.475, abs=0.02)


def test_rows_are_not_sorted_by_class():
    labels = load("synthetic:nodes=1000,classes=2").labels
    assert 0 < labels[:500].sum() < 500


def test_the_defaults_are_documented_values():
    assert parse_recipe("") == Recipe(2000, 5, 4.0, 0.8, 500, 0)
    assert parse_recipe(" nodes = 10 , classes=2,features=9,degree=1") == Recipe(10, 2, 1.0, 0.8, 9, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes=ten", "'ten'"),
        ("nodes=1e3", "whole number"),
        ("nodes", "nodes=..."),
        ("size=5", "homophily=..."),
        ("=5", "seed=..."),
        ("nodes=5,nodes=6", "twice"),
        ("nodes=3", "nodes"),
        ("nodes=99999999999", "nodes"),
        ("classes=1", "classes"),
        ("nodes=10,classes=6", "classes"),
        ("degree=0", "degree"),
        ("degree=nan", "degree"),
        ("degree=inf", "degree"),
        ("degree=-1", "degree"),
        ("nodes=20,classes=2,degree=19", "degree"),
        ("homophily=1.5", "homophily"),
        ("homophily=nan", "homophily"),
        ("features=1", "features"),
        ("seed=-1", "seed"),
        ("seed=\n", "seed"),
    ],
)
def test_bad_keys_and_values_are_refused(text, said):
    assert said in refusal(load, f"synthetic:{text}")
