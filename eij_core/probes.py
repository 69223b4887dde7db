"""Probes: operators run on one candidate each, to learn their prices; charged to the run.

An operator that costs a hundred times as much as another may not be worth a single application.
Where it can be run on one candidate, the price of a whole application follows for little energy.
"""

from __future__ import annotations

import copy
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .engine.kernel import compile_entry, digest_of, kernel
from .protocols import ProbingOperator, RepricingSelector

if TYPE_CHECKING:
    from .run import Run

__all__ = ["Prices", "can_probe", "compile_probes", "probe"]

SHARE = 0.05
"""Of the Joules, what probes of all operators together may take after the first round."""


class Prices:
    """Rounds of probes: of all operators at the start, later of those that are not applied.

    The selector's `probe` is the share of the budget between two rounds; 0: there are none. A dear
    operator is probed less often, so that probes never take more than `SHARE` of the Joules.
    """

    def __init__(self, operators: int) -> None:
        self._applications = np.full(operators, -1)  # at the last round
        self._due = np.zeros(operators)  # Joules spent by all when the next probe is paid for

    def ask(self, run: Run) -> None:
        """Probe the operators that are due."""
        idle = run.ledger.applications == self._applications
        first = self._applications < 0
        self._applications = run.ledger.applications.copy()
        for o in np.flatnonzero(first | (idle & (self._due <= run.ledger.joules[0]))):
            spent = probe(run, int(o))
            self._due[o] = run.ledger.joules[0] + len(self._due) * spent / SHARE

    @staticmethod
    def next_round(run: Run) -> float:
        """Return the Joules spent at which the next round is due."""
        selector = run.selector
        if not isinstance(selector, RepricingSelector) or not selector.cost or selector.probe <= 0:
            return math.inf  # where energy does not count, prices are not worth a Joule
        if run.ledger.decisions[0] == 0 and run.limits.ask == math.inf:
            return 0.0
        step = selector.probe * run.limits.joules
        spent = float(run.ledger.joules[0])
        mark = (math.floor(spent / step) + 1.0) * step
        return mark if mark > spent else mark + step  # a quotient may be rounded down


def can_probe(run: Run, operator: int) -> bool:
    """Tell whether an operator can be run on one candidate, and the selector takes its price."""
    probing = isinstance(run.algorithm.operators[operator], ProbingOperator)
    return probing and isinstance(run.selector, RepricingSelector)


def probe(run: Run, operator: int) -> float:
    """Run an operator on one candidate and give the selector its price; return the Joules spent.

    The probe works on copies of the state and of the random streams, so the search does not change.
    Its Joules are charged to the run, in the account of the operator, without an application.
    Nothing happens where the operator has no `probe` or the selector no `reprice`.

    Examples
    --------
    >>> from eij_core import Run, Trial
    >>> trial = Trial("nk:n=20,k=3", "ils", "eij-plus", "model", "20 J", seed=7)
    >>> run = Run(trial, compiled=False)
    >>> 0 < probe(run, 0) < 0.1
    True
    """
    if not can_probe(run, operator):
        return 0.0
    selector: Any = run.selector
    joules, evaluations = _measured(run, operator, run.charges.compiled, run.state)
    forecast = run.algorithm.operators[operator].forecast(run.algorithm, run.problem)
    price = joules * forecast.evaluations / max(evaluations, 1)
    selector.reprice(run.stats, operator, price)
    run.ledger.joules[0] += joules
    run.ledger.operator_joules[operator] += joules
    run.ledger.evaluations[0] += evaluations
    run.ledger.operator_evaluations[operator] += evaluations
    return float(joules)


def compile_probes(run: Run, state: Any) -> None:
    """Compile what probing needs, before the clock of a run is started."""
    for o in range(len(run.names)):
        if can_probe(run, o):
            _measured(run, o, copy.deepcopy(run.charges.compiled), state)


def _measured(run: Run, operator: int, meter: Any, state: Any) -> Any:
    """Run one operator on one candidate; return Joules and evaluations."""
    reduced, algorithm = run.algorithm.operators[operator].probe(run.algorithm)
    state, streams = copy.deepcopy(state), copy.deepcopy(run.streams)
    call = _measure
    if run.loop.compiled:
        components = (reduced, algorithm, run.problem, meter)
        call = _compiled_measure(digest_of(*(type(component) for component in components)))
    with np.errstate(over="ignore"):  # random words wrap around on purpose
        return call(
            reduced, algorithm, run.problem, meter, operator, state, streams.moves, streams.noise
        )


@kernel
def _measure(  # type: ignore[no-untyped-def]
    operator, algorithm, problem, meter, index, state, moves, noise
):
    mark = meter.start()
    outcome = operator.apply(algorithm, problem, state, moves)
    return meter.stop(mark, index, outcome, noise), outcome.evaluations


@functools.cache
def _compiled_measure(digest: str) -> Any:
    def measure(  # type: ignore[no-untyped-def]
        operator, algorithm, problem, meter, index, state, moves, noise
    ):
        digest  # noqa: B018  part of the cache key
        return _measure(operator, algorithm, problem, meter, index, state, moves, noise)

    return compile_entry(measure, digest)
