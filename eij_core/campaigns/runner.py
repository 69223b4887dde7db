"""The trials of a campaign on any executor, into a store."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import socket
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from statistics import median
from typing import Any, NamedTuple

from ..imports import Import, import_in_worker
from ..meters.counters.host_lock import reserve_host
from ..protocols import CampaignExecutor, Executor
from ..run import solve
from ..trial import Trial
from .executors import CampaignError, PlainExecutor
from .grid import keyed
from .preparation import combinations, is_measured
from .reader import Row
from .store import Store
from .traces import encode

log = logging.getLogger(__name__)

TASK_SECONDS = 1.0
"""A task has trials for about this long: a durable commit costs milliseconds, a trial too."""
MOST = 1000
"""Trials in a task, at most."""
ATTEMPTS = 3
"""A trial is blamed when its worker has died this often while nothing else ran."""


class Task(NamedTuple):
    """Trials that travel, run and are committed together."""

    trials: tuple[tuple[str, Trial], ...]
    """Keys in the store, and what to run."""
    measured: bool = False
    attempt: int = 1
    """Above 1: one trial whose worker died before, run alone."""
    imports: tuple[Import, ...] = ()
    """What registers their components, if they are not all ours."""


class Done(NamedTuple):
    """The result of a task."""

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
    failed, unless `retry_failed` is set.

    Parameters
    ----------
    trials : iterable of Trial
    executor : Executor
        `Inline()`, `Processes(n)`, `Dask(address)` or any other of `concurrent.futures`.
    store : Store
        Open for writing; `store.begin` was called.
    retry_failed : bool
    task_seconds : float
        About how long a task takes; `TASK_SECONDS` by default. Where somebody watches, less.

    Yields
    ------
    Row
    """
    plan = Plan(trials, store, retry_failed, task_seconds)
    ours = executor if isinstance(executor, CampaignExecutor) else PlainExecutor(executor)
    yield from run_plan(plan, ours)


def run_plan(plan: Plan, executor: CampaignExecutor) -> Iterator[Row]:
    """Run the rest of a plan; yield each row when it is stored."""
    under_way: dict[Future[Done], Task] = {}
    stalled = ""
    try:
        while plan.waiting or under_way:
            _check(executor)
            before, stalled = stalled, executor.stalled
            if stalled and not before:
                log.warning(stalled)
            while len(under_way) < plan.room(executor) and (task := plan.next_task(executor)):
                try:
                    under_way[executor.submit(run_task, task)] = task
                except BrokenExecutor:  # a worker died while idle
                    executor.restart()
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
                plan.store.put(done.rows, done.part)
                yield from done.rows
            if lost:
                _check(executor)  # a lost executor explains the loss; no trial is suspected
                if executor.breaks:
                    lost += [t for f, t in under_way.items() if _result(f) is None]
                    under_way = {f: t for f, t in under_way.items() if t not in lost}
                    executor.restart()
                yield from plan.suspect(lost, alone=not executor.breaks)
    finally:
        for future in under_way:
            future.cancel()


def _check(executor: CampaignExecutor) -> None:
    """Raise if the executor is lost."""
    if executor.lost:
        raise CampaignError(f"{executor.lost}; what is stored is safe")


