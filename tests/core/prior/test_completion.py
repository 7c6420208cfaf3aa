"""Random completions against the model that their docstring states, in exact means and in what never happens.

A count is compared with its exact mean in standard errors. Each statistical test allows a false alarm
once in a million over all its comparisons (Bonferroni); seeds are fixed, so a run never differs.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from core.graph import PublicGraph
from core.prior import completion as completion_module
from core.prior.completion import HiddenTies, Trust
from tests.core.smallgraphs import make_nodes

TIMES = 20_000
FALSE_ALARM = 1e-6


class Model:
    """A snapshot that ties like with like, what its hidden ties are drawn from, and their law node by node."""

    def __init__(self, seed, n=20, classes=3, hidden=18, density=0.4):
        rng = np.random.default_rng(seed)
        self.probabilities = rng.dirichlet(np.full(classes, 0.4), size=n)
        likely = self.probabilities.argmax(axis=1)
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        rate = density ** np.where(likely[pairs[:, 0]] == likely[pairs[:, 1]], 1, 3)
        self.graph = PublicGraph(make_nodes(rng, n, classes=classes), pairs[rng.random(len(pairs)) < rate])
        self.features = rng.normal(size=(n, 4))
        self.ties = HiddenTies(self.graph, hidden, self.probabilities, self.features)
        self.weight = [int(self.graph.degree[u]) + 1 for u in range(n)]
        self.expected = np.array([2 * hidden * w / sum(self.weight) for w in self.weight])
        self.n = n

    def around(self, target, trust, seed, times=TIMES):
        rng = np.random.default_rng(seed)
        return self.ties.around(target, self.graph.neighbours(target), trust, times, rng)

    def membership(self, trust):
        """Chance of each class, for each node."""
        if trust is Trust.NONE:
            return np.ones((self.n, 1))
        if trust is Trust.SAMPLED:
            return self.probabilities
        return np.eye(self.probabilities.shape[1])[self.probabilities.argmax(axis=1)]

    def partners(self, trust):
        """Chance that a tie of an owner of a class ends at a node, classes x n."""
        member = self.membership(trust)
        classes = member.shape[1]
        weight = np.array(self.weight)[:, None] * member
        table = np.zeros((classes, self.n))
        for mine in range(classes):
            affinity = np.zeros(classes)
            for u, w in self.graph.edges:
                for a, b in ((u, w), (w, u)):
                    affinity += self._share(a, mine, trust) * np.array(
                        [self._share(b, c, trust) for c in range(classes)]
                    )
            affinity *= weight.sum(axis=0) > 0
            for theirs in np.flatnonzero(affinity):
                table[mine] += affinity[theirs] / affinity.sum() * weight[:, theirs] / weight[:, theirs].sum()
        return table

    def _share(self, node, of, trust):
        return 1.0 if trust is Trust.NONE else self.probabilities[node, of]


def assert_close(found, mean, variance):
    """Every found value within its share of the false alarms of a normal with that mean and variance."""
    found, mean, variance = (np.asarray(value, dtype=float).ravel() for value in (found, mean, variance))
    bound = norm.isf(FALSE_ALARM / (2 * len(found)))
    assert (np.abs(found - mean) <= bound * np.sqrt(variance) + 1e-9).all()


def target_of(model):
    """A node with neighbours in the snapshot and others without."""
    return int(np.argsort(model.graph.degree)[model.n // 2])


def presence(model, completion, target):
    """How often each node is a hidden neighbour, n."""
    return np.bincount(completion.rows[completion.hidden], minlength=model.n)


def chances(model, trust, target):
    """Exact chance that a node is a hidden neighbour: at least one of a Poisson number of ties ends there."""
    found = 1 - np.exp(-model.expected[target] * model.partners(trust))
    found[:, [target, *model.graph.neighbours(target)]] = 0
    return found


@pytest.mark.parametrize("seed", range(3))
def test_expected_ties_follow_degree_and_sum_to_both_ends_of_the_hidden_pairs(seed):
    model = Model(seed, hidden=7)
    assert model.ties.expected == pytest.approx(model.expected)
    assert model.ties.expected.sum() == pytest.approx(14)


@pytest.mark.parametrize("trust", Trust)
@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_neighbours_come_as_often_as_the_model_says(trust, seed):
    """Class affinity of the partner, its degree, and the Poisson number of ties, all in one table of chances."""
    model = Model(seed)
    target = target_of(model)
    chance = model.membership(trust)[target] @ chances(model, trust, target)
    found = presence(model, model.around(target, trust, seed), target)
    assert_close(found, TIMES * chance, TIMES * chance * (1 - chance))


def test_the_three_trusts_differ():
    """So the comparison above can fail: each table of chances is far from the draws of the others."""
    model = Model(0)
    target = target_of(model)
    found = {trust: presence(model, model.around(target, trust, 0), target) / TIMES for trust in Trust}
    for trust in Trust:
        chance = model.membership(trust)[target] @ chances(model, trust, target)
        for other in set(Trust) - {trust}:
            assert np.abs(found[other] - chance).max() > 0.02


@pytest.mark.parametrize("hidden", [1, 5, 40])
def test_number_of_hidden_neighbours_has_the_poisson_mean(hidden):
    """Many nodes, so that hardly two ties meet: what is lost to those and to known neighbours is counted exactly."""
    model = Model(2, n=300, hidden=hidden, density=0.02)
    target = target_of(model)
    chance = chances(model, Trust.NONE, target)[0]
    found = presence(model, model.around(target, Trust.NONE, 3), target).sum()
    assert_close(found, TIMES * chance.sum(), TIMES * (chance * (1 - chance)).sum())
    assert chance.sum() == pytest.approx(model.expected[target], rel=0.05)


def test_without_trust_partners_come_by_degree():
    model = Model(4, n=40, hidden=2, density=0.2)
    target = target_of(model)
    partners = model.partners(Trust.NONE)[0]
    assert partners == pytest.approx((model.graph.degree + 1) / (model.graph.degree + 1).sum())
    found = presence(model, model.around(target, Trust.NONE, 5), target)
    apart = [u for u in range(model.n) if u != target and u not in model.graph.neighbours(target)]
    leaf, hub = min(apart, key=model.graph.degree.item), max(apart, key=model.graph.degree.item)
    assert model.weight[hub] >= 3 * model.weight[leaf]
    rate = model.expected[target] * partners[[leaf, hub]]
    assert_close(found[[leaf, hub]], TIMES * (1 - np.exp(-rate)), TIMES * rate)


@pytest.mark.parametrize("trust", Trust)
def test_ties_of_known_neighbours_have_the_poisson_mean(trust):
    """Those that would end at the neighbour itself or at the target are left out."""
    model = Model(5)
    target = target_of(model)
    completion = model.around(target, trust, 6)
    found, mean, variance = [], [], []
    for u in model.graph.neighbours(target):
        member, kept = model.membership(trust)[u], 1 - model.partners(trust)[:, [u, target]].sum(axis=1)
        rate = model.expected[u] * kept
        found.append(completion.ties[(completion.rows == u) & ~completion.hidden].mean())
        mean.append(member @ rate)
        variance.append((member @ rate + member @ (rate - member @ rate) ** 2) / TIMES)
    assert_close(found, mean, variance)


@pytest.mark.parametrize("trust", [Trust.MODAL, Trust.NONE])
def test_sums_over_ties_have_the_mean_of_the_model(trust):
    """Each tie adds `z_w / sqrt(d_w)`, with `d_w` the snapshot's degree, itself, this tie and the mean hidden ones."""
    model = Model(6)
    target = target_of(model)
    completion = model.around(target, trust, 7)
    message = model.features / np.sqrt(np.array(model.weight) + 1 + model.expected)[:, None]
    known = model.graph.neighbours(target)
    found, mean, variance = [], [], []
    for u in known:
        rate = model.expected[u] * (model.membership(trust)[u] @ model.partners(trust))
        rate[[u, target]] = 0
        found.append(completion.sums[(completion.rows == u) & ~completion.hidden].mean(axis=0))
        mean.append(rate @ message)
        variance.append(rate @ message**2 / TIMES)
    assert_close(found, mean, variance)


