"""The inverse question against grids, brute force and the exact preview of single releases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets import load
from core.errors import BadInput, Cancelled
from core.prior.prior import PriorKind, PriorRule
from core.release.distribution import release_distribution
from core.release.mechanism import Mechanism
from core.study.inverse import EPSILONS_TRIED, LARGEST, RHOS_TRIED, Answer, epsilon_for, rho_for
from core.study.rates import SMALLEST, epsilon_rate, lowest_rho, rho_rate
from core.study.settings import Settings
from core.study.study import Study
from core.universe import Arm, Limits, build_universe
from core.utility import UtilityConfig
from tests.core.smallgraphs import Case, brute_force_logits, make_case
from tests.core.study.test_losschain import make_study

LIMITS = Limits(3, 2, 2, 1)
SMALL = Settings(limits=LIMITS)
SILENT = UtilityConfig("0.1", "0.8", "0.1")  # pays ∅ more than any flip
KINDS = {
    "default": SMALL,
    "paper": Settings(limits=LIMITS, utility=UtilityConfig(sensitivity="paper")),
    "soft": Settings(limits=LIMITS, utility=UtilityConfig(soft=True)),
    "brief": Settings(limits=LIMITS, prior=PriorRule(size_penalty=1.5)),
    "edges": Settings(limits=LIMITS, arm=Arm.EDGE_ONLY),
    "pf": Settings(limits=LIMITS, mechanism=Mechanism.PF),
    "two-hop": Settings(limits=LIMITS, arm=Arm.TWO_HOP),
}
cases = st.builds(make_case, st.integers(0, 10_000), disclosed=st.sampled_from([0.4, 0.8, 1.0]))


@pytest.fixture(scope="module")
def karate() -> Study:
    return Study(load("karate"))


def released(study: Study, targets, rho: float, epsilon: float, chosen: Settings, seeds=None) -> float:
    """Mean valid-CF, summed over the candidates of every single release."""
    rates = []
    for desk, v in itertools.product([study.with_seed(seed) for seed in seeds] if seeds else [study], targets):
        scores, utility, prior = desk.evaluated(int(v), rho, epsilon, chosen)
        found = release_distribution(scores.universe, utility, prior, epsilon, chosen.mechanism)
        rates.append(found.probability[scores.flips].sum())
    return float(np.mean(rates))


def by_definition(case: Case, target: int, rho: float) -> Callable[[float], float]:
    """Valid-CF of one target as a function of ε, by dense forwards and the utility as it is written down."""
    universe = build_universe(case.graph.nodes, case.snapshot.prefix(rho), case.weights, target, LIMITS)
    predicted = brute_force_logits(case, universe).argmax(axis=2)
    flips, worth = [], []
    for i, j in np.ndindex(universe.shape):
        pairs, dims = universe.members(i, j)
        size = len(pairs) + len(dims)
        flips.append(bool(size) and predicted[i, j] != predicted[0, 0])
        plausible = case.graph.contains(pairs).mean() if len(pairs) else 0.0
        worth.append(0.7 + 0.2 * (1 - size / 3) + 0.1 * plausible if flips[-1] else 0.0 if size else 0.2)

    def rate(epsilon: float) -> float:
        weight = np.exp(epsilon * np.array(worth) / (2 * (0.7 + 0.2 * 2 / 3 + 0.1)))
        return float(weight[flips].sum() / weight.sum())

    return rate


@settings(max_examples=12, deadline=None)
@given(cases, st.integers(0, 8), st.floats(0.05, 0.95), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_smallest_epsilon_is_where_the_definition_crosses(case, target, valid, rho):
    answer = epsilon_for(make_study(case, real=True), [target], valid, rho, SMALL)
    rate = by_definition(case, target, rho)
    rates = [rate(e) for e in np.geomspace(1e-3, 500, 40)]
    assert np.diff(rates).min() >= -1e-12
    if answer.value is None:
        assert answer.ceiling == 0.0 and max(rates) == 0.0 == answer.reached
        return
    assert answer.ceiling == 1.0
    if answer.value == 0.0:
        assert rate(1e-9) >= valid - 1e-9
        return
    assert rate(answer.value) == pytest.approx(valid, rel=1e-7)
    assert answer.reached == pytest.approx(rate(answer.value), abs=1e-12)
    assert rate(answer.value * (1 - 1e-6)) < valid
    assert answer.reached >= valid


@settings(max_examples=12, deadline=None)
@given(cases, st.integers(0, 8), st.floats(0.05, 0.95), st.sampled_from([0.5, 3.0, 20.0]))
def test_the_smallest_rho_is_the_first_of_every_length_of_the_snapshot(case, target, valid, epsilon):
    answer = rho_for(make_study(case, real=True), [target], valid, epsilon, SMALL)
    m = len(case.snapshot)
    rates = [by_definition(case, target, stop / m)(epsilon) for stop in range(m + 1)]
    enough = [stop for stop, rate in enumerate(rates) if rate >= valid]
    if not enough:
        assert answer.value is None and answer.reached == pytest.approx(max(rates), abs=1e-12)
        return
    assert answer.value is not None and case.snapshot.stop(answer.value) == enough[0]
    assert answer.reached == pytest.approx(rates[enough[0]], abs=1e-12)
    if answer.value:
        assert case.snapshot.stop(math.nextafter(answer.value, 0.0)) == enough[0] - 1
    lost = next((stop for stop in range(enough[0], m + 1) if rates[stop] < valid), None)
    assert (answer.until == math.inf) == (lost is None)
    if lost is not None:
        assert case.snapshot.stop(answer.until) == lost
        assert case.snapshot.stop(math.nextafter(answer.until, 0.0)) < lost


@pytest.mark.parametrize("kind", KINDS)
def test_a_population_over_seeds_agrees_with_single_previews(karate, kind):
    chosen, targets, seeds = KINDS[kind], [2, 8, 30, 33], (0, 3)
    rate = epsilon_rate([karate, karate.with_seed(3)], np.array(targets), 0.6, chosen)
    assert rate.monotone
    for epsilon in (0.3, 4.0, 60.0):
        assert rate(epsilon) == pytest.approx(released(karate, targets, 0.6, epsilon, chosen, seeds), abs=1e-12)
    valid = (rate(0.5) + rate.ceiling) / 2
    answer = epsilon_for(karate, targets, valid, 0.6, chosen, seeds)
    assert answer.tried == () and (answer.targets, answer.seeds) == (4, 2)
    assert released(karate, targets, 0.6, answer.value, chosen, seeds) == pytest.approx(valid, rel=1e-7)
    assert answer.ceiling == rate.ceiling

    steps = rho_rate([karate, karate.with_seed(3)], np.array(targets), 2.0, chosen)
    grid = np.linspace(0, 1, 45)
    rates = np.array([released(karate, targets, rho, 2.0, chosen, seeds) for rho in grid])
    assert steps.rates[np.searchsorted(steps.rhos, grid, side="right") - 1] == pytest.approx(rates, abs=1e-12)
    valid = float((rates.min() + rates.max()) / 2)
    answer = rho_for(karate, targets, valid, 2.0, chosen, seeds)
    assert (rates[grid < answer.value] < valid).all()
    assert answer.reached == pytest.approx(released(karate, targets, answer.value, 2.0, chosen, seeds), abs=1e-12)
    assert answer.reached >= valid
    assert answer.shown >= answer.value and released(karate, targets, answer.shown, 2.0, chosen, seeds) >= valid - 1e-12


def test_two_hop_universes_change_with_pairs_of_the_neighbours_too(karate):
    chosen = Settings(limits=Limits(9, 1, 1, 1), arm=Arm.TWO_HOP)
    m = len(karate.snapshot)
    few = np.flatnonzero(karate.dataset.graph.degree <= 4)
    target = int(next(v for v in few if karate.scores(int(v), 1.0, chosen).flips.any()))
    steps = rho_rate([karate], np.array([target]), 2.0, chosen)
    each = np.array([released(karate, [target], stop / m, 2.0, chosen) for stop in range(m + 1)])
    assert steps.rates[np.searchsorted(steps.rhos, np.arange(m + 1) / m, side="right") - 1] == pytest.approx(each)
    changed = set(np.flatnonzero(np.diff(each)) + 1)
    assert changed - set(karate.snapshot.incident(target) + 1), "a pair of a neighbour must change the rate here"


def test_the_rate_never_falls_and_ends_at_the_ceiling_under_both_mechanisms(karate):
    for kind in ("default", "soft", "brief", "pf"):
        rate = epsilon_rate([karate], np.array([2, 8, 30, 5]), 0.6, KINDS[kind])
        rates = [rate(epsilon) for epsilon in np.r_[SMALLEST, np.geomspace(1e-3, 1e4, 60), LARGEST]]
        assert np.diff(rates).min() >= -1e-12, kind
        assert rates[-1] == rate.ceiling > rates[0], kind


def test_a_larger_wanted_rate_never_needs_less(karate):
    ceiling = epsilon_rate([karate], np.array([2, 8, 30]), 0.6, SMALL).ceiling
    answers = [epsilon_for(karate, [2, 8, 30], share * ceiling, 0.6, SMALL) for share in np.linspace(0.02, 0.98, 20)]
    values = [answer.value for answer in answers]
    assert values == sorted(values) and values[0] == 0.0 < values[-1]


def flipped_and_not(study: Study, rho: float) -> tuple[int, int]:
    """A target that some candidate flips at `rho`, and one that none does."""
    flips = [study.scores(v, rho, SMALL).flips.any() for v in range(study.dataset.nodes.n)]
    return flips.index(True), flips.index(False)


def test_the_ceiling_itself_is_not_reached_and_said_to_be_it(karate):
    able, unable = flipped_and_not(karate, 0.6)
    answer = epsilon_for(karate, [able, unable], 0.5, 0.6, SMALL)
    assert (answer.value, answer.shown, answer.ceiling, answer.reached) == (None, None, 0.5, 0.5)
    for other in (replace(SMALL, prior=PriorRule(PriorKind.GUIDED)), replace(SMALL, mechanism=Mechanism.PF)):
        bound = epsilon_for(karate, [able, unable], 0.5, 0.6, other)
        assert (bound.value, bound.ceiling, bound.tried) == (None, 0.5, ())  # said without a scan
    near = epsilon_for(karate, [able, unable], 0.4999999, 0.6, SMALL)
    assert 10 < near.value < math.inf and near.reached >= 0.4999999
    never = epsilon_for(karate, [unable], 1e-6, 0.6, SMALL)
    assert (never.value, never.ceiling, never.reached) == (None, 0.0, 0.0)
    assert epsilon_for(karate, [able], 1 - 1e-9, 0.6, SMALL).value > 20


def test_where_every_candidate_may_do_any_epsilon_does(karate):
    able, _ = flipped_and_not(karate, 0.6)
    share = karate.inspect(able, 0.6, 1e-9, SMALL).metrics.valid
    assert epsilon_for(karate, [able], share * (1 - 1e-6), 0.6, SMALL).value == 0.0
    assert epsilon_for(karate, [able], share * (1 + 1e-3), 0.6, SMALL).value > 0.0


@pytest.mark.parametrize("mechanism", Mechanism)
def test_weights_that_pay_silence_more_are_scanned_and_said_to_be(karate, mechanism):
    chosen = Settings(limits=LIMITS, utility=SILENT, mechanism=mechanism)
    able, _ = flipped_and_not(karate, 0.6)
    rate = epsilon_rate([karate], np.array([able]), 0.6, chosen)
    assert not rate.monotone and rate.ceiling == 1.0
    rates = [rate(epsilon) for epsilon in (SMALLEST, *EPSILONS_TRIED)]
    assert min(np.diff(rates)) < 0, "the case must show that the rate can fall"
    answer = epsilon_for(karate, [able], 0.999, 0.6, chosen)
    assert answer.value is None and answer.tried == EPSILONS_TRIED and answer.reached == pytest.approx(max(rates))
    if max(rates) > rates[0]:
        valid = (rates[0] + max(rates)) / 2
        found = epsilon_for(karate, [able], valid, 0.6, chosen)
        before = [e for e, one in zip(EPSILONS_TRIED, rates[1:], strict=True) if e < found.value and one >= valid]
        assert before == [] and rate(found.value) == pytest.approx(valid, rel=1e-7)


def test_equal_pay_is_constant_in_epsilon_and_its_limit_is_no_ceiling(karate):
    half = UtilityConfig(Fraction(1, 2), Fraction(1, 2), 0)
    chosen = Settings(limits=Limits(3, 0, 1, 0), utility=half, arm=Arm.EDGE_ONLY)
    seen = [karate.scores(v, 0.6, chosen).flips for v in range(34)]
    target = next(v for v, flips in enumerate(seen) if flips.any())
    chance = seen[target].sum() / (seen[target].sum() + 1)  # the flips and ∅ share the utility 1/2
    low = epsilon_rate([karate], np.array([target]), 0.6, chosen)
    assert low.monotone and low(LARGEST) == pytest.approx(chance)
    answer = epsilon_for(karate, [target], (1 + chance) / 2, 0.6, chosen)
    assert answer.value is None and answer.ceiling == 1.0 and answer.reached == pytest.approx(chance)


def test_the_guided_prior_is_scanned_on_a_stated_grid(karate):
    chosen = Settings(limits=LIMITS, prior=PriorRule(PriorKind.GUIDED))
    targets = [2, 8, 30]
    rate = epsilon_rate([karate], np.array(targets), 0.6, chosen)
    assert not rate.monotone
    valid = (rate(SMALLEST) + rate.ceiling) / 2
    answer = epsilon_for(karate, targets, valid, 0.6, chosen)
    assert answer.tried == EPSILONS_TRIED
    assert released(karate, targets, 0.6, answer.value, chosen) == pytest.approx(valid, rel=1e-6)
    below = [released(karate, targets, 0.6, e, chosen) for e in EPSILONS_TRIED if e < answer.value]
    assert max(below) < valid
    rates = [released(karate, targets, rho, 1.0, chosen) for rho in RHOS_TRIED]
    wanted = (min(rates) + max(rates)) / 2
    found = rho_for(karate, targets, wanted, 1.0, chosen)
    first = next(place for place, rate in enumerate(rates) if rate >= wanted)
    assert (found.value, found.shown, found.tried) == (RHOS_TRIED[first], RHOS_TRIED[first], RHOS_TRIED)
    never = rho_for(karate, targets, 0.999, 1.0, chosen)
    assert never.value is None and never.reached == pytest.approx(max(rates))


def test_a_real_snapshot_is_asked_once_whatever_the_seeds():
    study = make_study(make_case(5), real=True)
    assert epsilon_for(study, [0, 1], 0.2, 0.5, SMALL, seeds=(0, 1, 2)).seeds == 1


@pytest.mark.parametrize("m", [1, 2, 7, 78, 5278])
def test_the_lowest_rho_of_a_length_is_a_float_too_high_for_the_one_before(m):
    snapshot = make_case(1, n=120).snapshot if m > 700 else make_case(1, n=40).snapshot
    snapshot = type(snapshot)(np.array(list(itertools.islice(itertools.combinations(range(120), 2), m))), 120, False)
    for stop in range(0, m + 1, max(1, m // 60)):
        rho = lowest_rho(snapshot, stop)
        assert snapshot.stop(rho) == stop
        assert not stop or snapshot.stop(math.nextafter(rho, 0.0)) == stop - 1


def test_what_is_shown_is_short_and_still_enough():
    def answer(value, until=math.inf):
        return Answer("rho", 0.5, 1.0, value, until, 0.5, 1.0, 1, 1)

    assert answer(3.00001).shown == 3.01
    assert answer(0.1).shown == 0.1 and answer(0.35).shown == 0.35 and answer(1234.2).shown == 1240
    assert answer(0.41351, until=0.41358).shown == 0.41351
    assert answer(0.413511, until=0.41358).shown == 0.41352
    assert answer(None).shown is None and answer(0.0).shown == 0.0
    tight = math.nextafter(1 / 3, 1.0)
    assert answer(1 / 3, until=tight).shown == 1 / 3


@pytest.mark.parametrize("valid", [0, 1, 0.0, 1.0, -0.1, 1.5, float("nan"), True, "0.5", None])
@pytest.mark.parametrize("ask", [epsilon_for, rho_for])
def test_a_rate_must_be_a_share_that_can_be_reached(karate, ask, valid):
    with pytest.raises(BadInput, match=r"valid rate: found .*, expected a number between 0 and 1"):
        ask(karate, [0], valid, 1.0)


@pytest.mark.parametrize(
    ("ask", "arguments", "said"),
    [
        (epsilon_for, ([0], 0.5, 1.2), "rho"),
        (epsilon_for, ([0], 0.5, float("nan")), "rho"),
        (rho_for, ([0], 0.5, 0.0), "epsilon"),
        (rho_for, ([0], 0.5, float("inf")), "epsilon"),
        (epsilon_for, ([], 0.5, 1.0), "at least one target"),
        (epsilon_for, ([34], 0.5, 1.0), "target row"),
        (rho_for, ([-1], 0.5, 1.0), "target row"),
        (epsilon_for, ([0], 0.5, 1.0, None, []), "one seed"),
        (epsilon_for, ([0], 0.5, 1.0, None, [-1]), "seed"),
    ],
)
def test_bad_questions_are_refused(karate, ask, arguments, said):
    with pytest.raises(BadInput, match=said):
        ask(karate, *arguments)


def test_progress_counts_releases_and_both_can_be_stopped(karate):
    seen: list[tuple[int, int]] = []
    epsilon_for(karate, [2, 8], 0.3, 0.5, SMALL, (0, 1), progress=lambda *step: seen.append(step))
    assert seen == [(done, 4) for done in range(5)]
    for ask in (epsilon_for, rho_for):
        with pytest.raises(Cancelled):
            ask(karate, [2, 8], 0.3, 0.5, SMALL, cancelled=lambda: True)
    asked = iter([False] * 2 + [True])
    with pytest.raises(Cancelled, match="looking for"):
        epsilon_for(karate, [2, 8], 0.3, 0.5, SMALL, cancelled=asked.__next__)
