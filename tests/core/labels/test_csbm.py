"""The generator keeps what its keys promise."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import BadInput
from core.labels.csbm import Recipe, load_csbm, parse


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize(("degree", "homophily", "gap", "margin"), [(4, 0.9, 4, 0.5), (9, 0.5, 2, 1.0), (1, 1.0, 0, 0)])
def test_counts_and_margins_are_exact(classes, degree, homophily, gap, margin):
    recipe = Recipe(120, classes, degree, homophily, gap, margin, seed=3)
    dataset = load_csbm(recipe)
    graph, labels, x = dataset.graph, dataset.labels, dataset.nodes.x.toarray()
    assert graph.m == 60 * degree
    assert (labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]).sum() == round(60 * degree * homophily)
    assert np.bincount(labels).tolist() == [120 // classes] * classes
    if classes == 2:
        assert np.abs(x).min() >= margin
    else:
        assert np.diff(np.sort(x, axis=1), axis=1)[:, -1].min() >= margin
    assert len(dataset.nodes.classes) == classes
    assert len(dataset.split.train)


@pytest.mark.parametrize("classes", [2, 4])
def test_class_means_lie_a_gap_apart(classes):
    """Means of 750 or more rows: within 5 standard errors of the distance, falsely red below once in a million."""
    dataset = load_csbm(Recipe(3000, classes, 1, 0.5, gap=3.0, margin=0, seed=1))
    x, labels = dataset.nodes.x.toarray(), dataset.labels
    means = np.array([x[labels == label].mean(axis=0) for label in range(classes)])
    for a in range(classes):
        for b in range(a):
            assert np.linalg.norm(means[a] - means[b]) == pytest.approx(3.0, abs=5 * np.sqrt(2 * classes / 3000))
    spread = x - means[labels]
    assert spread.std() == pytest.approx(1.0, abs=0.06)


def test_a_recipe_is_found_again_by_its_name_and_draws_the_same():
    recipe = Recipe(50, 3, 5.5, 0.7, 2.5, 0.25, 9)
    assert parse(recipe.name) == recipe
    assert load_csbm(recipe).digest == load_csbm(parse(recipe.name)).digest
    assert load_csbm(recipe).digest != load_csbm(Recipe(50, 3, 5.5, 0.7, 2.5, 0.25, 8)).digest
    assert parse("csbm:gap=3") == Recipe(gap=3.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("csbm:nodes=3", "csbm nodes: found 3"),
        ("csbm:nodes=ten", "csbm nodes: found 'ten', expected a whole number"),
        ("csbm:gap=wide", "csbm gap: found 'wide', expected a number"),
        ("csbm:gap=nan", "csbm gap: found nan"),
        ("csbm:colour=red", "found 'colour=red', expected one of: nodes="),
        ("csbm:gap=1,gap=2", "found 'gap=2'"),
        ("csbm:margin=9", "csbm margin: found 9.0, expected a number from 0 to 4"),
        ("csbm:degree=99", "csbm degree: found 99.0, expected one that 100 nodes have pairs for: 2450 in a class"),
        ("csbm:degree=0", "csbm degree: found 0.0"),
        ("csbm:degree=inf", "csbm degree: found inf"),
        ("csbm:classes=60", "csbm classes: found 60"),
        ("csbm:homophily=2", "csbm homophily: found 2.0"),
    ],
)
def test_bad_recipes_are_refused(name, message):
    with pytest.raises(BadInput, match=message):
        parse(name)


def test_a_margin_that_no_row_reaches_is_refused():
    with pytest.raises(BadInput, match="csbm margin: found 40"):
        load_csbm(Recipe(nodes=10, degree=2, gap=40.0, margin=40.0))
