"""One release: what is debited, what is drawn, what the card says, and what survives a crash."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core.desk import release as module
from core.desk.ledger import Debit, Ledger
from core.desk.outcome import Outcome, outcome_of
from core.desk.release import MOST_PERMUTED, asked, release
from core.errors import BadInput, BudgetRefused, PrivCFSError
from core.release.latency import LEAST_DRAWING, LEAST_SCORING
from core.release.mechanism import Mechanism
from core.study.settings import Settings
from core.universe import Arm, Limits
from tests.core.desk.studies import GUIDED, SMALL, new_ledger, small_study, study_of
from tests.core.smallgraphs import make_case

HALF = Fraction(1, 2)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def ledger(tmp_path):
    with new_ledger(tmp_path) as made:
        yield made


def debit_of(study, target, rho, settings, epsilon, account, key):
    request = asked(study, target, rho, settings, epsilon)[2]
    return Debit(account, key, epsilon, Fraction(0), request.mechanism, "a test", request.text, "0" * 64)


PERMUTED = replace(SMALL, mechanism=Mechanism.PF)


@pytest.mark.parametrize("settings", [SMALL, GUIDED, PERMUTED], ids=["em", "guided", "pf"])
def test_a_release_is_paid_drawn_settled_and_told(ledger, settings):
    study = small_study()
    card, entry = release(study, 2, 1.0, settings, HALF, ledger, "small", "k")
    assert ledger.account("small").spent == HALF and ledger.account("small").entries == 1
    assert ledger.entry("small", "k") == entry and entry.outcome == card.outcome.text
    universe = study.scores(2, 1.0, settings).universe
    place = card.outcome.place(universe, study.dataset.nodes)
    assert place is not None and outcome_of(universe, study.dataset.nodes, *place) == card.outcome
    assert card.certified and card.key == "k" and card.issued == entry.at
    assert card.request.epsilon == HALF and card.request.mechanism == settings.mechanism.value
    assert entry.graph_digest == study.dataset.graph.digest and entry.what == "explanation of node n2"
    assert study.dataset.graph.digest not in card.text


@pytest.mark.parametrize("arm", list(Arm))
def test_every_arm_is_released_from_the_universe_that_was_announced(ledger, monkeypatch, arm):
    monkeypatch.setattr(module, "waited", lambda work, _: work())
    study, settings = small_study(), replace(GUIDED, arm=arm)
    card, _ = release(study, 2, 0.5, settings, HALF, ledger, "small", "k")
    universe = study.scores(2, 0.5, settings).universe
    assert card.request.digests.universe == universe.digest and card.request.candidates == universe.size
    assert card.outcome.place(universe, study.dataset.nodes) is not None


def test_the_same_key_gives_the_same_card_and_costs_once(ledger):
    study = small_study()
    first, _ = release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")
    for _ in range(3):
        again, _ = release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")
        assert again.text == first.text
    assert ledger.account("small").spent == HALF


def test_new_keys_are_new_draws(ledger, monkeypatch):
    """All 8 alike would be a false alarm of below 1e-6: no candidate has a chance of more than 0.15."""
    study, settings = small_study(), SMALL
    monkeypatch.setattr(module, "waited", lambda work, _: work())
    probability = study.inspect(2, 1.0, 0.5, settings).distribution.probability
    assert probability.max() < 0.15
    cards = [release(study, 2, 1.0, settings, HALF, ledger, "small", str(i))[0] for i in range(8)]
    assert len({card.outcome for card in cards}) > 1
    assert ledger.account("small").spent == 4


def test_the_mechanism_gets_no_more_than_was_paid(ledger, monkeypatch):
    """0.1 as a float is more than 1/10."""
    seen = []
    real = module.draw
    monkeypatch.setattr(module, "waited", lambda work, _: work())
    monkeypatch.setattr(module, "draw", lambda distribution: seen.append(distribution.epsilon) or real(distribution))
    for key, paid in (("a", Fraction(1, 10)), ("b", Fraction(1, 3)), ("c", Fraction(2))):
        release(small_study(), 2, 1.0, SMALL, paid, ledger, "small", key)
        assert Fraction(seen[-1]) <= paid < Fraction(np.nextafter(seen[-1], np.inf))
    assert seen[0] < 0.1


# Nothing else that the ties determine.


@pytest.mark.parametrize(("settings", "step"), [(SMALL, 1), (GUIDED, 4)], ids=["uniform", "guided"])
def test_neighbours_with_the_same_outcome_give_the_same_bytes(tmp_path, settings, step):
    """All 36 neighbours of a graph on 9 nodes, or every fourth; the outcome is settled before, so nothing is drawn."""
    case = make_case(5)
    pairs = list(itertools.combinations(range(9), 2))[::step]
    graphs = [case.graph, *(case.graph.toggled(u, v) for u, v in pairs)]
    names = [f"a{i}" for i in range(len(graphs))]
    texts = set()
    drawn = None
    with new_ledger(tmp_path, "10", *names) as ledger:
        for name, graph in zip(names, graphs, strict=True):
            study = study_of(case, graph)
            if drawn is not None:
                ledger.debit(debit_of(study, 4, 0.8, settings, HALF, name, "k"))
                ledger.settle(name, "k", drawn)
            card, entry = release(study, 4, 0.8, settings, HALF, ledger, name, "k")
            drawn = entry.outcome
            texts.add(re.sub(r'"issued": "[^"]*"', "", card.text))
    assert len({graph.digest for graph in graphs}) == 1 + len(pairs)
    assert len(texts) == 1


def test_a_card_names_no_figure_of_the_graph(ledger):
    """Every number on the card is accounted for by public inputs."""
    study = small_study()
    card, _ = release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")
    words = json.dumps(list(leaves(card.to_json()))).lower()
    for forbidden in ("plausib", "ceiling", "margin", "valid", "degree", "predicted", "runner"):
        assert forbidden not in words
    universe = study.scores(2, 1.0, SMALL).universe
    settings = {0.0, 1.0, 2.0, 3.0, 4.0, 19.0, 20.0}
    public = settings | {len(study.snapshot), universe.size} | set(universe.feature_dims.tolist())
    assert {value for value in leaves(card.to_json()) if isinstance(value, int | float)} <= public


def leaves(value):
    for name, part in value.items() if isinstance(value, dict) else ((None, part) for part in value):
        if name is not None and name not in ("assumptions", "statement"):
            yield name
        if isinstance(part, dict | list) and name != "assumptions":
            yield from leaves(part)
        elif name != "statement":
            yield part


def test_a_simulated_snapshot_makes_a_demonstration(ledger):
    study = small_study(simulated=True)
    card, _ = release(study, 2, 0.5, SMALL, HALF, ledger, "small", "k")
    told = card.to_json()
    assert not card.certified and told["certified"] is False
    assert told["snapshot"] == {"kind": "simulated", "rho": 0.5, "pairs": None, "seed": 0}
    assert "simulated" in told["doubts"][0] and told["guarantee"]["statement"].startswith("A demonstration")


# Nothing is debited for what can't be.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": 9}, "target row"),
        ({"target": -1}, "target row"),
        ({"rho": 1.5}, "rho"),
        ({"rho": float("nan")}, "rho"),
        ({"epsilon": Fraction(0)}, "epsilon"),
        ({"epsilon": Fraction(-1)}, "epsilon"),
        ({"epsilon": Fraction(10**7)}, "epsilon"),
        ({"account": "nobody"}, "nobody"),
        ({"key": ""}, "key"),
        ({"key": "a\nb"}, "key"),
    ],
)
def test_bad_input_is_refused_before_the_debit(ledger, change, message):
    given = {"target": 2, "rho": 1.0, "settings": SMALL, "epsilon": HALF, "account": "small", "key": "k"} | change
    target, rho, settings, epsilon, account, key = given.values()
    with pytest.raises(BadInput, match=message) as caught:
        release(small_study(), target, rho, settings, epsilon, ledger, account, key)
    assert "\n" not in str(caught.value)
    assert ledger.account("small").entries == 0


def test_permute_and_flip_is_for_small_universes(ledger):
    settings = Settings(limits=Limits(12, 12, 3, 4), mechanism=Mechanism.PF)
    study = study_of(make_case(3, n=20, disclosed=0.9))
    size = asked(study, 2, 1.0, replace(settings, mechanism=Mechanism.EM), HALF)[0].size
    assert size > MOST_PERMUTED
    with pytest.raises(BadInput, match=rf"found pf for {size:,} candidates, expected at most 1,000"):
        release(study, 2, 1.0, settings, HALF, ledger, "small", "k")
    assert ledger.account("small").entries == 0


def test_too_little_is_refused_and_changes_nothing(tmp_path):
    with new_ledger(tmp_path, "0.6") as ledger:
        release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")
        with pytest.raises(BudgetRefused, match=r"0\.5.*0\.1"):
            release(small_study(), 3, 1.0, SMALL, HALF, ledger, "small", "l")
        assert ledger.account("small").entries == 1
        release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")  # paid for: still there


@pytest.mark.parametrize("change", ["target", "rho", "epsilon", "mechanism", "limits", "snapshot"])
def test_a_key_serves_one_request(ledger, change):
    release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")
    study, target, rho, settings, epsilon = small_study(), 2, 1.0, SMALL, HALF
    match change:
        case "target":
            target = 3
        case "rho":
            rho = 0.5
        case "epsilon":
            epsilon = Fraction(1, 4)
        case "mechanism":
            settings = replace(SMALL, mechanism=Mechanism.PF)
        case "limits":
            settings = replace(SMALL, limits=Limits(4, 3, 2, 1))
        case "snapshot":
            case = make_case(3)
            study = study_of(replace(case, snapshot=replace(case.snapshot, pairs=case.snapshot.pairs[::-1])))
    with pytest.raises(BadInput, match="another request"):
        release(study, target, rho, settings, epsilon, ledger, "small", "k")
    assert ledger.account("small").spent == HALF


def test_what_cannot_be_scored_says_nothing_of_the_graph(ledger, monkeypatch):
    study = small_study()

    def fail(*_):
        raise PrivCFSError(f"degree {study.dataset.graph.degree[2]} is too much")

    monkeypatch.setattr(study, "scores", fail)
    with pytest.raises(PrivCFSError) as caught:
        release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")
    assert "degree" not in str(caught.value) and caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert ledger.account("small").entries == 0


@pytest.mark.parametrize(
    "bad", ["{}", "nonsense", '{"features":[],"pairs":[["n0","n1"]]}', '{"features": [], "pairs": []}']
)
def test_an_outcome_that_was_never_a_candidate_is_refused(ledger, bad):
    """n0 - n1 isn't at node n2; the last one is no canonical JSON."""
    study = small_study()
    ledger.debit(debit_of(study, 2, 1.0, SMALL, HALF, "small", "k"))
    ledger.settle("small", "k", bad)
    with pytest.raises(BadInput, match="found an outcome"):
        release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")


