"""Serving refuses at once what it can't serve."""

from __future__ import annotations

import socket

import pytest

from core.cli import run
from core.datasets import Dataset
from core.errors import BadInput
from explorer.access import Access
from explorer.serve import serve
from explorer.studies import shared_study


def test_a_taken_port_is_named_before_anything_is_served(karate: Dataset) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port}"):
            serve(shared_study(karate), Access(port=port))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "atlantis"], "atlantis"),
        (["--dataset", "karate", "--label-column", "team"], "column roles"),
        (["--dataset", "karate", "--backbone", "nowhere:model"], "nowhere:model"),
        (["--dataset", "karate", "--layers", "2"], "--backbone"),
    ],
)
def test_what_cannot_be_served_is_refused_before_listening(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *arguments, "--port", "0"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
