"""Driving runs from a thread: one run, or several on equal Joules; pause, step, pace, stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import EijError
from .run import Run
from .trial import Trial

WAKE_SECONDS = 0.05
"""Longest wait between two looks at the controls."""
GAP_SECONDS = 0.25
"""A wait longer than this was a pause: the pace is counted from its end."""
LAG = 0.05
"""Share of the budget that a run may lag behind its pace before the pace starts anew."""


class Orders(NamedTuple):
    """What the driving thread does next."""

    stop: bool
    steps: int | None
    """Decisions to take while paused, 0 for none; None: the run is not paused."""
    adjustments: list[dict[str, Any]]
    """Parameters of the rule to change first."""


class Control:
    """Commands from other threads to a running search.

    Parameters
    ----------
    paused : bool
        Whether the run begins paused and waits for a step.
    duration : float
        Seconds over which a whole budget is played; 0: as fast as it goes.

    Examples
    --------
    >>> control = Control(paused=True)
    >>> control.step(3)
    >>> control.await_orders()
    Orders(stop=False, steps=3, adjustments=[])
    >>> control.resume()
    >>> control.paused
    False
    """

    def __init__(self, *, paused: bool = False, duration: float = 0.0) -> None:
        self._changed = threading.Condition()
        self.paused = paused
        """Whether the run waits; `pause` and `resume` change it."""
        self.stopped = False
        """Whether `stop` was called."""
        self._steps = 0
        self._adjustments: list[dict[str, Any]] = []
        self._duration = duration
        self.refusal: EijError | None = None
        """Why the latest adjustment was refused; None if it was accepted."""

    @property
    def duration(self) -> float:
        """Seconds over which a whole budget is played; 0: as fast as it goes."""
        return self._duration

    @duration.setter
    def duration(self, seconds: float) -> None:
        self._set(_duration=max(0.0, float(seconds)))

    def pause(self) -> None:
        """Let the run wait after its present chunk."""
        self._set(paused=True, _steps=0)

    def resume(self) -> None:
        """Let the run go on."""
        self._set(paused=False, _steps=0)

    def step(self, decisions: int = 1) -> None:
        """Let a paused run take so many decisions; a running one pauses first."""
        with self._changed:
            self.paused = True
            self._steps += decisions
            self._changed.notify_all()

    def stop(self) -> None:
        """End the run after its present chunk."""
        self._set(stopped=True)

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the selector before the next chunk, such as alpha."""
        with self._changed:
            self._adjustments.append(parameters)
            self._changed.notify_all()

    def _set(self, **fields: Any) -> None:
        with self._changed:
            vars(self).update(fields)
            self._changed.notify_all()

    # --- the driving thread's side ---

    def await_orders(self) -> Orders:
        """Wait while paused; return the commands that came since the last call."""
        with self._changed:
            while self.paused and not (self._steps or self.stopped or self._adjustments):
                self._changed.wait()
            adjustments, self._adjustments = self._adjustments, []
            steps, self._steps = self._steps if self.paused else None, 0
            return Orders(self.stopped, steps, adjustments)

    def sleep_until(self, moment: float) -> None:
        """Wait for a moment of `time.monotonic`, but no longer than until something changes."""
        with self._changed:
            remaining = moment - time.monotonic()
            if remaining > 0 and not self.stopped:
                self._changed.wait(min(remaining, WAKE_SECONDS))


