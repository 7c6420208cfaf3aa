"""Real worker processes: results equal those of this process, also when workers are killed in the middle."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field

import pytest

from core.errors import BadInput, Cancelled, PrivCFSError
from core.scale.cluster import local_workers, on_workers, workers_at

distributed = pytest.importorskip("distributed")


@dataclass
class Load:
    """What workers share; remembers in which process it was unpacked."""

    factor: int
    unpacked: list[int] = field(default_factory=list)

    def __getstate__(self) -> dict[str, int]:
        return {"factor": self.factor}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.factor, self.unpacked = state["factor"], [os.getpid()]


def times(load: Load, task: int) -> tuple[int, int, int]:
    time.sleep(0.1)
    return load.factor * task, os.getpid(), id(load)


def failing(load: Load, task: int) -> int:
    if task == 3:
        raise BadInput("target: found 3")
    return task


def deadly(load: Load, task: int) -> int:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.fixture(scope="module")
def client():
    with local_workers(2) as client:
        yield client


def test_every_task_is_done_once_and_the_load_is_sent_once_to_each_worker(client) -> None:
    found = dict(on_workers(client, times, Load(7), range(12)))
    assert {place: value for place, (value, _, _) in found.items()} == {place: 7 * place for place in range(12)}
    processes = {process for _, process, _ in found.values()}
    assert len(processes) == 2 and os.getpid() not in processes
    assert len({(process, load) for _, process, load in found.values()}) == 2


def test_a_killed_workers_tasks_are_done_by_others(client) -> None:
    found, killed = {}, 0
    for place, (value, process, _) in on_workers(client, times, Load(7), range(30)):
        assert place not in found
        found[place] = value
        if not killed:
            killed = process
            os.kill(killed, signal.SIGKILL)
    assert found == {place: 7 * place for place in range(30)}


def test_all_workers_may_be_lost_at_once(client) -> None:
    found: dict[int, int] = {}
    for place, (value, _, _) in on_workers(client, times, Load(7), range(20)):
        found[place] = value
        if len(found) == 4:
            for worker in client.run(os.getpid).values():
                os.kill(worker, signal.SIGKILL)
    assert found == {place: 7 * place for place in range(20)}


def test_a_tasks_own_error_comes_back_as_it_is(client) -> None:
    with pytest.raises(BadInput, match="target: found 3"):
        list(on_workers(client, failing, Load(1), range(6)))
    assert len(list(on_workers(client, times, Load(1), range(2)))) == 2


def test_a_task_that_kills_its_worker_is_given_up(client) -> None:
    with pytest.raises(PrivCFSError, match=r"workers: .*lost .*tasks left"):
        list(on_workers(client, deadly, Load(1), range(2)))


def test_cancelling_stops_the_rest(client) -> None:
    found: list[int] = []
    with pytest.raises(Cancelled):
        for place, _ in on_workers(client, times, Load(1), range(200), lambda: len(found) >= 3):
            found.append(place)
    assert len(found) < 20


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.scale.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(BadInput, match="found no scheduler"), workers_at("tcp://127.0.0.1:9"):
        pass


def test_an_existing_scheduler_is_used(client) -> None:
    with workers_at(client.scheduler.address) as other:
        assert dict(on_workers(other, failing, Load(1), [1, 2])) == {0: 1, 1: 2}


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInput, match=r"privcfs-explorer\[scale\]"), local_workers(1):
        pass


@pytest.mark.parametrize("workers", [0, -1, 1000])
def test_a_bad_number_of_workers_is_refused(workers: int) -> None:
    with pytest.raises(BadInput, match="workers"), local_workers(workers):
        pass
