"""The conductor: the events of a campaign, in order, whatever the store has already."""

import itertools
import os
import time

import pytest

from eij_core import RunError, __version__
from eij_core.campaigns import Conductor, Processes, Reader, StoreRefused, executors, state_of
from eij_core.campaigns.executors import in_order, stop_asked
from eij_core.errors import InputError
from tests.campaign.small import campaign, run

FAULTY = "external:function=tests.campaign.poison.faulty,n=8"


def test_the_events_of_a_campaign(tmp_path):
    conductor = Conductor(campaign(), tmp_path, jobs=1)
    events = list(conductor)
    kinds = [(what, len(list(group))) for what, group in itertools.groupby(e.what for e in events)]
    assert kinds == [("compiling", 2), ("running", 1), ("stored", 12), ("finished", 1)]
    assert [e.name for e in events[:2]] == ["nk · ils · eij", "nk · ils · uniform"]
    assert [(e.done, e.total) for e in events[2:-1]] == [(i, 12) for i in range(13)]
    assert {e.row.state for e in events if e.what == "stored"} == {"done"}
    assert (conductor.stored, conductor.failed) == (12, {})
    assert [e.what for e in Conductor(campaign(), tmp_path)] == ["finished"]


def test_what_is_left_is_planned_once(tmp_path):
    conductor = Conductor(campaign(), tmp_path, jobs=1, task_seconds=1e-9)
    for event in conductor:
        if event.what == "stored" and event.done == 5:
            break
    rest = [e for e in Conductor(campaign(), tmp_path, jobs=1) if e.what == "stored"]
    assert [e.done for e in rest] == list(range(6, 13))
    assert len({e.row.key for e in rest}) == 7


def test_failures_are_events_and_are_counted(tmp_path):
    plan = campaign(problems=["nk:n=16,k=2", FAULTY], seeds=1)
    conductor = Conductor(plan, tmp_path, jobs=1)
    states = [e.row.state for e in conductor if e.what == "stored"]
    assert sorted(states) == ["done", "done", "failed", "failed"]
    (reason,) = set(conductor.failed.values())
    assert reason.endswith("tests.campaign.poison.faulty raised ArithmeticError: no fitness today")
    again = Conductor(plan, tmp_path, jobs=1, retry_failed=True)
    assert sum(e.what == "stored" for e in again) == 2
    state = state_of(tmp_path)
    assert (state["planned"], state["done"], state["failed"]) == (4, 2, conductor.failed)


def test_an_interruption_leaves_the_count_of_what_is_stored(tmp_path, monkeypatch):
    conductor = Conductor(campaign(), tmp_path, jobs=1, task_seconds=1e-9)
    events = iter(conductor)
    while next(events).done < 3:
        pass
    with pytest.raises(KeyboardInterrupt):
        events.throw(KeyboardInterrupt)
    with Reader(tmp_path) as reader:
        assert conductor.stored == len(reader.rows()) >= 3


def test_another_campaign_in_the_folder_is_refused(tmp_path):
    run(tmp_path, campaign())
    with pytest.raises(StoreRefused, match=f"version test became {__version__}"):
        list(Conductor(campaign(), tmp_path, jobs=1))
    (finished,) = Conductor(campaign(), tmp_path, jobs=1, extend=True)
    assert finished.done == 12


def test_jobs_or_dask():
    with pytest.raises(InputError, match="either --jobs or --dask"):
        Conductor(campaign(), "nowhere", jobs=2, dask="tcp://x:1")


# --- the pool of processes ---


def double(x):
    return 2 * x


def exit_at_three(x):
    if x == 3:
        os._exit(1)
    return x


def wait_until_asked(x):
    deadline = time.monotonic() + 60
    while not stop_asked():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return x


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_items(jobs):
    assert list(in_order(double, [3, 1, 2], jobs)) == [6, 2, 4]
    assert list(in_order(double, [], jobs)) == []


def test_a_worker_that_dies_is_an_error():
    with pytest.raises(RunError, match="a worker process died"):
        list(in_order(exit_at_three, [1, 2, 3], 2))


def test_an_interrupted_block_asks_its_processes_to_stop(monkeypatch):
    monkeypatch.setattr(executors, "PATIENCE", 30.0)
    pool = Processes(2)
    futures = [pool.submit(wait_until_asked, i) for i in range(2)]
    while not all(future.running() for future in futures):
        time.sleep(0.01)
    with pytest.raises(KeyboardInterrupt), executors.ending(pool, 30.0):
        raise KeyboardInterrupt
    assert [future.result() for future in futures] == [0, 1]


def sleep_on(path):
    path.touch()
    time.sleep(600)


def test_processes_that_do_not_stop_are_killed(tmp_path):
    pool = Processes(1)
    future = pool.submit(sleep_on, tmp_path / "begun")
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    pool.kill()
    with pytest.raises(executors.BrokenExecutor):
        future.result(timeout=60)
    assert not any(process.is_alive() for process in pool._started)
