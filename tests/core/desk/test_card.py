"""The card: a function of public inputs and the outcome, in one spelling, that its schema describes to the letter."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from core.desk.card import ReleaseCard, checked, schema
from core.desk.outcome import Outcome, outcome_of
from core.desk.request import prior_digest, public_request
from core.errors import BadInput
from core.prior.prior import Prior, PriorKind, PriorRule, uniform
from core.snapshot import Snapshot
from core.universe import Arm, Limits, build_universe
from core.utility import UtilityConfig
from tests.core.smallgraphs import make_case

SOFTWARE = (("numpy", "2"), ("opendp", "0.16.0"), ("privcfs-explorer", "0.1.0"), ("python", "3.11"))
AT = datetime(2026, 3, 1, 12, 0, 5, 999, tzinfo=UTC)


def make_card(
    seed=3, target=2, arm=Arm.FULL, limits=None, utility=None, rule=None, epsilon=Fraction(1, 2), mechanism="em",
    simulated=False, doubts=(), place=None, dataset="small",
):  # fmt: skip
    """A card from public objects alone, and these objects."""
    case = make_case(seed)
    snapshot = Snapshot(case.snapshot.pairs, case.snapshot.n, simulated)
    universe = build_universe(case.graph.nodes, snapshot, case.weights, target, limits or Limits(4, 3, 2, 2), arm)
    rule = rule or PriorRule()
    prior = uniform(universe, rule.size_penalty)
    utility = utility or UtilityConfig()
    request = public_request(
        dataset, case.graph.nodes, snapshot, 1.0, 0, case.weights, universe, prior, rule, utility, mechanism, epsilon,
        doubts,
    )  # fmt: skip
    edge, feature = place or (universe.shape[0] - 1, universe.shape[1] - 1)
    outcome = outcome_of(universe, case.graph.nodes, edge, feature)
    return ReleaseCard(request, outcome, "a key", AT, SOFTWARE), universe, case


amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6)
CONFIGS = [
    UtilityConfig(),
    UtilityConfig("1/3", "1/3", "1/3", soft=True),
    UtilityConfig("1", "0", "0", sensitivity="paper"),
]


@settings(max_examples=40)
@given(
    st.integers(0, 20), st.integers(0, 8), st.sampled_from(list(Arm)), st.sampled_from(CONFIGS), amounts,
    st.booleans(), st.floats(0, 20), st.data(),
)  # fmt: skip
def test_a_card_is_read_back_as_it_was_written(seed, target, arm, config, epsilon, simulated, penalty, data):
    doubts = ("for a test",) if simulated else ()
    card, universe, case = make_card(
        seed, target, arm, utility=config, epsilon=epsilon, simulated=simulated, doubts=doubts,
        rule=PriorRule(PriorKind.UNIFORM, penalty),
    )  # fmt: skip
    place = tuple(data.draw(st.integers(0, most - 1)) for most in universe.shape)
    outcome = outcome_of(universe, case.graph.nodes, *place)
    assert outcome.place(universe, case.graph.nodes) == place
    card = ReleaseCard(card.request, outcome, card.key, AT, SOFTWARE)
    document = checked(card.text)
    again = ReleaseCard.from_json(document)
    assert again.text == card.text and again.request == card.request and again.outcome == outcome
    assert Fraction(document["epsilon"]) == epsilon and document["delta"] == "0"
    steps = document["sensitivity"]["steps"] / document["sensitivity"]["grid"]
    assert 0 < steps <= 1 and (config.sensitivity == "tight" or steps == 1)
    assert document["certified"] == (not simulated)
    assert (document["snapshot"]["pairs"] is None) == simulated


def test_the_file_is_canonical_json():
    text = make_card(dataset="bücher")[0].text
    value = json.loads(text)
    assert text == json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    assert "bücher" in text and "\\u" not in text
    assert value["issued"] == "2026-03-01T12:00:05Z"


def test_issued_is_utc_whatever_the_clock_shows():
    card, *_ = make_card()
    moved = AT.astimezone(timezone(timedelta(hours=5)))
    assert ReleaseCard(card.request, card.outcome, card.key, moved, SOFTWARE).text == card.text


def test_the_empty_outcome_is_said_in_words():
    card, *_ = make_card(place=(0, 0))
    assert card.to_json()["outcome"] == {
        "sentence": "no intervention sampled", "delete_pairs": [], "zero_features": []
    }  # fmt: skip


def test_the_statement_names_epsilon_exactly():
    assert "e^(1/3)" in make_card(epsilon=Fraction(1, 3))[0].to_json()["guarantee"]["statement"]
    assert "0.1-differentially" in make_card(epsilon=Fraction(1, 10))[0].to_json()["guarantee"]["statement"]
    assert "A demonstration" in make_card(doubts=("x",))[0].to_json()["guarantee"]["statement"]


def test_the_schema_is_one_and_lets_nothing_through():
    """Each object is closed and asks for each of its entries."""
    Draft202012Validator.check_schema(schema())
    assert schema()["$schema"].endswith("2020-12/schema")
    seen = 0
    for part in objects(schema()):
        assert part["additionalProperties"] is False and sorted(part["properties"]) == sorted(part["required"])
        seen += 1
    assert seen == 11


def objects(part):
    """Every object of a schema; what `oneOf` lists narrows one and isn't one."""
    if isinstance(part, dict):
        if part.get("type") == "object" and "properties" in part:
            yield part
        for name, inner in part.items():
            if name != "oneOf":
                yield from objects(inner)


