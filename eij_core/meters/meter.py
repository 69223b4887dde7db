"""The compiled meter: one type for models and for real counters.

joules = (a[o] + b[o]·evaluations + c·touches + rate[o]·cycles) × noise

A model has prices and no rate; a real source has only `rate`, Joules per cycle, which Python
refreshes between chunks from the counter. Which of the two a run has is a matter of values, not of
types, so the loop is compiled once for both.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from ..kernel import compile_entry, kernel
from ..rng import normal

__all__ = [
    "Meter",
    "Provenance",
    "SourceInfo",
    "cycle_count",
    "priced",
    "scripted",
    "thread_ns",
    "timed",
]

# Below this no application is priced: ln E must stay finite whatever a model is told.
LEAST_JOULES = 1e-12

USUAL_STEP = 1.0 / 16.0

# `clock_gettime` with 64-bit seconds; Windows has none.
HAS_THREAD_CLOCK = hasattr(time, "CLOCK_THREAD_CPUTIME_ID") and sys.maxsize > 2**32


class Provenance(StrEnum):
    """How an energy figure came about; every figure carries it."""

    MEASURED = "measured"
    ATTRIBUTED = "attributed"
    ESTIMATED = "estimated"
    SIMULATED = "simulated"
    REPLAYED = "replayed"


@dataclass(frozen=True)
class SourceInfo:
    """What a source of energy figures is, and how far to trust it."""

    name: str
    provenance: Provenance
    domains: tuple[str, ...] = ()
    scope: Literal["package", "process", "thread", "model"] = "model"
    tick_ns: int = 0
    """How often the counter moves."""
    unit_uj: float = 0.0
    """The counter's smallest step."""
    read_cost_ns: int = 0
    rel_uncertainty: float = 0.0
    """The systematic band: the true energy lies between E/(1 + r) and E·(1 + r)."""
    notes: tuple[str, ...] = ()


@kernel
class Meter(NamedTuple):
    """Prices what an operator did. The last entry of an array stands for the start."""

    per_application: NDArray[np.float64]
    per_evaluation: NDArray[np.float64]
    per_touch: float
    rate: NDArray[np.float64]
    """Joules per cycle."""
    cycles: NDArray[np.int64]
    """Cycles spent per operator since Python last looked."""
    clocked: bool
    """Whether cycles count at all."""
    noise: float
    """Standard deviation of ln E; the mean of the noise is 1."""
    long: float
    """Cycles from which on an application may have been off the CPU; inf: that is not looked at."""
    per_ns: float
    """Cycles per nanosecond."""
    seen: NDArray[np.int64]
    """Cycles, and CPU time in ns, when it was last looked at."""
    cut: NDArray[np.int64]
    """Applications per operator that were off the CPU for a while, and not charged for it."""
    usual: NDArray[np.float64]
    """Cycles of an application, about; 0: none was seen yet."""
    script: NDArray[np.float64]
    """Joules to replay, one per application; empty: nothing is replayed."""
    cast: NDArray[np.int64]
    """The operators that the script expects."""
    position: NDArray[np.int64]
    """Where in the script we are; -1 after an application that the script does not have."""

    def start(self) -> int:
        """Note the time, if this meter has a clock."""
        return cycle_count() if self.clocked else 0

    def stop(self, mark: int, operator: int, outcome: Any, rng: Any) -> float:
        """Return the Joules of the application that began at `mark`; always above 0."""
        joules = (
            self.per_application[operator]
            + self.per_evaluation[operator] * outcome.evaluations
            + self.per_touch * outcome.touches
        )
        if self.clocked:
            cycles = max(cycle_count() - mark, 1)
            if cycles > self.long:
                away = away_since(self.seen, self.per_ns, cycles, self.usual[operator])
                if away > 0.5 * self.long:
                    cycles -= away
                    self.cut[operator] += 1
            usual = self.usual[operator]
            self.usual[operator] = usual + USUAL_STEP * (cycles - usual) if usual > 0.0 else cycles
            self.cycles[operator] += cycles
            joules += self.rate[operator] * cycles
        if self.script.size > 0:
            joules = recite(self.script, self.cast, self.position, operator)
        if self.noise > 0.0:
            joules *= math.exp(self.noise * normal(rng) - 0.5 * self.noise * self.noise)
        return max(joules, LEAST_JOULES)

    def expected(self, operator: int, outcome: Any) -> float:
        """Return what the price list asks for such an application; 0 where there is no list."""
        return (
            self.per_application[operator]
            + self.per_evaluation[operator] * outcome.evaluations
            + self.per_touch * outcome.touches
        )


