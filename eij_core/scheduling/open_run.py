"""A run whose applications are made elsewhere: the account, the rows and the rule, but no loop."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..contracts.shape import check_choice
from ..engine.loop import FULL, MARK, ROWS, SPENT, UNAFFORDABLE, UNKNOWN, Schedule
from ..errors import InputError, RunError
from ..meters.meter import LEAST_JOULES
from ..protocols import Algorithm, CountedMeter, Outcome, State
from ..result import Block, Change, Result, end_of
from ..run import CHUNK_SECONDS, Run
from ..target import OPTIMUM, SIGNS, fitness_of, words_of
from .own import Told, bits_of
from .rule import (
    CANDIDATES,
    EVALUATIONS,
    GAIN,
    JOULES,
    OPERATOR,
    ROOM,
    STOP,
    TOUCHES,
    Rule,
    RuleFrame,
)

CHUNK_NS = int(CHUNK_SECONDS * 1e9)
ENDLESS = 2**62
"""Decisions to take before the schedule asks for more."""


class Overhead(NamedTuple):
    """What choosing and learning took, outside the steps."""

    seconds: float
    per_decision: float
    """Seconds."""
    joules: float
    """By the counter, with all else that the loop does between its steps; nan: there is none. A
    stretch of more than 5 ms may count as a pause, which is not overhead."""


class Found(NamedTuple):
    """The best solution, as results read it: its bits, if it has bits."""

    best_x: NDArray[np.uint8]
    best_f: NDArray[np.float64]
    deltas: NDArray[np.float64]
    opening: int


COPIED = (np.ndarray, list, dict, bytearray)
"""Solutions that a loop may go on to change in place."""


class OpenRun(Run):
    """A run that is asked for operators and told what they did; `Run` has the rest.

    One thread at a time may call it, and on a counter always the same.
    """

    # --- the start ---

    def _start(self, *, wait: bool) -> None:
        # Nobody probes somebody's operators; the target is compared in `choose`, in its sense.
        self.limits = self.limits._replace(ask=math.inf, target=math.inf)
        target = self.trial.target
        if target == OPTIMUM or target.endswith("%"):
            raise InputError("target", target, "a number: nobody here knows your problem's optimum")
        self._target = fitness_of(target, math.nan)
        self.counted = isinstance(self.meter, CountedMeter)
        self.told = isinstance(self.meter, Told)
        self.begun = self.pays_overhead = False
        self.failures = np.zeros(len(self.names), np.int64)
        self.overhead_ns = 0
        self.overhead_before = 0.0
        """Joules of overhead before the scheduler was resumed."""
        self._whole, self._real = np.zeros(5, np.int64), np.zeros(2)
        self._counts = np.array([ENDLESS, 0, 0])
        self.sense: str = self.trial.problem.sense
        self.trace = self.trace._replace(sign=1.0)  # what is told is recorded as it is
        self.solution: Any = None
        self._best = np.array([math.nan])
        schedule = Schedule(
            self.selector, self.charges.compiled, self.limits, self._best, self.stats, self.ledger,
            self.streams, self.trace, self._counts,
        )  # fmt: skip
        frame = RuleFrame(schedule, self._whole, self._real, np.zeros(ROOM))
        self.rule = Rule(frame, compiled=self._may_compile)
        self.rule.compile(wait=wait)
        self.charges.begin(self.ledger)
        self._mark = self.charges.compiled.start()
        self._chunk_ends: int | None = None

    def begin(self, evaluations: int, touches: int, joules: float, *, charged: bool) -> None:
        """Book what the beginning took and write the first row."""
        self.begun = True
        if charged and self.trial.budget.charge_start:
            self.ledger.evaluations[0] = evaluations
            if math.isnan(joules):
                start = Outcome(0.0, evaluations, touches, np.zeros(0))
                with np.errstate(over="ignore"):
                    joules = self.charges.compiled.stop(
                        self._mark, len(self.names), start, self.streams.noise
                    )
            self.ledger.joules[0] = joules
        else:
            self.charges.begin(self.ledger)  # what came before is a pause
        self._recorded += self.charges.settle([self._first_row()], self.ledger, self.limits)

    @property
    def state(self) -> State:  # type: ignore[override]
        """What is known of the search."""
        return Found(bits_of(self.solution), self._best, np.zeros(0), 0)

    # --- going on ---

    def choose(self) -> int:
        """Return the operator to apply next; below 0: the run has ended, `reason` says why."""
        if not self.done and self.seconds >= self.trial.budget.seconds:
            self.end(affordable=True)
        if not self.done and self._is_at_target():
            self.end(affordable=True, reason=words_of(self.trial.target))
        if self.done:
            return -1
        if self._chunk_ends is None:
            self.charges.begin(self.ledger)
            self._chunk_ends = time.perf_counter_ns() + CHUNK_NS
        self._follow()
        o = self.rule.choose()
        if o < 0:
            check_choice(self.trial.name_of("selector"), len(self.names), known=o != ~UNKNOWN)
            self.end(affordable=o != ~UNAFFORDABLE)
            return self.choose()  # a counter may have let the run go on
        return o

    def _is_at_target(self) -> bool:
        sign = SIGNS[self.sense]
        return bool(sign * self._best[0] >= sign * self._target)

    def start_clock(self) -> None:
        """Let a step begin now, where a counter counts it."""
        if self.counted:
            self._counts[MARK] = self.rule.look()

    def stop_clock(self) -> None:
        """Let the step end now; what it takes to book it is overhead."""
        if self.counted:
            self._whole[STOP] = self.rule.look()

    def book(
        self, operator: int, gain: float, gains: Any, evaluations: int, touches: int, joules: float
    ) -> float:
        """Book one application; return its Joules, on a counter provisional ones.

        Joules that are not a number are left to the meter.
        """
        whole, real = self._whole, self._real
        count = 1 if gains is None else len(gains)
        deltas = self.rule.frame.deltas
        if count > deltas.size:
            deltas = np.zeros(2 * count)
            self.rule.change(deltas=deltas)
        if gains is None:
            deltas[0] = gain
        else:
            deltas[:count] = gains
        whole[OPERATOR], whole[EVALUATIONS] = operator, evaluations
        whole[TOUCHES], whole[CANDIDATES] = touches, count
        real[GAIN], real[JOULES] = gain, joules
        self._follow()
        status = self.rule.book()
        charged = float(real[JOULES])
        if self.done or status == SPENT:  # a step that was open when the run ended is booked, too
            self.end(affordable=True, reason=self.reason)
        elif status == FULL or time.perf_counter_ns() >= (self._chunk_ends or 0):
            self.settle()
        return charged

    def check_joules(self, joules: float | None) -> float:
        """Return Joules that were metered elsewhere; nan: the meter knows them."""
        if joules is None:
            if self.told:
                raise InputError("joules", joules, "the Joules of every step, for meter='told'")
            return math.nan
        if self.counted:
            raise InputError(
                "joules", joules, "none with a counter, which counts them; meter='told' takes them"
            )
        if not 0.0 <= joules < math.inf:
            raise InputError("joules", joules, "a number of Joules, at least 0")
        return max(float(joules), LEAST_JOULES)

    def improve(self, best: float | None, solution: Any) -> None:
        """Keep the best objective, and its solution."""
        if best is None:
            if solution is not None:
                raise InputError("best", best, "the objective of the solution")
            return
        if math.isnan(best):
            raise InputError("best", best, "a number")
        known = self._best[0]
        if not (best <= known if self.sense == "max" else best >= known):
            self._best[0] = best
            self.solution = copy.copy(solution) if isinstance(solution, COPIED) else solution

    def settle(self) -> None:
        """End a chunk: take the rows out of the trace, and settle with a counter."""
        count = int(self._counts[ROWS])
        self._counts[:] = ENDLESS, 0, self._counts[MARK]
        rows = [self.trace.rows(count)] if count else []
        self._recorded += self.charges.settle(rows, self.ledger, self.limits)
        self._chunk_ends = None
        if self.pays_overhead:
            joules = self.trial.budget.joules - self.overhead_joules
            self.limits = self.limits._replace(joules=joules)

    def end(self, *, affordable: bool, reason: str = "") -> None:
        """End the run, if it has met a limit or for a reason; a counter may let it go on."""
        self.settle()
        self.reason = reason or end_of(self, affordable=affordable)
        if self.done:
            self._finish()

    def close_window(self) -> None:
        """Settle all that was told so far, as far as a counter can."""
        if not self.done:
            self.settle()
            self._recorded += self.charges.finish([], self.ledger, self.limits)

    def restore(
        self, rows: NDArray[Any], changes: tuple[Change, ...], seconds: float, reason: str
    ) -> None:
        """Go on from rows that were recorded before; the arrays are restored already."""
        self.begun, self._recorded = True, [rows]
        self.seconds, self.reason, self.changes = seconds, reason, list(changes)
        rule: Any = self.selector
        self.selector = rule._replace(**{change.name: change.value for change in changes})
        # A counter's window has opened before the ledger was restored: it must not rescale that.
        self.charges.finish([], self.ledger, self.limits)
        if self.done:
            self.charges.close()

    def _follow(self) -> None:
        """Tell the rule of a selector that was adjusted and of limits that have changed."""
        schedule = self.rule.frame.schedule
        if self.selector is not schedule.selector or self.limits is not schedule.limits:
            changed = schedule._replace(selector=self.selector, limits=self.limits)
            self.rule.change(schedule=changed)

    def _check_best(self) -> None:
        """Believe the best that was told: nobody here can evaluate a solution."""

    @property
    def progress(self) -> float:
        """How much of the tightest limit is spent, 0 to 1; with the overhead, if it is charged."""
        share = 1.0 - self.left / self.trial.budget.joules if self.pays_overhead else 0.0
        return min(1.0, max(super().progress, share))

    # --- overhead ---

    @property
    def overhead(self) -> Overhead:
        """What choosing and learning took so far."""
        seconds = self.overhead_ns * 1e-9
        decisions = max(int(self.ledger.decisions[0]), 1)
        return Overhead(seconds, seconds / decisions, self.overhead_joules)

    @property
    def overhead_joules(self) -> float:
        """Joules between the steps, by the counter; nan without one."""
        if not self.counted:
            return math.nan
        return self.overhead_before + float(self.charges.summary()["joules"]["overhead"])

    def charge_overhead(self) -> None:
        """Let the budget pay for what a counter finds between the steps, from now on."""
        if not self.counted:
            raise InputError(
                "charge_overhead", True, "a counter: price lists have no price for the scheduler"
            )
        self.pays_overhead = True

    def result(self) -> Result:
        """Return where the run stands; complete once it is done."""
        return dataclasses.replace(super().result(), overhead_seconds=self.overhead_ns * 1e-9)

    # --- what a run with a loop of its own can do ---

    @property
    def compiling(self) -> bool:
        """Whether the rule is interpreted for now, because the compiler is still at work."""
        return self.rule.compiling

    def advance(self, decisions: int) -> Block:
        """Refuse: the loop is the user's."""
        self._refuse()

    def replace(self, *, algorithm: Algorithm | None = None, stats: Any = None) -> None:
        """Refuse: the algorithm is the user's."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise RunError("the steps of this run are made elsewhere: `ask` its Scheduler, and `tell`")
