"""Running the loop: interpreted at once, compiled as soon as there is machine code."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from ..protocols import Interpreted
from .compiled.background import compile_later
from .compiled.entries import find_entry, make_entry
from .compiled.layout import CannotCompile, form_of, pack
from .kernel import jit_is_off, kernel
from .loop import advance
from .operators import Application, compiled_operators, interpreted_operators

log = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds of interpreting the same components, in all runs of a process, before the compiler is
started: about a fifth of what compiling takes."""

SLOW_START = 0.05
"""Seconds that a start may take interpreted; one that takes longer is compiled for the next run."""
WAIT_SECONDS = 0.15
"""Pause between two interpreted stretches while the compiler is at work: it is what to wait for."""


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
    compiled : bool
        Whether it may be compiled at all.
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
        *,
        operators: tuple[Any, ...] = (),
        compiled: bool = True,
    ) -> None:
        self._applications = [
            Application(operator, algorithm, problem, state, streams.moves)
            for operator in operators or algorithm.operators
        ]
        self._meter, self._best = meter, state.best_f
        self._records = (stats, ledger, streams, trace)
        self._interpreted = interpreted_operators(self._applications)
        self._may_compile = compiled
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

    def advance(
        self, selector: Any, limits: Any, decisions: int, chunk: int = 0
    ) -> tuple[int, int, int]:
        """Take up to `decisions` decisions, see `advance`; fewer while the compiler is awaited.

        Parameters
        ----------
        selector, limits, decisions
        chunk : int
            Decisions after which an interpreted loop looks for machine code; 0: it never does.
        """
        if self._machine is not None:
            return self._machine.advance(selector, limits, decisions)
        wait = bool(chunk) and self._may_compile
        started = time.perf_counter()
        with np.errstate(over="ignore"):  # random words wrap around on purpose
            answer = advance(
                self._interpreted, selector, self._meter, limits, self._best, *self._records,
                min(decisions, chunk) if wait else decisions,
            )  # fmt: skip
        if wait:
            self._compile_when_it_pays(selector, limits, time.perf_counter() - started)
        return answer

    def compile(self, selector: Any, limits: Any, *, wait: bool = True) -> bool:
        """Go over to machine code; without `wait` only if all of it was compiled before.

        Raises
        ------
        CannotCompile
            numba refuses the code of a component.
        """
        if not self._may_compile:
            return False
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

    def _compile_when_it_pays(self, selector: Any, limits: Any, seconds: float) -> None:
        """Take in that so many seconds were interpreted; have the rest compiled if that pays."""
        if self._waiting is None:
            combination = tuple(map(type, (*self._applications[0], selector, self._meter)))
            _interpreted_seconds[combination] += seconds
            if _interpreted_seconds[combination] > PATIENCE:
                self._waiting = compile_later(lambda: self.compile(selector, limits))
            return
        try:
            self._waiting.result(timeout=WAIT_SECONDS)
        except TimeoutError:
            pass  # it is still at work
        except CannotCompile as error:
            self.interpret(error)

    def interpret(self, error: CannotCompile) -> None:
        """Stay interpreted, because numba refused; a refusal of our own components is a bug."""
        package = __name__.partition(".")[0]
        parts = [part for each in self._applications for part in each[:3]]
        if all(type(part).__module__.startswith(f"{package}.") for part in parts):
            raise error
        log.warning("numba cannot compile this trial, so it runs interpreted:\n%s", error)
        self._may_compile = False


_interpreted_seconds: defaultdict[tuple[type, ...], float] = defaultdict(float)
"""What interpreting has taken in this process, for each combination of components."""


class _Machine:
    """The compiled loop, and the memory that it works on."""

    def __init__(self, entry: Any, frame: Frame, operators: Any) -> None:
        self._entry, self._frame, self._operators = entry, frame, operators
        self._struct, self._form = pack(frame), form_of(frame)

    def advance(self, selector: Any, limits: Any, decisions: int) -> tuple[int, int, int]:
        """See `Loop.advance`."""
        if selector is not self._frame.selector or limits is not self._frame.limits:
            form, self._frame = self._form, self._frame._replace(selector=selector, limits=limits)
            self._struct, self._form = pack(self._frame), form_of(self._frame)
            if self._form != form:  # a parameter of another type
                self._entry = make_entry(advance_frame, self._frame)
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
