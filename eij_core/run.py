"""Running a trial: pull blocks of rows from it; not pulling is pausing."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contracts.problem import check_best, check_numbers
from .contracts.shape import check_choice
from .engine.compiled.layout import CannotCompile
from .engine.execution import Loop, begin, can_compile
from .engine.loop import ASK, FULL, MORE, UNAFFORDABLE, UNKNOWN, record
from .engine.rng import streams_for
from .engine.rows import Streams, new_ledger, new_trace
from .engine.spaces import searched, sign_of
from .errors import InputError, RunError, nearest
from .metering import charges_of
from .probes import Prices, compile_probes
from .protocols import (
    Algorithm,
    CountedMeter,
    Decision,
    ExplainingSelector,
    Outcome,
    Problem,
    Selector,
    SimulatedMeter,
    State,
)
from .result import JOULES_SPENT, Block, Change, Result, best_of, end_of, result_of
from .target import limits_of
from .trial import Trial

__all__ = ["Block", "Run", "RunError", "solve"]

CHUNK_SECONDS = 0.04
"""A chunk aims at this: pause, stop and the page are never further away than about 50 ms."""
ROOM = 1024
"""Rows that one call of the compiled loop can write."""


class Run(Iterator[Block]):
    """A trial in progress.

    Iterate over it for blocks of about 40 ms, or call `advance` for an exact number of decisions.
    The size of the chunks never changes what happens.

    Parameters
    ----------
    trial : Trial
    compiled : bool, optional
        True: compile first. False: interpret. By default the run begins at once, and goes on
        compiled when a thread has compiled it; only measured runs wait, since the compiler's
        Joules would be counted. What numba cannot compile is interpreted, with a warning.

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

    def __init__(self, trial: Trial, *, compiled: bool | None = None) -> None:
        if not isinstance(trial, Trial):
            raise InputError("trial", trial, "a Trial, such as Trial('nk:n=50', budget='20 J')")
        self.trial = trial
        self.problem: Problem = trial.make("problem")
        self.searched: Problem = searched(self.problem)
        self.algorithm: Algorithm = trial.make("algorithm")
        self.selector: Selector = trial.make("selector")
        self.meter: SimulatedMeter | CountedMeter = trial.make("meter")
        operators = self.algorithm.operators
        self.names: tuple[str, ...] = tuple(operator.name for operator in operators)
        if trial.profile:
            from .profiles.profile import profile_for  # here, because it imports pandas

            profile = profile_for(trial, self.meter, self.names)
        self.charges = charges_of(
            self.meter, trial.name_of("problem"), trial.name_of("algorithm"), operators
        )
        self.limits = limits_of(trial, self.problem)
        self.streams = streams_for(trial.seed, trial.repetition)
        self.ledger = new_ledger(len(operators))
        hints = self.charges.hints(self.algorithm, self.searched)
        hints = profile.hints(hints) if trial.profile else hints
        self.stats = self.selector.memory(hints, trial.budget.joules)
        self.prices = Prices(len(operators))
        self.limits = self.limits._replace(ask=self.prices.next_round(self))
        if self.limits.ask < math.inf:
            self.charges.check_probes(getattr(self.selector, "probe", 0.0))
        self.trace = new_trace(ROOM, len(operators), sign_of(self.problem))
        self.seconds = 0.0
        self.changes: list[Change] = []
        self.reason = ""
        self._recorded: list[NDArray[Any]] = []
        self._pace = 1.0  # decisions per second so far, for the size of the next chunk
        components = (self.searched, self.algorithm, self.selector)
        self._may_compile = compiled is not False and can_compile(*components)
        self._start(wait=bool(compiled) or self.charges.waits_for_compiler)

    # --- the start ---

    def _start(self, *, wait: bool) -> None:
        if wait and self._may_compile:
            self._compile()
        self.charges.begin(self.ledger)
        mark = self.charges.compiled.start()
        parts = (self.searched, self.algorithm, self.streams.moves)
        self.state: State = begin(*parts, compiled=self._may_compile)
        if self.trial.budget.charge_start:
            start = Outcome(0.0, self.state.opening, 0, self.state.deltas[:0])
            self.ledger.evaluations[0] = self.state.opening
            with np.errstate(over="ignore"):
                self.ledger.joules[0] = self.charges.compiled.stop(
                    mark, len(self.names), start, self.streams.noise
                )
        self.loop = self._loop(self.state, self.streams)
        self.loop.compile(self.selector, self.limits, wait=False)
        self._recorded += self.charges.settle([self._first_row()], self.ledger, self.limits)

    def _compile(self) -> None:
        """Compile all that this run needs, for a start that is thrown away."""
        streams = streams_for(self.trial.seed)
        try:
            state = begin(self.searched, self.algorithm, streams.moves, wait=True)
        except CannotCompile:
            state = begin(self.searched, self.algorithm, streams.moves, compiled=False)
        loop = self._loop(state, streams)
        try:
            loop.compile(self.selector, self.limits)
            if self.limits.ask < math.inf:
                compile_probes(self, state)
        except CannotCompile as error:
            loop.interpret(error)
            self._may_compile = False

    def _loop(self, state: State, streams: Streams) -> Loop:
        return Loop(
            self.searched, self.algorithm, self.charges.compiled, state, self.stats, self.ledger,
            streams, self.trace, compiled=self._may_compile,
        )  # fmt: skip

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
        return float((self._recorded or self.charges.held)[0]["spent"][0])

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

    @property
    def compiling(self) -> bool:
        """Whether the run is interpreted for now, because the compiler is still at work for it."""
        return self.loop.compiling

    def advance(self, decisions: int) -> Block:
        """Take up to `decisions` decisions."""
        taken_before = int(self.ledger.decisions[0])
        parts: list[NDArray[Any]] = []
        status = MORE
        started = time.perf_counter()
        self.charges.begin(self.ledger)
        while decisions > 0 and not self.done:
            seconds = self.seconds + time.perf_counter() - started
            ahead = seconds * (1.0 / max(self.progress, 1e-9) - 1.0)
            taken, count, status = self.loop.advance(
                self.selector, self.limits, decisions, chunk=self.chunk, seconds_left=ahead
            )
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
        check_numbers(self.trial.name_of("problem"), self.ledger, self.state)
        check_choice(self.trial.name_of("selector"), len(self.names), known=status != UNKNOWN)
        parts = self.charges.settle(parts, self.ledger, self.limits)
        self._recorded += parts
        self.reason = self.reason or end_of(self, affordable=status != UNAFFORDABLE)
        if self.done:
            parts = parts + self._finish()
        return Block(self._joined(parts), taken, self.done)

    def __next__(self) -> Block:
        if self.done:
            raise StopIteration
        return self.advance(self.chunk)

    @property
    def chunk(self) -> int:
        """How many decisions fill a chunk, at the speed so far."""
        return max(1, int(self._pace * CHUNK_SECONDS))

    def stop(self, reason: str = "stopped") -> Block:
        """End the run here; what was recorded stays. Return the rows that are new."""
        ended, self.reason = self.done, self.reason or reason
        return Block(self._joined([] if ended else self._finish()), 0, True)

    def adjust(self, **parameters: Any) -> None:
        """Change parameters of the selector in mid-run, such as alpha; the record keeps it."""
        checked = {}
        known = {p.name: p for p in self.trial.parameters("selector")}
        selector: Any = self.selector  # a NamedTuple, as @kernel demands
        for name, value in parameters.items():
            if name not in selector._fields:
                raise InputError("selector", name, nearest(name, selector._fields))
            checked[name] = known[name].check(value, "selector") if name in known else value
        self.selector = selector._replace(**checked)
        for name, value in checked.items():
            self.changes.append(Change(int(self.ledger.decisions[0]), name, value))
        if "probe" in checked:
            self.limits = self.limits._replace(ask=self.prices.next_round(self))

    def replace(self, *, algorithm: Algorithm | None = None, stats: Any = None) -> None:
        """Go on with another algorithm of the same operators' names, or another memory."""
        self.algorithm = algorithm or self.algorithm
        self.stats = self.stats if stats is None else stats
        compiled, self.loop = self.loop.compiled, self._loop(self.state, self.streams)
        self.loop.compile(self.selector, self.limits, wait=compiled)

    def explain(self) -> Decision:
        """Lay open the decision that comes next, with the draws that will decide it."""
        if self.done:
            raise RunError(f"the run has ended ({self.reason}): no decision comes next")
        if not isinstance(self.selector, ExplainingSelector):
            name = self.trial.name_of("selector")
            raise InputError("selector", name, "a selector with the method explain")
        if self.ledger.joules[0] >= self.limits.ask:
            self._ask_prices()  # they come before the next decision, and change it
        with np.errstate(over="ignore"):
            return self.selector.explain(self.stats, self.left, self.streams.picks)

    def rows(self, since: int = 0) -> NDArray[Any]:
        """Return the rows recorded so far, without the first `since` of them."""
        parts = []
        for part in self._recorded:
            parts.append(part[since:])
            since = max(0, since - len(part))
        return self._joined(parts)

    def result(self) -> Result:
        """Return where the run stands; complete once it is done."""
        return result_of(self)

    def _repr_svg_(self) -> str:
        return self.result()._repr_svg_()

    # --- inside ---

    def _ask_prices(self) -> None:
        self.prices.ask(self)
        self.limits = self.limits._replace(ask=self.prices.next_round(self))

    def _finish(self) -> list[NDArray[Any]]:
        """Return the last rows. A settlement that leaves Joules over lets the run go on."""
        recorded = (self.charges.held or self._recorded)[-1]
        parts = self.charges.finish(self._last_row(recorded), self.ledger, self.limits)
        self._recorded += parts
        if self.reason == JOULES_SPENT and self.ledger.joules[0] < self.limits.joules:
            self.reason = ""
            return parts
        self.charges.close()
        self._check_best()
        return parts

    def _check_best(self) -> None:
        parts = (self.trial.name_of("problem"), self.problem, self.state.best_x, best_of(self))
        check_best(*parts, scale=float(self._recorded[0]["best"][0]))

    def _joined(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(parts) if parts else self.trace.rows(0)

    def _write_row(self, operator: int, gain: float, joules: float) -> NDArray[Any]:
        outcome = Outcome(gain, 0, 0, self.state.deltas[:0])
        record(
            self.trace, 0, operator, outcome, joules,
            self.ledger, self.state.best_f, self.selector, self.stats,
        )  # fmt: skip
        return self.trace.rows(1)

    def _first_row(self) -> NDArray[Any]:
        position = self.ledger.joules[0] if self.limits.by_joules else self.ledger.evaluations[0]
        if self.limits.step > 0:
            self.ledger.mark[0] = (math.floor(position / self.limits.step) + 1) * self.limits.step
        return self._write_row(-1, 0.0, float(self.ledger.joules[0]))

    def _last_row(self, recorded: NDArray[Any]) -> list[NDArray[Any]]:
        """Return a row for the last decision, unless it has one."""
        if recorded["decision"][-1] == self.ledger.decisions[0]:
            return []
        operator, gain, _ = self.ledger.latest
        joules = self.charges.latest_joules(self.ledger)
        return [self._write_row(int(operator), float(gain), joules)]


def solve(trial: Trial, *, compiled: bool | None = None) -> Result:
    """Run a trial to its end.

    With a model meter this is a pure function: the same trial gives the same result.

    Examples
    --------
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> 15.0 < result.spent.joules < 20.0
    True
    """
    run = Run(trial, compiled=compiled)
    try:
        for _ in run:
            pass
    finally:
        run.charges.close()  # of a run that failed
    return run.result()
