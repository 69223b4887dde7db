"""The controller of a run: start, pause, step, stop, reset, replay; and the snapshot to draw.

It holds no widget. The Run page and `LiveRun` hand it their commands, ask it for news, and draw its
snapshot in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from eij_core import EijError, MeterUnavailable, Run, Trial
from eij_core.drive import Lane

from ..server.limits import ROWS
from ..views.snapshot import (
    Curve,
    Snapshot,
    Tally,
    empty_snapshot,
    snapshot_of_run,
    tally_of,
)
from .jobs import RunJob, baselines_of
from .previews import checked_info, small_instance

PACED = ("simulated", "replayed")
"""Energy that may be played slowly; on a real counter the idle time would cost Joules."""
PAST = 8
"""Earlier runs that are kept."""


class Playback(Protocol):
    """How a run is played."""

    pace: Any
    """Seconds over which the budget is played; 0: as fast as it goes."""
    compare: Any
    """Whether uniform choice and each operator alone spend the same Joules beside the run."""


class Controller:
    """Plays one run at a time.

    Parameters
    ----------
    trial : callable
        Returns the trial that `start` plays; raises `EijError` if the settings cannot be used.
    playback : Playback
        Read at each start.
    owner : hashable, optional
        Whose turns its runs take; by default its own.
    run : Run, optional
        A run of the trial to go on with; `reset` drops it.
    stamp : callable, optional
        Returns what is kept as `stamped` for each run that is started.

    Attributes
    ----------
    snapshot : Snapshot
        The run as far as it has come; at first, of the default trial.
    story : hashable
        Changes when `snapshot` no longer continues the one before, see `LiveFigure.show`.
    stamped : object
        The stamp of the run that is shown; None for a recording and for empty views.
    on_change : callable
        Called after each command, to draw its effect.
    """

    def __init__(
        self,
        trial: Callable[[], Trial],
        playback: Playback,
        owner: Hashable = None,
        run: Run | None = None,
        stamp: Callable[[], Any] = lambda: None,
    ) -> None:
        self.owner = self if owner is None else owner
        self.job: RunJob | None = None
        self.snapshot = empty_snapshot(Trial(), checked_info(Trial()))
        self.story: Hashable = None
        self._previewed: Any = None
        self.past: list[Curve] = []
        self.overlaid: tuple[str, ...] = ()
        """Labels of earlier runs to draw beside this one."""
        self.on_change: Callable[[], Any] = lambda: None
        self.run = run
        self.record: Path | None = None
        """The folder where runs keep their records; None: they keep none."""
        self.stamped: Any = None
        self._trial, self._playback, self._stamp = trial, playback, stamp
        self._problem: EijError | None = None
        self.refused = ""
        self.share = 1.0
        """How much of the run is shown, 0 to 1; see `replay`."""
        self._steps = self._number = 0
        self._seen: Any = None
        self._status: Any = None

    # --- commands ---

    def start(self, paused: bool = False) -> None:
        """Stop the present run and start the trial; raise `EijError` if it cannot be run."""
        self._steps, self.share, self.refused = 0, 1.0, ""
        own = self.run if self.run is not None and not self.run.done else None
        try:
            trial = self._trial()
            snapshot = empty_snapshot(trial, own.meter.info if own else checked_info(trial))
        except EijError as error:
            self._problem, self.refused = error, f"The settings cannot be run: {error}"
            self.on_change()
            raise
        self._problem = None
        lanes = [Lane(trial, snapshot.selector, run=own, most=ROWS, record=self.record)]
        if self._playback.compare:
            lanes += baselines_of(trial, snapshot.names)
        curves = (Curve(lane.label, snapshot.rows, lane.kind) for lane in lanes[1:])
        self._show(snapshot._replace(others=tuple(curves)), "empty")
        self.stamped = self._stamp()
        self.job = RunJob(lanes, self.owner, self._pace(snapshot), paused).start()
        self.on_change()

    def pause(self) -> None:
        """Let the run wait."""
        if self.job is not None:
            self.job.control.pause()
        self.on_change()

    def resume(self) -> None:
        """Let a paused run go on."""
        if self.job is not None:
            self.job.control.resume()
        self.on_change()

    def pause_or_resume(self) -> None:
        """Pause the run, or let a paused one go on."""
        (self.resume if self.stage == "paused" else self.pause)()

    def step(self, decisions: int = 1) -> None:
        """Take so many decisions and wait; without a run, start one."""
        if not self.busy:
            self.start(paused=True)
        job = self.job
        assert job is not None
        taken = job.tally.decisions if job.tally is not None else 0
        self._steps = decisions + max(self._steps, taken)
        job.control.step(decisions)
        self.on_change()

    def stop(self) -> None:
        """End the run; its snapshot stays."""
        if self.job is not None:
            self.job.stop()
        self.on_change()

    def reset(self) -> None:
        """Clear the views for the run that `start` would play."""
        self.run, self.refused = None, ""
        try:
            self.preview()
        except EijError as error:
            self._problem = error
        self.on_change()

    def replay(self, share: float) -> None:
        """Show the run as it was after this share (0 to 1) of its rows."""
        if not self.busy:
            self.share = share
            self.on_change()

    def change_pace(self) -> None:
        """Play on at the pace that is now set."""
        if self.job is not None:
            self.job.control.duration = self._pace(self.snapshot)

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the rule while it runs; a refusal becomes `problem`."""
        if self.job is not None and self.busy:
            self.job.control.adjust(**parameters)

    def preview(self) -> None:
        """Show the empty views of the run that `start` would play, even if its meter is dead.

        Raises
        ------
        EijError
            If the settings cannot be used.
        """
        if self.run is not None:
            self._show(snapshot_of_run(self.run, self.run.rows(), tally_of(self.run)), "own")
            return
        trial = self._trial()
        self._problem = None
        try:
            snapshot = empty_snapshot(trial, checked_info(trial))
        except MeterUnavailable as error:
            self._problem = error
            snapshot = empty_snapshot(trial)
        snapshot = snapshot._replace(instance=partial(small_instance, trial))
        shown = self.snapshot
        same = trial.problem == self._previewed and _title(snapshot) == _title(shown)
        if self.job is not None or len(shown.rows) or not same:
            self._previewed = trial.problem
            self._show(snapshot, "empty")

    def show(self, snapshot: Snapshot, name: str, stamp: Any = None) -> None:
        """Show a recorded run."""
        self._show(snapshot, name)
        self.stamped, self.refused = stamp, ""
        self.on_change()

    def overlay(self, labels: Sequence[str]) -> None:
        """Draw these of the earlier runs beside the present one."""
        self.overlaid = tuple(labels)
        self._poll()
        self.on_change()

    # --- what to show ---

    @property
    def stage(self) -> str:
        """idle, waiting, compiling, running, paused, finished, stopped or failed."""
        if self.job is None:
            return "idle"
        if self.job.stage == "running" and self.job.control.paused:
            return "paused"
        return self.job.stage

    @property
    def busy(self) -> bool:
        """Whether a run is on, paused or about to begin."""
        return self.job is not None and not self.job.over

    @property
    def compiling(self) -> bool:
        """Whether a run is on whose compiler is still at work: until then it is interpreted."""
        lanes = self.job.lanes if self.job is not None and self.busy else ()
        return any(getattr(lane.run, "compiling", False) for lane in lanes)

    @property
    def ended_run(self) -> Run | None:
        """The run under study once it is over; None before, or if it was never built."""
        return self.job.leader if self.job is not None and self.job.over else None

    @property
    def at_rest(self) -> bool:
        """Whether a paused run has taken all the steps that were asked for."""
        job = self.job
        if job is None or job.tally is None or not job.control.paused:
            return False
        return job.tally.decisions >= self._steps

    @property
    def shown(self) -> tuple[Snapshot, Hashable]:
        """The snapshot to draw and its story; an earlier moment while a run is replayed."""
        if self.share >= 1.0:
            return self.snapshot, self.story
        return self.snapshot.until(self.share), ("replay", self.share)

    @property
    def problem(self) -> EijError | None:
        """What is wrong with a setting: it cannot be run, or not be changed in mid-run."""
        refusal = self.job.control.refusal if self.job is not None and self.busy else None
        return self._problem or refusal

    @property
    def failure(self) -> str:
        """Why the run failed or did not start."""
        if self.refused or self.job is None or self.stage != "failed":
            return self.refused
        return self.job.error

    def news(self) -> bool:
        """Take in what the run has done since the last call; return whether to draw again."""
        fresh = self._poll()
        job = self.job
        place, built = (job.place, job.built) if job is not None else (0, 0)
        status = (self.stage, place, built, self.compiling, self.problem)
        fresh, self._status = fresh or status != self._status, status
        return fresh

    # --- inside ---

    def _pace(self, snapshot: Snapshot) -> float:
        return float(self._playback.pace) if snapshot.provenance in PACED else 0.0

    def _show(self, snapshot: Snapshot, name: str) -> None:
        if self.job is not None:
            self.job.stop()
        self.job, self._seen, self.share, self.stamped = None, None, 1.0, None
        self._number += 1
        self.snapshot, self.story = snapshot, (self._number, name)

    def _poll(self) -> bool:
        job = self.job
        if job is None or job.leader is None:
            return False
        over = job.over  # read before the rows: later rows come with the next call
        tally = job.tally
        lengths = [len(lane.rows) for lane in job.lanes]
        paused = job.control.paused and not over
        now = (over, paused, tally.decisions if tally else 0, lengths, self.overlaid)
        if now == self._seen or not lengths[0]:
            return False  # nothing new, or a counter that has not settled its first rows yet
        self._seen = now
        self._take_snapshot(job, job.leader, tally, paused)
        if over:
            self._remember(job)
        return True

    def _take_snapshot(self, job: RunJob, leader: Run, tally: Tally | None, paused: bool) -> None:
        epochs = sum(lane.epoch for lane in job.lanes)
        rows = job.lanes[0].rows
        step = 0
        if paused and tally is not None and tally.decisions > rows["decision"][-1]:
            # The recorded grid may skip this decision, which the visitor has just stepped to.
            rows, step = np.concatenate([rows, tally.tip]), tally.decisions
        others = [Curve(lane.label, lane.rows, lane.kind) for lane in job.lanes[1:]]
        others += [curve for curve in self.past if curve.label in self.overlaid]
        self.snapshot = snapshot_of_run(leader, rows, tally)._replace(others=tuple(others))
        self.story = (self._number, epochs, step)

    def _remember(self, job: RunJob) -> None:
        trial = job.lanes[0].trial
        words = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
        label = f"run {self._number}: {' · '.join(words)}, seed {trial.seed}"
        if all(curve.label != label for curve in self.past):
            self.past = [*self.past, Curve(label, job.lanes[0].rows, "past")][-PAST:]


def _title(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return what a snapshot shows of its run before the run begins."""
    return snapshot.names, snapshot.budget, snapshot.components, snapshot.energy
