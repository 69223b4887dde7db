"""Learning what operators cost before paying for them: one candidate each, charged to the run.

An operator that costs a hundred times as much as its neighbour is best not tried at all. Where it
can be run on a single candidate, that costs little and tells the price of a whole application.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np

from .kernel import compile_entry, digest_of
from .run import Run

__all__ = ["can_probe", "probe"]


def can_probe(run: Run, operator: int) -> bool:
    """Tell whether an operator can be run on one candidate, and the selector would listen."""
    return hasattr(run.selector, "reprice") and hasattr(run.algorithm.operators[operator], "probe")


def probe(run: Run, operators: Any = None) -> float:
    """Run operators on one candidate each and tell the selector what they cost.

    The search is left as it is: probes work on copies of the state and of the random streams. What
    they spend is charged to the run's ledger.

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
    >>> from eij_core import Trial
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
        operator, algorithm = whole.probe(run.algorithm)
        state, streams = copy.deepcopy(run.state), copy.deepcopy(run.streams)
        measure = _entry(operator, algorithm, run) if run.compiled else _measure
        with np.errstate(over="ignore"):  # random words wrap around on purpose
            joules, evaluations = measure(
                operator, algorithm, run.problem, run.meter, o, state, streams.moves, streams.noise
            )
        expected = whole.forecast(run.algorithm, run.problem).evaluations
        run.selector.reprice(run.stats, o, joules * expected / max(evaluations, 1))
        run.ledger.joules[0] += joules
        run.ledger.evaluations[0] += evaluations
        spent += joules
    return float(spent)


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
