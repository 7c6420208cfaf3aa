"""How long work says how far it is and asks whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Protocol, TypeVar

from core.errors import Cancelled

T = TypeVar("T", covariant=True)
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


class _Countable(Iterable[T], Sized, Protocol[T]):
    pass


def tracked(items: _Countable[T], progress: Progress | None = None, cancelled: Stop | None = None) -> Iterator[T]:
    """Yield `items`, reporting (done, total) before each and once at the end.

    Raises `Cancelled` as soon as `cancelled()` says so.
    """
    total = len(items)
    for done, item in enumerate(items):
        if cancelled is not None and cancelled():
            raise Cancelled(f"cancelled after {done} of {total}")
        if progress is not None:
            progress(done, total)
        yield item
    if progress is not None:
        progress(total, total)
