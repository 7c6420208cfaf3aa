"""Stretches of draws worked off one after another, or in processes of this machine."""

from __future__ import annotations

import pickle
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

import numpy as np

from core.errors import BadInput, Cancelled, PrivCFSError
from core.progress import Stop

if TYPE_CHECKING:
    from core.audit.sampling import Job, Stretch

CHUNK_SECONDS = 0.3
LARGEST_CHUNK = 2_000
POLL_SECONDS = 0.2

_JOB: list[Job] = []  # of a worker process: sent once, when it starts


class Workers:
    """Where the stretches of one job are run: here, or in `count` processes that start with the first stretch."""

    def __init__(self, job: Job, count: int) -> None:
        self._job = job
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        """End the processes; a stretch that is being run is waited for."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def run(self, stretches: Sequence[Stretch], cancelled: Stop | None = None) -> Iterator[tuple[Stretch, np.ndarray]]:
        """Yield parts of the stretches with their values, each unit once; about `CHUNK_SECONDS` of work a part.

        Raises what the release raises, `Cancelled` on request, and `PrivCFSError` when a process dies.
        """
        parts = _Parts(stretches)
        if self._count == 1 or not stretches:
            for stretch in parts:
                _check(cancelled)
                values, seconds = timed(self._job, stretch)
                parts.learn(stretch, seconds)
                yield stretch, values
            return
        pool = self._pool = self._pool or self._start()
        running: dict[Future[tuple[np.ndarray, float]], Stretch] = {}
        try:
            while running or parts.left:
                while parts.left and len(running) < 2 * self._count:
                    stretch = next(parts)
                    running[pool.submit(_run, stretch)] = stretch
                done, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    values, seconds = future.result()
                    stretch = running.pop(future)
                    parts.learn(stretch, seconds)
                    yield stretch, values
                _check(cancelled)
        except BrokenProcessPool:
            self._pool = None
            raise PrivCFSError(
                "workers: a process died while drawing; give it more memory, or take workers=1 to see why"
            ) from None
        finally:
            for future in running:
                future.cancel()

    def _start(self) -> ProcessPoolExecutor:
        import multiprocessing

        try:
            sent = pickle.dumps(self._job)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise BadInput(
                f"workers: found a release, pair or witness that can't be sent to another process ({error}); "
                "name functions of a module rather than lambdas, or take workers=1"
            ) from error
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of running threads
        return ProcessPoolExecutor(self._count, mp_context=context, initializer=_begin, initargs=(sent,))


class _Parts:
    """The stretches cut into parts whose size follows the time that the last ones took."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self.left = deque(stretches)
        self._size = 1

    def __iter__(self) -> Iterator[Stretch]:
        return self

    def __next__(self) -> Stretch:
        if not self.left:
            raise StopIteration
        whole = self.left.popleft()
        cut = min(whole.start + self._size, whole.stop)
        if cut < whole.stop:
            self.left.appendleft(whole.part(cut, whole.stop))
        return whole.part(whole.start, cut)

    def learn(self, stretch: Stretch, seconds: float) -> None:
        """Set the size of the next parts by what this one took."""
        each = max(seconds / (stretch.stop - stretch.start), 1e-9)
        self._size = int(min(max(CHUNK_SECONDS / each, 1), LARGEST_CHUNK))


def timed(job: Job, stretch: Stretch) -> tuple[np.ndarray, float]:
    """Values of a stretch, and the seconds that they took."""
    started = time.perf_counter()
    values = job.run(stretch)
    return values, time.perf_counter() - started


def _begin(sent: bytes) -> None:
    from threadpoolctl import threadpool_limits

    _JOB.append(pickle.loads(sent))
    threadpool_limits(1)
    if "torch" in sys.modules:
        from core.threads import use_one_thread

        use_one_thread()


def _run(stretch: Stretch) -> tuple[np.ndarray, float]:
    return timed(_JOB[0], stretch)


def _check(cancelled: Stop | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled("audit: cancelled; what was drawn is in the store, if one was named")
