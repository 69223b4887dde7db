"""The loop of every run: select, apply, meter, learn, spend, record."""

from __future__ import annotations

import functools
import logging
import math
from typing import Any

import numpy as np
from numba import literal_unroll

from ..protocols import Interpreted, Outcome
from . import histogram
from .kernel import compile_entry, digest_of, jit_is_off, kernel
from .numba_internals import on_loan

__all__ = ["ASK", "FULL", "MORE", "SPENT", "UNAFFORDABLE", "Loop", "compiled_advance"]

log = logging.getLogger(__name__)

MORE, SPENT, FULL, UNAFFORDABLE, ASK, UNKNOWN = 0, 1, 2, 3, 4, 5

bin_of = kernel(histogram.bin_of)


@kernel
def advance(
    problem: Any,
    algorithm: Any,
    selector: Any,
    meter: Any,
    limits: Any,
    state: Any,
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
        outcome = apply(algorithm, o, problem, state, streams.moves)  # Algorithms 2-4
        joules = meter.stop(mark, o, outcome, streams.noise)
        selector.learn(stats, o, outcome, joules)
        spend(ledger, o, outcome, joules)
        if due(ledger, limits):
            record(trace, rows, o, outcome, joules, ledger, state, selector, stats)
            rows += 1
    return decisions, rows, MORE


@kernel
def apply(algorithm: Any, o: int, problem: Any, state: Any, rng: Any) -> Any:
    """Apply operator `o` of the portfolio; operators may be of different types."""
    operators = algorithm.operators
    outcome = Outcome(0.0, 0, 0, state.deltas[:0])
    index = 0
    for operator in literal_unroll(operators):
        if index == o:
            outcome = operator.apply(algorithm, problem, state, rng)
        index += 1
    return outcome


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
    state: Any,
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
    trace.best[row] = state.best_f[0]
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


@np.errstate(over="ignore")  # random words wrap around on purpose
def interpreted_advance(*arguments: Any) -> tuple[int, int, int]:
    """Run `advance` as it is written."""
    return advance(*arguments)


@np.errstate(over="ignore")
def interpreted_begin(problem: Any, algorithm: Any, rng: Any) -> Any:
    """Return `algorithm.begin(problem, rng)` without the compiler."""
    return algorithm.begin(problem, rng)


class Loop:
    """`begin` and `advance` for a set of components: compiled where wanted and possible."""

    def __init__(
        self, problem: Any, algorithm: Any, selector: Any, meter: Any, *, compiled: bool
    ) -> None:
        components = (problem, algorithm, selector, meter)
        self.compiled = compiled and not (
            jit_is_off()
            or any(isinstance(each, Interpreted) and each.interpreted for each in components)
        )
        self.begin, self.advance = interpreted_begin, interpreted_advance
        if self.compiled:
            self.begin = compiled_begin(problem, algorithm)
            self.advance = compiled_advance(*components)

    def interpret(self, error: Exception, *components: Any) -> None:
        """Go on interpreted, because numba refused; a refusal of our own components is a bug."""
        package = __name__.partition(".")[0]
        operators = (o for each in components for o in getattr(each, "operators", ()))
        if all(type(c).__module__.startswith(f"{package}.") for c in (*components, *operators)):
            raise error
        log.warning("numba cannot compile this trial, so it runs interpreted:\n%s", error)
        self.compiled = False
        self.begin, self.advance = interpreted_begin, interpreted_advance


def compiled_advance(problem: Any, algorithm: Any, selector: Any, meter: Any) -> Any:
    """Return `advance` compiled for components of these classes (and cached, if all are ours)."""
    return _advance_entry(_digest(problem, algorithm, selector, meter))


def compiled_begin(problem: Any, algorithm: Any) -> Any:
    """Return `algorithm.begin(problem, rng)` compiled."""
    return _begin_entry(_digest(problem, algorithm))


def _digest(*components: Any) -> str:
    classes = {type(component) for component in components}
    for component in components:
        classes.update(type(operator) for operator in getattr(component, "operators", ()))
    return digest_of(_LoopFiles, *sorted(classes, key=lambda c: (c.__module__, c.__qualname__)))


class _LoopFiles:
    """Stands for this module and what it imports in a digest."""


@functools.cache
def _advance_entry(digest: str) -> Any:
    def advance_entry(  # type: ignore[no-untyped-def]
        problem, algorithm, selector, meter, limits, state, stats, ledger, streams, trace, decisions
    ):
        digest  # noqa: B018  part of the cache key
        return advance(
            on_loan(problem), on_loan(algorithm), on_loan(selector), on_loan(meter), limits,
            on_loan(state), on_loan(stats), on_loan(ledger), on_loan(streams), on_loan(trace),
            decisions,
        )  # fmt: skip

    return compile_entry(advance_entry, digest)


@functools.cache
def _begin_entry(digest: str) -> Any:
    def begin_entry(problem, algorithm, rng):  # type: ignore[no-untyped-def]
        digest  # noqa: B018  part of the cache key
        return algorithm.begin(problem, rng)

    return compile_entry(begin_entry, digest)
