from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from core.audit.certified import Auditing, audit, audit_pairs
from core.audit.claims import Claim, Pair, Relation
from core.audit.evaluation import Level, certify, column
from core.audit.sampling import Role, Sample, Witness
from core.audit.selection import Choice, Event, Tail
from core.audit.witnesses import Coordinate
from core.audit.zoo.choices import CHOSEN, BitResponse
from core.audit.zoo.counts import ELEVEN, NUMBER, LaplaceCount
from core.errors import BadInput

BIT = Pair("bit", (1,), (0,), Relation.RECORD)


def claim(epsilon, delta=0.0):
    return Claim(epsilon, Relation.RECORD, delta)


def run(release, pair, epsilon, witnesses, delta=0.0, **options):
    return audit(release, pair, claim(epsilon, delta), witnesses, **{"seed": 0, **options})


def sample(role, one, other):
    return Sample(role, np.array(one, dtype=float)[:, None], np.array(other, dtype=float)[:, None])


def by_hand(delta=0.0, level=None, favours=0):
    """Event `value >= 1` with 60 of 100 and 10 of 80 hits on the evaluation sample."""
    level = level or Level()
    chosen = column(sample(Role.SELECTION, [1, 1, 0], [0, 0, 1]), 0, Role.SELECTION)
    sides = np.arange(100) < 60, np.arange(80) < 10
    fresh = column(sample(Role.EVALUATION, *(sides if favours == 0 else sides[::-1])), 0, Role.EVALUATION)
    choice = Choice(Event(Tail.AT_LEAST, 1.0, favours), 0.4)
    return certify(
        BIT, CHOSEN[0], choice, chosen, fresh, claim(0.5, delta), level, level.bound_error, looks=1, seed=3
    )  # fmt: skip


def test_a_result_by_hand():
    low = binomtest(60, 100, alternative="greater").proportion_ci(0.995, "exact").low
    high = binomtest(10, 80, alternative="less").proportion_ci(0.995, "exact").high
    result = by_hand()
    assert (result.alpha_count, result.beta_count, result.evaluated) == (60, 10, 100)
    assert (result.select_alpha, result.select_beta, result.selected) == (2, 1, 3)
    assert result.alpha_low == pytest.approx(low)
    assert result.beta_up == pytest.approx(high)
    assert result.epsilon_lb == pytest.approx(math.log(low / high))
    assert result.rejected
    assert result.verdict == "claim rejected"
    assert (result.pair, result.witness, result.event, result.favours) == ("bit", "outcome", "value >= 1", "one")
    assert (result.confidence, result.test_confidence, result.looks, result.seed) == (0.99, 0.99, 1, 3)


def test_the_other_direction_swaps_the_sides():
    assert by_hand(favours=1).epsilon_lb == by_hand().epsilon_lb
    assert by_hand(favours=1).favours == "other"


def test_delta_is_taken_off_the_larger_probability():
    result = by_hand(delta=0.2)
    assert result.epsilon_lb == pytest.approx(math.log((result.alpha_low - 0.2) / result.beta_up))
    nothing = by_hand(delta=0.5)
    assert nothing.alpha_low < 0.5
    assert nothing.epsilon_lb == 0
    assert nothing.verdict == "no violation found"


def test_simultaneous_confidence_is_shared_by_the_tests():
    level = Level(0.99, simultaneous=True, tests=10)
    result = by_hand(level=level)
    low = binomtest(60, 100, alternative="greater").proportion_ci(1 - 0.0005, "exact").low
    assert result.alpha_low == pytest.approx(low)
    assert result.test_confidence == pytest.approx(0.999)
    assert result.epsilon_lb < by_hand().epsilon_lb
    assert (result.confidence, result.simultaneous, result.tests) == (0.99, True, 10)


@pytest.mark.parametrize("value", [0.4, 1.0, math.nan, True])
def test_a_bad_confidence_is_refused(value):
    with pytest.raises(BadInput, match="confidence: found"):
        Level(value)


def test_a_sample_can_serve_one_part_only():
    chosen = sample(Role.SELECTION, [1, 0], [0, 0])
    with pytest.raises(BadInput, match="found a sample drawn for selection, expected one for evaluation"):
        column(chosen, 0, Role.EVALUATION)
    used = column(chosen, 0, Role.SELECTION)
    with pytest.raises(BadInput, match="found one sample in both parts"):
        certify(BIT, CHOSEN[0], Choice(Event(Tail.AT_LEAST, 1.0, 0), 0.4), used, used, claim(1), Level(), 0.005, 1, 0)


def test_selection_and_evaluation_draw_with_seeds_of_their_own():
    with Auditing(LaplaceCount(1.0), [ELEVEN], claim(1), NUMBER, select=1_000, seed=0, looks=False) as auditing:
        auditing.more(1_000)
        parts = [auditing._selection[0].one, auditing._selection[0].other]
        parts += [auditing._evaluation[0].one, auditing._evaluation[0].other]
    assert len(np.unique(np.concatenate(parts))) == 4_000


@pytest.mark.parametrize(("confidence", "epsilon", "draws"), [(0.8, 1.0, 60), (0.9, 0.4, 150)])
def test_a_bound_exceeds_the_truth_no_oftener_than_stated(confidence, epsilon, draws):
    """600 audits of randomized response, which shows exactly ε: more than the limit by chance in 1 of 10^6 at most."""
    bounds = np.array(
        [
            run(
                BitResponse(epsilon), BIT, epsilon, CHOSEN, select=50, evaluate=draws, confidence=confidence, seed=seed
            )[0].epsilon_lb
            for seed in range(600)
        ]
    )
    wrong = int((bounds > epsilon).sum())
    assert wrong <= binom.isf(1e-6, 600, 1 - confidence)
    assert wrong > 0  # the bounds are tight enough to fail at times


