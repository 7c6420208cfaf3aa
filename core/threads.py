"""Keeping small tensor work on one thread, where more of them only wait for each other."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import torch
from threadpoolctl import ThreadpoolController

SMALL_ELEMENTS = 5_000_000


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def use_one_thread() -> None:
    """Keep this process's tensor and BLAS work on one thread from here on: for entry points.

    Scoring a target is many operations of microseconds; on a loaded machine two threads that meet
    at each of them were measured ten times slower than one. Populations are split by target instead.
    """
    torch.set_num_threads(1)
    _controller().limit(limits=1, user_api="blas")


@contextlib.contextmanager
def single_threaded(elements: int) -> Iterator[None]:
    """Run the block on one thread when its largest tensor has few `elements`."""
    before = torch.get_num_threads()
    if elements > SMALL_ELEMENTS:
        yield
        return
    torch.set_num_threads(1)
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)
