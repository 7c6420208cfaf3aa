"""What the analyst gets of a label release: the public request, and labels or ⊥; nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.desk.amount import text
from core.desk.outcome import canonical
from core.errors import BadInput
from core.files import check_output, whole_file
from core.labels.plan import Plan

FORMAT = "privcfs-label-card/1"
MECHANISM = "asamp"
ASSUMPTIONS = (
    "Two private graphs are neighbours when they differ in the status of one pair of nodes.",
    "The node table, the asked nodes, the classifier's weights and all settings on this card were fixed before the "
    "draw and count as public. What these tell of the private ties is not covered.",
    "Every release from the same private graph adds its epsilon and its delta to the owner's total.",
    "Subgraphs were drawn with the operating system's randomness, and the noise, a whole number of votes, exactly "
    "(OpenDP). The time of the release was one second or a doubling of it.",
    "Why nothing came out, how many subgraphs agreed, and how accurate the labels are is not said: that would read "
    "the private ties once more.",
)


@dataclass(frozen=True)
class LabelRequest:
    """What is asked of a label release; no field can hold a private edge.

    `nodes`: ids of the nodes whose labels make up the vector. `classes`: class names. `classifier`, `nodes_digest`,
    `classifier_digest`: its kind, and SHA-256 of the public objects. `doubts`: why a card of this request is a
    demonstration, none where the guarantee holds.
    """

    dataset: str
    nodes: tuple[str, ...]
    classes: tuple[str, ...]
    plan: Plan
    classifier: str
    nodes_digest: str
    classifier_digest: str
    doubts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The request as entries of a JSON object, of strict JSON types."""
        plan = self.plan
        return {
            "dataset": self.dataset,
            "nodes": list(self.nodes),
            "classes": list(self.classes),
            "mechanism": MECHANISM,
            "epsilon": text(plan.epsilon),
            "delta": text(plan.delta),
            "p_s": text(plan.p_s),
            "m": plan.m,
            "cap": {"rule": plan.rule.value, "subgraphs": plan.cap},
            "votes": {"unit": text(plan.unit), "needed": plan.votes_needed},
            "classifier": self.classifier,
            "digests": {"nodes": self.nodes_digest, "classifier": self.classifier_digest},
            "doubts": list(self.doubts),
        }

    @property
    def text(self) -> str:
        """Canonical JSON, one line: what a ledger compares when a key comes again."""
        return canonical(self.to_json())


@dataclass(frozen=True)
class LabelOutcome:
    """Labels of the asked nodes by place in `classes`, or None for ⊥."""

    labels: tuple[int, ...] | None

    @property
    def text(self) -> str:
        """Canonical JSON, one line: what a ledger keeps."""
        return canonical({"labels": self.labels})

    @classmethod
    def read(cls, kept: str, request: LabelRequest) -> LabelOutcome:
        """Read what a ledger kept; raises `BadInput` for what is no answer to the request."""
        try:
            found = json.loads(kept)["labels"]
            outcome = cls(None if found is None else tuple(int(label) for label in found))
        except (ValueError, TypeError, KeyError):
            outcome = None
        if outcome is None or outcome.text != kept or not outcome._answers(request):
            raise BadInput("ledger: found an outcome that is no labelling, expected one that this release settled")
        return outcome

    def _answers(self, request: LabelRequest) -> bool:
        if self.labels is None:
            return True
        return len(self.labels) == len(request.nodes) and all(
            0 <= label < len(request.classes) for label in self.labels
        )


@dataclass(frozen=True)
class LabelCard:
    """One label release as the analyst reads it. `key`: names it in the owner's ledger. `issued`: UTC, of the debit."""

    request: LabelRequest
    outcome: LabelOutcome
    key: str
    issued: datetime
    software: tuple[tuple[str, str], ...]

    @property
    def certified(self) -> bool:
        """Whether the guarantee holds for the release as a whole; a demonstration otherwise."""
        return not self.request.doubts

    def to_json(self) -> dict[str, Any]:
        """The card as strict JSON."""
        request, labels = self.request, self.outcome.labels
        epsilon, delta = text(request.plan.epsilon), text(request.plan.delta)
        statement = f"({epsilon}, {delta})-differentially private at the edge level."
        if not self.certified:
            statement = f"A demonstration, not a certified release: {'; '.join(request.doubts)}."
        named = None if labels is None else {
            node: request.classes[label] for node, label in zip(request.nodes, labels, strict=True)
        }  # fmt: skip
        return {
            "format": FORMAT,
            "certified": self.certified,
            **request.to_json(),
            "released": labels is not None,
            "labels": named,
            "guarantee": {"statement": statement, "assumptions": list(ASSUMPTIONS)},
            "issued": self.issued.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "key": self.key,
            "software": dict(self.software),
        }

    @property
    def text(self) -> str:
        """The file: JSON with sorted keys, an indent of two and a newline at its end."""
        return json.dumps(self.to_json(), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def check_place(path: Path, key: str) -> None:
    """Raise `BadInput` unless a card under `key` can be written to `path`: a new file, or that card already."""
    check_output(path, lambda: _is_card(path, key), f"the card of key {key}")


def write_card(card: LabelCard, path: Path) -> None:
    """Write a card whole or not at all; raises `BadInput`."""
    with whole_file(path) as stream:
        stream.write(card.text.encode("utf-8"))


def _is_card(path: Path, key: str) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return bool(found["format"] == FORMAT and found["key"] == key)
    except (OSError, ValueError, TypeError, KeyError):
        return False
