"""The release card: what the analyst gets, a function of public inputs and the drawn intervention only."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata, resources
from typing import Any

from core.desk.outcome import Outcome
from core.desk.request import PublicRequest
from core.errors import BadInput

FORMAT = "privcfs-release-card/1"
MECHANISMS = {"em": "the exponential mechanism", "pf": "permute-and-flip"}
SOFTWARE = ("privcfs-explorer", "opendp", "numpy")
ASSUMPTIONS = (
    "Two private graphs are neighbours when they differ in the status of one pair of nodes. Hiding all d ties of a "
    "person costs d times epsilon.",
    "The target, the node table, the disclosed snapshot pairs, the backbone's weights and all settings on this card "
    "were fixed before the draw and count as public. What these tell of the private ties is not covered.",
    "Every release from the same private graph adds its epsilon to the owner's total.",
    "The draw was exact, on whole-number scores, with the operating system's randomness (OpenDP). It took a time fixed "
    "beforehand, doubled where that didn't suffice: what such a doubling tells is not covered.",
    "Whether the intervention changes the prediction is not said: that would read the private ties once more.",
)


@dataclass(frozen=True)
class ReleaseCard:
    """One release as the analyst reads it: request, outcome, guarantee; nothing else that the ties determine.

    `key`: names the release in the owner's ledger, not a secret. `issued`: UTC, of the debit.
    `software`: names and versions.
    """

    request: PublicRequest
    outcome: Outcome
    key: str
    issued: datetime
    software: tuple[tuple[str, str], ...]

    @property
    def certified(self) -> bool:
        """Whether the guarantee holds for the release as a whole; a demonstration otherwise."""
        return not self.request.doubts

    def to_json(self) -> dict[str, Any]:
        """The card as strict JSON, as `card.schema.json` describes it."""
        request = self.request.to_json()
        epsilon = request["epsilon"]
        statement = (
            f"{epsilon}-differentially private at the edge level, delta 0: for any two neighbouring private graphs, "
            f"the chances of any answer differ by a factor of at most e^({epsilon})."
        )
        if not self.certified:
            statement = f"A demonstration, not a certified release: {'; '.join(self.request.doubts)}."
        statement += f" Drawn by {MECHANISMS[self.request.mechanism]}."
        return {
            "format": FORMAT,
            "certified": self.certified,
            **request,
            "outcome": self.outcome.to_json(),
            "guarantee": {"statement": statement, "assumptions": list(ASSUMPTIONS)},
            "issued": self.issued.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "key": self.key,
            "software": dict(self.software),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ReleaseCard:
        """Read a card that `checked` has passed; raises `BadInput` for numbers out of range together."""
        try:
            issued = datetime.fromisoformat(value["issued"])
        except ValueError:
            raise BadInput(f"card: found issued {value['issued']!r}, expected a time of the calendar") from None
        return cls(
            PublicRequest.from_json(value),
            Outcome.from_json(value["outcome"]),
            value["key"],
            issued,
            tuple(sorted(value["software"].items())),
        )

    @property
    def text(self) -> str:
        """The file: JSON with sorted keys, an indent of two and a newline at its end."""
        return json.dumps(self.to_json(), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def software() -> tuple[tuple[str, str], ...]:
    """Names and versions of what a release is made with."""
    return tuple(
        sorted([("python", platform.python_version()), *((name, metadata.version(name)) for name in SOFTWARE)])
    )


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of a card."""
    return json.loads((resources.files("core.desk") / "card.schema.json").read_text(encoding="utf-8"))


def checked(text: str) -> dict[str, Any]:
    """Read a card's text and hold it against the schema; raises `BadInput`, one line, with what is amiss where."""
    from jsonschema import Draft202012Validator

    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"card: found no JSON ({str(error)[:80]}), expected a release card") from None
    problems = list(Draft202012Validator(schema()).iter_errors(value))
    if problems:
        first = min(problems, key=lambda problem: (len(problem.absolute_path), str(problem.json_path)))
        said = " ".join(first.message.split())
        said = said if len(said) <= 120 else f"{said[:117]}..."
        raise BadInput(f"card: found {said} at {first.json_path}, expected what the schema of release cards asks for")
    return value


def _once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in entries}) != len(entries):
        raise ValueError("an entry stands twice")
    return dict(entries)


def _finite(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
