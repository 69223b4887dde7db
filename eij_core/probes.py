"""Probes: operators run on one candidate each, to learn their prices; charged to the run.

An operator that costs a hundred times as much as another may not be worth a single application.
Where it can be run on one candidate, the price of a whole application follows for little energy.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .engine.execution import Loop
from .engine.rows import Ledger, Limits, new_ledger, new_trace
from .protocols import Hints, ProbingOperator, RepricingSelector
from .selectors.static import Static

if TYPE_CHECKING:
    from .run import Run

WITHOUT_END = Limits(math.inf, math.inf, 0.0, True, 0)
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
    forecast = run.algorithm.operators[operator].forecast(run.algorithm, run.searched)
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
            loop, _ = _loop_of(run, o, run.charges.compiled, state)
            loop.compile(Static(run.names[o]), WITHOUT_END)


def _measured(run: Run, operator: int, meter: Any, state: Any) -> tuple[float, int]:
    """Run one operator on one candidate; return Joules and evaluations."""
    loop, ledger = _loop_of(run, operator, meter, copy.deepcopy(state))
    selector = Static(run.names[operator])
    if run.loop.compiled:
        loop.compile(selector, WITHOUT_END, wait=False)
    loop.advance(selector, WITHOUT_END, 1)
    return float(ledger.joules[0]), int(ledger.evaluations[0])


def _loop_of(run: Run, operator: int, meter: Any, state: Any) -> tuple[Loop, Ledger]:
    """Return a loop that applies one operator to one candidate, and its ledger."""
    reduced, algorithm = run.algorithm.operators[operator].probe(run.algorithm)
    count = len(run.names)
    stats = Static(run.names[operator]).memory(Hints(run.names, *np.zeros((2, count))), math.inf)
    ledger = new_ledger(count)
    ledger.mark[0] = math.inf  # no row
    streams, trace = copy.deepcopy(run.streams), new_trace(1, count)
    parts = (run.searched, algorithm, meter, state, stats, ledger, streams, trace)
    return Loop(*parts, operators=(reduced,) * count), ledger
