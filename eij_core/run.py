"""Running a trial: pull blocks of rows from it; not pulling is pausing."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from .errors import EijError, InputError, nearest
from .kernel import jit_is_off
from .loop import (
    ASK,
    FULL,
    MORE,
    UNAFFORDABLE,
    compiled_advance,
    compiled_begin,
    interpreted_advance,
    interpreted_begin,
    record,
)
from .probing import Prices, compile_probes
from .records import Hints, Outcome, new_ledger, new_trace
from .result import Change, Result, result_of
from .rng import streams_for
from .trial import Trial

__all__ = ["Block", "Run", "RunError", "solve"]

log = logging.getLogger(__name__)

CHUNK_SECONDS = 0.04
"""A chunk aims at this: pause, stop and the page are never further away than about 50 ms."""
JOULES_SPENT = "joules spent"
ROOM = 1024
"""Rows that one call of the compiled loop can write."""


class RunError(EijError, RuntimeError):
    """A run that cannot go on."""


class Block(NamedTuple):
    """The rows that one stretch of a run recorded: the event that sinks receive."""

    rows: NDArray[Any]
    """Structured rows, see `records.row_dtype`; may be empty."""
    decisions: int
    """Decisions taken in this stretch."""
    done: bool


class Run(Iterator[Block]):
    """A trial in progress.

    Iterate over it for blocks of about 40 ms, or call `advance` for an exact number of decisions.
    The size of the chunks never changes what happens.

    Parameters
    ----------
    trial : Trial
    compiled : bool
        Whether to run compiled. Components that numba cannot compile run interpreted anyway.

    Examples
    --------
    >>> run = Run(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> run.advance(1).decisions
    1
    >>> for block in run:
    ...     pass
    >>> run.result().reason
    'no operator fits in the Joules left'
    """

    def __init__(self, trial: Trial, *, compiled: bool = True) -> None:
        self.trial = trial
        self.problem = trial.make("problem")
        self.algorithm = trial.make("algorithm")
        self.selector = trial.make("selector")
        self.source = trial.make("meter")
        operators = self.algorithm.operators
        self.names: tuple[str, ...] = tuple(operator.name for operator in operators)
        profile = None
        if trial.profile:
            from .profiles import profile_for  # here, because it imports pandas

            profile = profile_for(trial, self.source, self.names)
        self.meter = self.source.attach(
            trial.name_of("problem"), trial.name_of("algorithm"), operators
        )
        self.limits = trial.limits()
        self.streams = streams_for(trial.seed, trial.repetition)
        self.ledger = new_ledger(len(operators))
        hints = self.hints() if profile is None else profile.hints(self.hints())
        self.stats = self.selector.memory(hints, trial.budget.joules)
        self.prices = Prices(len(operators))
        self.limits = self.limits._replace(ask=self.prices.next_round(self))
        if self.meter.script.size and self.limits.ask < math.inf:
            raise InputError("probe", self.selector.probe, "0 in a replay: records have no probes")
        self.trace = new_trace(ROOM, len(operators))
        self.seconds = 0.0
        self.changes: list[Change] = []
        self.reason = ""
        components = (self.problem, self.algorithm, self.selector, self.meter)
        self.compiled = compiled and not (
            jit_is_off() or any(getattr(c, "interpreted", False) for c in components)
        )
        self._advance: Any = interpreted_advance
        self._begin: Any = interpreted_begin
        if self.compiled:
            self._advance = compiled_advance(*components)
            self._begin = compiled_begin(self.problem, self.algorithm)
        self._recorded: list[NDArray[Any]] = []
        self._held: list[NDArray[Any]] = []  # rows of a window that is not settled yet
        self._pace = 1.0  # decisions per second so far, for the size of the next chunk
        self._start()

    # --- the start ---

    def _start(self) -> None:
        state = self._compile() if self.compiled else None
        mark = 0
        if state is None or self.meter.clocked:  # the clock must not see the compiler at work
            self.streams = streams_for(self.trial.seed, self.trial.repetition)
            self._open_chunk()
            mark = self.meter.start()
            state = self._begin(self.problem, self.algorithm, self.streams.moves)
        self.state = state
        if self.trial.budget.charge_start:
            start = Outcome(0.0, state.opening, 0, state.deltas[:0])
            self.ledger.evaluations[0] = state.opening
            with np.errstate(over="ignore"):
                self.ledger.joules[0] = self.meter.stop(
                    mark, len(self.names), start, self.streams.noise
                )
        self._recorded += self._settle([self._first_row()])

    def _compile(self) -> Any:
        """Compile the start and the loop; return the first state, or None if that is impossible."""
        try:
            state = self._begin(self.problem, self.algorithm, self.streams.moves)
            self._call(state, 0)  # compiles the loop, decides nothing
            if self.limits.ask < math.inf:
                compile_probes(self, state)
            return state
        except numba.core.errors.NumbaError as error:
            if _all_ours(self.problem, self.algorithm, self.selector, *self.algorithm.operators):
                raise
            log.warning("numba cannot compile this trial, so it runs interpreted:\n%s", error)
            self.compiled = False
            self._advance, self._begin = interpreted_advance, interpreted_begin
            return None

    def hints(self) -> Hints:
        """Tell the selector what a model's price list and the operators give away."""
        forecasts = [
            operator.forecast(self.algorithm, self.problem)
            if hasattr(operator, "forecast")
            else None
            for operator in self.algorithm.operators
        ]
        candidates = np.array([float(f.candidates) if f else 0.0 for f in forecasts])
        joules = np.zeros(len(forecasts))
        for o, forecast in enumerate(forecasts):
            if forecast and not self.meter.clocked:
                joules[o] = self.meter.expected(o, forecast)
        return Hints(self.names, candidates, joules)

    # --- going on ---

    @property
    def done(self) -> bool:
        """Whether the run has met a limit."""
        return bool(self.reason)

    @property
    def left(self) -> float:
        """Joules left, B_t."""
        return float(self.limits.joules - self.ledger.joules[0])

    @property
    def start_joules(self) -> float:
        """Joules of the initial population: what the first row has spent."""
        return float((self._recorded or self._held)[0]["spent"][0])

    @property
    def progress(self) -> float:
        """How much of the tightest limit is spent, 0 to 1."""
        if self.done:
            return 1.0
        budget = self.trial.budget
        spent = (
            self.ledger.joules[0] / budget.joules,
            self.ledger.evaluations[0] / budget.evaluations,
            self.seconds / budget.seconds,
        )
        return float(min(1.0, max(spent)))

    def advance(self, decisions: int) -> Block:
        """Take up to `decisions` decisions."""
        taken_before = int(self.ledger.decisions[0])
        parts: list[NDArray[Any]] = []
        status = MORE
        started = time.perf_counter()
        self._open_chunk()
        while decisions > 0 and not self.done:
            taken, count, status = self._call(self.state, decisions)
            decisions -= taken
            if count:
                parts.append(self.trace.rows(count))
            if status == ASK:
                self._ask_prices()
            elif status not in (MORE, FULL):
                break
        elapsed = time.perf_counter() - started
        self.seconds += elapsed
        taken = int(self.ledger.decisions[0]) - taken_before
        if taken and elapsed > 0:
            self._pace = taken / elapsed
        self._check_numbers()
        parts = self._settle(parts)
        self._recorded += parts
        self._note_end(status)
        if self.done:
            parts = parts + self._finish()
        return Block(self._joined(parts), taken, self.done)

    def __next__(self) -> Block:
        if self.done:
            raise StopIteration
        return self.advance(max(1, int(self._pace * CHUNK_SECONDS)))

    def stop(self, reason: str = "stopped") -> Block:
        """End the run here; what was recorded stays. Return the rows that are new."""
        parts: list[NDArray[Any]] = []
        if not self.done:
            self.reason = reason
            parts = self._finish()
        return Block(self._joined(parts), 0, True)

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the selector in mid-run, such as alpha; the record keeps it."""
        checked = {}
        known = {p.name: p for p in self.trial.parameters("selector")}
        for name, value in parameters.items():
            if name not in self.selector._fields:
                raise InputError("selector", name, nearest(name, self.selector._fields))
            checked[name] = known[name].check(value, "selector") if name in known else value
        self.selector = self.selector._replace(**checked)
        for name, value in checked.items():
            self.changes.append(Change(int(self.ledger.decisions[0]), name, value))
        if "probe" in checked:
            self.limits = self.limits._replace(ask=self.prices.next_round(self))

    def explain(self) -> Any:
        """Lay open the decision that comes next, with the draws that will decide it."""
        if self.ledger.joules[0] >= self.limits.ask:
            self._ask_prices()  # they come before the next decision, and change it
        with np.errstate(over="ignore"):
            return self.selector.explain(self.stats, self.left, self.streams.picks)

    def rows(self) -> NDArray[Any]:
        """Return all rows recorded so far."""
        return self._joined(self._recorded)

    def result(self) -> Result:
        """Return where the run stands; complete once it is done."""
        return result_of(self)

    def _repr_svg_(self) -> str:
        return self.result()._repr_svg_()

    # --- inside ---

    def _call(self, state: Any, decisions: int) -> tuple[int, int, int]:
        return self._advance(
            self.problem,
            self.algorithm,
            self.selector,
            self.meter,
            self.limits,
            state,
            self.stats,
            self.ledger,
            self.streams,
            self.trace,
            decisions,
        )

    def _ask_prices(self) -> None:
        self.prices.ask(self)
        self.limits = self.limits._replace(ask=self.prices.next_round(self))

    def _check_numbers(self) -> None:
        if math.isnan(self.ledger.operator_gain.sum()) or math.isnan(self.state.best_f[0]):
            raise RunError(
                f"problem {self.trial.name_of('problem')} returned a fitness that is not a number; "
                f"make `fitness` return a finite value for every bit string"
            )

    def _note_end(self, status: int) -> None:
        if self.ledger.joules[0] >= self.limits.joules:
            self.reason = JOULES_SPENT
        elif self.ledger.evaluations[0] >= self.limits.evaluations:
            self.reason = "evaluations spent"
        elif status == UNAFFORDABLE:
            self.reason = "no operator fits in the Joules left"
        elif self.seconds >= self.trial.budget.seconds:
            self.reason = "seconds spent"

    # A real counter speaks at the end of a window of many chunks. Until then rows are held back,
    # so that spent energy never runs backwards; a model's rows pass through.

    def _open_chunk(self) -> None:
        if self.meter.clocked:
            self.source.begin(self.meter, self.ledger)

    def _settle(self, parts: list[NDArray[Any]], *, last: bool = False) -> list[NDArray[Any]]:
        """Return the rows that may be published, at their settled Joules."""
        if not self.meter.clocked:
            if self.meter.script.size:  # a replay raises where the run leaves its record
                self.source.settle(self.meter, self.ledger, self.limits)
            return parts
        self._held += parts
        settle = self.source.finish if last else self.source.settle
        settlement = settle(self.meter, self.ledger, self.limits)
        if settlement is None:
            return []
        released, self._held = self._held, []
        return [settlement.rescale(rows) for rows in released]

    def _finish(self) -> list[NDArray[Any]]:
        """Return the last rows. A settlement that leaves Joules over lets the run go on."""
        recorded = (self._held or self._recorded)[-1:]
        parts = self._settle(self._last_row(recorded), last=True)
        self._recorded += parts
        if self.reason == JOULES_SPENT and self.ledger.joules[0] < self.limits.joules:
            self.reason = ""
        elif self.meter.clocked:
            self.source.close()
        return parts

    def _joined(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(parts) if parts else self.trace.rows(0)

    def _write_row(self, operator: int, gain: float, joules: float) -> NDArray[Any]:
        outcome = Outcome(gain, 0, 0, self.state.deltas[:0])
        record(
            self.trace, 0, operator, outcome, joules,
            self.ledger, self.state, self.selector, self.stats,
        )  # fmt: skip
        return self.trace.rows(1)

    def _first_row(self) -> NDArray[Any]:
        position = self.ledger.joules[0] if self.limits.by_joules else self.ledger.evaluations[0]
        if self.limits.step > 0:
            self.ledger.mark[0] = (math.floor(position / self.limits.step) + 1) * self.limits.step
        return self._write_row(-1, 0.0, float(self.ledger.joules[0]))

    def _last_row(self, recorded: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return a row for the last decision, unless it has one."""
        rows = recorded[-1]
        if rows["decision"][-1] == self.ledger.decisions[0]:
            return []
        operator, gain, joules = self.ledger.latest
        # What a real counter's application took by itself is known for recorded rows alone.
        known = math.nan if self.meter.clocked else float(joules)
        return [self._write_row(int(operator), float(gain), known)]


def solve(trial: Trial, *, compiled: bool = True) -> Result:
    """Run a trial to its end.

    With a model meter this is a pure function: the same trial gives the same result.

    Examples
    --------
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> 15.0 < result.spent.joules < 20.0
    True
    """
    run = Run(trial, compiled=compiled)
    for _ in run:
        pass
    return run.result()


def _all_ours(*components: Any) -> bool:
    package = __name__.partition(".")[0]
    return all(type(c).__module__.partition(".")[0] == package for c in components)
