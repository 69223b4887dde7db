"""A job: a run, or several that are compared on the same Joules, driven by one thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.failing import told
from app.frame import Tally, tally_of
from app.limits import limits
from app.pool import Pool, Seats, be_nice
from app.pool import pool as shared_pool
from app.pool import seats as shared_seats
from eij_core import Block, EijError, Run, Trial
from eij_core.control import Control, Mailbox

__all__ = ["Contender", "Job", "Race", "play", "rivals_of"]

CHUNK = 0.04
"""Seconds that a chunk aims at, as in `eij_core.run`."""


class Contender(NamedTuple):
    """What one lane of a job runs."""

    label: str
    trial: Trial
    kind: str = "rule"
    run: Run | None = None
    """A run that exists already, to go on with; else one is built from the trial."""


class Racer:
    """A run with its mailbox."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        self.run = contender.run if contender.run is not None else Run(contender.trial)
        self.mailbox = Mailbox()
        self.mailbox(Block(self.run.rows(), 0, False))
        self._rate = 0.0  # decisions per second

    def advance(self, decisions: int) -> None:
        """Take so many decisions, and post the rows."""
        started = time.perf_counter()
        block = self.run.advance(decisions)
        elapsed = time.perf_counter() - started
        if block.decisions and elapsed > 0.0:
            self._rate = block.decisions / elapsed
        self.mailbox(block)

    def toward(self, progress: float) -> None:
        """Go on to this progress, but for one chunk at most."""
        taken = int(self.run.ledger.decisions[0])
        ahead = (progress - self.run.progress) * taken / max(self.run.progress, 1e-12)
        most = max(1.0, min(2.0 * taken, self._rate * CHUNK))
        self.advance(max(1, int(min(ahead, most))))

    def stop(self, reason: str = "stopped") -> None:
        """End the run here, and post its last row."""
        self.mailbox(self.run.stop(reason))


class Race:
    """Runs that go on together: whoever has spent the smallest share of the budget is next."""

    def __init__(self, racers: Sequence[Racer]) -> None:
        self.racers = tuple(racers)
        self.leader = self.racers[0]
        self.notice = ""

    @property
    def done(self) -> bool:
        """Whether every run has met its limit."""
        return all(racer.run.done for racer in self.racers)

    @property
    def progress(self) -> float:
        """The smallest share of the budget that a run has spent."""
        return min(racer.run.progress for racer in self.racers)

    def step(self, decisions: int) -> None:
        """Let the run under study take so many decisions, and the others catch up in Joules."""
        self.leader.advance(decisions)
        for racer in self.racers[1:]:
            while not racer.run.done and racer.run.progress < self.leader.run.progress:
                racer.toward(self.leader.run.progress)

    def chunk(self, target: float) -> None:
        """Let the one furthest behind go on towards `target` for a chunk."""
        behind = [racer for racer in self.racers if not racer.run.done]
        min(behind, key=lambda racer: racer.run.progress).toward(target)

    def adjust(self, parameters: dict[str, Any]) -> None:
        """Change parameters of the rule under study."""
        try:
            self.leader.run.adjust(**parameters)
        except EijError as error:
            self.notice = str(error)

    def stop(self, reason: str = "stopped") -> None:
        """End every run here."""
        for racer in self.racers:
            racer.stop(reason)


def play(race: Race, control: Control, turn: Any = nullcontext, after: Any = None) -> None:
    """Drive a race to its end at the control's pace: computed then and there, never replayed.

    `eij_core.control.drive` does this for one run. Here several share the Joules, a chunk never
    exceeds 40 ms however far behind the pace it is, and a turn on the processor is asked for.
    """
    anchor, since = race.progress, time.monotonic()
    pace = control.duration
    while not race.done:
        asked = time.monotonic()
        order = control.await_turn()
        adjustments = control.take_adjustments()
        for parameters in adjustments:
            race.adjust(parameters)
        now = time.monotonic()
        if order or control.duration != pace or now - asked > 0.25:
            anchor, since, pace = race.progress, now, control.duration
        if order == -1:
            race.stop()
        elif order == -2:
            pass
        elif pace > 0.0 and order == 0:
            target = anchor + (now - since) / pace
            if race.progress >= target:
                control.sleep_until(since + (race.progress - anchor) * pace)
                continue
            if target - race.progress > 0.05:  # slower than the pace: do not rush to catch up
                anchor, since = race.progress, now
            with turn():
                race.chunk(min(target, 1.0))
        else:
            with turn():
                race.step(order) if order > 0 else race.chunk(1.0)
        if after is not None:
            after()


