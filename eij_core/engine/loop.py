"""The loop of every run: select, apply, meter, learn, spend, record."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..protocols import Outcome
from .histogram import bin_of
from .kernel import kernel

MORE, SPENT, FULL, UNAFFORDABLE, ASK, UNKNOWN = range(6)
"""Why `advance` returns."""
LEFT, ROWS, MARK = range(3)
"""The places of `Schedule.counts`."""


class Search(NamedTuple):
    """What operators read and change: it is new with every problem."""

    operators: Any
    algorithm: Any
    problem: Any
    state: Any
    rng: Any


class Schedule(NamedTuple):
    """What chooses operators, pays for them and keeps the books: it is new with every rule."""

    selector: Any
    meter: Any
    limits: Any
    best: Any
    """The best fitness so far, which the state holds."""
    stats: Any
    ledger: Any
    streams: Any
    trace: Any
    counts: Any
    """Decisions still to take in this stretch, rows written in it, the clock at the last one."""


@kernel
def advance(search: Any, schedule: Any) -> int:
    """Take decisions until the stretch ends; return why it does."""
    outcome = Outcome(0.0, 0, 0, search.state.deltas[:0])
    o = proceed(schedule, -1, outcome)
    while o >= 0:
        outcome = apply(search, o)  # Algorithms 2-4
        o = proceed(schedule, o, outcome)
    return ~o


def apply(search: Any, o: int) -> Outcome:
    """Apply operator `o` of the portfolio; operators may be of different classes."""
    return applied(search.operators[o], search)


@kernel
def applied(operator: Any, search: Any) -> Outcome:
    """Apply an operator."""
    outcome = operator.apply(search.algorithm, search.problem, search.state, search.rng)
    gain, evaluations, touches, deltas = outcome
    return Outcome(float(gain), int(evaluations), int(touches), deltas)


def proceed(schedule: Any, o: int, outcome: Any) -> int:
    """Account for an application of operator `o` (-1: there was none) and decide on the next.

    Where operators are compiled, this is called by its address: a new problem does not compile it.
    """
    if o >= 0:
        account(schedule, o, outcome)
    return decide(schedule)


@kernel
def decide(schedule: Any) -> int:
    """Return the next operator; below 0 the stretch ends, and its complement says why."""
    limits, ledger, counts = schedule.limits, schedule.ledger, schedule.counts
    if counts[LEFT] == 0:
        return ~MORE
    left = limits.joules - ledger.joules[0]  # B_t, may be inf
    if left <= 0.0 or ledger.evaluations[0] >= limits.evaluations:
        return ~SPENT
    if schedule.best[0] >= limits.target:
        return ~SPENT
    if counts[ROWS] == schedule.trace.size:
        return ~FULL
    if ledger.joules[0] >= limits.ask:
        return ~ASK
    o = int(schedule.selector.select(schedule.stats, left, schedule.streams.picks))  # Algorithm 1
    if o < 0:
        return ~UNAFFORDABLE
    if o >= ledger.applications.size:  # compiled code would write beyond its arrays
        return ~UNKNOWN
    counts[LEFT] -= 1
    counts[MARK] = schedule.meter.start()
    return o


@kernel
def account(schedule: Any, o: int, outcome: Any) -> None:
    """Meter an application and enter it in the books."""
    mark, noise = schedule.counts[MARK], schedule.streams.noise
    enter(schedule, o, outcome, schedule.meter.stop(mark, o, outcome, noise))


@kernel
def enter(schedule: Any, o: int, outcome: Any, joules: float) -> None:
    """Learn from an application, spend its Joules, and record it if a row is due."""
    selector, stats, ledger = schedule.selector, schedule.stats, schedule.ledger
    selector.learn(stats, o, outcome, joules)
    spend(ledger, o, outcome, joules)
    if due(ledger, schedule.limits):
        row = schedule.counts[ROWS]
        record(schedule.trace, row, o, outcome, joules, ledger, schedule.best, selector, stats)
        schedule.counts[ROWS] = row + 1


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
