"""Campaigns: the same on every executor; nothing repeated, nothing missed, whatever dies."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from eij_core.campaigns import (
    CampaignError,
    Dask,
    Inline,
    Processes,
    Reader,
    Store,
    run_campaign,
    runner,
)
from eij_core.campaigns.preloaded import load_kernels
from eij_core.campaigns.preparation import check_energy, prepare
from eij_core.errors import InputError
from tests.campaign.small import campaign, essence, run

POISONED = ["nk:n=16,k=2", "external:function=tests.campaign.poison.deadly,n=8"]
FAULTY = ["nk:n=16,k=2", "external:function=tests.campaign.poison.faulty,n=8"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    rows = run(folder)
    assert len(rows) == 12
    with Reader(folder) as reader:
        return essence(reader)


def test_processes_give_the_same(tmp_path, undisturbed):
    plan = campaign()
    with Processes(2, prepare(plan.trials)) as executor:
        rows = run(tmp_path, plan, executor)
    assert len(rows) == len({row.key for row in rows}) == 12
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = Dask(client)
        assert executor.workers == 2
        assert executor.lost == ""
        run(tmp_path, executor=executor)
        executor.shutdown()
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_in_processes_by_its_address(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        executor = Dask(cluster.scheduler_address)
        run(tmp_path, executor=executor)
        executor.shutdown()
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed


@pytest.mark.chaos
@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_dies(tmp_path):
    distributed = pytest.importorskip("distributed")
    plan = campaign(seeds=400)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        executor = Dask(cluster.scheduler_address)
        with Store(tmp_path) as store:
            store.begin(plan.data, "test")
            killed = 0
            for i, _ in enumerate(run_campaign(plan.trials, executor, store)):
                if i % 150 == 20 and killed < 4:
                    victim = next(iter(cluster.workers.values()))
                    os.kill(victim.pid, signal.SIGKILL)
                    killed += 1
            assert set(store.states().values()) == {"done"}
            assert len(store.states()) == 800
        executor.shutdown()


CLUSTER = """
import distributed
cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
print(cluster.scheduler_address, flush=True)
input()
"""


@pytest.mark.chaos
@pytest.mark.filterwarnings("ignore")
def test_the_dask_scheduler_dies(tmp_path):
    """F33: the campaign ends with a message, what is stored is safe, and resuming completes it."""
    pytest.importorskip("distributed")
    plan = campaign(seeds=2000)
    guarded = f"if __name__ == '__main__':\n{textwrap.indent(CLUSTER, '    ')}"
    (tmp_path / "cluster.py").write_text(guarded)
    cluster = subprocess.Popen(
        [sys.executable, tmp_path / "cluster.py"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    stored = []
    try:
        executor = Dask(cluster.stdout.readline().strip(), timeout="60s")
        with Store(tmp_path / "store") as store:
            store.begin(plan.data, "test")
            with pytest.raises(CampaignError, match="what is stored is safe"):
                for row in run_campaign(plan.trials, executor, store):
                    stored.append(row.key)
                    if len(stored) == 10:
                        os.killpg(cluster.pid, signal.SIGKILL)
        executor.kill()
        executor.shutdown()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(cluster.pid, signal.SIGKILL)
        cluster.communicate()
    assert 10 <= len(stored) < 4000
    rest = [row.key for row in run(tmp_path / "store", plan)]
    assert len(rest) + len(stored) == 4000
    assert not set(rest) & set(stored)


@pytest.mark.filterwarnings("ignore")
def test_no_scheduler():
    pytest.importorskip("distributed")
    with pytest.raises(CampaignError, match="no Dask scheduler"):
        Dask("tcp://127.0.0.1:1", timeout="1s")


def test_any_executor_will_do(tmp_path, undisturbed):
    with ThreadPoolExecutor(2) as executor:
        run(tmp_path, executor=executor)
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed


def test_resume_repeats_none_and_misses_none(tmp_path, undisturbed, monkeypatch):
    monkeypatch.setattr(runner, "TASK_SECONDS", 0.0)
    plan = campaign()
    first = []
    with Store(tmp_path) as store:
        store.begin(plan.data, "test")
        for row in run_campaign(plan.trials, Inline(), store):
            first.append(row.key)
            if len(first) == 5:
                break
    second = [row.key for row in run(tmp_path, plan)]
    assert len(first) + len(second) == 12
    assert not set(first) & set(second)
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed
    assert run(tmp_path, plan) == []


class Four(Inline):
    """Stands for four processes."""

    flight = 8


def test_tasks_grow_with_the_pace_and_shrink_towards_the_end(tmp_path):
    plan = campaign(seeds=500)
    with Store(tmp_path) as store:
        store.begin(plan.data, "test")
        waiting = runner.Plan(plan.trials, store, False, 0.5)
    assert len(waiting.next_task(Four()).trials) == 1  # nothing is known yet
    waiting.learn(runner.Done([None] * 1, b"", 3.0))  # it compiled
    for _ in range(3):
        waiting.learn(runner.Done([None] * 10, b"", 0.1))
    assert len(waiting.next_task(Four()).trials) == 50  # half a second
    sizes = []
    while task := waiting.next_task(Four()):
        sizes.append(len(task.trials))
    assert sizes[0] == 50
    assert sizes == sorted(sizes, reverse=True)
    assert 13 in sizes  # a quarter, so that all workers end together
    assert sum(sizes) == 1000 - 51
    waiting.put_back(task := runner.Task(tuple((str(i), None) for i in range(3))))
    assert waiting.next_task(Four()).trials == task.trials


def test_a_failing_trial_is_a_result(tmp_path):
    plan = campaign(problems=FAULTY, seeds=2)
    rows = run(tmp_path, plan)
    states = [row.state for row in rows]
    assert states.count("failed") == states.count("done") == 4
    failed = next(row for row in rows if row.state == "failed")
    assert "ArithmeticError: no fitness today" in failed.error
    assert run(tmp_path, plan) == []
    assert len(run(tmp_path, plan, retry_failed=True)) == 4


def test_a_poison_trial_fails_and_the_others_finish(tmp_path):
    """F32: three deaths alone, then it is given up; innocents that were beside it are not."""
    plan = campaign(problems=POISONED, selectors=["uniform"], seeds=1)
    with Processes(2) as executor:
        rows = run(tmp_path, plan, executor)
    assert {row.state for row in rows} == {"done", "failed"}
    failed = [row for row in rows if row.state == "failed"]
    assert len(failed) == 1
    assert "died" in failed[0].error
    assert failed[0].attempt > runner.ATTEMPTS
    with Reader(tmp_path) as reader:
        lost = [attempt for attempt in reader.attempts() if attempt[0] == failed[0].key]
    assert len(lost) == failed[0].attempt
    assert {attempt[-1] for attempt in lost} == {"worker died"}


def kill_one(executor, killed):
    """Kill another worker, if there is one: a broken pool is not replaced at once."""
    for worker in set(executor._pool._processes or ()) - killed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
            killed.add(worker)
            return


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    """F31: what it was at is run again and stored once."""
    plan = campaign(seeds=40)
    with Processes(2, prepare(plan.trials)) as executor, Store(tmp_path) as store:
        store.begin(plan.data, "test")
        killed = set()
        for i, _ in enumerate(run_campaign(plan.trials, executor, store)):
            if i == 3 or (i >= 40 and len(killed) == 1):
                kill_one(executor, killed)
        assert len(killed) == 2
        assert list(store.states().values()) == ["done"] * 80


@pytest.mark.chaos
def test_twenty_workers_are_killed(tmp_path):
    plan = campaign(seeds=6000)
    with Processes(2, prepare(plan.trials)) as executor, Store(tmp_path) as store:
        store.begin(plan.data, "test")
        killed, last = set(), time.monotonic()
        for _ in run_campaign(plan.trials, executor, store, task_seconds=0.1):
            if len(killed) < 20 and time.monotonic() > last + 0.2:
                kill_one(executor, killed)
                last = time.monotonic()
        assert len(killed) > 3
        assert list(store.states().values()) == ["done"] * 12_000


class Odd(Inline):
    """An executor whose first futures end with the given errors."""

    def __init__(self, *errors, lost=""):
        self.errors = list(errors)
        self.lost = lost

    def submit(self, fn, *args, **kwargs):
        future = Future()
        if not self.errors:
            future.set_result(fn(*args, **kwargs))
        elif (error := self.errors.pop(0)) is not None:
            future.set_exception(error)
        return future


class KilledWorker(Exception):
    """As Dask's."""