# Time.


def test_a_release_takes_the_time_that_was_fixed_for_it(ledger, monkeypatch):
    """The first scores and draws, the second does too; the settled one waits for nothing."""
    waits = []
    real = module.waited
    monkeypatch.setattr(module, "waited", lambda work, seconds: waits.append(seconds) or real(work, seconds))
    study = small_study()
    start = time.monotonic()
    release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")
    assert time.monotonic() - start >= sum(waits) >= LEAST_SCORING + LEAST_DRAWING
    other = study_of(make_case(3), make_case(3).graph.toggled(2, 3))
    release(other, 2, 1.0, SMALL, HALF, ledger, "small", "l")
    assert waits[:2] == waits[2:]
    release(study, 2, 1.0, SMALL, HALF, ledger, "small", "k")
    assert len(waits) == 4


# Crashes and company.

CHILD = """
import os, signal, sys
from fractions import Fraction
from core.desk import release as module
from core.desk.ledger import Ledger
from tests.core.desk.studies import SMALL, small_study

where, moment = sys.argv[1:]
real = module.draw

def killed(distribution):
    if moment == "after":
        real(distribution)
    os.kill(os.getpid(), signal.SIGKILL)

module.draw = killed
with Ledger.open(where) as ledger:
    module.release(small_study(), 2, 1.0, SMALL, Fraction(1, 2), ledger, "small", "k")
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_between_debit_and_settlement_costs_once(tmp_path, moment):
    """The debit stands, nothing is settled; a retry pays nothing, draws, and stays with that."""
    new_ledger(tmp_path, "0.5").close()
    where = str(tmp_path / "ledger.db")
    child = subprocess.run(
        [sys.executable, "-c", CHILD, where, moment], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL, child.stderr
    with Ledger.open(where) as ledger:
        assert ledger.account("small").spent == HALF and ledger.entry("small", "k").outcome is None
        card, _ = release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")
        again, _ = release(small_study(), 2, 1.0, SMALL, HALF, ledger, "small", "k")
        assert card.text == again.text
        assert ledger.account("small").spent == HALF and ledger.account("small").entries == 1


def test_two_that_draw_under_one_key_agree(tmp_path):
    """Whoever settles first has drawn; the budget allows one debit only. Four at once, three times."""
    settings = SMALL
    new_ledger(tmp_path, "1.5").close()
    for key in ("a", "b", "c"):
        texts, gate = [], threading.Barrier(4)

        def ask(key=key, texts=texts, gate=gate):
            with Ledger.open(str(tmp_path / "ledger.db")) as ledger:
                gate.wait()
                texts.append(release(small_study(), 2, 1.0, settings, HALF, ledger, "small", key)[0].text)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(texts) == 4 and len(set(texts)) == 1


def test_outcomes_survive_the_ledger():
    outcome = Outcome((("a", "ü"),), ((3, 'x "y"'), (0, "")))
    assert Outcome.read(outcome.text) == outcome
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
    assert Outcome((), ()).empty and Outcome((), ()).sentence == "no intervention sampled"
