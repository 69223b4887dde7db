"""The loop of every run: select, apply, meter, learn, spend, record."""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from ..protocols import Interpreted
from .background import compile_later
from .entries import find_entry, make_entry
from .histogram import bin_of
from .kernel import jit_is_off, kernel
from .layout import form_of, pack
from .operators import Application, apply, compiled_operators, interpreted_operators

__all__ = ["ASK", "FULL", "MORE", "SPENT", "UNAFFORDABLE", "Loop", "begin", "can_compile"]

PATIENCE = 0.5
"""Seconds of interpreting the same components, in all runs of a process, before the compiler is
started: about a fifth of what compiling takes."""

SLOW_START = 0.05
"""Seconds that a start may take interpreted; one that takes longer is compiled for the next run."""
WAIT_SECONDS = 0.15
"""Pause between two interpreted stretches while the compiler is at work: it is what to wait for."""

MORE, SPENT, FULL, UNAFFORDABLE, ASK, UNKNOWN = 0, 1, 2, 3, 4, 5


@kernel
def advance(
    operators: Any,
    selector: Any,
    meter: Any,
    limits: Any,
    best: Any,
    stats: Any,
    ledger: Any,
    streams: Any,
    trace: Any,
    decisions: int,
) -> tuple[int, int, int]:
    """Take up to `decisions` decisions; return how many were taken, the rows written, and why."""
    rows = 0
    for taken in range(decisions):
        left = limits.joules - ledger.joules[0]  # B_t, may be inf
        if left <= 0.0 or ledger.evaluations[0] >= limits.evaluations:
            return taken, rows, SPENT
        if rows == trace.size:
            return taken, rows, FULL
        if ledger.joules[0] >= limits.ask:
            return taken, rows, ASK
        o = selector.select(stats, left, streams.picks)  # Algorithm 1
        if o < 0:
            return taken, rows, UNAFFORDABLE
        if o >= ledger.applications.size:  # compiled code would write beyond its arrays
            return taken, rows, UNKNOWN
        mark = meter.start()
        outcome = apply(operators, o)  # Algorithms 2-4
        joules = meter.stop(mark, o, outcome, streams.noise)
        selector.learn(stats, o, outcome, joules)
        spend(ledger, o, outcome, joules)
        if due(ledger, limits):
            record(trace, rows, o, outcome, joules, ledger, best, selector, stats)
            rows += 1
    return decisions, rows, MORE


@kernel
def spend(ledger: Any, o: int, outcome: Any, joules: float) -> None:
    """Add one application to the running totals."""
    ledger.joules[0] += joules
    ledger.evaluations[0] += outcome.evaluations
    ledger.decisions[0] += 1
    ledger.applications[o] += 1
    ledger.operator_joules[o] += joules
    ledger.operator_evaluations[o] += outcome.evaluations
    ledger.operator_gain[o] += outcome.gain
    ledger.latest[0], ledger.latest[1], ledger.latest[2] = o, outcome.gain, joules
    ledger.histogram[o, bin_of(joules)] += 1


@kernel
def due(ledger: Any, limits: Any) -> bool:
    """Tell whether this decision crosses a grid point, and move on to the next one."""
    if limits.every > 0:
        return ledger.decisions[0] % limits.every == 0
    position = ledger.joules[0] if limits.by_joules else float(ledger.evaluations[0])
    if position < ledger.mark[0]:
        return False
    if limits.step > 0.0:
        ledger.mark[0] = (math.floor(position / limits.step) + 1.0) * limits.step
    else:
        ledger.mark[0] = max(1.01 * position, position + 1.0)
    return True


@kernel
def record(
    trace: Any,
    row: int,
    o: int,
    outcome: Any,
    joules: float,
    ledger: Any,
    best: Any,
    selector: Any,
    stats: Any,
) -> None:
    """Write one row."""
    trace.decision[row] = ledger.decisions[0]
    trace.operator[row] = o
    trace.gain[row] = outcome.gain
    trace.joules[row] = joules
    trace.spent[row] = ledger.joules[0]
    trace.evaluations[row] = ledger.evaluations[0]
    trace.best[row] = best[0]
    for k in range(ledger.applications.size):
        trace.applications[row, k] = ledger.applications[k]
        trace.operator_joules[row, k] = ledger.operator_joules[k]
        belief = selector.belief(stats, k)
        trace.beliefs[row, k, 0] = belief.gain
        trace.beliefs[row, k, 1] = belief.gain_sd
        trace.beliefs[row, k, 2] = belief.joules
        trace.beliefs[row, k, 3] = belief.joules_sd
        trace.beliefs[row, k, 4] = belief.score


# --- interpreted or compiled ---------------------------------------------------------------------


class Frame(NamedTuple):
    """What the compiled loop takes: the arguments of `advance`, and room for its answer."""

    operators: Any
    selector: Any
    meter: Any
    limits: Any
    best: Any
    stats: Any
    ledger: Any
    streams: Any
    trace: Any
    decisions: int
    answer: Any


@kernel
def advance_frame(frame: Any) -> int:  # pragma: no cover - compiled
    """Call `advance`. It depends on selector and meter alone, so no new problem compiles it."""
    taken, rows, why = advance(
        frame.operators, frame.selector, frame.meter, frame.limits, frame.best, frame.stats,
        frame.ledger, frame.streams, frame.trace, frame.decisions,
    )  # fmt: skip
    frame.answer[0], frame.answer[1], frame.answer[2] = taken, rows, why
    return 0


