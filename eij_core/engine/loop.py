"""The loop of every run: select, apply, meter, learn, spend, record."""

from __future__ import annotations

import math
from typing import Any

from .histogram import bin_of
from .kernel import kernel
from .operators import apply

MORE, SPENT, FULL, UNAFFORDABLE, ASK, UNKNOWN = range(6)
"""Why `advance` returns."""


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
