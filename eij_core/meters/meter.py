"""The compiled meter: one type for models and for real counters.

joules = (a[o] + b[o]·evaluations + c·touches + rate[o]·cycles) × noise

A model has prices and no rate; a real source has only `rate`, Joules per cycle, which Python
refreshes between chunks from the counter. Which of the two a run has is a matter of values, not of
types, so the loop is compiled once for both.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from ..kernel import kernel
from ..rng import normal

__all__ = ["Meter", "Provenance", "SourceInfo", "cycle_count", "priced", "timed"]

# Below this no application is priced: ln E must stay finite whatever a model is told.
LEAST_JOULES = 1e-12


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
    unit_uj: float = 0.0
    read_cost_ns: int = 0
    rel_uncertainty: float = 0.0
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
            self.cycles[operator] += cycles
            joules += self.rate[operator] * cycles
        if self.noise > 0.0:
            joules *= math.exp(self.noise * normal(rng) - 0.5 * self.noise * self.noise)
        return max(joules, LEAST_JOULES)


def priced(
    per_application: NDArray[np.float64],
    per_evaluation: NDArray[np.float64],
    per_touch: float,
    noise: float,
) -> Meter:
    """Return a meter that goes by prices alone."""
    size = len(per_application)
    nothing = np.zeros(size)
    return Meter(
        per_application,
        per_evaluation,
        float(per_touch),
        nothing,
        np.zeros(size, np.int64),
        False,
        float(noise),
    )


def timed(operators: int, joules_per_cycle: float) -> Meter:
    """Return a meter that goes by the cycle counter alone."""
    size = operators + 1
    rate = np.full(size, joules_per_cycle)
    return Meter(np.zeros(size), np.zeros(size), 0.0, rate, np.zeros(size, np.int64), True, 0.0)


def cycle_count() -> int:
    """Read the CPU's cycle counter (interpreted: nanoseconds)."""
    return time.perf_counter_ns()


@intrinsic
def _read_cycle_counter(typingctx: Any) -> Any:
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
        return _read_cycle_counter()

    return read
