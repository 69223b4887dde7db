"""The compiled meter: one type for simulated and for counted meters.

joules = (a[o] + b[o]·evaluations + c·touches + rate[o]·cycles) × noise

A simulated meter has prices and no rate. A counted one has only `rate`, Joules per cycle, which
Python refreshes from the counter between chunks. The two differ in values, not in types, so the
loop is compiled once for both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.cpu_clocks import cycle_count, thread_ns
from ..engine.kernel import kernel
from ..engine.rng import normal

LEAST_JOULES = 1e-12
"""The least charge of an application, so that ln E stays finite whatever the prices are."""
USUAL_STEP = 1.0 / 16.0
"""Weight of the latest application in the running mean of its operator's cycles."""


@kernel
class CompiledMeter(NamedTuple):
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
    """Cycles above which an application is checked for time off the CPU; inf: none is."""
    per_ns: float
    """Cycles per nanosecond."""
    seen: NDArray[np.int64]
    """Cycles, and CPU time in ns, at the last check for time off the CPU."""
    cut: NDArray[np.int64]
    """Applications per operator that were off the CPU for a while; that time is not charged."""
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
        joules = self.expected(operator, outcome)
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

    Reading CPU time takes a microsecond, too long for every application. An interrupted one is
    long, so only long ones are checked. The interruption may have come before the application, in
    the loop around it, so no more is taken off than what it took beyond the usual.
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
) -> CompiledMeter:
    """Return a meter that goes by prices alone."""
    return _free(len(per_application))._replace(
        per_application=per_application,
        per_evaluation=per_evaluation,
        per_touch=float(per_touch),
        noise=float(noise),
    )


def timed(
    operators: int, joules_per_cycle: float, long: float = math.inf, per_ns: float = 1.0
) -> CompiledMeter:
    """Return a meter that goes by the cycle counter alone."""
    meter = _free(operators + 1)._replace(clocked=True, long=float(long), per_ns=float(per_ns))
    meter.rate[:] = joules_per_cycle
    return meter


def scripted(
    prices: NDArray[np.float64],
    cast: NDArray[np.int64],
    script: NDArray[np.float64],
    start: float,
) -> CompiledMeter:
    """Return a meter that repeats recorded charges, and `start` Joules for the start.

    `prices` are what was known beforehand of an application of each operator, 0 for nothing. A
    selector gets them as hints; they are never charged.
    """
    # The start comes first in the script, as the operator after the last.
    return _free(prices.size + 1)._replace(
        per_application=np.append(prices, 0.0),
        script=np.append(start, script),
        cast=np.append(np.int64(prices.size), cast),
    )


def _free(size: int) -> CompiledMeter:
    """Return a meter that charges nothing, for `size - 1` operators and the start."""
    return CompiledMeter(
        per_application=np.zeros(size),
        per_evaluation=np.zeros(size),
        per_touch=0.0,
        rate=np.zeros(size),
        cycles=np.zeros(size, np.int64),
        clocked=False,
        noise=0.0,
        long=math.inf,
        per_ns=1.0,
        seen=np.zeros(2, np.int64),
        cut=np.zeros(size, np.int64),
        usual=np.zeros(size),
        script=np.zeros(0),
        cast=np.zeros(0, np.int64),
        position=np.zeros(1, np.int64),
    )
