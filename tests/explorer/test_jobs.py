"""Long work: a result once, progress, cancelling, and failures that leave the session alive."""

from __future__ import annotations

import threading

from core.errors import BadInput
from core.progress import tracked
from explorer.jobs import Job


def test_work_hands_back_its_result_and_progress() -> None:
    job, results = Job(), []

    def work(progress, cancelled):
        return sum(tracked(range(10), progress, cancelled))

    job.start(work, results.append)
    job.wait()
    assert results == [45]
    assert (job.state, job.done, job.total) == ("done", 10, 10)


def test_cancelled_work_hands_back_nothing() -> None:
    job, results, begun = Job(), [], threading.Event()

    def work(progress, cancelled):
        begun.set()
        for _ in tracked(range(10**9), progress, cancelled):
            pass

    job.start(work, results.append)
    begun.wait(10)
    job.cancel()
    job.wait()
    assert (job.state, results) == ("cancelled", [])
    job.start(lambda progress, cancelled: 1, results.append)
    job.wait()
    assert (job.state, results) == ("done", [1])


def test_a_failure_is_one_line() -> None:
    job, results = Job(), []

    def work(progress, cancelled):
        raise BadInput("epsilon: found 0")

    job.start(work, results.append)
    job.wait()
    assert (job.state, job.message, results) == ("failed", "epsilon: found 0", [])


def test_a_second_start_leaves_running_work_alone() -> None:
    job, results, gate = Job(), [], threading.Event()
    job.start(lambda progress, cancelled: gate.wait(10) and "first", results.append)
    job.start(lambda progress, cancelled: "second", results.append)
    gate.set()
    job.wait()
    assert results == ["first"]


class Scrambled:
    """A document whose server runs next-tick callbacks in any order, as Bokeh's does under load."""

    session_context = object()

    def __init__(self) -> None:
        self.waiting: list = []

    def add_next_tick_callback(self, callback) -> None:
        self.waiting.append(callback)

    def run(self) -> None:
        for callback in reversed(self.waiting):
            callback()


def test_parts_arrive_in_order_whatever_the_server_does() -> None:
    job, seen = Job(), []

    def work(progress, cancelled):
        job._document = document
        for part in range(5):
            job.hand(lambda part=part: seen.append(part))
        return "end"

    document = Scrambled()
    job.start(work, seen.append)
    job.wait()
    document.run()
    assert seen == [0, 1, 2, 3, 4, "end"]
    assert job.state == "done"