def paths(value, path=()):
    """Every place of a document, containers too."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*path, key))


def put(document, path, value):
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


FULL = make_card()[0].to_json()


@pytest.mark.parametrize("path", [path for path in paths(FULL) if path], ids=lambda path: ".".join(map(str, path)))
def test_no_entry_may_be_of_another_kind_or_missing(path):
    for wrong in (None, {}, [], True, -1, 1.5, "", "?!"):
        where = FULL
        for key in path:
            where = where[key]
        if type(wrong) is type(where) and path[-1] not in ("epsilon", "format", "kind", "arm", "mechanism", "issued"):
            continue
        if (path[-1] == "seed" and wrong is None) or (path[-1] == "certified" and wrong is True):
            continue
        if path[-1] in ("rho", "size_penalty") and wrong in (1, 1.5, True):
            continue
        with pytest.raises(BadInput, match=r"^card: found [^\n]*$"):
            checked(json.dumps(put(FULL, path, wrong)))
    if isinstance(path[-1], str):
        missing = copy.deepcopy(FULL)
        inner = missing
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        with pytest.raises(BadInput, match="required property"):
            checked(json.dumps(missing))


@pytest.mark.parametrize("extra", ["valid", "prediction", "plausibility", "edges", "ceiling", "note"])
def test_nothing_may_be_added(extra):
    for path in paths(FULL):
        inner = FULL
        for key in path:
            inner = inner[key]
        if isinstance(inner, dict):
            with pytest.raises(BadInput, match=r"unexpected|is not one of"):
                checked(json.dumps(put(FULL, (*path, extra), 1)))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", '{"format": NaN}', '{"key": "a", "key": "b"}', "[" * 100_000, "\x00", "1e999"]
)
def test_what_is_no_card_is_refused_in_one_line(text):
    with pytest.raises(BadInput, match=r"^card: found [^\n]*$"):
        checked(text)


def test_an_entry_that_stands_twice_is_refused():
    """Readers disagree on which of the two counts."""
    text = make_card(doubts=("for a test",))[0].text
    twice = text.replace('"certified": false', '"certified": true,\n  "certified": false')
    assert json.loads(twice) == json.loads(text) != twice
    with pytest.raises(BadInput, match="an entry stands twice"):
        checked(twice)


def test_numbers_that_cannot_go_together_are_refused():
    for path, value in (
        (("utility", "weights"), ["0.7", "0.7", "0.1"]),
        (("issued",), "2026-13-01T00:00:00Z"),
        (("epsilon",), "0"),
        (("universe", "limits", "max_edges"), 0),
    ):
        changed = put(FULL, path, value)
        if path[-1] == "max_edges":
            changed = put(changed, ("universe", "limits", "max_features"), 0)
        with pytest.raises(BadInput):
            ReleaseCard.from_json(checked(json.dumps(changed)))


def test_an_outcome_outside_the_universe_has_no_place():
    card, universe, case = make_card()
    nodes, outcome = case.graph.nodes, card.outcome
    strange = [
        Outcome((("n0", "n1"),), ()),
        Outcome((), ((99, "f99"),)),
        Outcome((), ((outcome.features[0][0], "another"),)),
        Outcome(outcome.pairs[::-1], outcome.features),
        Outcome(tuple((w, u) for u, w in outcome.pairs), outcome.features),
        Outcome((outcome.pairs[0], outcome.pairs[0]), ()),
    ]
    assert len(outcome.pairs) == len(outcome.features) == 2
    assert [other.place(universe, nodes) for other in strange] == [None] * len(strange)


def test_the_prior_digest_forgives_rounding_and_nothing_more():
    mass = np.random.default_rng(0).random((5, 4)) + 0.1
    prior = Prior("a", mass / mass.sum())
    nudged = Prior("a", prior.mass * (1 + 1e-14))
    moved = prior.mass.copy()
    moved[1, 2] *= 1.0001
    assert prior_digest(prior) == prior_digest(nudged)
    assert prior_digest(prior) != prior_digest(Prior("a", moved / moved.sum()))
    assert prior_digest(prior) != prior_digest(Prior("a", np.ascontiguousarray(prior.mass.reshape(4, 5))))
