"""Records of runs: written while they go on, read back strictly, played again.

One run, one file. While a run goes on, its recorder rewrites that file every few seconds, whole and
in one step (draft, fsync, rename). So a reader always sees a complete record of the run so far,
`kill -9` costs the last seconds at most, and a full disk costs what did not fit: the file before
stays, the run goes on, and the fault is said. A record is about a thousand rows, so writing it anew
is cheaper than joining parts; where it is not (`every=1`), the pauses grow with the time a write
takes.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .meters.meter import Provenance
from .record_data import Record, RecordError, format_of, load, save
from .records import Belief, Ledger, new_ledger
from .result import Best, Result
from .run import Block, Run, RunError

__all__ = ["Record", "RecordError", "RecordedRun", "Recorder", "load", "save"]

log = logging.getLogger(__name__)

FIRST = 1.0
"""Seconds until a run is first written down."""
PAUSE = 5.0
"""Seconds between two writings after that."""
SHARE = 20.0
"""A writing may take one part in so many of a run's time."""


class Recorder:
    """A sink that keeps the record of a run on disk.

    Parameters
    ----------
    path : path
        Ends in .parquet, .csv or .json.
    run : Run
    pause : float
        Seconds between two writings while the run goes on.

    Examples
    --------
    >>> import tempfile
    >>> from eij_core import Run, Trial
    >>> run = Run(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorder = Recorder(f"{folder}/a.csv", run)
    ...     for block in run:
    ...         recorder(block)
    ...     load(f"{folder}/a.csv").digest == run.result().digest
    True
    """

    def __init__(self, path: str | Path, run: Run, *, pause: float = PAUSE) -> None:
        self.path = Path(path)
        format_of(self.path).prepare()  # not when Ctrl-C has come and a second counts
        self.run = run
        self.pause = pause
        self.error: OSError | None = None
        """Why the file is not up to date, if it is not."""
        self._due = time.monotonic() + min(FIRST, pause)
        self._written: tuple[int, str] | None = None

    def __call__(self, block: Block) -> None:
        """Take note of a block; this is a sink."""
        if block.done or time.monotonic() >= self._due:
            self.close()

    def close(self) -> None:
        """Bring the record on disk up to date; may be called at any time, and again."""
        state = int(self.run.ledger.decisions[0]), self.run.reason
        if state == self._written:
            return
        started = time.monotonic()
        result = self.run.result()
        if not len(result.rows):
            return  # a real counter has not said yet what the first ones cost
        try:
            save(result, self.path)
        except OSError as error:
            if self.error is None:
                log.warning("%s cannot be written, the run goes on: %s", self.path, error)
            self.error = error
        else:
            self.error, self._written = None, state
        now = time.monotonic()
        self._due = now + max(self.pause, SHARE * (now - started))


class RecordedRun(Iterator[Block]):
    """A record as a run: the same blocks, in the same order, with nothing computed.

    Everything that pulls a `Run` can pull this. Its Joules are marked as replayed.

    Parameters
    ----------
    record : Record
    blocks : int
        In how many blocks iteration goes through the record, about.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J"), compiled=False)
    >>> run = RecordedRun(Record.of(result))
    >>> sum(len(block.rows) for block in run) + 1 == len(result.rows)
    True
    """

    def __init__(self, record: Record, *, blocks: int = 100) -> None:
        self.record = record
        self.trial = record.trial
        self.names = record.names
        self.reason = ""
        self._rows = record.rows
        self._step = max(1, len(self._rows) // blocks)
        self._decisions = int(self._rows["decision"][0])
        self._at = 1  # the first row is there from the start, as in a run
        self._finish()

    @property
    def done(self) -> bool:
        """Whether the end was reached, or `stop` was called."""
        return bool(self.reason)

    @property
    def progress(self) -> float:
        """How much of what the run spent is spent, 0 to 1."""
        if self.done:
            return 1.0
        return float(self._now["spent"] / max(self._rows["spent"][-1], 1e-300))

    @property
    def left(self) -> float:
        """Joules left, B_t."""
        return float(self.trial.budget.joules - self._now["spent"])

    @property
    def seconds(self) -> float:
        """The time that the run had taken, in proportion."""
        return self.record.spent.seconds * self.progress

    @property
    def ledger(self) -> Ledger:
        """The running totals; the histograms of Joules are known at the end alone."""
        ledger, now = new_ledger(len(self.names)), self._now
        ledger.joules[0], ledger.evaluations[0] = now["spent"], now["evaluations"]
        ledger.decisions[0] = self._decisions
        ledger.applications[:] = now["applications"]
        ledger.operator_joules[:] = now["operator_joules"]
        if self._at == len(self._rows):
            for o, total in enumerate(self.record.operators):
                ledger.histogram[o] = total.histogram
                ledger.operator_evaluations[o] = total.evaluations
                ledger.operator_gain[o] = total.gain
        return ledger

    def advance(self, decisions: int) -> Block:
        """Go on by so many decisions."""
        target = self._decisions + decisions if not self.done else self._decisions
        to = int(np.searchsorted(self._rows["decision"], target, side="right"))
        return self._go(max(to, self._at), target)

    def __next__(self) -> Block:
        if self.done:
            raise StopIteration
        to = min(self._at + self._step, len(self._rows))
        return self._go(to, int(self._rows["decision"][to - 1]))

    def stop(self, reason: str = "stopped") -> None:
        """End here."""
        self.reason = self.reason or reason

    def adjust(self, **parameters: Any) -> None:
        """Nothing of the past can be changed."""
        raise RunError("a record cannot be adjusted; run its trial instead")

    def explain(self) -> Any:
        """A record does not hold the random numbers that a decision hangs on."""
        raise RunError("a record cannot explain decisions; run its trial instead")

    def rows(self) -> NDArray[Any]:
        """Return the rows played so far."""
        return self._rows[: self._at]

    def result(self) -> Result:
        """Return where the replay stands; midway, the best solution's bits are not known."""
        result = self.record.result()
        info = dataclasses.replace(
            result.meter,
            provenance=Provenance.REPLAYED,
            notes=(*result.meter.notes, f"recorded as {result.meter.provenance}"),
        )
        if self._at == len(self._rows):
            return dataclasses.replace(result, meter=info)
        now, ledger, best = self._now, self.ledger, result.best
        joules, fitness = float(now["spent"]), float(now["best"])
        return dataclasses.replace(
            result,
            meter=info,
            reason=self.reason or "running",
            rows=self.rows(),
            best=Best(best.x[:0], fitness, best.feasible, best.optimum - fitness, best.optimum),
            spent=result.spent._replace(
                joules=joules,
                evaluations=int(now["evaluations"]),
                decisions=self._decisions,
                seconds=self.seconds,
                overshoot=0.0,
            ),
            operators=tuple(
                total._replace(
                    applications=int(ledger.applications[o]),
                    joules=float(ledger.operator_joules[o]),
                    belief=Belief(*now["beliefs"][o].tolist()),
                )
                for o, total in enumerate(result.operators)
            ),
        )

    @property
    def _now(self) -> Any:
        return self._rows[self._at - 1]

    def _go(self, to: int, decisions: int) -> Block:
        taken = min(decisions, int(self._rows["decision"][-1])) - self._decisions
        rows = self._rows[self._at : to]
        self._at, self._decisions = to, self._decisions + taken
        self._finish()
        return Block(rows, taken, self.done)

    def _finish(self) -> None:
        if self._at == len(self._rows) and not self.done:
            self.reason = str(self.record.metadata["reason"])
