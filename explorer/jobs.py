"""Long work off the event loop: progress, cancelling, and one result handed back to the session."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import panel as pn
import param

from core.errors import Cancelled, PrivCFSError

REPORT_SECONDS = 0.1
LEAST_SECONDS = 0.15  # a page hears of beginning and end by two messages, which can overtake each other when close

Progress = Callable[[int, int], None]
Work = Callable[[Progress, Callable[[], bool]], Any]


class Job(param.Parameterized):
    """One piece of work at a time; `state` says where it stands.

    `state`: idle, running, done, cancelled or failed. `done`, `total`: steps. `message`: why it failed.
    """

    state = param.Selector(default="idle", objects=["idle", "running", "done", "cancelled", "failed"])
    done = param.Integer(default=0)
    total = param.Integer(default=0)
    message = param.String(default="")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._document: Any = None
        self._acts: deque[Callable[[], None]] = deque()  # the server keeps no order among next-tick callbacks

    def start(self, work: Work, finish: Callable[[Any], None]) -> None:
        """Run `work(progress, cancelled)` in a thread, then `finish(result)` in the session.

        A job that runs is left alone. What was shown before stays when the work fails or is cancelled.
        """
        if self.state == "running":
            return
        self._stop = threading.Event()
        self.param.update(state="running", done=0, total=0, message="")
        self._document = pn.state.curdoc or self._document  # also when it starts from a next-tick callback
        self._thread = threading.Thread(target=self._run, args=(work, finish, self._stop), daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Ask the running work to stop at its next step."""
        self._stop.set()

    def hand(self, act: Callable[[], None]) -> None:
        """Run `act` in the session that started the job, in the order in which it was handed over."""
        self._acts.append(act)
        if self._document is None or self._document.session_context is None:
            self._drain()
        else:
            self._document.add_next_tick_callback(self._drain)

    def _drain(self) -> None:
        while self._acts:
            self._acts.popleft()()

    def wait(self, seconds: float = 60.0) -> None:
        """Block until the work has ended (for scripts and tests, never in a session)."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, work: Work, finish: Callable[[Any], None], stop: threading.Event) -> None:
        last = [0.0]
        served = self._document is not None and self._document.session_context is not None
        soonest = time.monotonic() + (LEAST_SECONDS if served else 0)

        def progress(done: int, total: int) -> None:
            now = time.monotonic()
            if now - last[0] >= REPORT_SECONDS or done >= total:
                last[0] = now
                self.hand(lambda: self.param.update(done=done, total=total))

        def hand(act: Callable[[], None]) -> None:
            time.sleep(max(soonest - time.monotonic(), 0))
            self.hand(act)

        def end(state: str, message: str = "") -> None:
            hand(lambda: self.param.update(state=state, message=message))

        def deliver(result: Any) -> None:
            try:
                finish(result)
            except Exception as error:
                self.param.update(state="failed", message=_reason(error))
                raise
            self.state = "done"

        try:
            result = work(progress, stop.is_set)
        except Cancelled:
            end("cancelled")
        except Exception as error:
            end("failed", _reason(error))
        else:
            hand(lambda: deliver(result))


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, PrivCFSError) else f"unexpected {type(error).__name__}: {error}"
