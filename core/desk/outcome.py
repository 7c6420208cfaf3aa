"""What a release says: an intervention by node ids and feature names, or that none was sampled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import BadInput
from core.graph import Nodes
from core.universe import Universe


@dataclass(frozen=True)
class Outcome:
    """The candidate that was drawn, as the analyst reads it and the ledger keeps it.

    `pairs`: node ids of the pairs to delete, ends in row order. `features`: column and name of the features of
    the target to set to zero. Both empty: no intervention was sampled.
    """

    pairs: tuple[tuple[str, str], ...]
    features: tuple[tuple[int, str], ...]

    @property
    def empty(self) -> bool:
        """Whether no intervention was sampled."""
        return not self.pairs and not self.features

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        if self.empty:
            return "no intervention sampled"
        parts = [f"delete the pair {u} - {w}" for u, w in self.pairs]
        return "; ".join([*parts, *(f"set feature {name} to zero" for _, name in self.features)])

    def to_json(self) -> dict[str, Any]:
        """The object that a card holds."""
        return {
            "sentence": self.sentence,
            "delete_pairs": [list(pair) for pair in self.pairs],
            "zero_features": [{"column": column, "name": name} for column, name in self.features],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Outcome:
        """Read the object of a card that its schema has passed."""
        return cls(
            tuple((u, w) for u, w in value["delete_pairs"]),
            tuple((feature["column"], feature["name"]) for feature in value["zero_features"]),
        )

    @property
    def text(self) -> str:
        """Canonical JSON, one line: what a ledger keeps."""
        return canonical({"pairs": self.pairs, "features": self.features})

    @classmethod
    def read(cls, text: str) -> Outcome:
        """Read what a ledger kept; raises `BadInput` for anything that `text` doesn't write."""
        try:
            value = json.loads(text)
            outcome = cls(
                tuple((str(u), str(w)) for u, w in value["pairs"]),
                tuple((int(column), str(name)) for column, name in value["features"]),
            )
        except (ValueError, TypeError, KeyError):
            outcome = None
        if outcome is None or outcome.text != text:
            raise BadInput("ledger: found an outcome that is no intervention, expected one that this release settled")
        return outcome

    def place(self, universe: Universe, nodes: Nodes) -> tuple[int, int] | None:
        """The (edge subset, feature subset) index of this candidate, None where the universe doesn't hold it."""
        pairs = [(nodes.ids[u], nodes.ids[w]) for u, w in universe.edge_pairs]
        features = [(int(d), nodes.feature_names[d]) for d in universe.feature_dims]
        if not set(self.pairs) <= set(pairs) or not set(self.features) <= set(features):
            return None
        edge = _subset([pairs.index(pair) for pair in self.pairs], universe.edge_subsets)
        feature = _subset([features.index(one) for one in self.features], universe.feature_subsets)
        if edge is None or feature is None or outcome_of(universe, nodes, edge, feature) != self:
            return None
        return edge, feature


def outcome_of(universe: Universe, nodes: Nodes, edge: int, feature: int) -> Outcome:
    """Candidate (`edge`, `feature`) of a universe by names."""
    pairs, dims = universe.members(edge, feature)
    return Outcome(
        tuple((nodes.ids[u], nodes.ids[w]) for u, w in pairs),
        tuple((int(d), nodes.feature_names[d]) for d in dims),
    )


def _subset(places: list[int], subsets: np.ndarray) -> int | None:
    """The row of `subsets` (n x most, padded with -1) that holds these places, None where there is none."""
    if len(places) > subsets.shape[1]:
        return None
    row = sorted(places) + [-1] * (subsets.shape[1] - len(places))
    found = np.flatnonzero((subsets == row).all(axis=1))
    return int(found[0]) if len(found) else None


def canonical(value: object) -> str:
    """JSON with one spelling for each value: sorted keys, no blanks, not escaped, finite numbers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
