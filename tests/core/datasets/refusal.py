"""What every refusal has in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import BadInput


def refusal(call: Callable[..., object], *arguments: object, **named: object) -> str:
    """Return the message with which `call` refuses its arguments: one line, as `BadInput`."""
    with pytest.raises(BadInput) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert message
    assert len(message.splitlines()) == 1
    return message
