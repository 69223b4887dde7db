"""Running the loop: interpreted at once, compiled as soon as there is machine code."""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import time
from collections import defaultdict
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from ..protocols import Interpreted
from .compiled.background import compile_later
from .compiled.entries import Entry, find_entry, make_entry
from .compiled.layout import CannotCompile, form_of, pack
from .kernel import jit_is_off, kernel
from .loop import Schedule, Search, advance, proceed

log = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds of interpreting the same components, in all runs of a process, before compiling is
thought of."""
COMPILING = 3.0
"""Seconds that compiling takes, about: it pays where interpreting would take longer in all."""

SLOW_START = 0.05
"""Seconds that a start may take interpreted; one that takes longer is compiled for the next run."""
WAIT_SECONDS = 0.15
"""Pause between two interpreted stretches while the compiler is at work: it is what to wait for."""


class Compiled(NamedTuple):
    """What the compiled loop takes: the search, and where to find the rest."""

    search: Any
    schedule: Any


class Remote(NamedTuple):
    """A schedule in memory, and the machine code that proceeds with it."""

    function: int
    frame: int


@kernel
def advance_compiled(frame: Any) -> int:
    """Call `advance`. It depends on problem and algorithm alone: no new rule compiles it."""
    return advance(frame.search, frame.schedule)


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
        parts = (algorithm, problem, state, streams.moves)
        self._search = Search(operators or algorithm.operators, *parts)
        self._meter, self._best = meter, state.best_f
        self._records = (stats, ledger, streams, trace, np.zeros(3, np.int64))
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
        self,
        selector: Any,
        limits: Any,
        decisions: int,
        *,
        chunk: int = 0,
        seconds_left: float = math.inf,
    ) -> tuple[int, int, int]:
        """Take up to `decisions` decisions, see `advance`; fewer while the compiler is awaited.

        Parameters
        ----------
        selector, limits, decisions
        chunk : int
            Decisions after which an interpreted loop looks for machine code; 0: it never does.
        seconds_left : float
            What the rest of the run would take at the pace so far.
        """
        schedule = self._schedule(selector, limits)
        wait = bool(chunk) and self._may_compile and self._machine is None
        wanted = min(decisions, chunk) if wait else decisions
        schedule.counts[:] = wanted, 0, 0
        started = time.perf_counter()
        if self._machine is not None:
            why = self._machine.advance(schedule)
        else:
            with np.errstate(over="ignore"):  # random words wrap around on purpose
                why = advance(self._search, schedule)
        if wait:
            seconds = time.perf_counter() - started
            self._compile_when_it_pays(selector, limits, seconds, seconds_left)
        left, rows, _ = schedule.counts.tolist()
        return wanted - left, rows, why

    def compile(self, selector: Any, limits: Any, *, wait: bool = True) -> bool:
        """Go over to machine code; without `wait` only if all of it was compiled before.

        Raises
        ------
        CannotCompile
            numba refuses the code of a component.
        """
        if self._may_compile and self._machine is None:
            self._machine = _machine_of(self._search, self._schedule(selector, limits), wait=wait)
        return self.compiled

    def _schedule(self, selector: Any, limits: Any) -> Schedule:
        return Schedule(selector, self._meter, limits, self._best, *self._records)

    def _compile_when_it_pays(
        self, selector: Any, limits: Any, seconds: float, seconds_left: float
    ) -> None:
        """Take in that so many seconds were interpreted; have the rest compiled if that pays."""
        if self._waiting is None:
            combination = tuple(map(type, (*self._search, selector, self._meter)))
            _interpreted_seconds[combination] += seconds
            so_far = _interpreted_seconds[combination]
            if so_far > PATIENCE and so_far + seconds_left > COMPILING:
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
        operators, *parts, _, _ = self._search
        parts += operators
        if all(type(part).__module__.startswith(f"{package}.") for part in parts):
            raise error
        _warn(f"numba cannot compile this trial, so it runs interpreted:\n{error}")
        self._may_compile = False


@functools.cache
def _warn(text: str) -> None:
    """Say a thing once in a process."""
    log.warning("%s", text)


_interpreted_seconds: defaultdict[tuple[type, ...], float] = defaultdict(float)
"""What interpreting has taken in this process, for each combination of components."""


def _machine_of(search: Search, schedule: Schedule, *, wait: bool) -> _Machine | None:
    """Return the loop as machine code; None if it is not compiled yet and nobody waits for it."""
    find = make_entry if wait else find_entry
    proceeding = find(proceed, schedule)
    looping = find(advance_compiled, Compiled(search, Remote(0, 0))) if proceeding else None
    return _Machine(search, schedule, proceeding, looping) if proceeding and looping else None


class _Machine:
    """The compiled loop, and the memory that it works on."""

    def __init__(
        self, search: Search, schedule: Schedule, proceeding: Entry, looping: Entry
    ) -> None:
        self._search, self._proceeding, self._looping = search, proceeding, looping
        self._form = form_of(schedule)
        self._pack(schedule)

    def _pack(self, schedule: Schedule) -> None:
        self._schedule, self._schedule_struct = schedule, pack(schedule)
        remote = Remote(self._proceeding.address, ctypes.addressof(self._schedule_struct))
        self._struct = pack(Compiled(self._search, remote))

    def advance(self, schedule: Schedule) -> int:
        """See `advance`."""
        known = self._schedule
        if schedule.selector is not known.selector or schedule.limits is not known.limits:
            if form_of(schedule) != self._form:  # a parameter of another type
                self._proceeding = make_entry(proceed, schedule)
                self._form = form_of(schedule)
            self._pack(schedule)
        return int(self._looping(self._struct))


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
    """Tell whether a run of these components may be compiled; warn where their fields forbid it."""
    if jit_is_off() or any(
        isinstance(each, Interpreted) and each.interpreted for each in components
    ):
        return False
    try:
        form_of(components)
    except CannotCompile as error:
        _warn(f"{error}: this trial runs interpreted")
        return False
    return True
