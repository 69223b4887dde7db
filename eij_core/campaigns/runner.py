"""Campaigns: many trials, on any executor, into a store that survives."""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..result import Result
from ..run import solve
from ..trial import Trial
from .executors import CampaignError, host_lock
from .grid import key_of
from .preparation import is_measured
from .reader import Row
from .store import Store
from .traces import encode

__all__ = ["run_campaign"]

TASK_SECONDS = 1.0
"""A task has trials for about this long: a durable commit costs milliseconds, a trial too."""
MOST = 1000
"""Trials in a task, at most."""
ATTEMPTS = 3
"""A trial whose worker dies so often while nothing else runs has killed it."""


class Task(NamedTuple):
    """Trials that travel, run and are committed together."""

    trials: tuple[tuple[str, Trial], ...]
    """Keys in the store, and what to run."""
    measured: bool = False
    attempts: tuple[int, ...] = ()


class Done(NamedTuple):
    """What comes back from a task."""

    rows: list[Row]
    part: bytes
    seconds: float


def run_campaign(
    trials: Iterable[Trial],
    executor: Executor,
    store: Store,
    *,
    retry_failed: bool = False,
    task_seconds: float | None = None,
) -> Iterator[Row]:
    """Run the trials that the store does not have, and yield each when it is safely stored.

    With a model meter the rows are the same whatever the executor. Trials that failed before stay
    failed, unless they are to be tried again.

    Parameters
    ----------
    trials : iterable of Trial
    executor : concurrent.futures.Executor
        `Inline()`, `Processes(n)`, `Dask(address)` or any other.
    store : Store
        Open for writing; `store.begin` was called.
    retry_failed : bool
    task_seconds : float
        About how long a task takes; `TASK_SECONDS` by default. Where somebody watches, less.

    Yields
    ------
    Row
    """
    plan = _Plan(trials, store, retry_failed, task_seconds or TASK_SECONDS)
    under_way: dict[Future[Done], Task] = {}
    try:
        while plan.waiting or under_way:
            _check(executor)
            while len(under_way) < plan.room(executor) and (task := plan.next_task(executor)):
                try:
                    under_way[executor.submit(run_task, task)] = task
                except BrokenExecutor:  # a worker died while idle
                    _restart(executor)
                    plan.put_back(task)
                except Exception:
                    _check(executor)
                    raise
            finished, _ = wait(under_way, timeout=1.0, return_when=FIRST_COMPLETED)
            lost: list[Task] = []
            for future in finished:
                task = under_way.pop(future)
                if (done := _result(future)) is None:
                    lost.append(task)
                    continue
                plan.learn(done)
                store.put(done.rows, done.part)
                yield from done.rows
            if lost:
                _check(executor)  # then nobody is to blame
                if hasattr(executor, "restart"):
                    # A broken pool takes all that was under way with it.
                    lost += [t for f, t in under_way.items() if _result(f) is None]
                    under_way = {f: t for f, t in under_way.items() if t not in lost}
                    _restart(executor)
                yield from plan.suspect(lost, alone=not hasattr(executor, "restart"))
    finally:
        for future in under_way:
            future.cancel()


def _check(executor: Executor) -> None:
    """Give up where no result will come any more."""
    if reason := getattr(executor, "lost", ""):
        raise CampaignError(f"{reason}; what is stored is safe")