class Loop:
    """`advance` for one run: interpreted at first, machine code as soon as there is some.

    Interpreted and compiled decisions are equal to the last bit, so the change may come between
    any two calls.

    Parameters
    ----------
    problem, algorithm : components
    meter : CompiledMeter
    state, stats, ledger, streams, trace : records
        What the loop reads and changes; all stay where they are.
    operators : tuple, optional
        Instead of the algorithm's own.
    """

    def __init__(
        self,
        problem: Any,
        algorithm: Any,
        meter: Any,
        state: Any,
        stats: Any,
        ledger: Any,
        streams: Any,
        trace: Any,
        operators: tuple[Any, ...] = (),
    ) -> None:
        self._applications = [
            Application(operator, algorithm, problem, state, streams.moves)
            for operator in operators or algorithm.operators
        ]
        self._meter, self._best = meter, state.best_f
        self._records = (stats, ledger, streams, trace)
        self._interpreted = interpreted_operators(self._applications)
        self._machine: _Machine | None = None
        self._waiting: Future[bool] | None = None

    @property
    def compiled(self) -> bool:
        """Whether `advance` is machine code by now."""
        return self._machine is not None

    @property
    def compiling(self) -> bool:
        """Whether the compiler is at work for this loop."""
        return self._waiting is not None and not self._waiting.done()

    def advance(self, selector: Any, limits: Any, decisions: int) -> tuple[int, int, int]:
        """Take up to `decisions` decisions, see `advance`."""
        machine = self._machine
        if machine is None:
            with np.errstate(over="ignore"):  # random words wrap around on purpose
                return advance(
                    self._interpreted, selector, self._meter, limits, self._best, *self._records,
                    decisions,
                )  # fmt: skip
        if not machine.takes(selector, limits):
            self.compile(selector, limits)
        return machine.advance(selector, limits, decisions)

    def compile(self, selector: Any, limits: Any, *, wait: bool = True) -> bool:
        """Go over to machine code; without `wait` only if all of it was compiled before."""
        operators = compiled_operators(self._applications, wait=wait)
        if operators is None:
            return False
        frame = Frame(
            operators.addresses, selector, self._meter, limits, self._best, *self._records,
            0, np.zeros(3, np.int64),
        )  # fmt: skip
        entry = (make_entry if wait else find_entry)(advance_frame, frame)
        if entry is not None:
            self._machine = _Machine(entry, frame, operators)
        return self.compiled

    def compile_when_it_pays(self, selector: Any, limits: Any, seconds: float) -> None:
        """Take in that so many seconds were interpreted; have the rest compiled if that pays.

        Raises
        ------
        CannotCompile
            numba refuses the code of a component.
        """
        if self._waiting is not None:
            with contextlib.suppress(TimeoutError):
                self._waiting.result(timeout=WAIT_SECONDS)
            return
        combination = tuple(map(type, (*self._applications[0], selector, self._meter)))
        _interpreted_seconds[combination] += seconds
        if _interpreted_seconds[combination] > PATIENCE:
            self._waiting = compile_later(lambda: self.compile(selector, limits))


_interpreted_seconds: Counter[tuple[type, ...]] = Counter()


class _Machine:
    """The compiled loop, and the memory that it works on."""

    def __init__(self, entry: Any, frame: Frame, operators: Any) -> None:
        self._entry, self._frame, self._operators = entry, frame, operators
        self._struct = pack(frame)

    def takes(self, selector: Any, limits: Any) -> bool:
        """Tell whether the machine code is of a selector and limits of these types."""
        known = self._frame
        return (selector is known.selector or form_of(selector) == form_of(known.selector)) and (
            limits is known.limits or form_of(limits) == form_of(known.limits)
        )

    def advance(self, selector: Any, limits: Any, decisions: int) -> tuple[int, int, int]:
        if selector is not self._frame.selector or limits is not self._frame.limits:
            self._frame = self._frame._replace(selector=selector, limits=limits)
            self._struct = pack(self._frame)
        setattr(self._struct, f"_{Frame._fields.index('decisions')}", decisions)
        self._entry(self._struct)
        taken, rows, why = self._frame.answer.tolist()
        return taken, rows, why


# --- the start ------------------------------------------------------------------------------------


class Start(NamedTuple):
    """What an algorithm begins with."""

    algorithm: Any
    problem: Any
    rng: Any


@kernel
def start(frame: Any) -> Any:
    """Return the first state."""
    return frame.algorithm.begin(frame.problem, frame.rng)


def begin(
    problem: Any, algorithm: Any, rng: Any, *, compiled: bool = True, wait: bool = False
) -> Any:
    """Return the first state, by machine code if there is any, or if `wait` allows to make it.

    A start that takes long interpreted is compiled in the background, for the next run.
    """
    frame = Start(algorithm, problem, rng)
    if compiled and (entry := (make_entry if wait else find_entry)(start, frame)):
        return entry(pack(frame))
    started = time.perf_counter()
    with np.errstate(over="ignore"):
        state = start(frame)
    if compiled and time.perf_counter() - started > SLOW_START:
        compile_later(lambda: make_entry(start, frame), urgent=False)
    return state


def can_compile(*components: Any) -> bool:
    """Tell whether a run of these components may be compiled at all."""
    return not jit_is_off() and not any(
        isinstance(each, Interpreted) and each.interpreted for each in components
    )
