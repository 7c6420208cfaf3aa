"""Tasks on Dask workers: what they share is sent once, and what a lost worker had begun is done again."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from core import checks
from core.errors import BadInput, Cancelled, PrivCFSError
from core.progress import Stop

if TYPE_CHECKING:
    from distributed import Client

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_WORKERS = 256
CONNECT_SECONDS = 20
POLL_SECONDS = 0.02
ROUNDS = 3
REMEDY = "give them more memory, or take fewer of them"


@contextlib.contextmanager
def local_workers(workers: int) -> Iterator[Client]:
    """`workers` processes on this machine, one thread each; they end with the block. Raises `BadInput`."""
    checks.count(workers, "workers", 1, MOST_WORKERS)
    distributed = _distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def workers_at(address: str) -> Iterator[Client]:
    """The workers of a Dask scheduler, such as `tcp://10.0.0.1:8786`; raises `BadInput` where none answers.

    Everything of the private graph is sent there: the scheduler and its workers must be the owner's own.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(
            f"dask: found no scheduler at {address!r} ({reason}), expected one; start dask scheduler"
        ) from None
    with client:
        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise BadInput(f"dask: found a scheduler without workers at {address!r}; start dask worker {address}")
        yield client


def on_workers(
    client: Client,
    work: Callable[[Shared, Task], Result],
    shared: Shared,
    tasks: Sequence[Task],
    cancelled: Stop | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield (place, `work(shared, task)`) of every task, each once, in the order in which they are done.

    `work` must be importable on the workers. `shared` is sent to each worker once; a worker that comes
    later fetches it from another. What a lost worker had begun is done by another one. Raises what `work`
    raises, `Cancelled` on request, and `PrivCFSError` when workers go on being lost.
    """
    distributed = _distributed()
    left = dict(enumerate(tasks))
    for _ in range(ROUNDS):
        everywhere = client.scatter(shared, broadcast=True, hash=False)
        places = {client.submit(work, everywhere, task, pure=False): place for place, task in left.items()}
        done = distributed.as_completed(places)
        try:
            while not done.is_empty():
                if cancelled is not None and cancelled():
                    raise Cancelled(f"cancelled after {len(tasks) - len(left)} of {len(tasks)} tasks")
                for future in done.next_batch(block=False):
                    place = places.pop(future)
                    if future.status == "error":
                        raise _reason(future.exception(), len(left), len(tasks))
                    try:
                        result = future.result()
                    except CancelledError:  # `shared` or the result was lost with all workers: another round
                        continue
                    future.release()
                    del left[place]
                    yield place, result
                time.sleep(POLL_SECONDS)
        finally:
            client.cancel([*places, everywhere])
        if not left:
            return
    raise PrivCFSError(f"workers: all lost {ROUNDS} times over with {len(left)} of {len(tasks)} tasks left; {REMEDY}")


def _reason(error: BaseException, left: int, total: int) -> BaseException:
    if isinstance(error, _distributed().KilledWorker):
        return PrivCFSError(f"workers: one was lost at each try of a task, {left} of {total} tasks left; {REMEDY}")
    return error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise BadInput("workers: found no Dask, expected it; pip install 'privcfs-explorer[scale]'") from None
    return distributed