def test_ties_of_hidden_neighbours_follow_their_own_class():
    model = Model(7)
    target = target_of(model)
    completion = model.around(target, Trust.MODAL, 8)
    rows = completion.rows[completion.hidden]
    mine = model.probabilities.argmax(axis=1)[rows]
    partners = model.partners(Trust.MODAL)
    mean = model.expected[rows] * (1 - partners[mine, rows] - partners[mine, target])
    assert_close(completion.ties[completion.hidden].sum(), mean.sum(), mean.sum())


def test_a_partner_ties_on_as_the_class_it_was_found_by():
    """Two classes that never mix; node 8 may be of either, but the first class alone can find it."""
    probabilities = np.repeat(np.eye(2), 4, axis=0)
    probabilities = np.vstack([probabilities, [[0.5, 0.5]]])
    edges = np.array([[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7]])
    graph = PublicGraph(make_nodes(np.random.default_rng(0), 9, classes=2), edges)
    features = probabilities.copy()
    features[8] = 0
    ties = HiddenTies(graph, 12, probabilities, features)
    completion = ties.around(0, graph.neighbours(0), Trust.SAMPLED, 3_000, np.random.default_rng(1))
    hidden = completion.rows[completion.hidden]
    assert set(hidden.tolist()) == {2, 3, 8}
    assert completion.ties[completion.rows == 8].sum() > 0
    assert completion.sums[completion.rows == 8][:, 0].sum() > 0
    assert not completion.sums[:, 1].any()


