"""The exceptions a caller may meet; each message says what was found, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable


class PrivCFSError(Exception):
    """Root of every error that the project raises on purpose; `str(error)` is one line."""

    exit_code = 2


class BadInput(PrivCFSError):
    """An argument or a file that can't be used as it stands."""

    @classmethod
    def choice(cls, what: str, found: object, allowed: Iterable[object]) -> BadInput:
        """`found` is none of the `allowed` values of `what`."""
        listed = ", ".join(str(value) for value in allowed)
        return cls(f"{what}: found {found!r}, expected one of: {listed}")

    @classmethod
    def number(cls, what: str, found: object, expected: str) -> BadInput:
        """`found` lies outside the range that `expected` describes in words."""
        return cls(f"{what}: found {found!r}, expected {expected}")


class UnsupportedBackbone(PrivCFSError):
    """A model that can't be scored exactly, or weights that don't fit the graph."""


class BudgetRefused(PrivCFSError):
    """A release that the remaining privacy budget doesn't cover; nothing was spent."""

    exit_code = 3


class Cancelled(PrivCFSError):
    """Long work stopped on request; nothing of it was kept."""