class Plan:
    """The trials of a campaign that a store lacks, and the portions they are run in.

    Parameters
    ----------
    trials : iterable of Trial
    store : Store
    retry_failed : bool
        Whether trials that failed before are run again.
    task_seconds : float, optional
        About how long a portion takes.
    """

    def __init__(
        self,
        trials: Iterable[Trial],
        store: Store,
        retry_failed: bool = False,
        task_seconds: float | None = None,
    ) -> None:
        self.store, self.task_seconds = store, task_seconds or TASK_SECONDS
        states = store.states()
        skipped = {"done"} if retry_failed else {"done", "failed"}
        planned = keyed(trials)
        self.keys = frozenset(planned)
        self.queue = deque(item for item in planned.items() if states.get(item[0]) not in skipped)
        self.measured = is_measured(self.trials)
        names = (name for trial in combinations(self.trials) for name in trial.imports)
        self.imports = tuple(map(Import.of, dict.fromkeys(names)))
        self.suspects: deque[tuple[str, Trial]] = deque()
        self.losses: Counter[str] = Counter()
        self.paces: deque[float] = deque(maxlen=9)

    @property
    def trials(self) -> list[Trial]:
        """The trials that wait for their first attempt."""
        return [trial for _, trial in self.queue]

    @property
    def waiting(self) -> bool:
        """Whether trials are left that no task holds."""
        return bool(self.queue or self.suspects)

    def room(self, executor: CampaignExecutor) -> int:
        """Return how many tasks may be under way."""
        # Suspects run one by one with nothing else under way, so that a death has one cause.
        return 1 if self.suspects else executor.flight

    def next_task(self, executor: CampaignExecutor) -> Task | None:
        """Take the next portion."""
        if self.suspects:
            key, trial = self.suspects.popleft()
            return Task(((key, trial),), self.measured, self.losses[key] + 1, self.imports)
        if not self.queue:
            return None
        # The median: the first trials of a worker may compile.
        each = max(median(self.paces), 1e-6) if self.paces else math.inf
        size = min(max(1, math.ceil(self.task_seconds / each)), MOST)
        # Towards the end smaller ones, so that all workers finish together.
        share = math.ceil(len(self.queue) / self.room(executor))
        size = min(size, max(share, math.ceil(size / 4)), len(self.queue))
        trials = tuple(self.queue.popleft() for _ in range(size))
        return Task(trials, self.measured, imports=self.imports)

    def put_back(self, task: Task) -> None:
        """Return a portion that was not run."""
        self.queue.extendleft(reversed(task.trials))

    def learn(self, done: Done) -> None:
        """Keep the seconds that a trial of this task took."""
        self.paces.append(done.seconds / len(done.rows))

    def suspect(self, tasks: list[Task], *, alone: bool) -> Iterator[Row]:
        """Set trials apart whose worker died; yield those that have died too often."""
        for task in tasks:
            single = len(task.trials) == 1 and (alone or task.attempt > 1)
            for key, trial in task.trials:
                self.losses[key] += 1
                attempt = (key, self.losses[key], time.time(), socket.gethostname(), None)
                self.store.note_attempts([(*attempt, "worker died")])
                # Dask has tried a lost task several times itself before it reports the loss.
                blamed = single and (alone or self.losses[key] > ATTEMPTS)
                if not blamed:
                    self.suspects.append((key, trial))
                    continue
                error = "the worker process died each time this trial ran"
                row = Row(key, trial.to_json(), "failed", self.losses[key], error=error)
                self.store.put([row])
                yield row


def _result(future: Future[Done]) -> Done | None:
    """Return the result of a task; None if its worker died."""
    try:
        return future.result(timeout=30)
    except BrokenExecutor:
        return None
    except CancelledError:
        raise CampaignError("the tasks were cancelled; what is stored is safe") from None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # distributed may not be installed
            return None
        raise


# --- in the worker --------------------------------------------------------------------------------


def run_task(task: Task) -> Done:
    """Run the trials of a task. A trial that raises is a result too: a failed one."""
    started = time.perf_counter()
    import_in_worker(task.imports)
    rows, traces = [], []
    with reserve_host() if task.measured else contextlib.nullcontext():
        for key, trial in task.trials:
            row, trace = _run_trial(key, trial, task.attempt)
            rows.append(row)
            if trace is not None:
                traces.append((key, trace))
    return Done(rows, encode(traces) if traces else b"", time.perf_counter() - started)


def _run_trial(key: str, trial: Trial, attempt: int) -> tuple[Row, Any]:
    begun = time.time()
    row = Row(key, trial.to_json(), "failed", attempt, socket.gethostname(), begun)
    try:
        result = solve(trial)
        form = result.to_dict()
        del form["trial"]  # the store keeps it in a column of its own
        text = json.dumps(form, allow_nan=False, ensure_ascii=False)
    except Exception:
        return row._replace(ended=time.time(), error=traceback.format_exc(limit=-8)), None
    source = f"{result.meter.name} ({result.meter.provenance})"
    row = row._replace(state="done", ended=time.time(), energy_source=source, result_json=text)
    return row, result.rows
