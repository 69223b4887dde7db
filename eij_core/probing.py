"""Learning what operators cost before paying for them: one candidate each, charged to the run.

An operator that costs a hundred times as much as its neighbour is best not tried at all. Where it
can be run on a single candidate, that costs little and tells the price of a whole application.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .kernel import compile_entry, digest_of

if TYPE_CHECKING:
    from .run import Run

__all__ = ["Prices", "can_probe", "compile_probes", "probe"]

SHARE = 0.05
"""Of the Joules, what probes of all operators together may take after the first round."""


class Prices:
    """Asks for prices on the way: first of all operators, later of those that are not applied.

    When to ask is the selector's `probe`, the share of the budget between two rounds; 0 for never.
    A dear operator is asked less often, so that probes never take more than `SHARE` of the Joules.
    """

    def __init__(self, operators: int) -> None:
        self._applications = np.full(operators, -1)  # at the last round
        self._due = np.zeros(operators)  # Joules spent by all when the next probe is paid for

    def ask(self, run: Run) -> None:
        """Probe whoever is due."""
        idle = run.ledger.applications == self._applications
        first = self._applications < 0
        self._applications = run.ledger.applications.copy()
        for o in np.flatnonzero(first | (idle & (self._due <= run.ledger.joules[0]))):
            spent = probe(run, [int(o)])
            self._due[o] = run.ledger.joules[0] + len(self._due) * spent / SHARE

    @staticmethod
    def next_round(run: Run) -> float:
        """Return how many Joules will have been spent when prices are asked for again."""
        share = getattr(run.selector, "probe", 0.0)
        if share <= 0.0 or not run.selector.cost:
            return math.inf  # where energy does not count, nobody pays for prices
        if run.ledger.decisions[0] == 0 and run.limits.ask == math.inf:
            return 0.0
        step = share * run.limits.joules
        spent = float(run.ledger.joules[0])
        mark = (math.floor(spent / step) + 1.0) * step
        return mark if mark > spent else mark + step  # a quotient may be rounded down


def can_probe(run: Run, operator: int) -> bool:
    """Tell whether an operator can be run on one candidate, and the selector would listen."""
    return hasattr(run.selector, "reprice") and hasattr(run.algorithm.operators[operator], "probe")


def probe(run: Run, operators: Iterable[int] | None = None) -> float:
    """Run operators on one candidate each and tell the selector what they cost.

    The search is left as it is: probes work on copies of the state and of the random streams. What
    they spend is charged to the run, in the account of the operator, without an application.

    Parameters
    ----------
    run : Run
        Its selector must have `reprice`, its operators `probe`; others are passed over.
    operators : iterable of int, optional
        Which ones; all by default.

    Returns
    -------
    float
        Joules spent.

    Examples
    --------
    >>> from eij_core import Run, Trial
    >>> trial = Trial("nk:n=20,k=3", "ils", "eij-plus", "model", "20 J", seed=7)
    >>> run = Run(trial, compiled=False)
    >>> 0 < probe(run) < 0.1
    True
    """
    spent = 0.0
    for o in range(len(run.names)) if operators is None else operators:
        if not can_probe(run, o):
            continue
        whole = run.algorithm.operators[o]
        joules, evaluations = _measured(run, o, run.meter, run.state)
        expected = whole.forecast(run.algorithm, run.problem).evaluations
        run.selector.reprice(run.stats, o, joules * expected / max(evaluations, 1))
        run.ledger.joules[0] += joules
        run.ledger.operator_joules[o] += joules
        run.ledger.evaluations[0] += evaluations
        run.ledger.operator_evaluations[o] += evaluations
        spent += joules
    return float(spent)


def compile_probes(run: Run, state: Any) -> None:
    """Compile what probing needs, before the clock of a run is started."""
    for o in range(len(run.names)):
        if can_probe(run, o):
            _measured(run, o, copy.deepcopy(run.meter), state)


def _measured(run: Run, operator: int, meter: Any, state: Any) -> Any:
    """Run one operator on one candidate; return Joules and evaluations."""
    reduced, algorithm = run.algorithm.operators[operator].probe(run.algorithm)
    state, streams = copy.deepcopy(state), copy.deepcopy(run.streams)
    call = _entry(reduced, algorithm, run) if run.compiled else _measure
    with np.errstate(over="ignore"):  # random words wrap around on purpose
        return call(
            reduced, algorithm, run.problem, meter, operator, state, streams.moves, streams.noise
        )


def _measure(  # type: ignore[no-untyped-def]
    operator, algorithm, problem, meter, index, state, moves, noise
):
    mark = meter.start()
    outcome = operator.apply(algorithm, problem, state, moves)
    return meter.stop(mark, index, outcome, noise), outcome.evaluations


def _entry(operator: Any, algorithm: Any, run: Run) -> Any:
    components = (operator, algorithm, run.problem, run.meter)
    return _measure_entry(digest_of(*(type(component) for component in components)))


@functools.cache
def _measure_entry(digest: str) -> Any:
    def measure(  # type: ignore[no-untyped-def]
        operator, algorithm, problem, meter, index, state, moves, noise
    ):
        digest  # noqa: B018  part of the cache key
        mark = meter.start()
        outcome = operator.apply(algorithm, problem, state, moves)
        return meter.stop(mark, index, outcome, noise), outcome.evaluations

    return compile_entry(measure, digest)