class _Plan:
    """What is left to do, and in which portions."""

    def __init__(
        self, trials: Iterable[Trial], store: Store, retry_failed: bool, task_seconds: float
    ) -> None:
        self.store, self.task_seconds = store, task_seconds
        states = store.states()
        skipped = {"done"} if retry_failed else {"done", "failed"}
        instances: dict[Any, str] = {}
        keyed = ((key_of(trial, instances), trial) for trial in trials)
        self.queue = deque(item for item in keyed if states.get(item[0]) not in skipped)
        self.measured = is_measured([trial for _, trial in self.queue])
        self.suspects: deque[tuple[str, Trial]] = deque()
        self.losses: Counter[str] = Counter()
        self.paces: deque[float] = deque(maxlen=9)

    @property
    def waiting(self) -> bool:
        return bool(self.queue or self.suspects)

    def room(self, executor: Executor) -> int:
        # Suspects run one by one with nothing else under way, so that a death has one culprit.
        if self.suspects:
            return 1
        return int(getattr(executor, "flight", 0) or 2 * (os.cpu_count() or 1))

    def next_task(self, executor: Executor) -> Task | None:
        if self.suspects:
            key, trial = self.suspects.popleft()
            return Task(((key, trial),), self.measured, (self.losses[key] + 1,))
        if not self.queue:
            return None
        # The median: the first trials of a worker may compile.
        each = max(median(self.paces), 1e-6) if self.paces else math.inf
        size = min(max(1, math.ceil(self.task_seconds / each)), MOST)
        # Towards the end smaller ones, so that all workers finish together.
        share = math.ceil(len(self.queue) / self.room(executor))
        size = min(size, max(share, math.ceil(size / 4)), len(self.queue))
        return Task(tuple(self.queue.popleft() for _ in range(size)), self.measured)

    def put_back(self, task: Task) -> None:
        self.queue.extendleft(reversed(task.trials))

    def learn(self, done: Done) -> None:
        self.paces.append(done.seconds / len(done.rows))

    def suspect(self, tasks: list[Task], *, alone: bool) -> Iterator[Row]:
        """Set trials apart whose worker died; yield those that have died too often."""
        for task in tasks:
            single = len(task.trials) == 1 and (alone or bool(task.attempts))
            for key, trial in task.trials:
                self.losses[key] += 1
                attempt = (key, self.losses[key], time.time(), socket.gethostname(), None)
                self.store.note_attempts([(*attempt, "worker died")])
                # Dask has tried a lost task several times itself before it says so.
                blamed = single and (alone or self.losses[key] > ATTEMPTS)
                if not blamed:
                    self.suspects.append((key, trial))
                    continue
                error = "the worker process died each time this trial ran"
                row = Row(key, trial.to_json(), "failed", self.losses[key], error=error)
                self.store.put([row])
                yield row


def _result(future: Future[Done]) -> Done | None:
    """Return what a task gave; None if its worker died."""
    try:
        return future.result(timeout=30)
    except BrokenExecutor:
        return None
    except CancelledError:
        raise CampaignError("the tasks were called off; what is stored is safe") from None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # distributed may not be installed
            return None
        raise


def _restart(executor: Any) -> None:
    if not hasattr(executor, "restart"):
        raise CampaignError("a worker died and this executor cannot replace it; use Processes(n)")
    executor.restart()


# --- in the worker --------------------------------------------------------------------------------


def run_task(task: Task) -> Done:
    """Run the trials of a task. A trial that raises is a result too: a failed one."""
    started = time.perf_counter()
    rows, traces = [], []
    with host_lock() if task.measured else contextlib.nullcontext():
        for i, (key, trial) in enumerate(task.trials):
            attempt = task.attempts[i] if task.attempts else 1
            row, trace = _run_trial(key, trial, attempt)
            rows.append(row)
            if trace is not None:
                traces.append((key, trace))
    return Done(rows, encode(traces) if traces else b"", time.perf_counter() - started)


def _run_trial(key: str, trial: Trial, attempt: int) -> tuple[Row, Any]:
    begun = time.time()
    row = Row(key, trial.to_json(), "failed", attempt, socket.gethostname(), begun)
    try:
        result = solve(trial)
        text = json.dumps(summary(result), allow_nan=False, ensure_ascii=False)
    except Exception:
        return row._replace(ended=time.time(), error=traceback.format_exc(limit=-8)), None
    source = f"{result.meter.name} ({result.meter.provenance})"
    row = row._replace(state="done", ended=time.time(), energy_source=source, result_json=text)
    return row, result.rows


def summary(result: Result) -> dict[str, Any]:
    """Return a result as plain data, with the energy of applications as sparse histograms."""
    data = result.to_dict()
    del data["trial"]  # it is stored beside
    for entry, total in zip(data["operators"], result.operators, strict=True):
        bins = np.flatnonzero(total.histogram)
        entry["histogram"] = [bins.tolist(), total.histogram[bins].tolist()]
    info = result.meter
    data["meter"] |= {
        "domains": list(info.domains),
        "rel_uncertainty": info.rel_uncertainty,
        "read_cost_ns": info.read_cost_ns,
        "notes": list(info.notes),
    }
    return data
