"""Serving refuses at once what it can't serve."""

from __future__ import annotations

import socket

import pytest

from core.errors import BadInput
from explorer.serve import serve


def test_a_taken_port_is_named_before_anything_is_served() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port}"):
            serve("karate", port=port)


def test_an_unknown_data_set_is_refused_before_listening() -> None:
    with pytest.raises(BadInput, match="atlantis"):
        serve("atlantis", port=0)