@kernel
def away_since(seen: Any, per_ns: float, took: int, usual: float) -> int:
    """Return for how many of the cycles that an application took this thread was off the CPU.

    Asking for CPU time takes a microsecond, too long for each application. But an interrupted one
    is a long one, so to ask after long ones is enough. The interruption may have come before it, in
    the scheduler: it explains no more than what the application took beyond the usual.
    """
    cycles, cpu_ns = cycle_count(), thread_ns()
    away = int((cycles - seen[0]) - (cpu_ns - seen[1]) * per_ns)
    seen[0] = cycles
    seen[1] = cpu_ns
    if usual > 0.0:
        return min(away, int(took - usual))
    return away if away < took else 0


@kernel
def recite(script: Any, cast: Any, position: Any, operator: int) -> float:
    """Return the recorded Joules of this application; Python looks at `position` afterwards."""
    at = position[0]
    if at < 0 or at >= script.size or cast[at] != operator:
        position[0] = -1
        return LEAST_JOULES
    position[0] = at + 1
    return float(script[at])


def priced(
    per_application: NDArray[np.float64],
    per_evaluation: NDArray[np.float64],
    per_touch: float,
    noise: float,
) -> Meter:
    """Return a meter that goes by prices alone."""
    return _meter(per_application, per_evaluation, float(per_touch), 0.0, False, float(noise))


def timed(
    operators: int, joules_per_cycle: float, long: float = math.inf, per_ns: float = 1.0
) -> Meter:
    """Return a meter that goes by the cycle counter alone."""
    nothing = np.zeros(operators + 1)
    meter = _meter(nothing, nothing.copy(), 0.0, joules_per_cycle, True, 0.0)
    return meter._replace(long=float(long), per_ns=float(per_ns))


def scripted(
    prices: NDArray[np.float64],
    cast: NDArray[np.int64],
    script: NDArray[np.float64],
    start: float,
) -> Meter:
    """Return a meter that repeats recorded charges, and `start` Joules for the start.

    `prices` are what was known beforehand of an application of each operator, 0 for nothing: rules
    are told, but nobody pays them.
    """
    operators = prices.size
    meter = _meter(np.append(prices, 0.0), np.zeros(operators + 1), 0.0, 0.0, False, 0.0)
    # The start comes first in the script, as the operator after the last.
    return meter._replace(
        script=np.append(start, script), cast=np.append(np.int64(operators), cast)
    )


def _meter(
    per_application: NDArray[np.float64],
    per_evaluation: NDArray[np.float64],
    per_touch: float,
    rate: float,
    clocked: bool,
    noise: float,
) -> Meter:
    size = len(per_application)
    return Meter(
        per_application,
        per_evaluation,
        per_touch,
        rate=np.full(size, rate),
        cycles=np.zeros(size, np.int64),
        clocked=clocked,
        noise=noise,
        long=math.inf,
        per_ns=1.0,
        seen=np.zeros(2, np.int64),
        cut=np.zeros(size, np.int64),
        usual=np.zeros(size),
        script=np.zeros(0),
        cast=np.zeros(0, np.int64),
        position=np.zeros(1, np.int64),
    )


def cycle_count() -> int:
    """Read the CPU's cycle counter, in Python too (with numba switched off: nanoseconds)."""
    return time.perf_counter_ns() if config.DISABLE_JIT else int(_count())  # type: ignore[attr-defined]


def thread_ns() -> int:
    """Return the CPU time of this thread."""
    return time.thread_time_ns()


@intrinsic
def _read_cycle_counter(typingctx: Any) -> Any:  # pragma: no cover - runs in the compiler
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = context.get_value_type(types.int64)
        function_type = ir.FunctionType(word, [])
        function = cgutils.get_or_insert_function(
            builder.module, function_type, "llvm.readcyclecounter"
        )
        return builder.call(function, [])

    return types.int64(), codegen


@overload(cycle_count)
def _cycle_count() -> Any:
    def read() -> Any:
        return _read_cycle_counter()  # type: ignore[call-arg]

    return read


@intrinsic
def _read_thread_clock(typingctx: Any) -> Any:  # pragma: no cover - runs in the compiler
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, number = context.get_value_type(types.int64), ir.IntType(32)
        moment = cgutils.alloca_once(builder, ir.LiteralStructType([word, word]))
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(number, [number, moment.type]), "clock_gettime"
        )
        builder.call(function, [number(time.CLOCK_THREAD_CPUTIME_ID), moment])
        seconds, nanoseconds = cgutils.unpack_tuple(builder, builder.load(moment), 2)
        return builder.add(builder.mul(seconds, word(1_000_000_000)), nanoseconds)

    return types.int64(), codegen


@overload(thread_ns)
def _thread_ns() -> Any:
    if not HAS_THREAD_CLOCK:
        return lambda: 0

    def read() -> Any:
        return _read_thread_clock()  # type: ignore[call-arg]

    return read


def _count() -> Any:  # pragma: no cover - compiled
    return cycle_count()


# One unit for compiled and interpreted applications, so that a chunk may mix them.
_count = compile_entry(_count, "cycles")