def test_a_class_without_snapshot_ties_finds_any_class_that_has_members():
    """The target's class was never tied, and no node may be of class 2: the two others are equally likely."""
    probabilities = np.array([[1.0, 0, 0]] * 3 + [[0, 1.0, 0]] * 5)
    graph = PublicGraph(make_nodes(np.random.default_rng(0), 8), np.array([[4, 5], [5, 6]]))
    ties = HiddenTies(graph, 4, probabilities, np.zeros((8, 2)))
    completion = ties.around(0, graph.neighbours(0), Trust.MODAL, TIMES, np.random.default_rng(2))
    weight = np.array([1, 1, 1, 1, 2, 3, 2, 1])
    share = np.r_[weight[:3] / weight[:3].sum(), weight[3:] / weight[3:].sum()] / 2
    chance = 1 - np.exp(-ties.expected[0] * share)
    chance[0] = 0
    found = np.bincount(completion.rows[completion.hidden], minlength=8)
    assert_close(found, TIMES * chance, TIMES * chance * (1 - chance))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    hidden=st.integers(0, 60),
    density=st.sampled_from([0.0, 0.2, 1.0]),
    trust=st.sampled_from(list(Trust)),
    times=st.integers(1, 6),
)
def test_no_completion_ties_the_target_to_itself_or_twice(seed, n, hidden, density, trust, times):
    model = Model(seed, n=n, hidden=hidden, density=density)
    target = seed % n
    known = model.graph.neighbours(target).tolist()
    completion = model.around(target, trust, seed, times)
    t = len(completion.rows)
    assert [len(part) for part in (completion.place, completion.hidden, completion.ties, completion.sums)] == [t] * 4
    assert (np.diff(completion.place) >= 0).all()
    for k in range(times):
        here = completion.place == k
        rows, fresh = completion.rows[here].tolist(), completion.hidden[here]
        assert rows[: len(known)] == known
        assert fresh.tolist() == [False] * len(known) + [True] * (len(rows) - len(known))
        assert len(set(rows)) == len(rows)
        assert target not in rows
        assert all(0 <= row < n for row in rows)
    assert not completion.sums[completion.ties == 0].any()
    assert (completion.ties >= 0).all()
    if not hidden:
        assert not completion.hidden.any()
        assert not completion.ties.any()


@given(seed=st.integers(0, 10**6), trust=st.sampled_from(list(Trust)))
def test_the_same_generator_draws_the_same_completions(seed, trust):
    model, again = Model(seed), Model(seed)
    one, other = model.around(3, trust, seed, 4), again.around(3, trust, seed, 4)
    for name in ("place", "rows", "hidden", "ties", "sums"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert model.around(3, trust, seed + 1, 50).rows.tolist() != model.around(3, trust, seed, 50).rows.tolist()


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    classes=st.integers(1, 4),
    kept=st.sampled_from([1, 5, 1000]),
    empty=st.booleans(),
)
def test_partners_are_looked_up_as_in_one_list_of_running_sums(seed, n, classes, kept, empty):
    """All nodes, class by class, each with `weight x membership`; points also on the very bounds of a class."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 9, size=n).astype(float)
    probabilities = rng.dirichlet(np.full(classes, 0.3), size=n)
    if empty and classes > 1:
        probabilities[:, 1] = 0.0
    modal = probabilities.argmax(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion_module, "KEPT_SUMS", kept)
        ways = [
            (completion_module._Spread(weight, probabilities), probabilities),
            (completion_module._Listed(weight, modal, classes), np.eye(classes)[modal]),
        ]
    for way, member in ways:
        ends = (weight[:, None] * member).T.ravel().cumsum()
        bounds = np.concatenate([[0.0], ends[n - 1 :: n]])
        assert way.bounds.tolist() == bounds.tolist()
        theirs = rng.choice(np.flatnonzero(np.diff(bounds) > 0), size=50)
        points = bounds[theirs] + rng.choice([0.0, 0.3, 1.0, rng.random()], size=50) * np.diff(bounds)[theirs]
        on_an_end = ends[rng.integers(len(ends), size=50)]
        inside = (on_an_end >= bounds[theirs]) & (on_an_end < bounds[theirs + 1])
        points = np.where(inside & (rng.random(50) < 0.5), on_an_end, points)
        places = np.clip(np.searchsorted(ends, points, side="right") - theirs * n, 0, n - 1)
        assert way.nodes(points, theirs).tolist() == places.tolist()


def test_class_affinity_is_the_same_in_blocks_of_pairs(monkeypatch):
    model = Model(8)
    whole = completion_module._tied(model.graph, model.probabilities)
    monkeypatch.setattr(completion_module, "BLOCK_PAIRS", 3)
    assert completion_module._tied(model.graph, model.probabilities) == pytest.approx(whole, rel=1e-12)