def test_dasks_killed_worker_is_a_lost_attempt(tmp_path, undisturbed):
    plan = campaign(seeds=1)
    rows = run(tmp_path / "a", plan, Odd(KilledWorker()))
    assert [row.state for row in rows] == ["failed", "done"]
    rows = run(tmp_path / "a", plan, retry_failed=True)
    assert [row.state for row in rows] == ["done"]


def test_what_cannot_go_on_says_so(tmp_path):
    plan = campaign(seeds=1)
    with pytest.raises(CampaignError, match="cancelled"):
        run(tmp_path, plan, Odd(CancelledError()))
    with pytest.raises(CampaignError, match="scheduler is gone"):
        run(tmp_path, plan, Odd(None, lost="the scheduler is gone"))
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, plan, Odd(ZeroDivisionError()))


class Broken(Executor):
    """An executor of `concurrent.futures` alone: it cannot replace its workers."""

    def submit(self, fn, *args, **kwargs):
        raise BrokenExecutor


def test_a_pool_broken_while_idle(tmp_path, undisturbed):
    with pytest.raises(CampaignError, match="cannot replace"):
        run(tmp_path, executor=Broken())

    class Mended(Inline):
        broken = breaks = True

        def submit(self, fn, *args, **kwargs):
            if self.broken:
                raise BrokenExecutor
            return super().submit(fn, *args, **kwargs)

        def restart(self):
            self.broken = False

    run(tmp_path, executor=Mended())
    with Reader(tmp_path) as reader:
        assert essence(reader) == undisturbed


