"""Driving a run from a thread: pause, resume, step, stop, pace; and the mailbox it writes to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .run import Block, Run

__all__ = ["Control", "Mailbox", "drive"]

Sink = Callable[[Block], Any]

BREATH = 0.05
"""Longest wait between two looks at the controls, in seconds."""


class Control:
    """What other threads may ask of a running search.

    Examples
    --------
    >>> control = Control(paused=True)
    >>> control.step(3)
    >>> control.resume()
    >>> control.paused
    False
    """

    def __init__(self, *, paused: bool = False, duration: float = 0.0) -> None:
        self._changed = threading.Condition()
        self._paused = paused
        self._steps = 0
        self._stopped = False
        self._adjustments: list[dict[str, Any]] = []
        self._duration = duration

    @property
    def paused(self) -> bool:
        """Whether the run waits."""
        return self._paused

    @property
    def stopped(self) -> bool:
        """Whether the run was asked to end."""
        return self._stopped

    @property
    def duration(self) -> float:
        """Seconds over which a whole budget is played; 0: as fast as it goes."""
        return self._duration

    @duration.setter
    def duration(self, seconds: float) -> None:
        with self._changed:
            self._duration = max(0.0, float(seconds))
            self._changed.notify_all()

    def pause(self) -> None:
        """Let the run wait after its present chunk."""
        self._set(paused=True)

    def resume(self) -> None:
        """Let the run go on."""
        self._set(paused=False)

    def step(self, decisions: int = 1) -> None:
        """Let a paused run take so many decisions; a running one pauses first."""
        with self._changed:
            self._paused = True
            self._steps += decisions
            self._changed.notify_all()

    def stop(self) -> None:
        """End the run after its present chunk."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the selector before the next chunk, such as alpha."""
        with self._changed:
            self._adjustments.append(parameters)
            self._changed.notify_all()

    def _set(self, *, paused: bool) -> None:
        with self._changed:
            self._paused = paused
            self._steps = 0
            self._changed.notify_all()

    # --- the driving thread's side ---

    def take_adjustments(self) -> list[dict[str, Any]]:
        """Return what is to be changed, once."""
        with self._changed:
            taken, self._adjustments = self._adjustments, []
        return taken

    def await_turn(self) -> int:
        """Wait while paused; return how many decisions to take (0: a whole chunk; -1: stop)."""
        with self._changed:
            while self._paused and not self._steps and not self._stopped and not self._adjustments:
                self._changed.wait()
            if self._stopped:
                return -1
            if self._paused:
                steps, self._steps = self._steps, 0
                return steps or -2
            return 0

    def sleep_until(self, moment: float) -> None:
        """Wait for a moment of `time.monotonic`, but no longer than until something changes."""
        with self._changed:
            remaining = moment - time.monotonic()
            if remaining > 0 and not self._stopped:
                self._changed.wait(min(remaining, BREATH))


def drive(run: Run, sinks: Iterable[Sink], control: Control) -> None:
    """Pull the run to its end, handing every block to the sinks, at the control's pace.

    Pacing waits between chunks: what is shown is computed then and there, never replayed.

    Examples
    --------
    >>> from eij_core import Trial
    >>> run = Run(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False)
    >>> blocks = []
    >>> drive(run, [blocks.append], Control())
    >>> blocks[-1].done
    True
    """
    sinks = tuple(sinks)
    shown, since = run.progress, time.monotonic()
    while not run.done:
        turn = control.await_turn()
        for parameters in control.take_adjustments():
            run.adjust(**parameters)
        if turn == -1:
            block = run.stop()
        elif turn == -2:
            continue
        elif turn > 0:
            block = run.advance(turn)
            shown, since = run.progress, time.monotonic()
        elif control.duration > 0:
            now = time.monotonic()
            target = shown + (now - since) / control.duration
            block = run.advance(_decisions_to(run, target))
            due = since + (run.progress - shown) * control.duration
            control.sleep_until(due)
            if due < now - 1.0:  # paused or slow: do not rush to catch up
                shown, since = run.progress, now
        else:
            block = next(run)
            shown, since = run.progress, time.monotonic()
        for sink in sinks:
            sink(block)


def _decisions_to(run: Run, target: float) -> int:
    """Return about how many decisions bring the progress to `target`, one at least."""
    decisions = int(run.ledger.decisions[0])
    if decisions == 0:
        return 1
    ahead = (target - run.progress) * decisions / max(run.progress, 1e-9)
    return max(1, min(int(ahead), 2 * decisions))


class Mailbox:
    """Rows from the solver's thread, waiting for the page; bounded, and never in the way.

    Rows are appended in order. When more than `limit` wait, every second one is dropped and
    `epoch` grows, which tells the reader to draw anew rather than to append.

    Examples
    --------
    >>> import numpy as np
    >>> box = Mailbox()
    >>> box(Block(np.zeros(3, [("best", float)]), 3, False))
    >>> len(box.take())
    3
    """

    def __init__(self, limit: int = 100_000) -> None:
        self.limit = limit
        self.epoch = 0
        self._lock = threading.Lock()
        self._waiting: list[NDArray[Any]] = []
        self._count = 0

    def __call__(self, block: Block) -> None:
        """Take in a block; this is a sink."""
        if not len(block.rows):
            return
        with self._lock:
            self._waiting.append(block.rows)
            self._count += len(block.rows)
            if self._count > self.limit:
                rows = np.concatenate(self._waiting)
                while len(rows) > max(self.limit, 1):
                    rows = rows[(len(rows) - 1) % 2 :: 2]  # the newest row always stays
                self._waiting, self._count = [rows], len(rows)
                self.epoch += 1

    def take(self) -> NDArray[Any] | None:
        """Return the rows that wait, if any, and forget them."""
        with self._lock:
            waiting, self._waiting, self._count = self._waiting, [], 0
        return np.concatenate(waiting) if waiting else None
