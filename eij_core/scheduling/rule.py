"""The rule by itself: choose an operator, take in what its application did.

The two are the loop of `engine.loop` without the application between them, which somebody else
makes. They read and write one record, so machine code is called with its address alone.
"""

from __future__ import annotations

import ctypes
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from ..engine.compiled.background import compile_later
from ..engine.compiled.entries import WELL, Entry, Native, find_entry, make_entry
from ..engine.compiled.layout import CannotCompile, form_of, pack
from ..engine.execution import PATIENCE
from ..engine.kernel import kernel
from ..engine.loop import FULL, MARK, MORE, ROWS, SPENT, decide, enter
from ..protocols import Outcome

log = logging.getLogger(__name__)

OPERATOR, EVALUATIONS, TOUCHES, CANDIDATES, STOP = range(5)
"""Places in `RuleFrame.whole`; a meter's clock ran from `counts[MARK]` to STOP, if it has one."""
GAIN, JOULES = range(2)
"""Places in `RuleFrame.real`; Joules that are not a number are the meter's to say."""
ROOM = 64
"""Gains of one step that fit without asking for more memory."""


class RuleFrame(NamedTuple):
    """What choosing and learning read and write."""

    schedule: Any
    whole: Any
    real: Any
    deltas: Any


class Watch(NamedTuple):
    """What reading the clock takes."""

    meter: Any


@kernel
def look(watch: Any) -> int:
    """Return what the clock of the meter shows; 0: it has none."""
    return int(watch.meter.start())


@kernel
def choose(frame: Any) -> int:
    """Return the operator to apply next; below 0 there is none, and its complement says why."""
    return decide(frame.schedule)


@kernel
def book(frame: Any) -> int:
    """Meter, learn, spend and record what stands in the frame; return SPENT, FULL or MORE."""
    schedule, whole, real = frame.schedule, frame.whole, frame.real
    ledger, counts, limits = schedule.ledger, schedule.counts, schedule.limits
    o, candidates = int(whole[OPERATOR]), int(whole[CANDIDATES])
    outcome = Outcome(
        float(real[GAIN]), int(whole[EVALUATIONS]), int(whole[TOUCHES]), frame.deltas[:candidates]
    )
    joules = float(real[JOULES])
    if np.isnan(joules):
        # What came after the stop is not the step's.
        mark = int(schedule.meter.start()) - int(whole[STOP] - counts[MARK])
        joules = schedule.meter.stop(mark, o, outcome, schedule.streams.noise)
        real[JOULES] = joules
    enter(schedule, o, outcome, joules)
    if ledger.joules[0] >= limits.joules or ledger.evaluations[0] >= limits.evaluations:
        return SPENT
    return FULL if counts[ROWS] == schedule.trace.size else MORE


Entries = tuple[Entry, Entry, Entry]


class Rule:
    """`choose`, `book` and `look`: interpreted at first, machine code as soon as there is some.

    Parameters
    ----------
    frame : RuleFrame
    compiled : bool
        Whether it may be compiled at all.
    """

    def __init__(self, frame: RuleFrame, *, compiled: bool) -> None:
        self.frame = frame
        self._may_compile = compiled
        self._waiting: Future[Entries | None] | None = None
        self._interpret()

    @property
    def compiled(self) -> bool:
        """Whether the rule is machine code by now."""
        return self._form is not None

    @property
    def compiling(self) -> bool:
        """Whether the compiler is at work for this rule."""
        return self._waiting is not None and not self._waiting.done()

    def change(self, **parts: Any) -> None:
        """Put other parts into the frame: another schedule, more room."""
        self.frame = self.frame._replace(**parts)
        if self._form is None:
            return
        if form_of(self.frame) == self._form:
            self._bind(self._entries)
        else:  # a parameter of another type
            self._interpret()
            self.compile(wait=True)

    def compile(self, *, wait: bool) -> None:
        """Go over to machine code; without `wait` only if it was compiled before."""
        if not self._may_compile:
            return
        try:
            entries = _entries(self.frame, make_entry if wait else find_entry)
        except CannotCompile as error:
            self._refuse(error)
            return
        if entries is not None:
            self._bind(entries)

    def _interpret(self) -> None:
        self._form: Any = None
        self.choose: Callable[[], int] = lambda: self._interpreted(choose)
        self.book: Callable[[], int] = lambda: self._interpreted(book)
        self.look: Callable[[], int] = lambda: look(Watch(self.frame.schedule.meter))

    def _interpreted(self, function: Callable[[Any], int]) -> int:
        started = time.perf_counter()
        with np.errstate(over="ignore"):  # random words wrap around on purpose
            answer = function(self.frame)
        if self._may_compile:
            self._compile_when_it_pays(time.perf_counter() - started)
        return answer

    def _compile_when_it_pays(self, seconds: float) -> None:
        """Take in that so many seconds were interpreted; have the rest compiled if that pays."""
        frame = self.frame
        if self._waiting is None:
            _interpreted_seconds[type(frame.schedule.selector)] += seconds
            if _interpreted_seconds[type(frame.schedule.selector)] > PATIENCE:
                self._waiting = compile_later(lambda: _entries(frame, make_entry))
        elif self._waiting.done():
            waited, self._waiting = self._waiting, None
            error = waited.exception()
            if error is None:
                self.compile(wait=True)  # for the frame as it is by now
            elif isinstance(error, CannotCompile):
                self._refuse(error)
            else:
                raise error

    def _refuse(self, error: CannotCompile) -> None:
        """Stay interpreted, because numba refused; a refusal of our own components is a bug."""
        package = __name__.partition(".")[0]
        if type(self.frame.schedule.selector).__module__.startswith(f"{package}."):
            raise error
        log.warning("numba cannot compile this rule, so it runs interpreted:\n%s", error)
        self._may_compile = False

    def _bind(self, entries: Entries) -> None:
        """Pack the frame once, and call machine code on it from now on."""
        self._entries, self._form = entries, form_of(self.frame)
        struct = pack(self.frame)
        self.choose, self.book = _bound(entries[0], struct), _bound(entries[1], struct)
        self.look = _bound(entries[2], pack(Watch(self.frame.schedule.meter)))


def _entries(frame: RuleFrame, find: Callable[..., Entry | None]) -> Entries | None:
    found = find(choose, frame), find(book, frame), find(look, Watch(frame.schedule.meter))
    return None if None in found else found  # type: ignore[return-value]


_interpreted_seconds: defaultdict[type, float] = defaultdict(float)
"""What interpreting has taken in this process, for each class of rules."""


def _bound(entry: Entry, struct: Any) -> Callable[[], int]:
    """Return a call of an entry on one record, all of whose arguments are made beforehand."""
    native, result, error = Native(entry.address), ctypes.c_int64(), ctypes.c_void_p()
    arguments = ctypes.addressof(result), ctypes.addressof(error), ctypes.addressof(struct)

    def call(kept: Any = (entry, struct)) -> int:
        if native(*arguments) not in WELL:
            from ..engine.compiled.numba_internals import error_of

            raise error_of(error.value)
        return result.value

    return call