# --- before the first trial ---


@pytest.mark.parametrize("meter", ["powercap", "perf", "pyrapl:sharing=shared"])
def test_measured_energy_runs_alone(meter):
    """What a meter reads is known without opening its counter, which this machine may not have."""
    check_energy(campaign().trials, 8)
    check_energy(campaign(meter="cputime").trials, 8)
    trials = campaign(meter=meter).trials
    check_energy(trials, 1)
    with pytest.raises(InputError, match=r"--jobs = 2: expected 1 with measured energy"):
        check_energy(trials, 2)


def test_measured_trials_hold_the_hosts_lock(tmp_path, monkeypatch):
    monkeypatch.setenv("EIJ_RAPL_LOCK", str(tmp_path / "rapl.lock"))
    plan = campaign(seeds=1)
    key = "k" * 32
    task = runner.Task(((key, plan.trials[0]),), measured=True)
    assert runner.run_task(task).rows[0].state == "done"
    assert f"process {os.getpid()} on" in (tmp_path / "rapl.lock").read_text()


def test_preparing_checks_every_combination():
    with pytest.raises(InputError, match="static:operator"):
        prepare(campaign(selectors=["eij", "static:operator=flop"]).trials)
    assert len(prepare(campaign(problems=FAULTY).trials)) == 2  # the user's code is not run here


def test_kernels_are_loaded_where_asked():
    import json

    good = campaign().trials[0].to_dict()
    assert load_kernels(json.dumps([good, {**good, "selector": "nobody"}])) == 1


def test_jobs_are_counted():
    with pytest.raises(InputError, match="--jobs"):
        Processes(0)


def test_an_inline_failure_is_kept_for_later():
    def fail():
        raise ValueError("x")

    future = Inline().submit(fail)
    assert isinstance(future.exception(), ValueError)
    Inline().kill()
