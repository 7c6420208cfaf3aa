"""A small real graph for the explorer's own tests."""

from __future__ import annotations

import pytest

from core.datasets import load
from explorer.state import Desk


@pytest.fixture(scope="session")
def karate():
    """Zachary's karate club, a `core.datasets.dataset.Dataset`."""
    return load("karate")


@pytest.fixture
def desk(karate) -> Desk:
    """A fresh session on the karate club."""
    return Desk(karate)
