"""One campaign from plan to store: the trials that are missing are compiled, run and stored."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..errors import InputError
from ..imports import Import
from ..protocols import CampaignExecutor
from ..registry import Absent
from ..trial import FAMILIES, Trial
from .executors import Dask, Inline, Processes, ending
from .grid import Campaign, keyed
from .preparation import check_energy, combinations, compile_trial, is_measured
from .reader import Reader, Row
from .runner import Plan, run_plan
from .store import Store
from .store_errors import StoreRefused


class Event(NamedTuple):
    """One step of a campaign, for display."""

    what: str
    """compiling, running (the first task is about to begin), stored or finished."""
    done: int
    """Combinations that are compiled, or trials that are stored."""
    total: int
    name: str = ""
    """compiling: the combination that comes next."""
    row: Row | None = None
    """stored: the trial, done or failed."""


@dataclass
class Conductor:
    """Runs the trials of a campaign that a store lacks; iterate over it for the events.

    The iteration raises an interruption, or a fault of the store or the executor. `stored` is then
    the number of trials in the store, and another conductor can run the rest.

    Parameters
    ----------
    campaign : Campaign
    folder : path
        The store's.
    jobs : int, optional
        Processes; by default all cores, or 1 where energy is measured.
    dask : str
        The address of a Dask scheduler, instead of processes.
    extend : bool
        Whether to go on although the campaign or the version of the code changed.
    retry_failed : bool
        Whether to run trials again that failed.
    task_seconds : float, optional
        About how long a task takes; see `run_campaign`.

    Examples
    --------
    >>> import tempfile
    >>> campaign = Campaign.from_toml('''
    ... problems = ["nk:n=16,k=2"]
    ... algorithms = ["ils:steps=5"]
    ... selectors = ["eij", "uniform"]
    ... meter = "model"
    ... budget = "1 J"
    ... seeds = 1
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [event.what for event in Conductor(campaign, folder, jobs=1)]
    ['compiling', 'compiling', 'running', 'stored', 'stored', 'finished']
    """

    campaign: Campaign
    folder: str | Path
    _: KW_ONLY
    jobs: int | None = None
    dask: str | None = None
    extend: bool = False
    retry_failed: bool = False
    task_seconds: float | None = None
    stored: int = field(default=0, init=False)
    """Trials of the campaign in the store, when the iteration ended."""
    failed: dict[str, str] = field(default_factory=dict, init=False)
    """Those of them that failed, by key, with the reason."""

    def __post_init__(self) -> None:
        if self.jobs and self.dask:
            raise InputError("--jobs", self.jobs, "either --jobs or --dask")
        trials = self.campaign.trials
        self.jobs = self.jobs or (1 if is_measured(trials) else os.cpu_count() or 1)
        check_energy(trials, self.jobs)

    def __iter__(self) -> Iterator[Event]:
        with Store(self.folder) as store:
            self._agree(store)
            plan = Plan(self.campaign.trials, store, self.retry_failed, self.task_seconds)
            try:
                if plan.waiting:
                    yield from self._run(plan)
            finally:
                rows = [row for row in store.rows() if row.key in plan.keys]
                self.stored = len(rows)
                self.failed = failures(rows)
        yield Event("finished", self.stored, len(plan.keys))

    def _agree(self, store: Store) -> None:
        """Write the campaign into the store; refuse to mix it with another one."""
        before, version, ours = store.spec(), store.code_version(), self._code_version()
        changes = self.campaign.diff(before) if before else []
        if version not in ("", ours):
            changes.append(f"version {version} became {ours}")
        if before and not changes:
            return
        if before and not self.extend:
            raise StoreRefused(
                f"{store.folder} was made from another campaign ({'; '.join(changes)}); choose "
                f"another folder, or go on with what changed: --extend"
            )
        store.begin(self.campaign.data, ours)

    def _code_version(self) -> str:
        """Return the version of our code and of the imported code that the campaign runs."""
        names = self.campaign.data.get("import", ())
        if names:
            keyed(combinations(self.campaign.trials))  # which imports what `external` calls
        others = map(Import.of, names)
        return " + ".join([__version__, *(f"{each.name} {each.sha256[:12]}" for each in others)])

    def _run(self, plan: Plan) -> Iterator[Event]:
        total = len(plan.keys)
        done = total - len(plan.queue)
        warm = yield from self._compile(plan.trials)
        executor: CampaignExecutor
        if self.dask:
            executor = Dask(self.dask)
        else:
            executor = Inline() if self.jobs == 1 else Processes(self.jobs or 1, warm)
        with ending(executor):
            yield Event("running", done, total)
            for row in run_plan(plan, executor):
                done += 1
                yield Event("stored", done, total, row=row)

    def _compile(self, trials: list[Trial]) -> Generator[Event, None, list[Trial]]:
        cells = combinations(trials)
        ready = []
        for i, trial in enumerate(cells):
            name = " · ".join(map(trial.name_of, ("problem", "algorithm", "selector")))
            yield Event("compiling", i, len(cells), name)
            if compile_trial(trial):
                ready.append(trial)
        return ready


def failures(rows: list[Row]) -> dict[str, str]:
    """Return why trials failed, by key."""
    return {row.key: row.fault for row in rows if row.state == "failed"}


def _rows_of(trials: Sequence[Trial], rows: list[Row]) -> list[Row]:
    """Return the rows of these trials."""
    if any(isinstance(getattr(trial, f), Absent) for trial in trials for f in FAMILIES):
        # Their keys need the problem, which is not here.
        texts = {trial.to_json() for trial in trials}
        return [row for row in rows if row.spec_json in texts]
    keys = keyed(trials)
    return [row for row in rows if row.key in keys]


def state_of(folder: str | Path) -> dict[str, Any]:
    """Return the progress of a store's campaign as plain data; also while it runs."""
    with Reader(folder) as reader:
        spec = reader.spec()
        planned = Campaign.from_dict(spec, stored=True).trials if spec else ()
        rows = _rows_of(planned, reader.rows())
        failed = failures(rows)
        return {
            "planned": len(planned),
            "done": len(rows) - len(failed),
            "failed": failed,
            "lost_attempts": len(reader.attempts()),
            "bad_parts": reader.check_parts(),
        }