def test_a_correct_mechanism_stays_and_a_broken_one_goes():
    """A correct one is rejected by chance in 1 of 100 runs at most; the seed is fixed."""
    assert run(LaplaceCount(1.0), ELEVEN, 1.0, NUMBER)[0].verdict == "no violation found"
    found = run(LaplaceCount(0.5), ELEVEN, 1.0, NUMBER)[0]
    assert found.rejected
    assert 1.5 < found.epsilon_lb < 2.0


def test_one_result_a_pair_and_witness_in_their_order():
    pairs = [ELEVEN, Pair("10 and 9", (1,) * 10, (1,) * 9, Relation.RECORD)]
    witnesses = [*NUMBER, Witness("twice", twice)]
    results = audit_pairs(LaplaceCount(1.0), pairs, claim(1), witnesses, evaluate=500, seed=0, simultaneous=True)
    assert [(r.pair, r.witness) for r in results] == [(p.name, w.name) for p in pairs for w in witnesses]
    assert {r.tests for r in results} == {4}
    assert results[0].alpha_low == results[1].alpha_low  # a monotone witness has the same events


def twice(output):
    return 2 * float(output[0])


def test_a_pair_of_another_relation_is_refused():
    with pytest.raises(BadInput, match="found neighbours by relation record, the claim is about edge"):
        audit(LaplaceCount(1.0), ELEVEN, Claim(1.0, Relation.EDGE), NUMBER, seed=0)


def test_progress_goes_from_nothing_to_everything():
    seen = []
    run(LaplaceCount(1.0), ELEVEN, 1.0, NUMBER, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 1_000)
    assert seen[-1] == (1_000, 1_000)
    assert seen == sorted(seen)


# While samples arrive.


def live(**options):
    return Auditing(BitResponse(1.0), [BIT], claim(0.5), CHOSEN, select=400, first=100, seed=1, **options)


def test_looks_double_and_share_the_confidence():
    with live() as auditing:
        assert auditing.more(99) == []
        (first,) = auditing.more(2)
        assert (first.evaluated, first.looks) == (100, 1)
        assert first.test_confidence == pytest.approx(1 - 0.01 / 2)
        assert auditing.more(90)[0] == first
        auditing.more(1_500)
        (later,) = auditing.results()
    assert auditing.drawn == 1_691
    assert later.looks == 5
    assert later.evaluated in (100, 200, 400, 800, 1_600)
    assert later.epsilon_lb >= first.epsilon_lb
    shares = [1 / (k * (k + 1)) for k in range(1, 10_000)]
    assert sum(shares) < 1


def test_what_is_certified_live_is_a_test_at_the_smaller_error():
    with live() as auditing:
        (found,) = auditing.more(1_600)
    k = {100: 1, 200: 2, 400: 3, 800: 4, 1_600: 5}[found.evaluated]
    error = 0.005 / (k * (k + 1))
    low = binomtest(found.alpha_count, found.evaluated, alternative="greater").proportion_ci(1 - error, "exact").low
    assert found.alpha_low == pytest.approx(low)
    assert found.test_confidence == pytest.approx(1 - 2 * error)


def test_live_and_at_once_draw_the_same():
    with live() as auditing:
        for n in (3, 400, 97):
            auditing.more(n)
        (preview,) = auditing.preview()
        certified = auditing.results()
    (whole,) = audit(BitResponse(1.0), BIT, claim(0.5), CHOSEN, select=400, evaluate=500, seed=1)
    assert (preview.event, preview.alpha_count, preview.beta_count) == (
        whole.event,
        whole.alpha_count,
        whole.beta_count,
    )
    assert preview.epsilon_lb == whole.epsilon_lb
    assert certified[0].epsilon_lb < whole.epsilon_lb


def test_looking_at_any_time_keeps_the_stated_rate():
    """300 correct claims through 6 looks, each ever rejected with 0.1 at most: beyond the limit in 1 of 10^6."""
    ever = 0
    for seed in range(300):
        with Auditing(
            BitResponse(1.0), [BIT], claim(1.0), CHOSEN, select=60, first=25, confidence=0.9, seed=seed
        ) as one:
            ever += any(one.more(200)[0].rejected for _ in range(4))
    assert ever <= binom.isf(1e-6, 300, 0.1)


def test_a_second_look_at_a_sample_for_one_is_refused():
    with live(looks=False) as auditing:
        auditing.more(10)
        with pytest.raises(BadInput, match="found a second look at the evaluation sample, expected one"):
            auditing.more(10)


@dataclass(frozen=True)
class Hidden:
    """A release that shows the record only through its second entry."""

    def __call__(self, data, rng):
        return rng.random(), float(data[0])


def test_only_the_best_tests_are_kept_and_counted():
    witnesses = [Witness(f"entry {k}", Coordinate(k)) for k in (0, 1)]
    results = audit_pairs(
        Hidden(), [BIT], claim(1), witnesses, select=100, evaluate=200, keep=1, simultaneous=True, seed=0
    )
    assert [(r.witness, r.tests, r.test_confidence) for r in results] == [("entry 1", 1, 0.99)]