class Lane:
    """One of the runs that are driven together: its trial, its label, its run, its rows.

    The driving thread appends rows, others read them. When there are more than `most`, every
    second one is dropped and `epoch` grows: a reader then draws anew instead of appending.

    Parameters
    ----------
    trial : Trial
    label : str
        Its name in tables and legends.
    kind : str
        What it is for plots: "rule", "uniform", "static" or "past".
    run : Run, optional
        A run of this trial to go on with; else `build` makes one.
    most : int
        Rows to keep; at least the first and the newest.
    record : path, optional
        Where its run keeps its record, see `Run`.

    Examples
    --------
    >>> lane = Lane(Trial("nk:n=20,k=3", "ils", budget="20 J"), most=4)
    >>> lane.add(np.zeros(5, [("spent", float)]))
    >>> len(lane.rows), lane.epoch
    (3, 1)
    """

    def __init__(
        self,
        trial: Trial,
        label: str = "",
        kind: str = "rule",
        run: Run | None = None,
        most: int = 100_000,
        record: str | Path | None = None,
    ) -> None:
        self.record = record
        self.trial, self.label, self.kind, self.most = trial, label, kind, max(most, 2)
        self.run = run
        self.epoch = 0
        self._lock = threading.Lock()
        self._parts: list[NDArray[Any]] = []
        self._count = 0
        if run is not None:
            self.add(run.rows())

    def build(self) -> Run:
        """Return the lane's run; make it, and compile it if need be, if there is none yet."""
        if self.run is None:
            self.run = Run(self.trial, record=self.record)
            self.add(self.run.rows())
        return self.run

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        if not len(rows):
            return
        with self._lock:
            self._parts.append(rows)
            self._count += len(rows)
            while self._count > self.most:
                rows = np.concatenate(self._parts)
                rows = np.concatenate([rows[:-1:2], rows[-1:]])  # the newest row always stays
                self._parts, self._count = [rows], len(rows)
                self.epoch += 1

    @property
    def rows(self) -> NDArray[Any]:
        """The rows so far; an array without fields if there are none."""
        with self._lock:
            if len(self._parts) > 1:
                self._parts = [np.concatenate(self._parts)]
            return self._parts[0] if self._parts else np.zeros(0)

    @property
    def progress(self) -> float:
        """How much of the budget its run has spent, 0 to 1."""
        return self.build().progress

    def advance(self, decisions: int) -> None:
        """Take so many decisions."""
        self.add(self.build().advance(decisions).rows)

    def toward(self, progress: float) -> None:
        """Go on to this progress, but for one chunk at most."""
        run = self.build()
        taken = int(run.ledger.decisions[0])
        ahead = (progress - run.progress) * taken / max(run.progress, 1e-12)
        self.advance(max(1, int(min(ahead, 2 * taken, run.chunk))))

    def stop(self, reason: str = "stopped") -> None:
        """End the run here; its last row is added."""
        self.add(self.build().stop(reason).rows)


def drive(
    lanes: Sequence[Lane],
    control: Control | None = None,
    *,
    turn: Callable[[], AbstractContextManager[Any]] = nullcontext,
    after: Callable[[], Any] = lambda: None,
) -> None:
    """Drive runs to their end on equal Joules: the run that has spent the least goes on.

    A paced run waits between chunks; it computes each chunk when it is due.

    Parameters
    ----------
    lanes : sequence of Lane
        The first is the run under study: steps are counted and parameters adjusted there.
    control : Control, optional
        Commands from other threads; without it the runs go to their end as fast as they can.
    turn : callable
        Returns the context in which a chunk is computed, such as a turn on the processor.
    after : callable
        Called after each chunk, in this thread.

    Examples
    --------
    >>> lane = Lane(Trial("nk:n=20,k=3", "ils", budget="20 J"), run=None)
    >>> drive([lane])
    >>> lane.run.done
    True
    """
    control = control or Control()
    pace = _Pace(control, lanes)
    while not all(lane.build().done for lane in lanes):
        asked = time.monotonic()
        orders = control.await_orders()
        for parameters in orders.adjustments:
            _adjust(lanes[0], parameters, control)
        if orders.steps is not None or time.monotonic() - asked > GAP_SECONDS:
            pace.begin()
        if orders.stop:
            for lane in lanes:
                lane.stop()
        elif orders.steps:
            with turn():
                _step(lanes, orders.steps)
        elif orders.steps is None:
            if not (target := pace.next_target()):
                continue
            with turn():
                _last(lanes).toward(target)
        after()


class _Pace:
    """How far the runs may be at each moment, counted from the last pause or change of pace."""

    def __init__(self, control: Control, lanes: Sequence[Lane]) -> None:
        self._control, self._lanes = control, lanes
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._duration = self._control.duration
        self._anchor, self._since = _progress(self._lanes), time.monotonic()

    def next_target(self) -> float:
        """Return the progress that the runs may go to now; if there is none, wait and return 0."""
        if self._control.duration != self._duration:
            self.begin()
        if self._duration <= 0.0:
            return 1.0
        now = time.monotonic()
        target = self._anchor + (now - self._since) / self._duration
        reached = _progress(self._lanes)
        if reached >= target:
            due = self._since + (reached - self._anchor) * self._duration
            self._control.sleep_until(due)
            return 0.0
        if target - reached > LAG:  # slower than the pace: do not rush to catch up
            self._anchor, self._since = reached, now
        return min(target, 1.0)


def _progress(lanes: Sequence[Lane]) -> float:
    return min(lane.progress for lane in lanes)


def _last(lanes: Sequence[Lane]) -> Lane:
    """Return the lane furthest behind."""
    return min((lane for lane in lanes if not lane.build().done), key=lambda lane: lane.progress)


def _step(lanes: Sequence[Lane], decisions: int) -> None:
    """Let the run under study take so many decisions, and the others catch up in Joules."""
    leader, *others = lanes
    leader.advance(decisions)
    for lane in others:
        while not lane.build().done and lane.progress < leader.progress:
            lane.toward(leader.progress)


def _adjust(lane: Lane, parameters: dict[str, Any], control: Control) -> None:
    try:
        lane.build().adjust(**parameters)
    except EijError as error:
        control.refusal = error
    else:
        control.refusal = None
