"""Jobs: work in a thread of its own that takes turns on the processor.

`RunJob` drives a run, or several on equal Joules; `GeneratorJob` drives any generator.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Generic, Self, TypeVar

import numpy as np

from eij_core import Run, Trial
from eij_core.drive import Control, Lane, drive

from ..server.limits import ROWS, limits
from ..text.failures import failure_message
from ..views.snapshot import Tally, tally_of
from .turns import Turns, lower_priority, shared_seats, shared_turns

Item = TypeVar("Item")


class Job(ABC):
    """A daemon thread that works in turns; a page reads its `stage`, `place` and `error`.

    Parameters
    ----------
    owner : hashable
        Whose turns it takes.
    turns : Turns
        Where it queues; by default with everybody else in this process.
    """

    thread_name = "eij-job"

    def __init__(self, owner: Hashable, turns: Turns = shared_turns) -> None:
        self.owner = owner
        self.stage = "waiting"
        """waiting, compiling, running, then finished, stopped or failed."""
        self.error = ""
        """Why it failed."""
        self._turns = turns
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name=self.thread_name, daemon=True)

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ask it to end; return at once."""
        self._stop.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait for the thread to end."""
        self._thread.join(seconds)

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.stage in ("finished", "stopped", "failed")

    @property
    def place(self) -> int:
        """Its place in the queue; 0 if it does not wait."""
        return 0 if self.over else shared_seats.place(self.owner) or self._turns.place(self.owner)

    @abstractmethod
    def _do(self) -> None:
        """Do the work, in the thread."""

    def _turn(self) -> AbstractContextManager[None]:
        return self._turns.turn(self.owner)

    @contextmanager
    def _in_turns(self, alone: bool) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """Yield what a chunk is computed in: a turn, or, if `alone`, one long turn for them all."""
        if alone:
            with self._turns.turn(self.owner, alone=True):
                yield nullcontext
        else:
            yield self._turn

    def _work(self) -> None:
        user = getattr(self.owner, "user", self.owner)
        try:
            with shared_seats.taken(self.owner, user, lambda: self.stopped) as seated:
                if seated:
                    self._do()
            self.stage = "stopped" if self.stopped else "finished"
        except Exception as error:
            self.error, self.stage = failure_message(error), "failed"


class GeneratorJob(Job, Generic[Item]):
    """Drives a generator and keeps its items until the page takes them.

    Between two items it gives its turn back, so an item should not take long. Stopping closes the
    generator, whose `finally` tidies up. Unlike a run's thread it keeps its priority: it holds the
    GIL most of the time, and a holder without the processor would block the page.

    Parameters
    ----------
    steps : generator
    owner : hashable
        Whose turns it takes.
    alone : bool
        Whether it takes every slot from beginning to end, as measuring does.

    Examples
    --------
    >>> job = GeneratorJob((letter for letter in "abc"), "me").start()
    >>> job.join()
    >>> job.take(), job.stage
    (['a', 'b', 'c'], 'finished')
    """

    def __init__(
        self,
        steps: Generator[Item],
        owner: Hashable,
        alone: bool = False,
        turns: Turns = shared_turns,
    ) -> None:
        super().__init__(owner, turns)
        self._steps, self._alone = steps, alone
        self._items: deque[Item] = deque()  # the thread appends, the page takes from the front

    def take(self) -> list[Item]:
        """Return the items since the last call."""
        return [self._items.popleft() for _ in range(len(self._items))]

    def _do(self) -> None:
        with self._in_turns(self._alone) as turn, closing(self._steps) as steps:
            while not self.stopped:
                with turn():
                    self.stage = "running"
                    items = list(islice(steps, 1))
                if not items:
                    return
                self._items += items


class RunJob(Job):
    """Builds runs and drives them on equal Joules; a page reads `tally` and the lanes' rows.

    Parameters
    ----------
    lanes : sequence of Lane
        The run under study first.
    owner : hashable, optional
        Whose turns it takes; by default its own.
    pace : float
        Seconds over which the budget is played; 0: as fast as it goes.
    paused : bool
        Whether it waits for a step before its first decision.
    """

    thread_name = "eij-run"

    def __init__(
        self,
        lanes: Sequence[Lane],
        owner: Hashable = None,
        pace: float = 0.0,
        paused: bool = False,
        turns: Turns = shared_turns,
    ) -> None:
        super().__init__(self if owner is None else owner, turns)
        self.lanes = tuple(lanes)
        self.control = Control(paused=paused, duration=pace)
        self.built = 0
        """How many of the runs are compiled."""
        self.tally: Tally | None = None

    def stop(self) -> None:
        """End the runs after their present chunk; return at once."""
        self.control.stop()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self.control.stopped

    @property
    def leader(self) -> Run | None:
        """The run under study; None until all runs are built."""
        return self.lanes[0].run if self.tally is not None else None

    def _do(self) -> None:
        with self._turn():
            self.stage = "compiling"
            for built, lane in enumerate(self.lanes):
                if self.stopped:
                    return
                self.built = built
                with np.errstate(all="ignore"):
                    lane.build()
        lower_priority()  # only now: the visitor waits for the compiler
        leader = self.lanes[0].build()
        self.tally = tally_of(leader)
        self.stage = "running"
        measured = str(leader.meter.info.provenance) == "measured"
        with self._in_turns(alone=measured) as turn:
            drive(self.lanes, self.control, turn=turn, after=self._note)
        self._note()

    def _note(self) -> None:
        leader = self.lanes[0].build()
        self.tally = tally_of(leader, self.tally)
        if leader.seconds > limits().seconds and not leader.done:
            for lane in self.lanes:
                lane.stop(f"this server ends a run after {limits().seconds:g} s")


def baselines_of(trial: Trial, operators: Sequence[str]) -> list[Lane]:
    """Return the runs that a rule is compared with: uniform choice, and each operator alone."""
    alone = [(f"static:operator={name}", f"only {name}", "static") for name in operators[:6]]
    return [
        Lane(replace(trial, selector=selector), label, kind, most=ROWS)
        for selector, label, kind in [("uniform", "uniform", "uniform"), *alone]
    ]