class Job:
    """One press of Run: builds the runs, drives them in a daemon thread, keeps what they say.

    It knows no page: a session reads `stage`, `tally` and the mailboxes when it wants to.

    Parameters
    ----------
    contenders : sequence of Contender
        The run under study first.
    owner : hashable
        Whose turn it takes.
    pace : float
        Seconds over which the budget is played; 0: as fast as it goes.
    """

    def __init__(
        self,
        contenders: Sequence[Contender],
        owner: Hashable = None,
        pace: float = 0.0,
        paused: bool = False,
        turns: Pool = shared_pool,
        seats: Seats = shared_seats,
    ) -> None:
        self.contenders = tuple(contenders)
        self.owner = self if owner is None else owner
        self.control = Control(paused=paused, duration=pace)
        self.stage = "waiting"
        """waiting, compiling, running, then finished, stopped or failed."""
        self.error = ""
        self.built = 0
        """How many of the runs are compiled."""
        self.racers: tuple[Racer, ...] = ()
        self.tally: Tally | None = None
        self.notice = ""
        self._turns, self._seats = turns, seats
        self._born = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="eij-run", daemon=True)

    def start(self) -> Job:
        """Start the thread."""
        self._thread.start()
        return self

    def join(self, seconds: float | None = None) -> None:
        """Wait for the thread to end."""
        self._thread.join(seconds)

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.stage in ("finished", "stopped", "failed")

    @property
    def place(self) -> int:
        """Our place in the queue; 0 when there is no wait to speak of."""
        if self.over:
            return 0
        return self._seats.place(self.owner) or self._turns.place(self.owner)

    @property
    def leader(self) -> Run | None:
        """The run under study, once it is built."""
        return self.racers[0].run if self.racers else None

    def take(self) -> list[NDArray[Any] | None]:
        """Return the rows that wait in the mailbox of each run."""
        return [racer.mailbox.take() for racer in self.racers]

    def results(self) -> list[Any]:
        """Return the result of each run; call it when the job is over."""
        return [racer.run.result() for racer in self.racers]

    def _work(self) -> None:
        user = getattr(self.owner, "user", self.owner)
        try:
            with self._seats.taken(self.owner, user, lambda: self.control.stopped) as seated:
                if seated:
                    self._run()
                else:
                    self.stage = "stopped"
        except Exception as error:
            self.error, self.stage = told(error), "failed"

    def _run(self) -> None:
        with self._turns.turn(self.owner):
            self.stage = "compiling"
            racers: list[Racer] = []
            for contender in self.contenders:
                if self.control.stopped:
                    self.stage = "stopped"
                    return
                self.built = len(racers)
                with np.errstate(all="ignore"):
                    racers.append(Racer(contender))
        be_nice()  # not before: the visitor waits for the compiler
        self.racers = tuple(racers)
        race = Race(racers)
        self.tally = tally_of(race.leader.run)
        self.stage = "running"
        measured = str(race.leader.run.source.info.provenance) == "measured"
        with self._turns.turn(self.owner, alone=True) if measured else nullcontext():
            play(
                race,
                self.control,
                nullcontext if measured else self._turn,
                lambda: self._note(race),
            )
        self._note(race)
        self.stage = "stopped" if self.control.stopped else "finished"

    def _turn(self) -> AbstractContextManager[None]:
        return self._turns.turn(self.owner)

    def _note(self, race: Race) -> None:
        self.tally = tally_of(race.leader.run)
        self.notice = race.notice
        if race.leader.run.seconds > limits().seconds and not race.done:
            race.stop(f"this server ends a run after {limits().seconds:g} s")


def rivals_of(trial: Trial, names: Sequence[str]) -> list[Contender]:
    """Return what a rule is compared with: uniform choice, and each operator alone."""
    from dataclasses import replace

    uniform = Contender("uniform", replace(trial, selector="uniform"), "uniform")
    alone = [
        Contender(f"only {name}", replace(trial, selector=f"static:operator={name}"), "static")
        for name in names[:6]
    ]
    return [uniform, *alone]
